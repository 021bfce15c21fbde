#include "outcome/outcome.h"

#include <string.h>

static const char *const names[VERDICT_COUNT] = {
    [VERDICT_OK] = "ok",
    [VERDICT_INVALID] = "invalid",
    [VERDICT_COMPILE_FAILED] = "compile_failed",
    [VERDICT_OVER_LIMIT] = "over_limit",
    [VERDICT_LAUNCH_FAILED] = "launch_failed",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_RACY] = "racy",
    [VERDICT_WROTE_OUTSIDE] = "wrote_outside",
    [VERDICT_CHANGED_INPUT] = "changed_input",
    [VERDICT_IMPOSSIBLE] = "impossible",
    [VERDICT_TOO_SLOW] = "too_slow",
    [VERDICT_TIMEOUT] = "timeout",
    [VERDICT_CRASHED] = "crashed",
};

const char *verdict_name(enum verdict verdict) {
    return names[verdict];
}

int verdict_parse(const char *name) {
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        if (strcmp(names[verdict], name) == 0)
            return verdict;
    return -1;
}
