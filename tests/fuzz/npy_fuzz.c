/* Any bytes: they are read or refused; if they are read, the array lies inside them, and written
   and read again it is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy array, again;
    struct error error = {0};
    char header[NPY_HEADER_MAX];
    if (npy_parse(&array, "fuzz.npy", data, size, &error) < 0) {
        if (error.kind != ERROR_INPUT || strncmp(error.text, "fuzz.npy: ", 10) != 0)
            BUG("refused without a name: %s", error.text);
        return 0;
    }
    size_t bytes = (size_t)array.elements * (size_t)array.size;
    const uint8_t *start = array.data;
    if (start < data || start > data + size || (size_t)(data + size - start) != bytes)
        BUG("the array is not what follows the header");
    size_t length = npy_header(&array, header);
    uint8_t *file = malloc(length + bytes);
    if (file == NULL)
        abort();
    memcpy(file, header, length);
    memcpy(file + length, start, bytes);
    if (length % 64 != 0 || npy_parse(&again, "again.npy", file, length + bytes, &error) < 0)
        BUG("what is written cannot be read: %s", error.text);
    if (again.kind != array.kind || again.size != array.size || again.rank != array.rank ||
        again.elements != array.elements ||
        memcmp(again.extents, array.extents, sizeof array.extents) != 0)
        BUG("another array is read than was written");
    free(file);
    return 0;
}
