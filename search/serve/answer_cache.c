#include "serve/answer_cache.h"

#include "base/memory.h"

#include <stdlib.h>

/* Each hash has one place, so that an answer replaces the one that was there. */
struct answer_cache {
    struct {
        struct hash hash;
        cJSON *answer;
    } places[ANSWERS_MAX];
};

struct answer_cache *answer_cache_new(void) {
    return xcalloc(1, sizeof(struct answer_cache));
}

void answer_cache_free(struct answer_cache *cache) {
    for (int i = 0; cache != NULL && i < ANSWERS_MAX; i++)
        cJSON_Delete(cache->places[i].answer);
    free(cache);
}

void answer_cache_put(struct answer_cache *cache, struct hash hash, const cJSON *answer) {
    size_t at = (size_t)(hash.low % ANSWERS_MAX);
    cJSON_Delete(cache->places[at].answer);
    cache->places[at].answer = cJSON_Duplicate(answer, true);
    cache->places[at].hash = hash;
}

cJSON *answer_cache_get(const struct answer_cache *cache, struct hash hash) {
    size_t at = (size_t)(hash.low % ANSWERS_MAX);
    return cache->places[at].answer != NULL && hash_equal(cache->places[at].hash, hash)
               ? cJSON_Duplicate(cache->places[at].answer, true)
               : NULL;
}
