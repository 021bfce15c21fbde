#include "ptx/tensor_map.h"

enum { BOX_BYTES_MAX = 227 << 10 }; /* limit per block on sm_90 */

/* Bytes that a row of the box must have: the width of the swizzle pattern. 0: any. (The driver
   accepts narrower rows, but then they are not packed.) */
static const int64_t swizzle_row_bytes[SWIZZLE_COUNT] = {
    [SWIZZLE_32B] = 32,
    [SWIZZLE_64B] = 64,
    [SWIZZLE_128B] = 128,
};

int64_t tensor_map_box_bytes(const struct tensor_map *map) {
    int64_t bytes = map->element_bytes;
    for (int i = 0; i < map->rank; i++)
        bytes *= map->box[i];
    return bytes;
}

int tensor_map_check(const struct tensor_map *map, struct error *error) {
    if (map->rank < 1 || map->rank > TENSOR_MAP_RANK_MAX)
        return error_input(error, "a tensor map has 1 to %d dimensions, not %d",
                           TENSOR_MAP_RANK_MAX, map->rank);
    if (map->element_bytes == 0 || map->element_bytes > 8 ||
        (map->element_bytes & (map->element_bytes - 1)) != 0)
        return error_input(error, "a tensor map's elements have 1, 2, 4 or 8 bytes, not %d",
                           map->element_bytes);
    if (map->format >= TENSOR_FORMAT_COUNT)
        return error_input(error, "%d is not a tensor map format", map->format);
    int64_t row_bytes = (int64_t)map->box[0] * map->element_bytes;
    for (int i = 0; i < map->rank; i++) {
        if (map->box[i] < 1 || map->box[i] > 256)
            return error_input(error, "extent %d of the box is %u, outside 1 to 256",
                               map->rank - 1 - i, map->box[i]);
        if (map->extents[i] < 1 || map->extents[i] > UINT64_C(1) << 32)
            return error_input(error, "extent %d of the tensor is %llu, outside 1 to 2^32",
                               map->rank - 1 - i, (unsigned long long)map->extents[i]);
        if (i > 0 && (map->strides[i - 1] % 16 != 0 || map->strides[i - 1] >= UINT64_C(1) << 40))
            return error_input(error,
                               "a step of extent %d is %llu bytes, which must be a multiple of 16 "
                               "below 2^40",
                               map->rank - 1 - i, (unsigned long long)map->strides[i - 1]);
    }
    if (row_bytes % 16 != 0)
        return error_input(error,
                           "the box's last extent is %lld bytes, which must be a multiple "
                           "of 16",
                           (long long)row_bytes);
    int64_t required_bytes = map->swizzle < SWIZZLE_COUNT ? swizzle_row_bytes[map->swizzle] : -1;
    if (required_bytes != 0 && row_bytes != required_bytes)
        return error_input(error,
                           "the box's last extent is %lld bytes, which must be the swizzle's %lld",
                           (long long)row_bytes, (long long)required_bytes);
    if (tensor_map_box_bytes(map) > BOX_BYTES_MAX)
        return error_input(error, "a box of %lld bytes exceeds shared memory: %d",
                           (long long)tensor_map_box_bytes(map), BOX_BYTES_MAX);
    return 0;
}
