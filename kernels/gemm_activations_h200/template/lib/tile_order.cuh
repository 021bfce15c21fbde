// The order in which blocks take the tiles of a matrix, so that those that run at once share rows
// and columns of its factors in L2.
#ifndef EVOTILE_LIB_TILE_ORDER
#define EVOTILE_LIB_TILE_ORDER

#include "lib/types.cuh"

struct tile_place {
    int m, n; // tile row and tile column
};

// The place of the tile with this number among tiles_m x tiles_n: `group` rows of tiles, or those
// that are left, are taken column by column.
DEVICE tile_place place_of_tile(int tile, int tiles_m, int tiles_n, int group) {
    const int first_m = tile / (group * tiles_n) * group;
    const int height = min(group, tiles_m - first_m);
    const int within = tile - first_m * tiles_n;
    return {first_m + within % height, within / height};
}

#endif
