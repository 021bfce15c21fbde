#include "cmd/prefilter.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

void prefilter_note(struct prefilter *prefilter, double predicted_us) {
    if (prefilter->count == prefilter->room) {
        prefilter->room = prefilter->room > 0 ? 2 * prefilter->room : 64;
        prefilter->sorted_us =
            realloc(prefilter->sorted_us, (size_t)prefilter->room * sizeof(double));
        if (prefilter->sorted_us == NULL)
            BUG("out of memory");
    }
    int at = prefilter->count++;
    for (; at > 0 && prefilter->sorted_us[at - 1] > predicted_us; at--)
        prefilter->sorted_us[at] = prefilter->sorted_us[at - 1];
    prefilter->sorted_us[at] = predicted_us;
}

double prefilter_limit(const struct prefilter *prefilter) {
    if (prefilter->share <= 0 || prefilter->count < PREFILTER_LEAST)
        return INFINITY;
    int kept = (int)ceil((1 - prefilter->share) * prefilter->count);
    return prefilter->sorted_us[kept > 0 ? kept - 1 : 0];
}

void prefilter_release(struct prefilter *prefilter) {
    free(prefilter->sorted_us);
    *prefilter = (struct prefilter){.share = prefilter->share};
}
