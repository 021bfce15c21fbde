#include "session/throttle.h"

#include <stdio.h>

bool throttle_decide(struct throttle *throttle, int others, int temperature_c) {
    int most_c = throttle->max_temperature_c;
    bool cooled = temperature_c < 0 || temperature_c <= most_c - THROTTLE_COOLING_C;
    throttle->hot = most_c > 0 && (throttle->hot ? !cooled : temperature_c > most_c);
    if (throttle->hot)
        snprintf(throttle->reason, sizeof throttle->reason,
                 "the GPU is at %d degrees Celsius; continues at %d", temperature_c,
                 most_c - THROTTLE_COOLING_C);
    else if (throttle->nice && others > 0)
        snprintf(throttle->reason, sizeof throttle->reason, "%d other process%s on the GPU", others,
                 others == 1 ? "" : "es");
    else
        return false;
    return true;
}
