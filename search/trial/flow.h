/*
 * flow: how many trials a crew has under way: as few as keep its devices busy, for whatever is
 * asked early is asked with fewer answers (search/evolve/README.md has what that costs). Private to
 * trial/crew.c.
 *
 *     struct flow flow = {0};
 *     flow_note(&flow.compile, seconds);          // after each compilation
 *     flow_note(&flow.judge, seconds);            // after each trial on a device
 *     int capacity = flow_capacity(&flow, devices, compilers);
 */
#ifndef EVOTILE_TRIAL_FLOW_H
#define EVOTILE_TRIAL_FLOW_H

/* Seconds that a stage takes, as a mean of which a note is forgotten after some 32 others. */
struct flow_stage {
    double mean_s;
    int count;
};

struct flow {
    struct flow_stage compile, judge;
};

void flow_note(struct flow_stage *stage, double seconds);

/* Trials that keep `devices` workers of devices busy, where so many workers compile for them; never
   more than all workers and two for each device, which is what it is without compilers. By Little's
   law devices * compile / judge are compiled at a time while no device waits; two deviations of
   what comes and goes by chance are added (square-root staffing: Halfin and Whitt, 1981), and for
   each device the one that it has and two that wait. */
int flow_capacity(const struct flow *flow, int devices, int compilers);

#endif
