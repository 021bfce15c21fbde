/* The request for a proposal: the task, the parents, and as the strategy says what was tried before
   and what is known. docs/evolve.md describes it. */
#include "evolve/internal.h"

#include "analysis/insights.h"
#include "base/json.h"
#include "base/memory.h"
#include "evaluate/roofline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, HISTORY_MAX = 64, FAULTS_MAX = 16, SOLUTION_FILES = 64 };

static void add_figure(cJSON *object, const char *name, double figure) {
    if (isfinite(figure) && figure > 0)
        cJSON_AddNumberToObject(object, name, figure);
    else
        cJSON_AddNullToObject(object, name);
}

static void add_text_or_null(cJSON *object, const char *name, const char *text) {
    if (text != NULL)
        cJSON_AddStringToObject(object, name, text);
    else
        cJSON_AddNullToObject(object, name);
}

/* ---- the task ---- */

static cJSON *device_json(const struct device_info *device) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "name=%s compute_capability=%d sm_count=%d smem_per_block=%d", device->name,
             device->compute_capability, device->sm_count, device->smem_per_block);
    json_add(object, "smem_per_block_optin=%d smem_per_sm=%d registers_per_sm=%d",
             device->smem_per_block_optin, device->smem_per_sm, device->registers_per_sm);
    json_add(object, "threads_per_sm=%d blocks_per_sm=%d l2_bytes=%d predicts=%hhd",
             device->threads_per_sm, device->blocks_per_sm, device->l2_bytes, device->predicts);
    add_figure(object, "clock_mhz", device->clock_mhz);
    add_figure(object, "dram_gb_per_s", device->dram_gb_per_s);
    add_figure(object, "l2_gb_per_s", device->l2_gb_per_s);
    add_figure(object, "tensor_tflops", device->tensor_tflops);
    add_figure(object, "fp32_tflops", device->fp32_tflops);
    add_figure(object, "launch_us", device->launch_us);
    return object;
}

static cJSON *limits_json(const struct session *session) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "smem_bytes=%d genes=%d",
             config_smem_limit(session->config, pool_device(session->pool)), GENES_MAX);
    json_add(object, "files=%d bytes=%d answer_bytes=%d", SOLUTION_FILES, 4 << 20,
             PROPOSER_LINE_BYTES);
    json_add(object, "answer_s=%g tune=%d", session->config->evolve.timeout_s,
             session->config->evolve.tune);
    return object;
}

/* What the operations and bytes of each case allow at best. */
static cJSON *bounds_json(const struct session *session, int goal, struct error *error) {
    const struct template *template = session->templates[goal];
    const struct genome genome = evolution_champion(session->evolutions[goal])->genome;
    const struct device_info *device = pool_device(session->pool);
    cJSON *object = cJSON_CreateObject(), *cases = cJSON_AddArrayToObject(object, "cases");
    struct launch_plan *plan = xmalloc(sizeof *plan);
    for (int c = 0; c < template->case_count; c++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(cases, one);
        if (template_launch_plan(template, &genome, c, plan, error) < 0) {
            free(plan);
            cJSON_Delete(object);
            return NULL;
        }
        const struct work work = {.operations = plan->operations, .bytes = plan->bytes};
        add_figure(one, "operations", (double)plan->operations);
        add_figure(one, "bytes", (double)plan->bytes);
        add_figure(one, "least_warm_us", roofline_floor_us(device, &work, false));
        add_figure(one, "least_cold_us", roofline_floor_us(device, &work, true));
    }
    free(plan);
    return object;
}

/* The reference's source: it computes what a solution must. */
static cJSON *reference_json(const struct template *template, struct error *error) {
    const cJSON *reference = cJSON_GetObjectItemCaseSensitive(template->document.root, "reference");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(reference, "source");
    char path[PATH_SIZE];
    if (!cJSON_IsString(source))
        return cJSON_CreateNull();
    char *text = path_join(path, template->folder, source->valuestring, error) < 0
                     ? NULL
                     : path_read_file(path, FILE_BYTES_MAX, NULL, error);
    if (text == NULL)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    json_add(object, "file=%s text=%s", source->valuestring, text);
    free(text);
    return object;
}

