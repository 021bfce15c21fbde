/*
 * buffers: the tensors of one case on the device, and the launches over them.
 *
 *     struct buffers buffers;
 *     if (buffers_make(&buffers, judge, device, template, &plan, 1, &error) < 0) return -1;
 *     buffers_fill(&buffers, 0, seed, &error);
 *     buffers_poison(&buffers, 0, POISON, &error);
 *     buffers_sequence(&buffers, 0, module, &sequence);
 *     buffers_release(&buffers);
 *
 * A *set* is one copy of every tensor; several sets are for calls that take them in rotation.
 */
#ifndef EVOTILE_TRIAL_BUFFERS_H
#define EVOTILE_TRIAL_BUFFERS_H

#include "trial/judge.h"

enum { SETS_MAX = 16 };

/* Where tensors lie. Flush against unmapped memory, even a read beyond them is trapped; where every
   stray access is trapped anyway, the placements are the same. */
enum placement {
    PLACED_ANYHOW,
    PLACED_AT_START, /* nothing is mapped before their first byte */
    PLACED_AT_END,   /* or behind their last, which is rounded up to 16 bytes */
};

/* NaN in every floating dtype, as any word of it. */
#define POISON       0xffffffffu
#define OTHER_POISON 0x7fff7fffu

struct buffers {
    struct judge *judge;
    struct device *device;
    const struct template *template;
    const struct plan *plan; /* of the candidate; outlives the buffers */
    int set_count;
    uint64_t tensors[SETS_MAX][TENSORS_MAX];           /* 0: not there */
    struct tensor_map maps[SETS_MAX][TENSOR_MAPS_MAX]; /* what sequences point to */
    bool filled[SETS_MAX];
    uint64_t inputs[SETS_MAX]; /* checksums */
    bool read_only;            /* whether inputs could be protected, the last time */
};

/* On failure nothing is left allocated. */
int buffers_make(struct buffers *buffers, struct judge *judge, struct device *device,
                 const struct template *template, const struct plan *plan, int set_count,
                 struct error *error);
int buffers_make_placed(struct buffers *buffers, struct judge *judge, struct device *device,
                        const struct template *template, const struct plan *plan, int set_count,
                        enum placement placement, struct error *error);
void buffers_release(struct buffers *buffers);

/* Random inputs: a function of the seed and the tensor's place in the template, so that no two
   tensors are alike. They are summed up for buffers_changed. */
int buffers_fill(struct buffers *buffers, int set, uint64_t seed, struct error *error);
/* For who looks at no result, in a fraction of the time: floating ones of either sign, from a half
   to one, the same few thousand again and again; integers are 0, for they may be indices. */
int buffers_fill_roughly(struct buffers *buffers, int set, struct error *error);
/* Random inputs by a recipe of the template. */
int buffers_stress(struct buffers *buffers, int set, const struct stress *stress, uint64_t seed,
                   struct error *error);
/* Forbids the candidate to write to a set's inputs, or allows it again to whoever fills them. 1
   where all of them are forbidden, 0 where the memory or the device cannot, -1 with the error. */
int buffers_protect(struct buffers *buffers, int set, bool read_only, struct error *error);
/* 1 when the inputs of a filled set are no longer as they were filled. */
int buffers_changed(struct buffers *buffers, int set, struct error *error);
/* Outputs and workspaces. */
int buffers_poison(struct buffers *buffers, int set, uint32_t word, struct error *error);
/* Over all tensors of a role, in one number. */
int buffers_checksum(struct buffers *buffers, int set, enum role role, uint64_t *checksum,
                     struct error *error);
/* One call: the clearing of workspaces that ask for it, then the plan's launches. It points into
   the buffers. */
void buffers_sequence(struct buffers *buffers, int set, struct device_module *module,
                      struct device_sequence *sequence);

#endif
