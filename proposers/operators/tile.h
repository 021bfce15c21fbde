/*
 * tile: a loop over tiles that a block loads into shared memory together. The parts of that
 * operator (operators.h): where it applies, and how the new loop is printed.
 *
 *     struct tiling tiling;
 *     if (tiling_read(&mutation, site, &tiling))
 *         tiling_print(&mutation, &tiling);
 *     tiling_release(&tiling);
 *
 * A read p[... k ...] in a loop over k, whose address is the same for all threads along one axis of
 * the block, is made by each of these threads for other k, and each of them takes it from the tile.
 * The sum's order stays. Elements outside of the guard have the index 0 and help to load.
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_TILE_H
#define EVOTILE_PROPOSERS_OPERATORS_TILE_H

#include "proposers/operators/dependence.h"
#include "proposers/operators/mutation.h"

enum { TILES_MAX = 8, INNER_MAX = 4, GUARDS_MAX = 4 };

/* What the loop reads again and again. */
struct tile {
    struct span read;  /* p[INDEX] */
    struct span value; /* that, or a conversion of it */
    char own, along;   /* 'y', 'x': the axis that the address depends on, and the one that loads */
    int inner[INNER_MAX]; /* the loops within the body whose variables the address has */
    int inner_count;
    int bytes; /* of an element */
};

struct tiling {
    struct loop loop;
    int place; /* the statement that is replaced: the loop, or the pragma before it */
    int guard; /* `if (A >= B || ...) return;` before it; -1: none */
    int indices[GUARDS_MAX], index_count; /* the A: where the guard names them */
    struct tile tiles[TILES_MAX];
    int count;
    char *extents[2]; /* of the block along x and y */
};

/* Finds loop number `site` that can be tiled. */
bool tiling_read(const struct mutation *mutation, int site, struct tiling *tiling);
void tiling_print(struct mutation *mutation, const struct tiling *tiling);
void tiling_release(struct tiling *tiling);

#endif
