/*
 * cache: an on-disk cache of compiled kernels, shared by all runs of a user. An entry's key is the
 * hash of every compiler input, so entries never become stale and never change. Several processes
 * may use one cache concurrently. The cache is best effort and never fails an operation: if the
 * folder is not writable, it warns once and everything is compiled; a damaged entry is deleted and
 * counts as a miss.
 *
 *     struct cache *cache = cache_new(NULL, 0);
 *     struct cache_entry entry = {0};
 *     if (!cache_get(cache, hash, &entry)) {
 *         ...; // compile, fill `entry`
 *         cache_put(cache, hash, &entry);
 *     }
 *
 * Its size is bounded: after every so many puts the least recently used entries are evicted.
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
    char *ptx;     /* text */
    char *log;     /* the compiler's messages, text */
    char *kernels; /* names of kernels, text */
};

/* Opens the cache in `folder`; NULL: $EVOTILE_CACHE, else $XDG_CACHE_HOME/evotile, else
   ~/.cache/evotile. Its size is limited to about `limit_bytes`; 0: 4 GB. */
struct cache *cache_new(const char *folder, int64_t limit_bytes);
void cache_free(struct cache *cache);
/* Its folder, which is made if it can be; empty: it has none. */
const char *cache_folder(const struct cache *cache);

/* On a hit, returns true and fills `entry`, whose parts the caller frees; else leaves `entry`
   untouched. */
bool cache_get(struct cache *cache, struct hash hash, struct cache_entry *entry);

/* The caller keeps `entry`. A NULL text is stored as an empty one. */
void cache_put(struct cache *cache, struct hash hash, const struct cache_entry *entry);

#endif
