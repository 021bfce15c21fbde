#include "base/memory.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

static void *check_allocation(void *memory) {
    if (memory == NULL)
        BUG("out of memory");
    return memory;
}

void *xmalloc(size_t bytes) {
    return check_allocation(malloc(bytes > 0 ? bytes : 1));
}

void *xcalloc(size_t count, size_t element_bytes) {
    bool empty = count == 0 || element_bytes == 0;
    return check_allocation(empty ? calloc(1, 1) : calloc(count, element_bytes));
}

void *xrealloc(void *memory, size_t bytes) {
    return check_allocation(realloc(memory, bytes > 0 ? bytes : 1));
}

char *xstrdup(const char *text) {
    return text != NULL ? check_allocation(strdup(text)) : NULL;
}

char *xstrndup(const char *text, size_t length) {
    return check_allocation(strndup(text, length));
}

void *xgrow(void *array, size_t count, size_t element_bytes) {
    bool full = count >= FIRST_CAPACITY ? (count & (count - 1)) == 0 : count == 0;
    size_t bytes;
    if (!full)
        return array;
    if (__builtin_mul_overflow(count > 0 ? 2 * count : FIRST_CAPACITY, element_bytes, &bytes))
        BUG("out of memory");
    return xrealloc(array, bytes);
}

FILE *xopen_memstream(char **text, size_t *size) {
    return check_allocation(open_memstream(text, size));
}
