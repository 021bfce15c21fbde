#include "outcome/outcome.h"

#include <stddef.h>
#include <string.h>

/* A verdict's name here, as T4's "invalidity", and as Kernel Tuner writes it in place of a time. */
static const struct {
    const char *name, *t4, *cache;
} words[VERDICT_COUNT] = {
    [VERDICT_OK] = {"ok", "correct", NULL},
    [VERDICT_INVALID] = {"invalid", "constraints", "InvalidConfig"},
    [VERDICT_COMPILE_FAILED] = {"compile_failed", "compile", "CompilationFailedConfig"},
    [VERDICT_FILTERED] = {"filtered", "constraints", "InvalidConfig"},
    [VERDICT_OVER_LIMIT] = {"over_limit", "constraints", "InvalidConfig"},
    [VERDICT_LAUNCH_FAILED] = {"launch_failed", "runtime", "RuntimeFailedConfig"},
    [VERDICT_WRONG] = {"wrong", "correctness", "RuntimeFailedConfig"},
    [VERDICT_RACY] = {"racy", "correctness", "RuntimeFailedConfig"},
    [VERDICT_WROTE_OUTSIDE] = {"wrote_outside", "correctness", "RuntimeFailedConfig"},
    [VERDICT_CHANGED_INPUT] = {"changed_input", "correctness", "RuntimeFailedConfig"},
    [VERDICT_IMPOSSIBLE] = {"impossible", "correctness", "RuntimeFailedConfig"},
    [VERDICT_TOO_SLOW] = {"too_slow", "timeout", "RuntimeFailedConfig"},
    [VERDICT_TIMEOUT] = {"timeout", "timeout", "RuntimeFailedConfig"},
    [VERDICT_CRASHED] = {"crashed", "runtime", "RuntimeFailedConfig"},
};

const char *verdict_name(enum verdict verdict) {
    return words[verdict].name;
}

const char *verdict_t4_name(enum verdict verdict) {
    return words[verdict].t4;
}

const char *verdict_cache_name(enum verdict verdict) {
    return words[verdict].cache;
}

int verdict_parse(const char *name) {
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        if (strcmp(words[verdict].name, name) == 0)
            return verdict;
    return -1;
}

/* A quarter of a megabyte is room for samples, too much to clear or to copy for every trial. */

void outcome_clear(struct outcome *outcome) {
    memset(outcome, 0, offsetof(struct outcome, cases));
}

void outcome_set_cases(struct outcome *outcome, int count) {
    outcome->case_count = count;
    memset(outcome->cases, 0, (size_t)count * sizeof *outcome->cases);
}

void outcome_copy(struct outcome *to, const struct outcome *from) {
    memcpy(to, from,
           offsetof(struct outcome, cases) + (size_t)from->case_count * sizeof *from->cases);
}
