#include "analysis/insights.h"

#include "analysis/bottleneck.h"
#include "base/json.h"
#include "base/memory.h"
#include "run/profile_results.h"
#include "strategy/evolution.h"

#include <math.h>
#include <stdlib.h>

static void add_finding(cJSON *findings, int number, const char *name, double value,
                        const char *text) {
    cJSON *one = cJSON_CreateObject();
    json_add(one, "case=%d name=%s value=%g text=%s", number, name, value, text);
    cJSON_AddItemToArray(findings, one);
}

/* Of the trial's own figures, case by case. */
static int add_findings_of_trial(cJSON *findings, const struct insights_subject *subject,
                                 struct error *error) {
    const struct outcome *outcome = subject->trial->outcome;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct bottleneck_report *report = xcalloc(1, sizeof *report);
    int status = 0;
    for (int c = 0; c < outcome->case_count && status == 0; c++) {
        status = template_launch_plan(subject->template, subject->genome, c, plan, error);
        if (status < 0)
            break;
        const struct bottleneck_case known = {.device = subject->device,
                                              .resources = &outcome->resources,
                                              .threads = launch_plan_threads(plan),
                                              .timed = &outcome->cases[c],
                                              .operations = plan->operations,
                                              .bytes = plan->bytes};
        report->count = 0;
        bottleneck_from_trial(&known, report);
        for (int f = 0; f < report->count; f++)
            add_finding(findings, c, report->findings[f].name, report->findings[f].value,
                        report->findings[f].text);
    }
    free(report);
    free(plan);
    return status;
}

/* Of a profile, which has those of its own figures, too. */
static void add_findings_of_profile(cJSON *findings, const cJSON *profile) {
    const cJSON *one, *finding;
    int number = 0;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(profile, "cases")) {
        cJSON_ArrayForEach(finding, cJSON_GetObjectItemCaseSensitive(one, "findings")) {
            const cJSON *value = cJSON_GetObjectItemCaseSensitive(finding, "value");
            const char *name = cJSON_GetStringValue(
                           cJSON_GetObjectItemCaseSensitive(finding, "finding")),
                       *text =
                           cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(finding, "text"));
            if (name != NULL && text != NULL)
                add_finding(findings, number, name,
                            cJSON_IsNumber(value) ? value->valuedouble : NAN, text);
        }
        number++;
    }
}

static void add_advice(cJSON *to, const struct insights_subject *subject,
                       const struct measures *measures) {
    const struct space *space = subject->template->space;
    const uint32_t holding = space_hints(space, subject->genome, measures);
    cJSON *list = cJSON_AddArrayToObject(to, "advice");
    char text[ADVICE_SIZE];
    for (int h = 0; h < space->hints.count; h++)
        if (holding >> h & 1) {
            bottleneck_advice(space, h, text);
            cJSON_AddItemToArray(list, cJSON_CreateString(text));
        }
}

/* Returns 1 if they are those of a profile, 0 if of the trial, or -1. */
static int add_findings(cJSON *to, const struct insights_subject *subject, struct error *error) {
    struct json_document document;
    cJSON *findings = cJSON_AddArrayToObject(to, "findings");
    const int found =
        profile_results_open(subject->store, subject->trial->number, &document, error);
    if (found == 0)
        return add_findings_of_trial(findings, subject, error);
    if (found == 1) {
        add_findings_of_profile(findings, document.root);
        json_release(&document);
    }
    return found;
}

int insights_add(cJSON *to, const struct insights_subject *subject, struct error *error) {
    struct measures measures;
    if (add_findings(to, subject, error) < 0)
        return -1;
    const int profiled =
        profile_results_read(subject->store, subject->trial->number, &measures, error);
    if (profiled < 0)
        return -1;
    if (profiled == 0)
        measures = evolution_measures(&subject->trial->outcome->resources);
    add_advice(to, subject, &measures);
    if (profiled > 0)
        profile_results_add(to, &measures);
    return 0;
}

/* ---- memory accesses ---- */

void insights_costs_name(const char *solution, char name[COSTS_META_SIZE]) {
    snprintf(name, COSTS_META_SIZE, "costs:%.*s", NAME_SIZE, solution);
}

cJSON *insights_costs(struct store *store, const char *solution, const char *judged,
                      struct error *error) {
    char name[COSTS_META_SIZE], *text = NULL;
    cJSON *costs;
    insights_costs_name(solution, name);
    if (judged == NULL && store_meta_get(store, name, &text, error) < 0)
        return NULL;
    if (judged != NULL) {
        cJSON *answer = cJSON_Parse(judged);
        costs = cJSON_DetachItemFromObjectCaseSensitive(answer, "costs");
        cJSON_Delete(answer);
    } else {
        costs = text != NULL ? cJSON_Parse(text) : NULL;
        free(text);
    }
    return costs != NULL ? costs : cJSON_CreateArray();
}
