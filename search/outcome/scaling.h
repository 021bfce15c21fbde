/*
 * scaling: checks that a kernel's time grows with its work from case to case. It detects a grid
 * that serialises independent work: no single latency looks wrong, but eight times the work takes
 * seventeen times as long.
 *
 * Work is what the template counts: operations and bytes. Whether a kernel is compute-bound or
 * memory-bound, its time should not grow faster than the faster-growing of the two. Cases are
 * sorted by operations, then bytes; a case is flagged if its time, relative to the previous case,
 * grew more than 1.5 times as fast as that. Slower growth is never flagged: small cases do not fill
 * a GPU.
 *
 *     struct scaling_case cases[] = {{operations, bytes, time_us}, ...};
 *     struct scaling_flag flags[COUNT];
 *     int count = scaling_check(cases, COUNT, flags);
 */
#ifndef EVOTILE_OUTCOME_SCALING_H
#define EVOTILE_OUTCOME_SCALING_H

#include "outcome/outcome.h"

#define SCALING_LIMIT 1.5

struct scaling_case {
    double operations, bytes; /* per call; 0: not counted */
    double time_us;           /* warm median */
};

struct scaling_flag {
    int from, to;                  /* indices of cases; `to` is flagged */
    double time_ratio, work_ratio; /* to / from */
};

/* Recovers the counts of a stored case: its rates times its warm median. */
struct scaling_case scaling_from_outcome(const struct case_outcome *outcome);

/* Fills at most count - 1 flags, in the order of work, and returns their number. Skips cases
   without a time or without any count. BUG if there are more than CASES_MAX cases. */
int scaling_check(const struct scaling_case *cases, int count, struct scaling_flag *flags);

#endif
