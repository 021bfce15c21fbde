/* throttle: decides whether a run pauses a GPU.
 *
 * It pauses while another process computes on the GPU (--nice), or while the GPU is too hot
 * (--max-temperature). This is only the decision: the caller reads NVML and pauses the worker.
 *
 *     struct throttle throttle = {.nice = true, .max_temperature_c = 80};
 *     if (throttle_decide(&throttle, other_processes, temperature_c))
 *         log_info("paused: %s", throttle.reason);
 */
#ifndef EVOTILE_SESSION_THROTTLE_H
#define EVOTILE_SESSION_THROTTLE_H

#include <stdbool.h>

/* Hysteresis: a GPU that was too hot continues at this many degrees below the limit. */
enum { THROTTLE_COOLING_C = 5 };

struct throttle {
    bool nice;             /* pause while other processes use the GPU */
    int max_temperature_c; /* 0: no limit */
    bool hot;              /* was above the limit, and has not cooled down yet */
    char reason[160];      /* of the last decision to pause */
};

/* Returns true if the GPU should be paused now. `others`: how many other processes compute on it.
   Negative values are unknown, and no reason to pause. */
bool throttle_decide(struct throttle *throttle, int others, int temperature_c);

#endif
