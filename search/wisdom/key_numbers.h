/*
 * key_numbers: numbers keys from 0 in the order in which they are first seen, by a hash table.
 *
 *     struct key_numbers numbers = {0};
 *     bool is_new;
 *     const uint32_t first = key_numbers_of(&numbers, "sm_90", &is_new);
 *     const uint32_t second = key_numbers_of(&numbers, "sm_80", &is_new);
 *     const uint32_t again = key_numbers_of(&numbers, "sm_90", &is_new);
 *     printf("%u %u %u\n", first, second, again);
 *     key_numbers_release(&numbers);
 *
 * prints 0 1 0; is_new is true, true, false.
 */
#ifndef EVOTILE_WISDOM_KEY_NUMBERS_H
#define EVOTILE_WISDOM_KEY_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct key_numbers {
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t size, count;
    const char **keys;
};

/* The number of a key, which must outlive the table; *is_new: it was not there. A number is less
   than `size`. */
uint32_t key_numbers_of(struct key_numbers *numbers, const char *key, bool *is_new);

void key_numbers_release(struct key_numbers *numbers);

#endif
