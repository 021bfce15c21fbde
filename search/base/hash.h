/*
 * hash: 128-bit content hashes, printed as 32 hexadecimal digits. They identify things (a key, a
 * cache entry, a template's bytes) and detect damage. XXH3 makes them, which is fast, and for which
 * two texts of one hash can be constructed; where that would gain something, as where an answer
 * that is kept is found by the hash of a stranger's source, BLAKE2b does (hasher_new_strong).
 *
 *     struct hasher *hasher = hasher_new();
 *     hasher_add(hasher, bytes, size);
 *     hasher_add_text(hasher, "-arch=sm_90a");
 *     struct hash hash = hasher_finish(hasher);
 *     char text[HASH_TEXT_SIZE];
 *     hash_print(hash, text);
 *
 * Each piece is hashed with its length, so that "ab","c" and "a","bc" differ. The digits are the
 * same on every machine.
 */
#ifndef EVOTILE_BASE_HASH_H
#define EVOTILE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_TEXT_SIZE = 33 };

struct hash {
    uint64_t high, low;
};

struct hasher;

struct hasher *hasher_new(void);
/* By BLAKE2b: two inputs of one hash cannot be made. */
struct hasher *hasher_new_strong(void);
void hasher_add(struct hasher *hasher, const void *bytes, size_t size);
void hasher_add_text(struct hasher *hasher, const char *text);

/* Returns the hash of the pieces added so far and frees the hasher. */
struct hash hasher_finish(struct hasher *hasher);

/* The hash of a single piece; equals a hasher's result for that piece alone. */
struct hash hash_bytes(const void *bytes, size_t size);

bool hash_equal(struct hash a, struct hash b);

/* Writes the 32 digits and a NUL; returns `text`. */
char *hash_print(struct hash hash, char text[HASH_TEXT_SIZE]);

/* Returns false and leaves `hash` untouched unless `text` is exactly 32 lower-case hexadecimal
   digits. */
bool hash_parse(struct hash *hash, const char *text);

#endif
