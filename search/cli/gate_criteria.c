#include "cli/gate_criteria.h"

#include "base/log.h"
#include "base/memory.h"
#include "pool/profile_candidate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MISSED_SHOWN_MAX = 3 };

int gate_criteria_open(struct gate_criteria *it, const char *path, struct error *error) {
    *it = (struct gate_criteria){.path = path};
    return criteria_read(&it->criteria, path, error);
}

/* ---- after each duel ---- */

static void set_resources(struct criteria_case *one, const struct trial_result *result) {
    const struct resources *resources = &result->outcome.resources;
    one->has_resources = result->outcome.verdict == VERDICT_OK;
    one->local_bytes = resources->local_bytes;
    /* Spills are in local memory, whose size is read from the machine code itself. */
    one->spill_bytes = !result->other_code           ? resources->spill_bytes
                       : resources->local_bytes == 0 ? 0
                                                     : -1;
}

void gate_criteria_add(struct gate_criteria *it, const struct record_comparison *comparison,
                       const struct replay_target *target, const struct trial_result *result) {
    const struct config *config = comparison->a.targets.config;
    const bool is_right = result->outcome.verdict == VERDICT_OK;
    int first, count;
    config_goal_cases(config, target->request.goal, &first, &count);
    for (int c = 0; c < count && it->count < CASES_MAX; c++) {
        struct criteria_case *one = &it->cases[it->count];
        *one = (struct criteria_case){.compared = is_right && c < result->case_result_count,
                                      .predicted = result->outcome.predicted};
        template_print_shape(config->shapes, &config->cases[first + c], one->name);
        if (one->compared)
            one->result = result->case_results[c];
        set_resources(one, result);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            one->counters[m] = NAN;
        it->targets[it->count++] = target;
    }
}

void gate_criteria_left_out(struct gate_criteria *it, const struct record_comparison *comparison) {
    it->missing.left_out = compare_records_left_out(comparison, it->missing.first_left_out);
}

/* ---- counters ---- */

/* The first case of the target. */
static int first_case(const struct gate_criteria *it, const struct replay_target *target) {
    int first = 0;
    while (it->targets[first] != target)
        first++;
    return first;
}

static int set_counters(struct gate_criteria *it, const struct replay_target *target,
                        const struct template *template, const struct profile *profile,
                        struct error *error) {
    int next = 0;
    const int first = first_case(it, target);
    for (int c = 0; c < template->case_count && first + c < it->count; c++) {
        struct launch_plan plan;
        if (template_launch_plan(template, &target->request.genome, c, &plan, error) < 0)
            return -1;
        const struct profiled_kernel *kernels = &profile->kernels[next];
        const int count = profile_case_kernels(profile, &plan, &next);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            it->cases[first + c].counters[m] =
                profile_combined_metric(kernels, count, (enum profile_metric)m);
    }
    return 0;
}

static int count_target(struct gate_criteria *it, const struct replay_targets *targets,
                        const struct replay_target *target, const struct device_info *device,
                        struct profile *profile, struct error *error) {
    char missing[PROFILE_MISSING_SIZE], program[PATH_SIZE];
    struct trial_request request = target->request;
    request.seed = single_trial_fresh_seed();
    if (path_program(program, error) < 0)
        return -1;
    struct template *template = config_load_template(targets->config, request.goal, device, error);
    if (template == NULL)
        return -1;
    const struct profile_candidate settings = {.program = program,
                                               .config_path = targets->config_path,
                                               .template_folder = targets->template_folder,
                                               .device = device,
                                               .template = template};
    int status = profile_candidate_run(&settings, &request, profile, missing, error);
    if (status == 0 && missing[0] == '\0')
        status = set_counters(it, target, template, profile, error);
    else if (status == 0 && it->missing.counters[0] == '\0')
        strcpy(it->missing.counters, missing);
    template_free(template);
    return status;
}

int gate_criteria_count(struct gate_criteria *it, const struct replay_targets *targets,
                        const struct device_info *device, struct error *error) {
    int status = 0;
    if (!it->criteria.has_counters || !profile_device_is_real(device, it->missing.counters))
        return 0;
    struct profile *profile = xcalloc(1, sizeof *profile);
    for (int c = 0; c < it->count && status == 0; c++)
        if (it->cases[c].compared && first_case(it, it->targets[c]) == c)
            status = count_target(it, targets, it->targets[c], device, profile, error);
    free(profile);
    return status;
}

/* ---- judging and printing ---- */

bool gate_criteria_judge(struct gate_criteria *it) {
    int missed = 0;
    it->row_count = criteria_check(&it->criteria, it->cases, it->count, &it->missing, it->rows);
    for (int i = 0; i < it->row_count; i++) {
        if (!it->rows[i].passed && ++missed <= MISSED_SHOWN_MAX)
            log_warn("%s: %s is not met: %s", it->path, it->rows[i].condition, it->rows[i].text);
    }
    if (missed > MISSED_SHOWN_MAX)
        log_warn("%s: %d of %d conditions are not met: the JSON has all", it->path, missed,
                 it->row_count);
    return missed == 0;
}

static cJSON *row_json(const struct criteria_row *row) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "condition=%s required=%g", row->condition, row->required);
    cJSON_AddItemToObject(object, "measured",
                          isfinite(row->measured) ? cJSON_CreateNumber(row->measured)
                                                  : cJSON_CreateNull());
    json_add(object, "predicted=%hhd passed=%hhd where=%s text=%s", row->predicted, row->passed,
             row->where[0] != '\0' ? row->where : NULL, row->text);
    return object;
}

cJSON *gate_criteria_json(const struct gate_criteria *it) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "file=%s passed=%hhd", it->path, criteria_passed(it->rows, it->row_count));
    cJSON *conditions = cJSON_AddArrayToObject(object, "conditions");
    for (int i = 0; i < it->row_count; i++)
        cJSON_AddItemToArray(conditions, row_json(&it->rows[i]));
    return object;
}
