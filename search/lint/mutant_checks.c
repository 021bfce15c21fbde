/* How many breakages of the kernel the judge notices. */
#include "lint/lint_internal.h"

#include "base/log.h"
#include "base/memory.h"
#include "evaluate/inspect.h"
#include "lint/mutants.h"

#include <stdlib.h>
#include <string.h>

/* Equivalent mutants are replaced by others, up to so many times as many. */
enum { ATTEMPTS = 3 };

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

/* Whether nothing that was tried tells the mutant from the kernel. */
static int is_equivalent(struct mutant_check *check, const struct device_image *images,
                         bool *equivalent, struct error *error) {
    const struct inspection it = {check->lint->evaluator, check->lint->goal, &check->lint->genome,
                                  images};
    struct inspected_results results;
    if (inspect_results(&it, &results, error) < 0)
        return -1;
    *equivalent = !results.failed && hash_equal(results.hash, check->results.hash);
    return 0;
}

static int try_mutant(struct mutant_check *check, const struct mutant *mutant, uint64_t seed,
                      struct error *error) {
    struct lint *lint = check->lint;
    struct device_image images[CASES_MAX];
    struct trial_result *result = xcalloc(1, sizeof *result);
    char name[LINT_SUBJECT_SIZE];
    bool equivalent = false;
    memcpy(images, check->images, sizeof images);
    char *text = mutant_apply(mutant, images[check->variant].ptx);
    images[check->variant].ptx = text;
    name_mutant(mutant, name);
    int status = judge(lint, images, seed, result, error);
    const enum verdict verdict = result->outcome.verdict;
    if (status == 0 && verdict == VERDICT_OK)
        status = is_equivalent(check, images, &equivalent, error);
    if (status == 0 && verdict != VERDICT_OK) {
        lint->mutants.caught++;
        lint_add(lint, "mutants", name, LINT_FINE, "caught, %s: %s", verdict_name(verdict),
                 mutant->change);
    } else if (status == 0 && equivalent) {
        lint->mutants.equivalent++;
        lint_add(lint, "mutants", name, LINT_NOTE,
                 "has no effect on the %d inputs that were tried: %s", check->results.inputs,
                 mutant->change);
    } else if (status == 0) {
        lint->mutants.survived++;
        lint_add(lint, "mutants", name, LINT_WRONG,
                 "NOT caught, though it computes or reads something else: %s", mutant->change);
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
    int status = lint_compile(lint, &lint->genome, check.images, reason, error);
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