static cJSON *task_json(const struct evolve *evolve, int goal, struct error *error) {
    const struct session *session = &evolve->session;
    const struct template *template = session->templates[goal];
    cJSON *task = cJSON_CreateObject();
    json_add(task, "problem=%s about=%s", template->name, session->config->shapes->about);
    cJSON_AddItemToObject(task, "device", device_json(pool_device(session->pool)));
    cJSON_AddItemToObject(task, "limits", limits_json(session));
    cJSON *cases = cJSON_AddArrayToObject(task, "cases");
    for (int c = 0; c < template->case_count; c++)
        cJSON_AddItemToArray(cases, template_shape_json(template, &template->cases[c]));
    json_add(task, "problem_json=%s", template->document.text);
    cJSON *reference = reference_json(template, error);
    cJSON *bounds = reference != NULL ? bounds_json(session, goal, error) : NULL;
    if (bounds == NULL) {
        cJSON_Delete(reference);
        cJSON_Delete(task);
        return NULL;
    }
    cJSON_AddItemToObject(task, "reference", reference);
    cJSON_AddItemToObject(task, "bounds", bounds);
    return task;
}

/* ---- the parents ---- */

static cJSON *resources_json(const struct resources *resources) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "registers=%d smem_bytes=%d local_bytes=%d spill_bytes=%d",
             resources->registers, resources->smem_bytes, resources->local_bytes,
             resources->spill_bytes);
    json_add(object, "ctas_per_sm=%d occupancy=%g", resources->ctas_per_sm, resources->occupancy);
    return object;
}

static const char *hypothesis_of(const struct evolve *evolve, int goal) {
    const int64_t number = evolve->solutions[goal].proposal;
    return number > 0 ? evolve->proposals[number - 1]->row.hypothesis : NULL;
}

static cJSON *parent_json(const struct evolve *evolve, int goal, struct error *error) {
    const struct session *session = &evolve->session;
    const struct evolved_solution *solution = &evolve->solutions[goal];
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    char genome[GENOME_TEXT_SIZE];
    struct store_trial *trial = store_trial_read(session->store, champion->trial, error);
    if (trial == NULL)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    genome_print(&champion->genome, session->templates[goal]->space, genome);
    json_add(object, "solution=%s hash=%s", solution->name, solution->hash);
    cJSON_AddItemToObject(object, "files", cJSON_Duplicate(solution->files, true));
    json_add(object, "genome=%s verdict=%s score_us=%g", genome,
             verdict_name(trial->outcome->verdict), champion->score_us);
    cJSON_AddItemToObject(object, "resources", resources_json(&trial->outcome->resources));
    add_text_or_null(object, "hypothesis", hypothesis_of(evolve, goal));
    store_trial_free(trial);
    return object;
}

/* ---- the history ---- */

static cJSON *history_json(const struct evolve *evolve) {
    cJSON *list = cJSON_CreateArray();
    const int first = evolve->count > HISTORY_MAX ? evolve->count - HISTORY_MAX : 0;
    if (evolve->session.config->evolve.strategy != EVOLVE_FULL)
        return list;
    for (int i = first; i < evolve->count; i++) {
        const struct store_proposal *row = &evolve->proposals[i]->row;
        if (row->decision == NULL)
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "number", (double)row->number);
        json_add(one, "parent=%s", row->parent);
        add_text_or_null(one, "hash", row->goal != NO_GOAL ? row->hash : NULL);
        add_text_or_null(one, "hypothesis", row->hypothesis);
        add_text_or_null(one, "verdict", row->verdict);
        add_text_or_null(one, "reason", row->reason);
        add_figure(one, "score_us", row->score_us);
        add_figure(one, "ratio", row->ratio);
        json_add(one, "decision=%s", row->decision);
        cJSON_AddItemToArray(list, one);
    }
    return list;
}

