/* image_cache: adapts the store's cache of compiled kernels (cache.h) to the interface that the
 * compiler expects (compile.h), because neither may include the other.
 *
 *     struct cache *cache = cache_new(NULL, 0);
 *     const struct image_cache images = image_cache_on_disk(cache);
 *     struct compiler *compiler = compiler_new(config, &info, &images, &error);
 */
#ifndef EVOTILE_SESSION_IMAGE_CACHE_H
#define EVOTILE_SESSION_IMAGE_CACHE_H

#include "evaluate/compile.h"
#include "store/cache.h"

/* `cache` stays the caller's and must outlive the result. */
struct image_cache image_cache_on_disk(struct cache *cache);

#endif
