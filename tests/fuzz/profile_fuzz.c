/* Any text as a report of ncu: names in the result are terminated, and numbers are present or
   absent; a report without a kernel gives an error. */
#include "base/memory.h"
#include "pool/profile.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct profile *profile = xcalloc(1, sizeof *profile);
    char *report = strndup((const char *)data, size);
    if (report == NULL)
        abort();
    profile_read(report, profile);
    if (profile->count < 0 || profile->count > PROFILED_MAX)
        BUG("%d kernels", profile->count);
    if (profile->count == 0 && profile->problem[0] == '\0')
        BUG("nothing was counted, and nothing says why");
    for (int k = 0; k < profile->count; k++)
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            if (isinf(profile->kernels[k].values[m]))
                BUG("an infinite %s", profile_metric_name((enum profile_metric)m));
    free(profile);
    free(report);
    return 0;
}
