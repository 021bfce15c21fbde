/*
 * cache: compiled kernels on disk, shared by all runs of a user. An entry is found by the hash of
 * all that it was compiled from, so that it is never out of date, and never changed. Several
 * processes may use one cache at once. A cache is a convenience: it never fails an operation. A
 * folder that cannot be written is said once as a warning, and everything is then compiled; an
 * entry that is damaged is removed and not returned.
 *
 *     struct cache *cache = cache_new(NULL, 0);
 *     struct cache_entry entry = {0};
 *     if (!cache_get(cache, hash, &entry)) {
 *         compile(..., &entry);
 *         cache_put(cache, hash, &entry);
 *     }
 *     cache_entry_release(&entry);
 *
 * Its size is bounded: every so many entries put, those not used for longest go.
 */
#ifndef EVOTILE_STORE_CACHE_H
#define EVOTILE_STORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct cache;

struct cache_entry {
    void *cubin;
    size_t cubin_size;
    char *ptx; /* text */
    char *log; /* what the compiler said, text */
};

/* In `folder`; NULL: $EVOTILE_CACHE, else $XDG_CACHE_HOME/evotile, else ~/.cache/evotile. At most
   about `limit_bytes`; 0: 4 GB. */
struct cache *cache_new(const char *folder, int64_t limit_bytes);
void cache_free(struct cache *cache);

/* True, and `entry` filled with memory that cache_entry_release frees; else `entry` is untouched.
 */
bool cache_get(struct cache *cache, struct hash hash, struct cache_entry *entry);

/* `entry` stays the caller's; its texts may be NULL, which is stored as empty. */
void cache_put(struct cache *cache, struct hash hash, const struct cache_entry *entry);

void cache_entry_release(struct cache_entry *entry);

#endif
