/*
 * pause: whether a run leaves the GPU alone for now: because another process computes on it
 * (--nice), or because it is too hot (--max-temperature). Only the decision: whoever reads NVML
 * tells what was read, and acts on the answer.
 *
 *     struct pause pause = {.nice = true, .max_temperature_c = 80};
 *     bool paused = pause_decide(&pause, watch_others(watch), state.temperature_c);
 *     if (paused)
 *         log_info("paused: %s", pause.reason);
 */
#ifndef EVOTILE_CMD_PAUSE_H
#define EVOTILE_CMD_PAUSE_H

#include <stdbool.h>

enum { PAUSE_COOLING_C = 5 };

struct pause {
    bool nice;             /* yields to other processes */
    int max_temperature_c; /* 0: none */
    bool hot;              /* was above, and has not cooled by PAUSE_COOLING_C yet */
    char reason[160];      /* of the last decision to pause */
};

/* `others` is how many other processes compute on the GPU, `temperature_c` its temperature; a
   negative number is unknown, and no reason to pause. */
bool pause_decide(struct pause *pause, int others, int temperature_c);

#endif
