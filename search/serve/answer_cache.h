/*
 * answer_cache: the last answers of a server by what they depend on, in memory.
 *
 *     struct answer_cache *cache = answer_cache_new();
 *     const struct hash hash = hash_bytes("candidate", 9);
 *     answer_cache_put(cache, hash, answer);                  // keeps a copy
 *     cJSON *copy = answer_cache_get(cache, hash);            // the caller's
 *     cJSON_Delete(copy);
 *     answer_cache_free(cache);
 */
#ifndef EVOTILE_SERVE_ANSWER_CACHE_H
#define EVOTILE_SERVE_ANSWER_CACHE_H

#include "base/hash.h"

#include <cjson/cJSON.h>

enum { ANSWERS_MAX = 4096 };

struct answer_cache;

struct answer_cache *answer_cache_new(void);
void answer_cache_free(struct answer_cache *cache);
/* Keeps a copy; of more than ANSWERS_MAX, one in place of another. */
void answer_cache_put(struct answer_cache *cache, struct hash hash, const cJSON *answer);
/* A copy; NULL: there is none. */
cJSON *answer_cache_get(const struct answer_cache *cache, struct hash hash);

#endif
