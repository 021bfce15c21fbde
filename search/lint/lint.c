#include "lint/lint_internal.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "evaluate/inspect.h"
#include "pool/settings.h"
#include "space/breed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state ---- */

static int choose_genome(struct lint *lint, struct error *error) {
    const struct space *space = lint->template->space;
    struct problem problem = {0};
    struct random random;
    lint->genome = genome_default(space);
    genome_canonicalise(&lint->genome, space);
    random_seed(&random, 1, 0);
    if (space_check(space, &lint->genome, &problem) || breed_repair(space, &random, &lint->genome))
        return 0;
    return error_input(error, "no genome of %s is valid for its cases: %s", lint->template->name,
                       problem.text);
}

struct lint *lint_new(const struct config *config, int goal, const char *device,
                      const struct image_cache *cache, struct error *error) {
    struct lint *lint = xcalloc(1, sizeof *lint);
    lint->config = config;
    lint->goal = goal;
    evaluation_settings_from_config(&lint->settings, config);
    lint->device = device_open(device, error);
    if (lint->device != NULL)
        lint->compiler = compiler_new(&lint->settings, &lint->device->info, cache, error);
    if (lint->compiler != NULL)
        lint->evaluator = evaluator_new(&lint->settings, lint->device, lint->compiler, error);
    if (lint->evaluator != NULL)
        lint->template = compiler_template(lint->compiler, goal, error);
    if (lint->template != NULL && choose_genome(lint, error) == 0)
        return lint;
    lint_free(lint);
    return NULL;
}

void lint_free(struct lint *lint) {
    if (lint == NULL)
        return;
    evaluator_free(lint->evaluator);
    compiler_free(lint->compiler);
    evaluation_settings_release(&lint->settings);
    if (lint->device != NULL)
        device_close(lint->device);
    free(lint->findings);
    free(lint);
}

void lint_add(struct lint *lint, const char *check, const char *subject, enum lint_result result,
              const char *format, ...) {
    va_list arguments;
    lint->findings = xgrow(lint->findings, (size_t)lint->count, sizeof *lint->findings);
    struct lint_finding *finding = &lint->findings[lint->count++];
    *finding = (struct lint_finding){.check = check, .result = result};
    snprintf(finding->subject, sizeof finding->subject, "%s", subject);
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

int lint_count(const struct lint *lint) {
    return lint->count;
}

const struct lint_finding *lint_finding(const struct lint *lint, int index) {
    return &lint->findings[index];
}

struct lint_mutants lint_mutants(const struct lint *lint) {
    return lint->mutants;
}

bool lint_is_wrong(const struct lint *lint) {
    for (int i = 0; i < lint->count; i++)
        if (lint->findings[i].result == LINT_WRONG)
            return true;
    return false;
}

int lint_compile(struct lint *lint, const struct genome *genome, bool lines,
                 struct device_image images[CASES_MAX], char reason[REASON_SIZE],
                 struct error *error) {
    const struct trial_request request = {
        .goal = lint->goal, .genome = *genome, .seed = 1, .diagnosed = lines};
    struct trial_result *result = xcalloc(1, sizeof *result);
    memset(images, 0, CASES_MAX * sizeof *images);
    int status = compiler_build(lint->compiler, &request, images, result, error);
    if (status == 1)
        snprintf(reason, REASON_SIZE, "%s: %.*s", verdict_name(result->outcome.verdict),
                 REASON_SIZE - 32, result->outcome.reason);
    trial_result_release(result);
    free(result);
    return status;
}

void lint_release_images(struct device_image images[CASES_MAX]) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
}

/* ---- references and tensors ---- */

int lint_check_references(struct lint *lint, bool *agree, struct error *error) {
    struct inspected_reference list[INSPECTED_REFERENCES_MAX];
    const struct inspection it = {lint->evaluator, lint->goal, &lint->genome, NULL};
    int count = inspect_references(&it, list, error);
    *agree = true;
    for (int i = 0; i < count; i++) {
        const struct inspected_reference *found = &list[i];
        if (!found->agrees)
            lint_add(lint, "references", found->what, LINT_WRONG, "differ: %s", found->reason);
        else if (found->cases == 0)
            lint_add(lint, "references", found->what, LINT_NOTE,
                     "were not compared: no case is small enough, or the C is not C++");
        else if (isnan(found->worst))
            lint_add(lint, "references", found->what, LINT_FINE, "agree on %d cases", found->cases);
        else
            lint_add(lint, "references", found->what, LINT_FINE,
                     "agree on %d cases, to a relative error of %.1e", found->cases, found->worst);
        if (found->left_out > 0)
            lint_add(lint, "references", found->what, LINT_NOTE,
                     "were not compared at %d of the reference cases, which are too large: make "
                     "them smaller",
                     found->left_out);
        *agree = *agree && found->agrees;
    }
    if (count == 0)
        lint_add(lint, "references", "reference", LINT_NOTE,
                 "only one program says what is correct: nothing to compare it with");
    return count < 0 ? -1 : 0;
}

