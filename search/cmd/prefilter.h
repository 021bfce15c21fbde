/*
 * prefilter: which genomes are not worth a trial, by what is predicted of them: those of the worst
 * share of all that was predicted so far for the goal, once that are enough to say so. What was
 * filtered counts among them, so that the limit follows the search.
 *
 *     struct prefilter prefilter = {.share = 0.5};
 *     double limit_us = prefilter_limit(&prefilter);    // what is predicted to take longer goes
 *     prefilter_note(&prefilter, predicted_us);
 *     prefilter_release(&prefilter);
 *
 * The limit follows from the set of what was noted, whatever the order.
 */
#ifndef EVOTILE_CMD_PREFILTER_H
#define EVOTILE_CMD_PREFILTER_H

enum { PREFILTER_LEAST = 24 }; /* predictions before anything is filtered */
#define PREFILTER_MOST 0.95

struct prefilter {
    double share; /* below 1; 0: nothing is filtered */
    int count, room;
    double *sorted_us;
};

void prefilter_note(struct prefilter *prefilter, double predicted_us);
/* INFINITY where nothing is to be filtered. */
double prefilter_limit(const struct prefilter *prefilter);
void prefilter_release(struct prefilter *prefilter);

#endif
