#include "cmd/pause.h"

#include <stdio.h>

bool pause_decide(struct pause *pause, int others, int temperature_c) {
    int most_c = pause->max_temperature_c;
    bool cooled = temperature_c < 0 || temperature_c <= most_c - PAUSE_COOLING_C;
    pause->hot = most_c > 0 && (pause->hot ? !cooled : temperature_c > most_c);
    if (pause->hot)
        snprintf(pause->reason, sizeof pause->reason,
                 "the GPU is at %d degrees Celsius; continues at %d", temperature_c,
                 most_c - PAUSE_COOLING_C);
    else if (pause->nice && others > 0)
        snprintf(pause->reason, sizeof pause->reason, "%d other process%s on the GPU", others,
                 others == 1 ? "" : "es");
    else
        return false;
    return true;
}
