/*
 * sampled_blocks: of a large case, the references compute only some blocks of their grids, drawn at
 * random after the candidate ran, and only what these write is compared. Private to evaluate/.
 *
 *     if (sampled_blocks_load(one->sampled, one->device, nvrtc, one->template, &error) < 0)
 *         return -1;
 *     if (sampled_blocks_apply(one, buffers, set, &error) == 1)
 *         status = sampled_blocks_run(one, buffers, set, runs, &unwritten, &error);
 *
 * A kernel that is wrong in a share w of the rows, wherever they are, passes one such comparison
 * with probability (1 - s)^(w * blocks), where s is the share of blocks that are computed. A
 * champion's hard inputs, held-out cases and inputs in flush memory are compared in full.
 *
 * It needs references of one launch each, with equal grids, whose blocks write the same elements in
 * both and need nothing from each other. That is checked: the first time a case is compared, both
 * are computed in full, too, and must agree bit by bit; otherwise the case is always compared in
 * full.
 */
#ifndef EVOTILE_EVALUATE_SAMPLED_BLOCKS_H
#define EVOTILE_EVALUATE_SAMPLED_BLOCKS_H

#include "evaluate/references.h"

struct sampled_blocks {
    struct device_module *reference, *plain; /* that compute selected blocks; NULL: not loaded */
    double operations;                       /* what a comparison may compute; 0: the default */
    uint64_t blocks_min;                     /* but at least so many blocks; 0: the default */
    enum { SAMPLED_UNKNOWN, SAMPLED_FIT, SAMPLED_UNFIT } state[GOALS_MAX][CASES_MAX]; /* by goal */
};

/* The defaults: some 2 ms of a large GPU's double precision, and the blocks that it runs at once.
 */
#define SAMPLED_OPERATIONS 2e10
enum { SAMPLED_BLOCKS_MIN = 128 };

/* Loads the modules, from the sources of a template's references. */
int sampled_blocks_load(struct sampled_blocks *sampled, struct device *device, struct nvrtc *nvrtc,
                        const struct template *template, struct error *error);
void sampled_blocks_unload(struct sampled_blocks *sampled, struct device *device);

/* Returns 1 if the references of the case can and should be sampled, 0 if not, -1 with an error. It
   tries it, on the inputs of a set, the first time. */
int sampled_blocks_apply(const struct verify_case *one, const struct buffers *buffers, int set,
                         struct error *error);

/* Runs random blocks of both references on the inputs of a set, as run_references. Elements of the
   reference's outputs that none of them wrote have the bits *unwritten. */
int sampled_blocks_run(const struct verify_case *one, const struct buffers *buffers, int set,
                       struct reference_runs *runs, uint64_t *unwritten, struct error *error);

#endif
