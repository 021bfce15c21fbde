/*
 * scaling: whether a kernel's time grows with its work from case to case. A grid that serialises
 * what could run side by side shows here: no single latency looks wrong, but eight times the work
 * takes seventeen times as long.
 *
 * Work is what the template counts, operations and bytes. Whatever binds a kernel, its time has no
 * reason to grow faster than the faster-growing of the two: a case is flagged whose time, beside
 * the case before it in the order of operations (then of bytes), grew more than 1.5 times faster
 * than that. Growing slower is never flagged: small cases do not fill a GPU.
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
    double operations, bytes; /* of one call; 0 where not counted */
    double time_us;           /* warm median */
};

struct scaling_flag {
    int from, to;                  /* indices of cases; `to` is the one that is flagged */
    double time_ratio, work_ratio; /* to / from */
};

/* What a stored case says: its rates are those counts over its warm median. */
struct scaling_case scaling_of(const struct case_outcome *outcome);

/* Fills at most count - 1 flags, in the order of work, and returns how many. Cases without a time
   or without any count are passed over. At most CASES_MAX cases (more is our bug). */
int scaling_check(const struct scaling_case *cases, int count, struct scaling_flag *flags);

#endif
