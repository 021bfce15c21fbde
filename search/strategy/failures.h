/*
 * failures: which values, and pairs of values, failed in every trial that had them.
 *
 *     struct failures *failures = failures_new(space);
 *     failures_add(failures, &genome, failed);
 *     bool skip = failures_contain(failures, &genome);
 *     failures_free(failures);
 */
#ifndef EVOTILE_STRATEGY_FAILURES_H
#define EVOTILE_STRATEGY_FAILURES_H

#include "space/space.h"

struct failures;

enum { FAILURES_SINGLE = -1, FAILURES_MIN = 5 };

/* The trials with one value, or with a pair of values. */
struct failure_count {
    uint32_t trials, failed;
};

/* `space` must outlive the failures. */
struct failures *failures_new(const struct space *space);
void failures_free(struct failures *failures);

void failures_add(struct failures *failures, const struct genome *genome, bool failed);

/* With `second` FAILURES_SINGLE: of one value. */
struct failure_count failures_find(const struct failures *failures, int first, int first_value,
                                   int second, int second_value);

/* Whether all trials failed, and so many that the share of failures among all trials does not
   explain it: with that share at random, one of all the space's values and pairs would look like
   that in less than one archive of a hundred. */
bool failures_always(const struct failures *failures, struct failure_count count);

/* Whether the genome has a pair of values that failed at least FAILURES_MIN times and never
   succeeded. */
bool failures_contain(const struct failures *failures, const struct genome *genome);

#endif
