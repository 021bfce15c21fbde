/*
 * lint: what the gates of a trial do not say of a template: whether its references agree, whether
 * every input is read, every output written and every gene used, which constraints never bind and
 * which values never compile; and how many automatic breakages of the kernel (mutants.h) the judge
 * notices that every trial passes.
 *
 *     struct lint *lint = lint_new(config, goal, "emulated:sm_90", &images, &error);
 *     if (lint == NULL || lint_run(lint, 12, &error) < 0)
 *         return -1;
 *     for (int i = 0; i < lint_count(lint); i++)
 *         puts(lint_finding(lint, i)->text);
 *     lint_free(lint);
 *
 * It needs an emulated device, which can run what cannot be compiled from the source, and survives
 * it. One goal's cases are looked at, and the template's probe cases.
 */
#ifndef EVOTILE_LINT_LINT_H
#define EVOTILE_LINT_LINT_H

#include "config/config.h"
#include "device/nvrtc.h"

enum { LINT_SUBJECT_SIZE = 160, LINT_TEXT_SIZE = 640 };

enum lint_result {
    LINT_FINE,
    LINT_NOTE,  /* to know; nothing is wrong */
    LINT_WRONG, /* to look at */
};

struct lint_finding {
    const char *check; /* "references", "mutants" */
    enum lint_result result;
    char subject[LINT_SUBJECT_SIZE]; /* "THREADS", "x" */
    char text[LINT_TEXT_SIZE];
};

/* Of the mutants that were tried. */
struct lint_mutants {
    int caught, survived;
    int equivalent; /* ran, and nothing that was tried tells them from the kernel */
    int never_ran;  /* in code that no case needs */
};

struct lint;

/* `config` and the context of `cache` must outlive it. `device` is a spec of an emulated device. */
struct lint *lint_new(const struct config *config, int goal, const char *device,
                      const struct image_cache *cache, struct error *error);
void lint_free(struct lint *lint);

/* Makes all checks, with so many mutants that are not equivalent, if there are as many. Returns 0,
   whatever they find; -1 if a check could not be made. */
int lint_run(struct lint *lint, int mutants, struct error *error);

int lint_count(const struct lint *lint);
const struct lint_finding *lint_finding(const struct lint *lint, int index);
struct lint_mutants lint_mutants(const struct lint *lint);
/* Whether a finding is LINT_WRONG. */
bool lint_is_wrong(const struct lint *lint);

/* Makes the text of a config for a template alone: its probe cases, with every dimension that they
   leave out at its default, its first value or its least. The caller frees it. */
char *lint_config_text(const char *folder, struct error *error);

#endif
