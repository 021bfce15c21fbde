/*
 * rules: what a template advises where to look next, and when: "fewer than 4 blocks a
 * multiprocessor: favour a higher KV_SPLITS, a lower BLOCK_M". A rule has a condition over
 * everything that constraints may read and over what was *measured* of a genome, and the genes
 * that it would move. It leads proposals and decides nothing: a genome that ignores it is as valid
 * as any.
 *
 *     int rule = space_add_rule(space, "CTAS < 4 * SM_COUNT", "multiprocessors idle", &error);
 *     space_add_favour(space, rule, "KV_SPLITS", "higher", &error);
 *     struct measures measures = {0};
 *     measures_put(&measures, MEASURE_REGISTERS, 168);
 *     uint32_t holding = space_rules(space, &genome, &measures);
 *     if (holding >> rule & 1 && breed_rule(space, rule, &random, &genome, &child)) ...
 */
#ifndef EVOTILE_GENOME_RULES_H
#define EVOTILE_GENOME_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct expression;
struct genome;
struct random;
struct space;

enum { RULES_MAX = 32, FAVOURS_MAX = 8, BECAUSE_SIZE = 256 };

/* What a rule may read of a trial that passed, beside the space's own names: MEASURED_REGISTERS ...
   and, of one that a profiler counted too, PROFILED_SM ... (trial/profile.h says how). */
enum measure {
    MEASURE_REGISTERS, /* a thread, as the driver says */
    MEASURE_SMEM_BYTES,
    MEASURE_LOCAL_BYTES,
    MEASURE_SPILL_BYTES,
    MEASURE_CTAS_PER_SM,
    MEASURE_OCCUPANCY,             /* per cent */
    MEASURE_PROFILED,              /* this one and all that follow */
    MEASURE_SM = MEASURE_PROFILED, /* % */
    MEASURE_MEMORY,                /* % */
    MEASURE_DRAM,                  /* % */
    MEASURE_DRAM_BYTES,
    MEASURE_SM_ACTIVE,   /* % */
    MEASURE_WARPS,       /* % */
    MEASURE_TENSOR_PIPE, /* % */
    MEASURE_BANK_CONFLICTS,
    MEASURE_WAVEFRONTS,
    MEASURE_L2_SECTORS,
    MEASURE_L2_HITS, /* % */
    MEASURE_COUNT
};

/* All zeros: nothing is known. */
struct measures {
    uint32_t known; /* a bit for each measure; a rule that reads another does not hold */
    int64_t values[MEASURE_COUNT];
};

/* As rules write it. */
const char *measure_name(enum measure measure);

void measures_put(struct measures *measures, enum measure measure, int64_t value);

/* One gene that a rule would move: by steps in its domain, or to a value. */
struct favour {
    int gene;
    int step;  /* 1: higher, -1: lower, 0: to `value` */
    int value; /* an index in the domain */
};

struct rule {
    struct expression *when;
    uint32_t reads; /* a bit for each measure */
    char because[BECAUSE_SIZE];
    int favour_count;
    struct favour favours[FAVOURS_MAX];
};

struct rules {
    int count;
    int first_slot;    /* of the measures, right behind the space's own */
    uint32_t profiled; /* a bit for each rule that reads what a profiler counts */
    struct rule rows[RULES_MAX];
};

/* After the last name was added to the space; returns the rule's index, or -1. */
int space_add_rule(struct space *space, const char *when, const char *because, struct error *error);

/* `towards`: "higher", "lower" (of a gene of integers), or one of its values. */
int space_add_favour(struct space *space, int rule, const char *gene, const char *towards,
                     struct error *error);

/* A bit for each rule whose condition holds for this valid genome, in at least half of the
   environments, and which would move at least one gene. */
uint32_t space_rules(const struct space *space, const struct genome *genome,
                     const struct measures *measures);

/* A child with some of the genes moved that the rule favours, each by a step or further; valid,
   canonical and another genome, or false. */
bool breed_rule(const struct space *space, int rule, struct random *random,
                const struct genome *parent, struct genome *child);

/* For space_free. */
void rules_release(struct rules *rules);

#endif
