/*
 * buffers: the tensors of one case on the device, and the launches over them.
 *
 *     struct buffers buffers;
 *     if (buffers_init(&buffers, comparator, device, template, &plan, 1, &error) < 0) return -1;
 *     buffers_fill(&buffers, 0, seed, &error);
 *     buffers_poison(&buffers, 0, POISON_NAN, seed, &error);
 *     buffers_sequence(&buffers, 0, module, &sequence);
 *     buffers_release(&buffers);
 *
 * A *set* is one copy of every tensor; calls that rotate through several sets need several.
 */
#ifndef EVOTILE_EVALUATE_BUFFERS_H
#define EVOTILE_EVALUATE_BUFFERS_H

#include "evaluate/compare.h"

enum { SETS_MAX = 16 };

/* Where tensors are placed. A tensor that borders on unmapped memory traps even reads beyond it;
   on a device that traps every stray access all placements are equal. */
enum placement {
    PLACED_ANYWHERE,
    PLACED_AT_START, /* unmapped memory before the first byte */
    PLACED_AT_END,   /* unmapped memory behind the last byte, but for the tensor's alignment */
};

struct buffers {
    struct comparator *comparator;
    struct device *device;
    const struct template *template;
    const struct launch_plan *plan; /* of the candidate; must outlive the buffers */
    int set_count;
    uint64_t tensors[SETS_MAX][TENSORS_MAX];           /* 0: not present */
    struct tensor_map maps[SETS_MAX][TENSOR_MAPS_MAX]; /* sequences point to these */
    struct device_launch
        *more[SETS_MAX]; /* the steps of a set's sequence that it has no room for */
    bool filled[SETS_MAX];
    const struct stress *stress[SETS_MAX];  /* how each was filled last: NULL: ordinary random */
    uint64_t seeds[SETS_MAX];               /* numbers; and with which seed */
    uint64_t inputs[SETS_MAX];              /* checksums, as filled */
    int64_t scalars[SETS_MAX][SCALARS_MAX]; /* the bytes of each, little-endian */
    bool scalars_held;                      /* sequences have them: fills leave them as they are */
    bool read_only; /* whether the last buffers_protect made all inputs read-only */
};

/* On failure nothing stays allocated. */
int buffers_init(struct buffers *buffers, struct comparator *comparator, struct device *device,
                 const struct template *template, const struct launch_plan *plan, int set_count,
                 struct error *error);
int buffers_init_placed(struct buffers *buffers, struct comparator *comparator,
                        struct device *device, const struct template *template,
                        const struct launch_plan *plan, int set_count, enum placement placement,
                        struct error *error);
void buffers_release(struct buffers *buffers);
/* Whether a set has a tensor of its own: an input that is a variable of the module is the same in
   all sets. */
bool buffers_owns(const struct buffers *buffers, int set, int tensor);

/* Fills a set with ordinary inputs, a function of the seed and the tensor's index in the template,
   so that no two tensors are alike: random numbers, or what the template declares; then runs its
   setup on them. Draws the scalars. Records their checksum for buffers_changed. */
int buffers_fill(struct buffers *buffers, int set, uint64_t seed, struct error *error);
/* Fills a set quickly, for callers that check no results: floating-point numbers of either sign
   from one half to one, repeating after a few thousand; integers are 0, because they may be
   indices. */
int buffers_fill_pattern(struct buffers *buffers, int set, struct error *error);
/* Fills a set by one of the template's stress recipes. */
int buffers_fill_stress(struct buffers *buffers, int set, const struct stress *stress,
                        uint64_t seed, struct error *error);
/* Makes a set's inputs read-only for the candidate, or writable again. Returns 1 if all are
   read-only, 0 if the memory or the device does not support it, -1 with the error. */
int buffers_protect(struct buffers *buffers, int set, bool read_only, struct error *error);
/* Returns 1 if the inputs of a filled set have changed since. */
int buffers_changed(struct buffers *buffers, int set, struct error *error);
/* Records the checksum of inputs that were changed on purpose. */
int buffers_record(struct buffers *buffers, int set, struct error *error);
/* Poisons outputs and workspaces, each with other words; or the tensors of a role alone. */
int buffers_poison(struct buffers *buffers, int set, enum poison poison, uint64_t seed,
                   struct error *error);
int buffers_poison_role(struct buffers *buffers, int set, enum role role, enum poison poison,
                        uint64_t seed, struct error *error);
/* One checksum over all tensors of a role. */
int buffers_checksum(struct buffers *buffers, int set, enum role role, uint64_t *checksum,
                     struct error *error);
/* Builds one call: clears the workspaces that need it, then runs the plan's launches. The
   sequence points into the buffers, and a long one is valid until the set's next sequence. */
void buffers_sequence(struct buffers *buffers, int set, struct device_module *module,
                      struct device_sequence *sequence);

#endif
