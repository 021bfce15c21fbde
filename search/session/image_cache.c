#include "session/image_cache.h"

static bool read_image(void *context, struct hash hash, struct device_image *image) {
    struct cache_entry entry = {0};
    if (!cache_get(context, hash, &entry))
        return false;
    *image = (struct device_image){.cubin = entry.cubin,
                                   .cubin_bytes = entry.cubin_size,
                                   .ptx = entry.ptx,
                                   .log = entry.log,
                                   .kernels = entry.kernels};
    return true;
}

static void store_image(void *context, struct hash hash, const struct device_image *image) {
    struct cache_entry entry = {.cubin = (void *)image->cubin,
                                .cubin_size = image->cubin_bytes,
                                .ptx = (char *)image->ptx,
                                .log = (char *)image->log,
                                .kernels = (char *)image->kernels};
    cache_put(context, hash, &entry);
}

struct image_cache image_cache_on_disk(struct cache *cache) {
    return (struct image_cache){read_image, store_image, cache};
}
