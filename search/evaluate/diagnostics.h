/*
 * diagnostics: what the author of a candidate needs to repair it: the compiler's whole log, the
 * first wrong elements, the race checker's findings, and what the memory accesses cost. A trial has
 * them if its request asks.
 *
 *     struct diagnostics *diagnostics = diagnostics_new();
 *     diagnostics_set_log(diagnostics, "kernel.cu(3): error: ...");
 *     diagnostics_free(diagnostics);
 *
 * Functions that add something do nothing if `diagnostics` is NULL: nothing asked for it.
 */
#ifndef EVOTILE_EVALUATE_DIAGNOSTICS_H
#define EVOTILE_EVALUATE_DIAGNOSTICS_H

#include "base/error.h"
#include "outcome/outcome.h"
#include "space/space.h"

enum {
    LOG_BYTES_MAX = 256 << 10, /* of a log; the rest is left out, with a line that says so */
    WRONG_ELEMENTS_MAX = 8,
    DIAGNOSED_FAULTS_MAX = 16,
    DIAGNOSED_COSTS_MAX = 8,
};

/* An element of an output that is further from the reference than the output may be. */
struct wrong_element {
    char tensor[NAME_SIZE];
    char index[64]; /* "2,0,17": one number for each dimension */
    double got, wanted;
};

/* A finding of the race checker, or a fault of the emulated device. */
struct diagnostic_fault {
    char kind[48];
    char file[128]; /* of the template; empty: not known */
    int line;       /* 0: not known */
    int other_line; /* of a race: the line of the other access; else 0 */
    char text[512];
};

/* Memory accesses of a line that take more passes or sectors than necessary, on the emulated device.
 */
struct diagnostic_cost {
    char kind[48];
    char file[128]; /* of the template; empty: not known */
    int line;       /* 0: not known */
    int64_t count;  /* instructions of a warp */
    double degree;  /* passes or sectors for each necessary one */
    char text[512];
};

struct diagnostics {
    char *log;           /* owned; NULL: nothing was compiled */
    char case_name[128]; /* of the wrong elements */
    int wrong_count, fault_count, cost_count;
    struct wrong_element wrong[WRONG_ELEMENTS_MAX];
    struct diagnostic_fault faults[DIAGNOSED_FAULTS_MAX];
    struct diagnostic_cost costs[DIAGNOSED_COSTS_MAX];
};

struct diagnostics *diagnostics_new(void);
/* NULL is allowed. */
void diagnostics_free(struct diagnostics *diagnostics);

/* Copies the log, without control characters but line ends and tabs. */
void diagnostics_set_log(struct diagnostics *diagnostics, const char *log);
/* Adds a fault, or a cost, unless there is no room. */
void diagnostics_add_fault(struct diagnostics *diagnostics, const struct diagnostic_fault *fault);
void diagnostics_add_cost(struct diagnostics *diagnostics, const struct diagnostic_cost *cost);
/* Takes from the trial's first half, the compilation, what the second half does not know. */
void diagnostics_keep_log(struct diagnostics *to, const struct diagnostics *compiled);

#endif
