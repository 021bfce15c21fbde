/* How many breakages of the kernel the judge notices. */
#include "lint/lint_internal.h"

#include "base/log.h"
#include "base/memory.h"
#include "evaluate/inspect.h"
#include "lint/mutants.h"

#include <stdlib.h>
#include <string.h>

/* Equivalent mutants are replaced by others, up to so many times as many. */
enum { ATTEMPTS = 4 };

struct mutant_check {
    struct lint *lint;
    struct device_image images[CASES_MAX];
    int variant; /* whose PTX is changed: all of a goal's differ in the sizes alone */
    struct inspected_results results; /* of the kernel as it is */
};

/* Judges the genome by the gates of a trial that do not time it, with the final checks of a
   champion. */
static int judge(struct lint *lint, const struct device_image images[CASES_MAX], uint64_t seed,
                 struct trial_result *result, struct error *error) {
    const struct trial_request request = {.goal = lint->goal,
                                          .genome = lint->genome,
                                          .promote = true,
                                          .level = LEVEL_CORRECT,
                                          .seed = seed};
    trial_result_init(result, &request);
    return evaluator_run(lint->evaluator, &request, images, result, error) < 0 ? -1 : 0;
}

static void name_mutant(const struct mutant *mutant, char name[LINT_SUBJECT_SIZE]) {
    if (mutant->line > 0)
        snprintf(name, LINT_SUBJECT_SIZE, "%s, %s:%d", mutant->kind, mutant->file, mutant->line);
    else
        snprintf(name, LINT_SUBJECT_SIZE, "%s, line %d of the PTX", mutant->kind, mutant->ptx_line);
}

/* What is known of a mutant that the judge let pass. */
enum survivor {
    SURVIVOR_WRONG,     /* its outputs differ */
    SURVIVOR_ACCESSES,  /* they do not, but how much it reads and writes does */
    SURVIVOR_NO_EFFECT, /* nothing tells it from the kernel */
    SURVIVOR_NEVER_RAN, /* nor does a trap in its place */
};

static int classify_survivor(struct mutant_check *check, const struct mutant *mutant,
                             struct device_image *images, uint64_t seed, enum survivor *survivor,
                             struct error *error) {
    const struct inspection it = {check->lint->evaluator, check->lint->goal, &check->lint->genome,
                                  images};
    struct inspected_results results;
    struct trial_result *result;
    if (inspect_results(&it, &results, error) < 0)
        return -1;
    *survivor = results.failed || !hash_equal(results.outputs, check->results.outputs)
                    ? SURVIVOR_WRONG
                : !hash_equal(results.accesses, check->results.accesses) ? SURVIVOR_ACCESSES
                                                                         : SURVIVOR_NO_EFFECT;
    if (*survivor != SURVIVOR_NO_EFFECT)
        return 0;
    struct mutant trap = *mutant;
    trap.replacement = (char *)"trap;";
    char *text = mutant_apply(&trap, check->images[check->variant].ptx);
    images[check->variant].ptx = text;
    result = xcalloc(1, sizeof *result);
    int status = judge(check->lint, images, seed, result, error);
    if (status == 0 && result->outcome.verdict == VERDICT_OK)
        *survivor = SURVIVOR_NEVER_RAN;
    trial_result_release(result);
    free(result);
    free(text);
    return status;
}

static void report_survivor(struct mutant_check *check, const char *name,
                            const struct mutant *mutant, enum survivor survivor) {
    static const struct {
        enum lint_result result;
        const char *text;
    } texts[] = {
        [SURVIVOR_WRONG] = {LINT_WRONG, "NOT caught, though its results differ"},
        [SURVIVOR_ACCESSES] = {LINT_WRONG, "NOT caught: the same results, but it reads or writes "
                                           "another number of bytes"},
        [SURVIVOR_NO_EFFECT] = {LINT_NOTE, "no effect on results or accesses, though it ran"},
        [SURVIVOR_NEVER_RAN] = {LINT_NOTE, "never ran: no case that is checked needs this code"},
    };
    struct lint *lint = check->lint;
    lint->mutants.equivalent += survivor == SURVIVOR_NO_EFFECT;
    lint->mutants.never_ran += survivor == SURVIVOR_NEVER_RAN;
    lint->mutants.survived += texts[survivor].result == LINT_WRONG;
    lint_add(lint, "mutants", name, texts[survivor].result, "%s: %s", texts[survivor].text,
             mutant->change);
}

static int try_mutant(struct mutant_check *check, const struct mutant *mutant, uint64_t seed,
                      struct error *error) {
    struct lint *lint = check->lint;
    struct device_image images[CASES_MAX];
    struct trial_result *result = xcalloc(1, sizeof *result);
    char name[LINT_SUBJECT_SIZE];
    enum survivor survivor;
    memcpy(images, check->images, sizeof images);
    char *text = mutant_apply(mutant, images[check->variant].ptx);
    images[check->variant].ptx = text;
    name_mutant(mutant, name);
    int status = judge(lint, images, seed, result, error);
    const enum verdict verdict = result->outcome.verdict;
    if (status == 0 && verdict != VERDICT_OK) {
        lint->mutants.caught++;
        lint_add(lint, "mutants", name, LINT_FINE, "caught, %s: %s", verdict_name(verdict),
                 mutant->change);
    } else if (status == 0) {
        status = classify_survivor(check, mutant, images, seed, &survivor, error);
        if (status == 0)
            report_survivor(check, name, mutant, survivor);
    }
    free(text);
    trial_result_release(result);
    free(result);
    return status;
}

static int try_mutants(struct mutant_check *check, int wanted, struct error *error) {
    struct lint *lint = check->lint;
    struct mutant_list mutants;
    const char *ptx = check->images[check->variant].ptx;
    if (mutants_find(&mutants, ptx, 1, error) < 0)
        return -1;
    int status = 0;
    struct progress progress;
    progress_init(&progress, 10);
    for (int i = 0; i < mutants.count && i < ATTEMPTS * wanted &&
                    lint->mutants.caught + lint->mutants.survived < wanted && status == 0;
         i++) {
        progress_show(&progress, "mutant %d: %s", i + 1, mutants.items[i].change);
        status = try_mutant(check, &mutants.items[i], (uint64_t)i + 2, error);
    }
    progress_end(&progress);
    mutants_release(&mutants);
    return status;
}

int lint_check_mutants(struct lint *lint, int mutants, struct error *error) {
    struct mutant_check check = {.lint = lint};
    struct trial_result *result = xcalloc(1, sizeof *result);
    char reason[REASON_SIZE];
    int status = lint_compile(lint, &lint->genome, true, check.images, reason, error);
    if (status == 1) { /* lint_check_tensors has said so */
        free(result);
        return 0;
    }
    if (status == 0)
        status = judge(lint, check.images, 1, result, error);
    if (status == 0 && result->outcome.verdict != VERDICT_OK) {
        lint_add(lint, "kernel", "unchanged", LINT_WRONG, "%s: %.400s",
                 verdict_name(result->outcome.verdict), result->outcome.reason);
    } else if (status == 0) {
        lint_add(lint, "kernel", "unchanged", LINT_FINE, "is %s",
                 template_passed(lint->template, false));
        while (check.images[check.variant].cubin == NULL)
            check.variant++;
        const struct inspection it = {lint->evaluator, lint->goal, &lint->genome, check.images};
        status = inspect_results(&it, &check.results, error);
        if (status == 0)
            status = try_mutants(&check, mutants, error);
    }
    trial_result_release(result);
    free(result);
    lint_release_images(check.images);
    return status;
}