/* ---- the insights ---- */

/* The latest faults of proposals that were refused, by line. */
static cJSON *faults_json(const struct evolve *evolve) {
    cJSON *list = cJSON_CreateArray();
    for (int i = evolve->count - 1; i >= 0; i--) {
        const struct store_proposal *row = &evolve->proposals[i]->row;
        cJSON *judged = row->judged != NULL ? cJSON_Parse(row->judged) : NULL;
        const cJSON *fault;
        cJSON_ArrayForEach(fault, cJSON_GetObjectItemCaseSensitive(judged, "faults")) {
            if (cJSON_GetArraySize(list) == FAULTS_MAX)
                break;
            cJSON *copy = cJSON_Duplicate(fault, true);
            cJSON_AddNumberToObject(copy, "proposal", (double)row->number);
            cJSON_AddItemToArray(list, copy);
        }
        cJSON_Delete(judged);
    }
    return list;
}

static cJSON *insights_json(const struct evolve *evolve, int goal, struct error *error) {
    const struct session *session = &evolve->session;
    if (session->config->evolve.strategy == EVOLVE_FREE)
        return cJSON_CreateNull();
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    struct store_trial *trial = store_trial_read(session->store, champion->trial, error);
    if (trial == NULL)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "resources", resources_json(&trial->outcome->resources));
    cJSON *shares = cJSON_AddArrayToObject(object, "roofline_share");
    for (int c = 0; c < trial->outcome->case_count; c++)
        cJSON_AddItemToArray(shares, trial->outcome->cases[c].ceiling > 0
                                         ? cJSON_CreateNumber(trial->outcome->cases[c].ceiling)
                                         : cJSON_CreateNull());
    const struct insights_subject subject = {.store = session->store,
                                             .template = session->templates[goal],
                                             .device = pool_device(session->pool),
                                             .genome = &champion->genome,
                                             .trial = trial};
    const int status = insights_add(object, &subject, error);
    store_trial_free(trial);
    cJSON_AddItemToObject(object, "faults", faults_json(evolve));
    cJSON *costs = status == 0 ? evolve_costs(evolve, goal, error) : NULL;
    cJSON_AddItemToObject(object, "costs", costs);
    if (costs != NULL)
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* ---- all of it ---- */

static int add_parts(struct evolve *evolve, cJSON *request, const int *parents, int count,
                     struct error *error) {
    cJSON *task = task_json(evolve, parents[0], error);
    if (task == NULL)
        return -1;
    cJSON_AddItemToObject(request, "task", task);
    cJSON *list = cJSON_AddArrayToObject(request, "parents");
    for (int i = 0; i < count; i++) {
        cJSON *parent = parent_json(evolve, parents[i], error);
        if (parent == NULL)
            return -1;
        cJSON_AddItemToArray(list, parent);
    }
    cJSON_AddItemToObject(request, "history", history_json(evolve));
    cJSON *insights = insights_json(evolve, parents[0], error);
    if (insights == NULL)
        return -1;
    cJSON_AddItemToObject(request, "insights", insights);
    return 0;
}

char *evolve_request(struct evolve *evolve, int64_t number, const int *parents, int parent_count,
                     struct error *error) {
    const struct config *config = evolve->session.config;
    cJSON *request = cJSON_CreateObject();
    json_add(request, "type=%s protocol=%d number=%ld", "propose", PROPOSER_PROTOCOL, (long)number);
    /* A number that JSON holds exactly, another for each proposal. */
    const uint64_t seed = (config->seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)number) &
                          ((UINT64_C(1) << 53) - 1);
    cJSON_AddNumberToObject(request, "seed", (double)seed);
    json_add(request, "strategy=%s", evolve_strategy_name(config->evolve.strategy));
    if (add_parts(evolve, request, parents, parent_count, error) == 0)
        return json_print_line(request);
    cJSON_Delete(request);
    return NULL;
}