int lint_check_tensors(struct lint *lint, struct error *error) {
    struct inspected_tensor tensors[TENSORS_MAX];
    struct device_image images[CASES_MAX];
    char reason[REASON_SIZE];
    int status = lint_compile(lint, &lint->genome, false, images, reason, error);
    const struct inspection it = {lint->evaluator, lint->goal, &lint->genome, images};
    if (status == 1) {
        lint_add(lint, "kernel", "default genome", LINT_WRONG, "%s", reason);
        return 0;
    }
    struct error failed = {0};
    if (status == 0)
        status = inspect_tensors(&it, tensors, &failed);
    lint_release_images(images);
    if (status < 0 && failed.kind == ERROR_INPUT) {
        lint_add(lint, "kernel", "default genome", LINT_WRONG, "%s", failed.text);
        return 0;
    }
    if (status < 0) {
        *error = failed;
        return -1;
    }
    for (int t = 0; t < lint->template->tensor_count; t++) {
        const struct tensor *tensor = &lint->template->tensors[t];
        const enum inspected used = tensors[t].used;
        if (tensor->role == ROLE_INPUT && used == INSPECTED_NOT)
            lint_add(lint, "inputs", tensor->name, LINT_NOTE,
                     "was not checked: it is absent, or the same in every set of inputs");
        else if (tensor->role == ROLE_INPUT && used == INSPECTED_NO)
            lint_add(lint, "inputs", tensor->name, LINT_WRONG,
                     "changes no output in any case: nothing reads it, or it does not matter");
        else if (tensor->role == ROLE_INPUT)
            lint_add(lint, "inputs", tensor->name, LINT_FINE, "outputs change with it");
        else if (tensor->role == ROLE_OUTPUT && used == INSPECTED_NOT)
            lint_add(lint, "outputs", tensor->name, LINT_NOTE, "was not checked: it is absent");
        else if (tensor->role == ROLE_OUTPUT && used == INSPECTED_NO)
            lint_add(lint, "outputs", tensor->name, LINT_WRONG,
                     "%.3g %% of a case depend on what it held before", 100 * tensors[t].unwritten);
        else if (tensor->role == ROLE_OUTPUT)
            lint_add(lint, "outputs", tensor->name, LINT_FINE, "is written");
    }
    return 0;
}

/* ---- all checks ---- */

int lint_run(struct lint *lint, int mutants, struct error *error) {
    bool agree = true;
    if (lint_check_references(lint, &agree, error) < 0 || lint_check_tensors(lint, error) < 0 ||
        lint_check_constraints(lint, error) < 0 || lint_check_values(lint, error) < 0 ||
        lint_check_genes(lint, error) < 0)
        return -1;
    if (!agree) {
        lint_add(lint, "mutants", "kernel", LINT_NOTE,
                 "were not tried: the references must agree first");
        return 0;
    }
    return mutants > 0 ? lint_check_mutants(lint, mutants, error) : 0;
}

/* ---- a config for a template alone ---- */

/* A value for a dimension that a probe case leaves out and that has no default. */
static cJSON *choose_value(const struct dimension *dimension) {
    if (dimension->real)
        return cJSON_CreateNumber(
            (double)fminf(fmaxf(1, (float)dimension->least), (float)dimension->most));
    return cJSON_CreateNumber(
        (double)(dimension->value_count > 0 ? dimension->values[0] : dimension->minimum));
}

char *lint_config_text(const char *folder, struct error *error) {
    struct template *template = template_load(folder, NULL, error);
    if (template == NULL)
        return NULL;
    char *path = realpath(folder, NULL);
    cJSON *config = cJSON_CreateObject(), *cases = cJSON_CreateArray();
    const cJSON *probes = cJSON_GetObjectItemCaseSensitive(template->document.root, "probe_cases");
    const cJSON *probe = probes != NULL ? probes->child : NULL;
    do {
        cJSON *shape = probe != NULL ? cJSON_Duplicate(probe, true) : cJSON_CreateObject();
        for (int d = 0; d < template->dimension_count; d++) {
            const struct dimension *dimension = &template->dimensions[d];
            if (cJSON_GetObjectItemCaseSensitive(shape, dimension->name) == NULL &&
                dimension->default_value == NULL)
                cJSON_AddItemToObject(shape, dimension->name, choose_value(dimension));
        }
        cJSON_AddItemToArray(cases, shape);
        probe = probe != NULL ? probe->next : NULL;
    } while (probe != NULL);
    cJSON_AddStringToObject(config, "template", path);
    cJSON_AddItemToObject(config, "cases", cases);
    char *text = json_print(config);
    free(path);
    template_free(template);
    return text;
}
