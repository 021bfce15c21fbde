#include "base/hash.h"

#define XXH_INLINE_ALL
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/memory.h"

enum { HASH_BYTES = 16, STATE_ALIGNMENT = 64 };

/* Both states are allocated separately: they need more alignment than malloc gives. */
struct hasher {
    XXH3_state_t *state; /* NULL: a strong one */
    crypto_generichash_state *strong;
};

struct hasher *hasher_new(void) {
    struct hasher *hasher = xcalloc(1, sizeof *hasher);
    hasher->state = XXH3_createState();
    if (hasher->state == NULL)
        BUG("out of memory");
    XXH3_128bits_reset(hasher->state);
    return hasher;
}

struct hasher *hasher_new_strong(void) {
    struct hasher *hasher = xcalloc(1, sizeof *hasher);
    size_t size = crypto_generichash_statebytes();
    hasher->strong = aligned_alloc(STATE_ALIGNMENT, (size / STATE_ALIGNMENT + 1) * STATE_ALIGNMENT);
    if (hasher->strong == NULL)
        BUG("out of memory");
    crypto_generichash_init(hasher->strong, NULL, 0, HASH_BYTES);
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
    if (hasher->strong != NULL) {
        crypto_generichash_update(hasher->strong, length, sizeof length);
        crypto_generichash_update(hasher->strong, bytes, size);
        return;
    }
    XXH3_128bits_update(hasher->state, length, sizeof length);
    if (size > 0)
        XXH3_128bits_update(hasher->state, bytes, size);
}

void hasher_add_text(struct hasher *hasher, const char *text) {
    hasher_add(hasher, text, strlen(text));
}

/* Big-endian, as the digits are. */
static struct hash finish_strong(struct hasher *hasher) {
    unsigned char digest[HASH_BYTES];
    struct hash hash = {0};
    crypto_generichash_final(hasher->strong, digest, sizeof digest);
    for (int i = 0; i < 8; i++) {
        hash.high = hash.high << 8 | digest[i];
        hash.low = hash.low << 8 | digest[8 + i];
    }
    free(hasher->strong);
    free(hasher);
    return hash;
}

struct hash hasher_finish(struct hasher *hasher) {
    if (hasher->strong != NULL)
        return finish_strong(hasher);
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
