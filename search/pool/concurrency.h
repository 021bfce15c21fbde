/*
 * concurrency: the limit on a local pool's trials in flight: as few as keep its devices busy,
 * because a genome that is proposed early is proposed with fewer results (search/strategy/README.md
 * has what that costs). Private to the local pool.
 *
 *     struct concurrency concurrency = {0};
 *     concurrency_record(&concurrency.compile, seconds);     // after each compilation
 *     concurrency_record(&concurrency.evaluate, seconds);    // after each trial on a device
 *     int capacity = concurrency_limit(&concurrency, devices, compilers);
 */
#ifndef EVOTILE_POOL_CONCURRENCY_H
#define EVOTILE_POOL_CONCURRENCY_H

/* Duration of a stage, as an exponential moving average over some 32 values. */
struct stage_time {
    double mean_s;
    int count;
};

struct concurrency {
    struct stage_time compile, evaluate;
};

void concurrency_record(struct stage_time *stage, double seconds);

/* Number of trials in flight that keeps `devices` device workers busy with `compilers` compile
   workers; at most all workers and two for each device, which is the value without compilers. By
   Little's law devices * compile / evaluate trials are compiling while no device waits; two
   standard deviations are added for random arrivals (square-root staffing: Halfin and Whitt,
   1981), and for each device one running trial and two queued ones. */
int concurrency_limit(const struct concurrency *concurrency, int devices, int compilers);

#endif
