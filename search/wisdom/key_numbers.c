#include "wisdom/key_numbers.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *find_slot(const struct key_numbers *numbers, const char *key) {
    uint32_t slot = (uint32_t)hash_bytes(key, strlen(key)).low & (numbers->size - 1);
    while (numbers->slots[slot] != 0 && strcmp(numbers->keys[numbers->slots[slot] - 1], key) != 0)
        slot = (slot + 1) & (numbers->size - 1);
    return &numbers->slots[slot];
}

static void grow(struct key_numbers *numbers) {
    const uint32_t size = numbers->size > 0 ? 2 * numbers->size : 64;
    free(numbers->slots);
    numbers->slots = xcalloc(size, sizeof *numbers->slots);
    numbers->size = size;
    numbers->keys = xrealloc(numbers->keys, size * sizeof *numbers->keys);
    for (uint32_t i = 0; i < numbers->count; i++)
        *find_slot(numbers, numbers->keys[i]) = i + 1;
}

uint32_t key_numbers_of(struct key_numbers *numbers, const char *key, bool *is_new) {
    if (2 * (numbers->count + 1) > numbers->size)
        grow(numbers);
    uint32_t *slot = find_slot(numbers, key);
    *is_new = *slot == 0;
    if (*is_new) {
        numbers->keys[numbers->count++] = key;
        *slot = numbers->count;
    }
    return *slot - 1;
}

void key_numbers_release(struct key_numbers *numbers) {
    free(numbers->slots);
    free(numbers->keys);
}
