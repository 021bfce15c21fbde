/*
 * caches: with a latency model, which cache serves an access to global memory. The sets of sectors
 * that blocks have touched stand for the caches (sectors.h), and struct ptx_caches says what these
 * hold: a block's own sectors while they fit into its share, and what most blocks touch, once for
 * all of them. Blocks of a sample are far from each other in the grid, so that what two of them
 * touch many touch; what only neighbours have in common they read at the same time, so that each of
 * them waits as the first does.
 *
 * How long ago a sector was touched is counted in sectors that have been moved since. The
 * interpreter runs one warp after the other, a GPU all at a time: a warp's loads count once for
 * each warp of the block. The copy engine's, which one warp starts for all, count as they are.
 *
 *     caches_begin(block);                                       // forgets the block before it
 *     count_global_sectors(warp, access, GLOBAL_LOADED, addresses, mask, 16);
 *     double latency = count_global_run(warp, address, 4096);    // of a bulk copy
 */
#ifndef EVOTILE_PTX_CACHES_H
#define EVOTILE_PTX_CACHES_H

#include "ptx/machine.h"

enum global_use { GLOBAL_LOADED, GLOBAL_STORED, GLOBAL_COPIED };

void caches_begin(struct block *block);
/* Adds the sectors that the lanes access to the launch's counts, and sets the latency of the
   results. */
void count_global_sectors(struct warp *warp, const struct access *access, enum global_use use,
                          const uint64_t addresses[LANES], uint32_t mask, int bytes);
/* Adds those of consecutive bytes that a bulk copy reads. Returns their latency. */
double count_global_run(struct warp *warp, uint64_t address, uint64_t bytes);

#endif
