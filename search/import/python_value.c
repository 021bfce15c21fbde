#include "import/python.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *python_heap_alloc(struct python_heap *heap, size_t bytes) {
    heap->blocks = xgrow(heap->blocks, (size_t)heap->count, sizeof *heap->blocks);
    return heap->blocks[heap->count++] = xcalloc(1, bytes > 0 ? bytes : 1);
}

void python_heap_clear(struct python_heap *heap) {
    for (int i = 0; i < heap->count; i++)
        free(heap->blocks[i]);
    free(heap->blocks);
    *heap = (struct python_heap){0};
}

bool python_whole(const struct python_value *value, int64_t *number) {
    if (python_is_integer(value))
        *number = value->number;
    else if (value->type == PYTHON_FLOAT && value->real == rint(value->real) &&
             fabs(value->real) < 9e18)
        *number = (int64_t)value->real;
    else
        return false;
    return true;
}

bool python_is_true(const struct python_value *value) {
    switch (value->type) {
    case PYTHON_NONE:
        return false;
    case PYTHON_FLOAT:
        return value->real != 0;
    case PYTHON_TEXT:
        return *value->text != '\0';
    case PYTHON_LIST:
        return value->count > 0;
    default:
        return value->number != 0;
    }
}

bool python_equal(const struct python_value *a, const struct python_value *b) {
    if (python_is_integer(a) && python_is_integer(b))
        return a->number == b->number;
    if (python_is_number(a) && python_is_number(b))
        return python_real(a) == python_real(b);
    if (a->type != b->type)
        return false;
    if (a->type == PYTHON_TEXT)
        return strcmp(a->text, b->text) == 0;
    if (a->type != PYTHON_LIST)
        return a->type == PYTHON_NONE;
    bool equal = a->count == b->count;
    for (int i = 0; i < a->count && equal; i++)
        equal = python_equal(&a->items[i], &b->items[i]);
    return equal;
}
