/*
 * outcome: what one trial came to. Plain values that pass between the half that searches and the
 * half that compiles, checks and times; neither needs to know the other.
 *
 * Units: microseconds a call of the candidate; bytes; relative errors against the fp64 reference,
 * relative to at least the smallest normal numbers of the output's dtype.
 */
#ifndef EVOTILE_OUTCOME_OUTCOME_H
#define EVOTILE_OUTCOME_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

/* In the order of the gates, as far as they have one. Names and their words for exchanged files are
   in one table. */
enum verdict {
    VERDICT_OK,
    VERDICT_INVALID,        /* a constraint does not hold */
    VERDICT_FILTERED,       /* forecast to be too slow to try: no failure */
    VERDICT_COMPILE_FAILED, /* NVRTC refused the source */
    VERDICT_OVER_LIMIT,     /* registers or shared memory beyond the config's limit */
    VERDICT_LAUNCH_FAILED,  /* the driver refused the launch */
    VERDICT_WRONG,          /* the output differs from the reference */
    VERDICT_RACY,           /* two runs on the same input differ */
    VERDICT_WROTE_OUTSIDE,  /* a red zone was touched, or an access was out of bounds */
    VERDICT_CHANGED_INPUT,
    VERDICT_IMPOSSIBLE, /* faster than the device allows */
    VERDICT_TOO_SLOW,
    VERDICT_TIMEOUT,
    VERDICT_CRASHED, /* the worker died, or the device lost its context */
    VERDICT_COUNT
};

const char *verdict_name(enum verdict verdict);
/* What stands for it in files of others: T4's "invalidity", and the class of error in a Kernel
   Tuner cache (NULL for VERDICT_OK). Several verdicts share a word. */
const char *verdict_t4_name(enum verdict verdict);
const char *verdict_cache_name(enum verdict verdict);
/* The verdict of that name, or -1. */
int verdict_parse(const char *name);

enum { REASON_SIZE = 512, CASES_MAX = 64, SAMPLES_MAX = 256 };

struct resources {
    int registers;    /* a thread */
    int smem_bytes;   /* a block, static and dynamic */
    int local_bytes;  /* a thread */
    int spill_bytes;  /* stores and loads, from the compiler's report */
    int ctas_per_sm;  /* resident at once */
    double occupancy; /* resident warps / the multiprocessor's most, 0 to 1 */
};

struct errors {
    double relative_l2;     /* of the whole output */
    double row_relative_l2; /* of its worst row */
    double max_absolute;    /* of its worst element */
};

/* The timing of one case. */
struct latency {
    int sample_count; /* 0: not timed */
    double p10_us, p50_us, p90_us;
    double samples_us[SAMPLES_MAX];
};

struct case_outcome {
    struct errors errors;
    struct errors bound; /* what was honest on the same inputs (trial/bound.h); 0: not verified */
    struct latency warm; /* inputs rotate; caches hold what they can */
    struct latency cold; /* L2 flushed before each call; not every trial is timed cold */
    int ctas;            /* of the largest launch */
    double tflops;       /* of the warm median, by the operations that the template counts */
    double gb_per_s;     /* of the warm median, by the bytes that cannot be avoided */
    double ceiling;      /* share of what the device was measured to allow, 0 to 1; 0: not known */
};

/* How the GPU did while the trial was timed; all 0 where nobody could look. */
struct conditions {
    int sm_mhz_low, sm_mhz_high; /* over the readings before and after each block */
    int memory_mhz;
    int temperature_c; /* the highest */
    double power_w;    /* the highest */
    int64_t slowdowns; /* bits of NVML's clocks event reasons, all together */
    int discarded;     /* blocks in which the GPU was throttled */
};

/* A duel with the champion of the time. */
enum duel_result { DUEL_NONE, DUEL_WON, DUEL_LOST, DUEL_UNDECIDED };

struct duel_outcome {
    enum duel_result result;
    int blocks;
    double ratio, low, high; /* challenger's time / champion's, and its 99 % interval */
};

struct outcome {
    enum verdict verdict;
    char reason[REASON_SIZE];   /* one line; empty when ok */
    bool predicted;             /* latencies are predictions */
    bool limited_range;         /* coarse arithmetic, tested within a smaller range of inputs */
    bool raced;                 /* dropped by the race: few samples, slower than the elite */
    struct resources resources; /* of the launch with the most shared memory */
    double compile_s, verify_s, measure_s;
    double score_us; /* geometric mean of warm p50 over the cases: lower is better; 0 unless ok.
                        Above the champion's after a duel that was not won */
    struct duel_outcome duel;
    struct conditions conditions;
    int case_count;                       /* in the order of the goal's cases */
    struct case_outcome cases[CASES_MAX]; /* last: mostly room, of which that past the count holds
                                             anything */
};

/* All 0, and of no case. */
void outcome_clear(struct outcome *outcome);
/* Of so many cases, which are all 0. */
void outcome_set_cases(struct outcome *outcome, int count);
void outcome_copy(struct outcome *to, const struct outcome *from);

/* By what share of itself the score may be off for want of samples, as a standard error: of the
   medians that it is the mean of, from how many samples there were and how far they scatter; of a
   duel that was not won, from its interval. What another placement or another day would change is
   not in it. 0 where nothing is known: a prediction, a look-up, a case of one sample. */
double outcome_score_error(const struct outcome *outcome);

#endif
