#include "base/hash.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/memory.h"

struct hasher {
    XXH3_state_t
        *state; /* allocated separately because it needs more alignment than malloc gives */
};

struct hasher *hasher_new(void) {
    struct hasher *hasher = xmalloc(sizeof *hasher);
    hasher->state = XXH3_createState();
    if (hasher->state == NULL)
        BUG("out of memory");
    XXH3_128bits_reset(hasher->state);
    return hasher;
}

/* The length precedes each hashed piece; little-endian on every machine. */
static void encode_length(unsigned char length[8], size_t size) {
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)size >> (8 * i));
}

void hasher_add(struct hasher *hasher, const void *bytes, size_t size) {
    unsigned char length[8];
    encode_length(length, size);
    XXH3_128bits_update(hasher->state, length, sizeof length);
    if (size > 0)
        XXH3_128bits_update(hasher->state, bytes, size);
}

void hasher_add_text(struct hasher *hasher, const char *text) {
    hasher_add(hasher, text, strlen(text));
}

struct hash hasher_finish(struct hasher *hasher) {
    XXH128_hash_t digest = XXH3_128bits_digest(hasher->state);
    XXH3_freeState(hasher->state);
    free(hasher);
    return (struct hash){.high = digest.high64, .low = digest.low64};
}

struct hash hash_bytes(const void *bytes, size_t size) {
    unsigned char piece[128];
    if (size <= sizeof piece - 8) { /* the common case: genomes, hashed by the million */
        encode_length(piece, size);
        memcpy(piece + 8, bytes, size);
        XXH128_hash_t digest = XXH3_128bits(piece, 8 + size);
        return (struct hash){.high = digest.high64, .low = digest.low64};
    }
    struct hasher *hasher = hasher_new();
    hasher_add(hasher, bytes, size);
    return hasher_finish(hasher);
}

bool hash_equal(struct hash a, struct hash b) {
    return a.high == b.high && a.low == b.low;
}

char *hash_print(struct hash hash, char text[HASH_TEXT_SIZE]) {
    snprintf(text, HASH_TEXT_SIZE, "%016llx%016llx", (unsigned long long)hash.high,
             (unsigned long long)hash.low);
    return text;
}

bool hash_parse(struct hash *hash, const char *text) {
    if (strspn(text, "0123456789abcdef") != HASH_TEXT_SIZE - 1 || text[HASH_TEXT_SIZE - 1])
        return false;
    char half[17] = {0};
    memcpy(half, text, 16);
    hash->high = strtoull(half, NULL, 16);
    hash->low = strtoull(text + 16, NULL, 16);
    return true;
}
