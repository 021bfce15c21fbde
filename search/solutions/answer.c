#include "solutions/answer.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "outcome/outcome.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers that may not be known ---- */

static void add_number(cJSON *object, const char *name, double value) {
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

static void add_positive(cJSON *object, const char *name, double value) {
    add_number(object, name, value > 0 ? value : NAN);
}

/* An element may be infinite or NaN, which JSON does not have: a text then. */
static void add_element(cJSON *object, const char *name, double value) {
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddStringToObject(object, name, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* ---- what was measured ---- */

static void add_latency(cJSON *object, const char *name, const struct latency *latency) {
    if (latency->sample_count == 0) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(object, name);
    add_number(to, "p10_us", latency->p10_us);
    add_number(to, "p50_us", latency->p50_us);
    add_number(to, "p90_us", latency->p90_us);
    cJSON_AddNumberToObject(to, "samples", latency->sample_count);
}

static void add_errors(cJSON *object, const char *name, const struct errors *errors, bool known) {
    if (!known) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(object, name);
    add_number(to, "relative_l2", errors->relative_l2);
    add_number(to, "row_relative_l2", errors->row_relative_l2);
    add_number(to, "max_absolute", errors->max_absolute);
}

static cJSON *case_json(const struct template *template, int index,
                        const struct case_outcome *one) {
    cJSON *object = cJSON_CreateObject();
    bool verified = one->bound.relative_l2 > 0;
    cJSON_AddItemToObject(object, "case", template_shape_json(template, &template->cases[index]));
    add_latency(object, "warm", &one->warm);
    add_latency(object, "cold", &one->cold);
    add_errors(object, "errors", &one->errors, verified);
    add_errors(object, "bound", &one->bound, verified);
    add_positive(object, "ctas", one->ctas);
    add_positive(object, "tflops", one->tflops);
    add_positive(object, "gb_per_s", one->gb_per_s);
    add_positive(object, "sol", one->ceiling);
    add_positive(object, "energy_mj", one->energy.mj);
    if (one->placements.count > 1) {
        add_number(object, "fastest_placement_us", one->placements.least_us);
        add_number(object, "slowest_placement_us", one->placements.most_us);
    }
    return object;
}

static void add_resources(cJSON *answer, const struct resources *resources) {
    if (resources->ctas_per_sm == 0 && resources->registers == 0) {
        cJSON_AddNullToObject(answer, "resources");
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(answer, "resources");
    cJSON_AddNumberToObject(to, "registers", resources->registers);
    cJSON_AddNumberToObject(to, "smem_bytes", resources->smem_bytes);
    if (resources->local_bytes >= 0)
        cJSON_AddNumberToObject(to, "local_bytes", resources->local_bytes);
    else
        cJSON_AddNullToObject(to, "local_bytes");
    cJSON_AddNumberToObject(to, "spill_bytes", resources->spill_bytes);
    cJSON_AddNumberToObject(to, "ctas_per_sm", resources->ctas_per_sm);
    cJSON_AddNumberToObject(to, "occupancy", resources->occupancy);
}

static void add_clocks(cJSON *answer, const struct conditions *conditions) {
    if (conditions->sm_mhz_high == 0) {
        cJSON_AddNullToObject(answer, "clocks");
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(answer, "clocks");
    add_positive(to, "sm_mhz", conditions->sm_mhz);
    cJSON_AddNumberToObject(to, "sm_mhz_low", conditions->sm_mhz_low);
    cJSON_AddNumberToObject(to, "sm_mhz_high", conditions->sm_mhz_high);
    add_positive(to, "power_w", conditions->power_w);
    cJSON_AddBoolToObject(to, "at_power_limit", conditions_power_limited(conditions));
}

static void add_duel(cJSON *answer, const struct duel_outcome *duel) {
    static const char *const results[] = {NULL, "won", "lost", "undecided"};
    if (duel->result == DUEL_NONE) {
        cJSON_AddNullToObject(answer, "duel");
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(answer, "duel");
    cJSON_AddStringToObject(to, "result", results[duel->result]);
    cJSON_AddNumberToObject(to, "blocks", duel->blocks);
    /* As times as fast, like every ratio that a user sees. */
    add_number(to, "times_as_fast", duel->ratio > 0 ? 1 / duel->ratio : NAN);
    add_number(to, "low", duel->high > 0 ? 1 / duel->high : NAN);
    add_number(to, "high", duel->low > 0 ? 1 / duel->low : NAN);
}

static void add_seconds(cJSON *answer, const struct outcome *outcome) {
    cJSON *to = cJSON_AddObjectToObject(answer, "seconds");
    add_number(to, "compile", outcome->compile_s);
    add_number(to, "verify", outcome->verify_s);
    add_number(to, "measure", outcome->measure_s);
}

/* ---- what is wrong ---- */

static void add_wrong(cJSON *answer, const struct diagnostics *diagnostics) {
    if (diagnostics->wrong_count == 0) {
        cJSON_AddNullToObject(answer, "wrong");
        return;
    }
    cJSON *wrong = cJSON_AddObjectToObject(answer, "wrong");
    cJSON_AddStringToObject(wrong, "case", diagnostics->case_name);
    cJSON *elements = cJSON_AddArrayToObject(wrong, "elements");
    for (int i = 0; i < diagnostics->wrong_count; i++) {
        const struct wrong_element *one = &diagnostics->wrong[i];
        cJSON *element = cJSON_CreateObject();
        cJSON_AddStringToObject(element, "tensor", one->tensor);
        cJSON *index = cJSON_AddArrayToObject(element, "index");
        for (const char *at = one->index; *at != '\0'; at += strspn(at, ",")) {
            char *end;
            cJSON_AddItemToArray(index, cJSON_CreateNumber(strtod(at, &end)));
            at = end;
        }
        add_element(element, "got", one->got);
        add_element(element, "wanted", one->wanted);
        cJSON_AddItemToArray(elements, element);
    }
}

static void add_fault(cJSON *faults, const char *kind, const char *file, size_t file_length,
                      int line, int other_line, const char *text, size_t text_length) {
    char copy[1024];
    cJSON *fault = cJSON_CreateObject();
    cJSON_AddStringToObject(fault, "kind", kind);
    snprintf(copy, sizeof copy, "%.*s", (int)file_length, file);
    if (*copy != '\0')
        cJSON_AddStringToObject(fault, "file", copy);
    else
        cJSON_AddNullToObject(fault, "file");
    add_positive(fault, "line", line);
    if (other_line > 0)
        cJSON_AddNumberToObject(fault, "other_line", other_line);
    snprintf(copy, sizeof copy, "%.*s", (int)text_length, text);
    cJSON_AddStringToObject(fault, "text", copy);
    cJSON_AddItemToArray(faults, fault);
}

/* Lines of the compiler's log such as "kernel.cu(12): error: identifier "x" is undefined". */
static void add_compile_errors(cJSON *faults, const char *log) {
    for (const char *line = log; line != NULL && cJSON_GetArraySize(faults) < DIAGNOSED_FAULTS_MAX;
         line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, "(\n");
        const char *mark = strstr(line, "): error");
        char *end;
        if (line[name] != '(' || mark == NULL || mark > line + length)
            continue;
        long number = strtol(line + name + 1, &end, 10);
        const char *text = end + strlen("): error");
        if (end != mark)
            continue;
        text += strcspn(text, " \n");
        text += strspn(text, " ");
        add_fault(faults, "compile error", line, name, (int)number, 0, text,
                  (size_t)(line + length - text));
    }
}

/* What a kernel did where the emulated device stopped it: "N=5: axpy at kernel.cu:5: thread (0,0,0)
   ... stored 4 bytes to global memory ...". A GPU names no line. */
static void add_stop(cJSON *faults, const struct outcome *outcome) {
    for (const char *at = outcome->reason; (at = strstr(at, " at ")) != NULL;) {
        char *end;
        at += strlen(" at ");
        size_t name = strcspn(at, ": ");
        if (name == 0 || at[name] != ':')
            continue;
        long line = strtol(at + name + 1, &end, 10);
        if (end == at + name + 1 || strncmp(end, ": ", 2) != 0 || line <= 0)
            continue;
        add_fault(faults, verdict_name(outcome->verdict), at, name, (int)line, 0, end + 2,
                  strlen(end + 2));
        return;
    }
}

static void add_faults(cJSON *answer, const struct trial_result *result) {
    const struct diagnostics *diagnostics = result->diagnostics;
    cJSON *faults = cJSON_AddArrayToObject(answer, "faults");
    for (int i = 0; i < diagnostics->fault_count; i++) {
        const struct diagnostic_fault *fault = &diagnostics->faults[i];
        const char *slash = strrchr(fault->file, '/');
        const char *file = slash != NULL ? slash + 1 : fault->file;
        add_fault(faults, fault->kind, file, strlen(file), fault->line, fault->other_line,
                  fault->text, strlen(fault->text));
    }
    if (result->outcome.verdict == VERDICT_COMPILE_FAILED && diagnostics->log != NULL)
        add_compile_errors(faults, diagnostics->log);
    if (result->outcome.verdict != VERDICT_OK && cJSON_GetArraySize(faults) == 0)
        add_stop(faults, &result->outcome);
}

cJSON *answer_costs(const struct diagnostics *diagnostics) {
    cJSON *costs = cJSON_CreateArray();
    for (int i = 0; i < diagnostics->cost_count; i++) {
        const struct diagnostic_cost *cost = &diagnostics->costs[i];
        const char *slash = strrchr(cost->file, '/');
        const char *file = slash != NULL ? slash + 1 : cost->file;
        add_fault(costs, cost->kind, file, strlen(file), cost->line, 0, cost->text,
                  strlen(cost->text));
        cJSON *added = cJSON_GetArrayItem(costs, i);
        json_add(added, "times=%ld degree=%g", (long)cost->count, cost->degree);
    }
    return costs;
}

static void add_diagnostics(cJSON *answer, const struct trial_result *result) {
    if (result->diagnostics == NULL)
        return;
    if (result->diagnostics->log != NULL)
        cJSON_AddStringToObject(answer, "log", result->diagnostics->log);
    else
        cJSON_AddNullToObject(answer, "log");
    add_wrong(answer, result->diagnostics);
    add_faults(answer, result);
    cJSON_AddItemToObject(answer, "costs", answer_costs(result->diagnostics));
}

/* ---- the whole answer ---- */

/* The last gate: where a candidate that is not ok ended. */
static void add_stage(cJSON *answer, const struct trial_result *result) {
    cJSON *gates = cJSON_AddArrayToObject(answer, "gates");
    const char *stage = NULL;
    for (int g = 0; g < result->gate_count; g++) {
        const struct trial_gate *gate = &result->gates[g];
        cJSON *object = cJSON_CreateObject();
        json_add(object, "gate=%s passed=%hhd seconds=%g text=%s", gate->name, gate->passed,
                 gate->seconds, gate->text);
        cJSON_AddItemToArray(gates, object);
        if (!gate->passed)
            stage = gate->name;
    }
    if (stage != NULL)
        cJSON_AddStringToObject(answer, "stage", stage);
    else
        cJSON_AddNullToObject(answer, "stage");
}

cJSON *answer_new(const struct trial_result *result, const struct template *template) {
    const struct outcome *outcome = &result->outcome;
    char genome[GENOME_TEXT_SIZE], reason[REASON_SIZE];
    cJSON *answer = cJSON_CreateObject();
    genome_print(&result->genome, template->space, genome);
    snprintf(reason, sizeof reason, "%s", outcome->reason);
    text_escape(reason, sizeof reason, false);
    cJSON_AddStringToObject(answer, "verdict", verdict_name(outcome->verdict));
    cJSON_AddStringToObject(answer, "reason", reason);
    cJSON_AddStringToObject(answer, "genome", genome);
    add_stage(answer, result);
    add_diagnostics(answer, result);
    add_resources(answer, &outcome->resources);
    cJSON *cases = cJSON_AddArrayToObject(answer, "cases");
    for (int c = 0; c < outcome->case_count && outcome->verdict == VERDICT_OK; c++)
        cJSON_AddItemToArray(cases, case_json(template, c, &outcome->cases[c]));
    add_positive(answer, "score_us", outcome->verdict == VERDICT_OK ? outcome->score_us : NAN);
    cJSON_AddBoolToObject(answer, "predicted", outcome->predicted);
    cJSON_AddBoolToObject(answer, "limited_range", outcome->limited_range);
    if (template->reference_kind == REFERENCE_DEFAULT_GENOME && outcome->verdict == VERDICT_OK)
        cJSON_AddStringToObject(answer, "judged", template_passed(template, false));
    add_clocks(answer, &outcome->conditions);
    add_duel(answer, &outcome->duel);
    cJSON_AddStringToObject(answer, "uses", outcome->uses);
    cJSON_AddStringToObject(answer, "checks", outcome->checks);
    cJSON_AddBoolToObject(answer, "final_checks", result->final_checks);
    add_seconds(answer, outcome);
    return answer;
}

static cJSON *baseline_case_json(const struct case_result *one) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "implementation", one->against);
    add_positive(object, "times_as_fast", one->ratio > 0 ? 1 / one->ratio : NAN);
    add_positive(object, "low", one->high > 0 ? 1 / one->high : NAN);
    add_positive(object, "high", one->low > 0 ? 1 / one->low : NAN);
    add_positive(object, "p50_us", one->p50_us);
    add_positive(object, "p90_us", one->p90_us);
    add_positive(object, "baseline_p50_us", one->rival_p50_us);
    add_positive(object, "baseline_p90_us", one->rival_p90_us);
    return object;
}

void answer_add_baseline(cJSON *answer, const struct trial_result *result) {
    const struct outcome *outcome = &result->outcome;
    char reason[REASON_SIZE];
    cJSON *baseline = cJSON_AddObjectToObject(answer, "baseline");
    cJSON *cases = cJSON_AddArrayToObject(baseline, "cases");
    snprintf(reason, sizeof reason, "%s", outcome->reason);
    text_escape(reason, sizeof reason, false);
    for (int c = 0; c < result->case_result_count && outcome->verdict == VERDICT_OK; c++)
        cJSON_AddItemToArray(cases, baseline_case_json(&result->case_results[c]));
    if (cJSON_GetArraySize(cases) > 0) {
        cJSON_AddStringToObject(baseline, "name", result->baseline);
        cJSON_AddNullToObject(baseline, "missing");
    } else {
        cJSON_AddNullToObject(baseline, "name");
        cJSON_AddStringToObject(baseline, "missing",
                                *reason != '\0' ? reason : "there was no duel with it");
    }
}

cJSON *answer_no_counters(const char *missing) {
    cJSON *counters = cJSON_CreateObject();
    cJSON_AddArrayToObject(counters, "kernels");
    cJSON_AddStringToObject(counters, "missing", missing);
    return counters;
}

cJSON *answer_refusal(const char *stage, const char *reason) {
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddStringToObject(answer, "verdict", verdict_name(VERDICT_INVALID));
    cJSON_AddStringToObject(answer, "reason", reason);
    cJSON_AddStringToObject(answer, "stage", stage);
    return answer;
}
