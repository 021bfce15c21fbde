/*
 * tensor_map: what a GPU's copy engine (TMA, sm_90) has to know of a tensor in order to copy boxes
 * of it to shared memory and back. A kernel takes it by value, as 128 opaque bytes: a real device's
 * are the driver's (cuTensorMapEncodeTiled), the emulated device's are this struct itself.
 *
 *     struct tensor_map map = {.rank = 2, .element_bytes = 2, .extents = {64, 1000},
 *                              .strides = {128}, .box = {64, 128}, .swizzle = SWIZZLE_128B};
 *     if (tensor_map_check(&map, &error) < 0) ...
 *     map.address = q;
 *     launch.arguments[0] = (struct device_argument){.size = TENSOR_MAP_BYTES, .map = &map};
 *
 * Dimensions are counted as the copy's coordinates are: the one that runs fastest first.
 */
#ifndef EVOTILE_DEVICE_TENSOR_MAP_H
#define EVOTILE_DEVICE_TENSOR_MAP_H

#include "base/error.h"

#include <stdint.h>

enum { TENSOR_MAP_RANK_MAX = 5, TENSOR_MAP_BYTES = 128 };

/* In which pattern 16-byte chunks of a box are swapped in shared memory: templates/lib/tma.cuh. */
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B, SWIZZLE_COUNT };

/* What the elements are where a copy back reduces them; plain copies do not ask. */
enum tensor_format {
    TENSOR_WHOLE,
    TENSOR_SIGNED,
    TENSOR_FLOAT, /* f16, f32, f64 */
    TENSOR_BFLOAT,
    TENSOR_FORMAT_COUNT
};

struct tensor_map {
    uint64_t address;                          /* of the first element; aligned to 16 */
    uint64_t extents[TENSOR_MAP_RANK_MAX];     /* elements */
    uint64_t strides[TENSOR_MAP_RANK_MAX - 1]; /* bytes a step of dimension i + 1 takes */
    uint32_t box[TENSOR_MAP_RANK_MAX];         /* elements */
    uint8_t rank;                              /* 0: no map */
    uint8_t element_bytes, swizzle;
    uint8_t format; /* a real device's: TENSOR_WHOLE */
};

/* The bytes of a box in shared memory, which are also those that its copy announces. */
int64_t tensor_map_box_bytes(const struct tensor_map *map);

/* Whether the copy engine takes it, wherever the tensor lies (CUDA Driver API,
   cuTensorMapEncodeTiled); else the error says which number is in the way. */
int tensor_map_check(const struct tensor_map *map, struct error *error);

#endif
