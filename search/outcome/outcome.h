/*
 * outcome: the result of one trial. Plain values that pass between the half that searches and the
 * half that compiles, verifies and times; neither depends on the other.
 *
 * Units: microseconds per call of the candidate; bytes; errors relative to the fp64 reference,
 * whose magnitude counts as at least the smallest normal number of the output's dtype.
 *
 *     struct outcome outcome = {0};
 *     outcome_set_cases(&outcome, 1);
 *     double *sample_us = latency_reserve(&outcome.cases[0].warm, 1);
 *     *sample_us = 12.5;
 *     outcome.cases[0].warm.sample_count++;
 *     outcome_release(&outcome);
 *
 * outcome/fields.h lists the plain fields once, for all that sends, stores or prints them.
 */
#ifndef EVOTILE_OUTCOME_OUTCOME_H
#define EVOTILE_OUTCOME_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the gates, where they are ordered. outcome.c has one table of the names, here and
   in exported files. */
enum verdict {
    VERDICT_OK,
    VERDICT_INVALID,        /* a constraint does not hold */
    VERDICT_FILTERED,       /* predicted to be too slow to try; not a failure */
    VERDICT_COMPILE_FAILED, /* NVRTC rejected the source */
    VERDICT_OVER_LIMIT,     /* registers or shared memory beyond the config's limit */
    VERDICT_LAUNCH_FAILED,  /* the driver rejected the launch */
    VERDICT_WRONG,          /* the output differs from the reference */
    VERDICT_RACY,           /* two runs with the same input differ */
    VERDICT_WROTE_OUTSIDE,  /* a red zone was touched, or an access was out of bounds */
    VERDICT_CHANGED_INPUT,
    VERDICT_UNVERIFIED, /* no input was checked: every case takes too long on this device */
    VERDICT_IMPOSSIBLE, /* faster than the device allows */
    VERDICT_TOO_SLOW,
    VERDICT_TIMEOUT,
    VERDICT_CRASHED, /* the worker died, or the device lost its context */
    VERDICT_LOST,    /* its workers were killed from outside, twice; says nothing of the genome */
    VERDICT_COUNT
};

const char *verdict_name(enum verdict verdict);
/* Its equivalent in exported files: T4's "invalidity", and the error class in a Kernel Tuner cache
   (NULL for VERDICT_OK). Several verdicts share one. */
const char *verdict_t4_name(enum verdict verdict);
const char *verdict_cache_name(enum verdict verdict);
/* The verdict with that name, or -1. */
int verdict_parse(const char *name);

/* How far a candidate with that verdict came. The verdict alone cannot tell a compiler that ran out
   of time from a kernel that did: both are VERDICT_TIMEOUT, and count as compiled. */
enum verdict_reach {
    REACHED_NOTHING,  /* not tried, or refused by a constraint, the compiler or a limit */
    REACHED_COMPILER, /* it compiled, and did not run to its end, or nothing of it was checked */
    REACHED_RUN,      /* it ran to its end, and a gate refused what it did */
    REACHED_END       /* it passed all gates */
};
enum verdict_reach verdict_reach(enum verdict verdict);
/* Appends how many trials have each verdict: "70 ok (30 dropped by the race), 50 over_limit". */
void verdict_print_counts(const int64_t counts[VERDICT_COUNT], int64_t raced, char *text,
                          size_t size);

enum { REASON_SIZE = 512, CHECKS_SIZE = 512, USES_SIZE = 256, CASES_MAX = 64, SAMPLES_MAX = 256 };

/* Of a run: a goal is a solution for a case, or for all cases together. */
enum { GOALS_MAX = 256 };

struct resources {
    int registers;   /* per thread */
    int smem_bytes;  /* per block, static and dynamic */
    int local_bytes; /* per thread; of the launch with the most */
    int spill_bytes; /* stores and loads, from the compiler's report; of the kernel with the most */
    int ctas_per_sm; /* resident concurrently */
    double occupancy; /* resident warps / the multiprocessor's maximum, 0 to 1 */
};

struct errors {
    double relative_l2;     /* of the whole output */
    double row_relative_l2; /* of the worst row */
    double max_absolute;    /* of the worst element */
};

/* The timing of one case. It owns its samples, at most SAMPLES_MAX. */
struct latency {
    int sample_count; /* 0: not timed */
    double p10_us, p50_us, p90_us;
    double *samples_us;
};

/* Fresh memory and freshly loaded code, in which a case is timed: addresses alone change a call's
   time, steadily. Medians of the fastest and of the slowest one; 0 unless there are several. */
struct placements {
    int count; /* 0: not known, as in runs of earlier versions */
    double least_us, most_us;
};

/* The energy of warm calls, by the GPU's own counter (evaluate/energy.h); all 0: not measured. */
struct energy {
    double mj;         /* millijoules a call, above what the idle GPU would have used meanwhile */
    double error;      /* the relative standard error of that, within one measurement */
    double watts;      /* mean power while the calls ran, idle power included */
    double idle_watts; /* with the context open and nothing running */
};

/* Less than what any element of any dtype can be off by, relative to its tensor. */
#define EXACT_BOUND 1e-30

