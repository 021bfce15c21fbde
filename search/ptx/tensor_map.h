/*
 * tensor_map: describes a tensor to the GPU's copy engine (TMA, sm_90), which copies boxes of it to
 * and from shared memory. A kernel takes it by value as 128 opaque bytes: on a real device the
 * driver's encoding (cuTensorMapEncodeTiled), on the emulated device this struct itself.
 *
 *     struct tensor_map map = {.rank = 2, .element_bytes = 2, .extents = {64, 1000},
 *                              .strides = {128}, .box = {64, 128}, .swizzle = SWIZZLE_128B};
 *     if (tensor_map_check(&map, &error) < 0)
 *         return -1;
 *     map.address = q;
 *     launch.arguments[0] = (struct device_argument){.size = TENSOR_MAP_BYTES, .map = &map};
 *
 * Dimensions are in the order of the copy's coordinates: fastest-running first.
 */
#ifndef EVOTILE_PTX_TENSOR_MAP_H
#define EVOTILE_PTX_TENSOR_MAP_H

#include "base/error.h"

#include <stdint.h>

enum { TENSOR_MAP_RANK_MAX = 5, TENSOR_MAP_BYTES = 128 };

/* The XOR pattern of 16-byte chunks of a box in shared memory: templates/lib/tma.cuh. */
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B, SWIZZLE_COUNT };

/* Element class, needed only by copies that reduce. */
enum tensor_format {
    TENSOR_UNSIGNED,
    TENSOR_SIGNED,
    TENSOR_FLOAT, /* f16, f32, f64 */
    TENSOR_BFLOAT,
    TENSOR_FORMAT_COUNT
};

struct tensor_map {
    uint64_t address;                      /* of the first element; aligned to 16 */
    uint64_t extents[TENSOR_MAP_RANK_MAX]; /* elements */
    uint64_t
        strides[TENSOR_MAP_RANK_MAX - 1]; /* bytes between consecutive indices of dimension i + 1 */
    uint32_t box[TENSOR_MAP_RANK_MAX];    /* elements */
    uint8_t rank;                         /* 0: no map */
    uint8_t element_bytes, swizzle;
    uint8_t format; /* on a real device TENSOR_UNSIGNED */
};

/* Returns the bytes of a box in shared memory, which its copy announces at the mbarrier. */
int64_t tensor_map_box_bytes(const struct tensor_map *map);

/* Returns 0 if the copy engine accepts the map for any tensor address (CUDA Driver API,
   cuTensorMapEncodeTiled); else -1, with an error that names the invalid number. */
int tensor_map_check(const struct tensor_map *map, struct error *error);

#endif
