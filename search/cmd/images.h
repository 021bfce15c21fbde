/* images: the cache of compiled kernels (store/cache.h) as the compiler wants it (trial/compile.h),
   for neither knows the other. */
#ifndef EVOTILE_CMD_IMAGES_H
#define EVOTILE_CMD_IMAGES_H

#include "store/cache.h"
#include "trial/compile.h"

/* The cache outlives it. */
struct image_cache images_cached(struct cache *cache);

#endif
