#include "analysis/front.h"

#include <math.h>
#include <stdlib.h>

static const double clear_latency = 0.005, clear_energy = 0.01;

bool front_point_of(const struct outcome *outcome, struct front_point *point) {
    *point = (struct front_point){.us = outcome_latency_us(outcome),
                                  .mj = outcome_energy_mj(outcome),
                                  .us_error = outcome_score_error(outcome),
                                  .mj_error = outcome_energy_error(outcome)};
    return point->us > 0 && point->mj > 0;
}

static int by_latency(const void *left, const void *right) {
    const struct front_point *a = left, *b = right;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return a->mj != b->mj ? (a->mj < b->mj ? -1 : 1)
                          : (a->trial > b->trial) - (a->trial < b->trial);
}

static bool is_clearly_less(double a, double a_error, double b, double b_error, double least) {
    return 1 - a / b > fmax(least, 2 * hypot(a_error, b_error));
}

static bool dominates(const struct front_point *a, const struct front_point *b) {
    return a->us <= b->us && a->mj <= b->mj &&
           (is_clearly_less(a->us, a->us_error, b->us, b->us_error, clear_latency) ||
            is_clearly_less(a->mj, a->mj_error, b->mj, b->mj_error, clear_energy));
}

/* In the order of latency only earlier points dominate, and of these only points on the front are
   asked: what a dominated point dominates, the one that dominates it does, unless its error is
   larger. */
void front_mark(struct front_point *points, int count) {
    if (count > 0) /* else there may be no array */
        qsort(points, (size_t)count, sizeof *points, by_latency);
    for (int i = 0; i < count; i++) {
        points[i].on_front = true;
        for (int k = 0; k < i && points[i].on_front; k++)
            points[i].on_front = !(points[k].on_front && dominates(&points[k], &points[i]));
    }
}