struct case_outcome {
    struct errors errors;
    struct errors bound; /* what they may be on the same inputs (evaluate/error_bound.h), of outputs
                            that must be equal EXACT_BOUND; 0: not verified */
    struct latency warm; /* inputs rotate; caches stay warm */
    struct latency cold; /* L2 flushed before each call; not every trial is timed cold */
    struct placements placements; /* of the warm samples */
    struct energy energy;
    int ctas;        /* of the largest launch */
    double tflops;   /* at the warm median, from the operations that the template counts */
    double gb_per_s; /* at the warm median, from the compulsory bytes */
    double ceiling;  /* fraction of the measured roofline, 0 to 1; 0: unknown */
    double weight;   /* in means over the cases, of a joint goal whose config has weights; 0: 1 */
};

/* The GPU's state while the trial was timed; all 0 without NVML readings. */
struct conditions {
    int sm_mhz_low, sm_mhz_high; /* range of the readings before and after each block */
    int sm_mhz;                  /* their median; 0: not known, as in runs of earlier versions */
    int memory_mhz;
    int temperature_c; /* maximum */
    double power_w;    /* maximum */
    int64_t slowdowns; /* union of NVML's clocks event reasons */
    int discarded;     /* blocks discarded because the GPU was throttled */
};

/* Whether power held the clock down in one of the readings: NVML's software power cap. There the
   genome that needs less energy is the faster one. */
bool conditions_power_limited(const struct conditions *conditions);
enum { CONDITIONS_TEXT_SIZE = 96 };
/* Prints "1620 MHz (1560 to 1980), up to 698 W, at the power limit"; nothing without readings. */
const char *conditions_print(const struct conditions *conditions, char text[CONDITIONS_TEXT_SIZE]);

/* The result of a duel against the champion of that time. */
enum duel_result { DUEL_NONE, DUEL_WON, DUEL_LOST, DUEL_UNDECIDED };

struct duel_outcome {
    enum duel_result result;
    int blocks;
    double ratio, low, high; /* challenger's time / champion's, with its 99 % interval */
};

struct outcome {
    enum verdict verdict;
    char reason[REASON_SIZE];   /* one line; empty when ok */
    char checks[CHECKS_SIZE];   /* what a champion passed, one line (evaluate/checks.h); empty: its
                                   final checks did not run */
    char uses[USES_SIZE];       /* what the kernel uses that an honest one rarely needs, such as
                                   clocks: words with commas; empty: nothing */
    bool predicted;             /* latencies are predictions */
    bool limited_range;         /* coarse arithmetic, tested with a smaller range of inputs */
    bool raced;                 /* stopped early by the race: few samples, slower than the elite */
    struct resources resources; /* of the launch with the most shared memory, but local memory */
    double compile_s, verify_s, measure_s;
    double score_us; /* outcome_mean of the warm p50: lower is better; 0 unless ok.
                        After a duel that was not won, above the champion's. In a search that
                        minimises another quantity, that one (outcome/minimised.h) */
    struct duel_outcome duel;
    struct conditions conditions;
    int case_count;             /* at most CASES_MAX */
    struct case_outcome *cases; /* in the order of the goal's cases; owned. NULL without cases */
};

/* `checks` for a reader: "not recorded" if it is empty, as in runs of earlier versions. */
const char *outcome_checks(const struct outcome *outcome);

/* By how much the slowest placement exceeds the fastest one, at the case where that is most: 0.07
   for 7 %. NaN if no case was timed in several. */
double outcome_placement_spread(const struct outcome *outcome);
/* Beyond this a figure is shown with its spread. */
#define PLACEMENT_SPREAD_SHOWN 0.03

/* A weight is a share of time or a number of calls; beyond these limits it is a typing error. */
#define CASE_WEIGHT_MIN 1e-6
#define CASE_WEIGHT_MAX 1e6
bool case_weight_is_valid(double weight);
/* Sets the weights of the cases, one each; NULL: all are equal. */
void outcome_set_weights(struct outcome *outcome, const double *weights);
/* The geometric mean, by the weights of the cases, of a figure of each case. NaN, not a BUG,
   without cases or if a figure is not positive, as a store may hold it. */
double outcome_mean(const struct outcome *outcome, const double *figures);
/* Microseconds a call by the warm medians, the geometric mean over the cases. NaN if one of them
   was not timed. */
double outcome_latency_us(const struct outcome *outcome);
/* Millijoules a call, the geometric mean over the cases. NaN if one of them was not measured. */
double outcome_energy_mj(const struct outcome *outcome);
/* The relative standard error of that. */
double outcome_energy_error(const struct outcome *outcome);
enum { ENERGY_TEXT_SIZE = 96 };
/* Prints "31.24 mJ a call (+- 0.4 %), 512 W of which 98 W idle"; nothing if it was not measured. */
const char *energy_print(const struct energy *energy, char text[ENERGY_TEXT_SIZE]);

/* Frees the cases and sets everything to 0. Accepts a zeroed outcome. */
void outcome_release(struct outcome *outcome);
/* Replaces the cases by `count` zeroed ones. */
void outcome_set_cases(struct outcome *outcome, int count);
/* Moves `from` to `to`, which must own nothing; `from` is zeroed. */
void outcome_move(struct outcome *to, struct outcome *from);

/* Makes room for `count` samples after the present ones and returns it. The caller fills it and
   raises sample_count. */
double *latency_reserve(struct latency *latency, int count);
void latency_release(struct latency *latency);

/* The relative standard error of the score due to the finite number of samples: from the number and
   spread of the samples of each median; after a duel that was not won, from its interval. It does
   not cover variation between placements or days. 0 if unknown: a prediction, a recorded value, a
   case with one sample. */
double outcome_score_error(const struct outcome *outcome);

#endif
