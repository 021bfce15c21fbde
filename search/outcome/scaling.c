#include "outcome/scaling.h"

#include "base/error.h"

#include <math.h>

struct scaling_case scaling_from_outcome(const struct case_outcome *outcome) {
    double time_us = outcome->warm.p50_us;
    return (struct scaling_case){outcome->tflops * 1e6 * time_us, outcome->gb_per_s * 1e3 * time_us,
                                 time_us};
}

static bool is_timed(const struct scaling_case *it) {
    return it->time_us > 0 && (it->operations > 0 || it->bytes > 0);
}

static bool has_less_work(const struct scaling_case *a, const struct scaling_case *b) {
    return a->operations < b->operations || (a->operations == b->operations && a->bytes < b->bytes);
}

/* 0 if one of the two cases does not count it. */
static double growth_ratio(double from, double to) {
    return from > 0 && to > 0 ? to / from : 0;
}

int scaling_check(const struct scaling_case *cases, int count, struct scaling_flag *flags) {
    int order[CASES_MAX];
    int timed = 0, flagged = 0;
    if (count > CASES_MAX)
        BUG("%d cases", count);
    for (int i = 0; i < count; i++) {
        int at = timed;
        if (!is_timed(&cases[i]))
            continue;
        for (; at > 0 && has_less_work(&cases[i], &cases[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
        timed++;
    }
    for (int i = 1; i < timed; i++) {
        const struct scaling_case *from = &cases[order[i - 1]], *to = &cases[order[i]];
        double work = fmax(growth_ratio(from->operations, to->operations),
                           growth_ratio(from->bytes, to->bytes));
        double time = to->time_us / from->time_us;
        if (work > 0 && time > SCALING_LIMIT * work)
            flags[flagged++] = (struct scaling_flag){order[i - 1], order[i], time, work};
    }
    return flagged;
}
