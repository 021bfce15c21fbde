/* Any text: it is parsed and evaluated, or rejected, within bounded time and memory. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[512];
    struct error error = {0};
    struct python_heap heap = {0};
    struct python_value value;
    const struct python_scope scope = {.name = "a", .value = {.type = PYTHON_INT, .number = 3}};
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct python *python = python_parse(text, &error);
    if (python != NULL)
        python_evaluate(python, &scope, &heap, &value, &error);
    python_heap_clear(&heap);
    python_free(python);
    return 0;
}
