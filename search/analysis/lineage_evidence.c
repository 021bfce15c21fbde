#include "analysis/lineage_evidence.h"

#include "analysis/insights.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "run/run_dir.h"

#include <math.h>
#include <stdlib.h>

void evidence_add_figure(cJSON *to, const char *name, double figure) {
    if (isfinite(figure))
        cJSON_AddNumberToObject(to, name, figure);
    else
        cJSON_AddNullToObject(to, name);
}

void evidence_add_text(cJSON *to, const char *name, const char *text) {
    char *escaped = text != NULL ? text_escaped(text, false) : NULL;
    if (escaped != NULL)
        cJSON_AddStringToObject(to, name, escaped);
    else
        cJSON_AddNullToObject(to, name);
    free(escaped);
}

int evidence_open(struct evidence *evidence, struct store *store, struct error *error) {
    struct error refusal = {0};
    *evidence = (struct evidence){.store = store};
    evidence->config = run_dir_read_config(store_run_dir(store), &refusal);
    const int known = run_dir_device(store, &evidence->device, error);
    if (known == 0)
        snprintf(evidence->missing, sizeof evidence->missing, "the run's device is not recorded");
    if (evidence->config == NULL)
        snprintf(evidence->missing, sizeof evidence->missing, "%s", refusal.text);
    return known < 0 ? -1 : 0;
}

void evidence_close(struct evidence *evidence) {
    config_free(evidence->config);
}

static void add_numbers(cJSON *to, const struct evidence *evidence,
                        const struct store_trial *trial) {
    const struct outcome *outcome = trial->outcome;
    const struct resources *resources = &outcome->resources;
    cJSON *numbers = cJSON_AddObjectToObject(to, "numbers");
    json_add(numbers, "trial=%ld predicted=%hhd score_us=%g", (long)trial->number,
             outcome->predicted, outcome->score_us);
    evidence_add_text(numbers, "genome", trial->genome);
    json_add(numbers, "registers=%d smem_bytes=%d spill_bytes=%d ctas_per_sm=%d occupancy=%g",
             resources->registers, resources->smem_bytes, resources->spill_bytes,
             resources->ctas_per_sm, resources->occupancy);
    cJSON *cases = cJSON_AddArrayToObject(numbers, "cases");
    for (int c = 0; c < outcome->case_count; c++) {
        const struct case_outcome *timed = &outcome->cases[c];
        char name[CASE_NAME_SIZE];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(cases, one);
        run_dir_case_name(evidence->store, evidence->config, 0, outcome->case_count, c, name);
        cJSON_AddStringToObject(one, "case", name);
        evidence_add_figure(one, "p50_us", timed->warm.sample_count > 0 ? timed->warm.p50_us : NAN);
        evidence_add_figure(one, "p90_us", timed->warm.sample_count > 0 ? timed->warm.p90_us : NAN);
        evidence_add_figure(one, "tflops", timed->tflops > 0 ? timed->tflops : NAN);
        evidence_add_figure(one, "gb_per_s", timed->gb_per_s > 0 ? timed->gb_per_s : NAN);
        evidence_add_figure(one, "roofline_share", timed->ceiling > 0 ? timed->ceiling : NAN);
    }
}

/* The advice is the solution's own text. */
static void escape_advice(cJSON *profile) {
    cJSON *advice = cJSON_GetObjectItemCaseSensitive(profile, "advice"), *one;
    cJSON_ArrayForEach(one, advice) {
        char *escaped = text_escaped(one->valuestring, false);
        cJSON_SetValuestring(one, escaped);
        free(escaped);
    }
}

/* What limits it, if the run still has its solution as it was. */
static void add_profile(cJSON *to, const struct evidence *evidence,
                        const struct store_trial *trial) {
    struct error missing = {0};
    struct genome genome;
    cJSON *profile = cJSON_AddObjectToObject(to, "profile");
    struct template *template =
        *evidence->missing == '\0'
            ? config_load_template(evidence->config, trial->goal, &evidence->device, &missing)
            : NULL;
    const struct insights_subject subject = {.store = evidence->store,
                                             .template = template,
                                             .device = &evidence->device,
                                             .genome = &genome,
                                             .trial = trial};
    if (template == NULL || genome_parse(&genome, template->space, trial->genome, &missing) < 0 ||
        insights_add(profile, &subject, &missing) < 0)
        evidence_add_text(profile, "missing",
                          *evidence->missing != '\0' ? evidence->missing : missing.text);
    escape_advice(profile);
    template_free(template);
}

int evidence_add(cJSON *to, const struct evidence *evidence, int goal, int64_t number,
                 struct error *error) {
    struct store_trial *trial = NULL;
    if (number == STORE_NO_TRIAL && goal != NO_GOAL)
        number = store_ranked(evidence->store, goal, 1, error);
    if (number < STORE_NO_TRIAL)
        return -1;
    if (number != STORE_NO_TRIAL &&
        (trial = store_trial_read(evidence->store, number, error)) == NULL)
        return -1;
    if (trial != NULL && trial->outcome != NULL && trial->outcome->verdict == VERDICT_OK) {
        add_numbers(to, evidence, trial);
        add_profile(to, evidence, trial);
    } else {
        cJSON_AddNullToObject(to, "numbers");
        cJSON_AddNullToObject(to, "profile");
    }
    store_trial_free(trial);
    return 0;
}
