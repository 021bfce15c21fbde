#include "cli/gate_wisdom.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "cli/cli.h"
#include "render/table.h"
#include "run/replay_targets.h"
#include "session/single_trial.h"
#include "wisdom/wisdom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gate {
    const char *path;
    const struct gate_wisdom_options *options;
    struct wisdom_source source;
    struct device_info device;
    cJSON *rows;
    int checked, stale, elsewhere; /* elsewhere: of other devices */
};

/* ---- what is found ---- */

/* Adds a row, and marks the entry in the store. `stale` "": it holds. */
static int record(struct gate *gate, const struct wisdom_figure *figure, const char *stale,
                  const struct outcome *outcome, struct error *error) {
    cJSON *row = cJSON_CreateObject();
    const bool timed = outcome != NULL && outcome->verdict == VERDICT_OK;
    cJSON_AddItemToArray(gate->rows, row);
    json_add(row, "template=%s case=%s genome=%s passed=%hhd stale=%s verdict=%s recorded_us=%g",
             figure->template_name, figure->case_name, figure->genome, stale[0] == '\0', stale,
             outcome != NULL ? verdict_name(outcome->verdict) : "not run", figure->p50_us);
    if (timed)
        json_add(row, "now_us=%g predicted=%hhd", outcome->score_us, outcome->predicted);
    json_add(row, "recorded_driver=%s driver=%s", figure->driver, wisdom_driver(&gate->device));
    gate->checked++;
    gate->stale += stale[0] != '\0';
    return gate->source.store == NULL ? 0
                                      : wisdom_store_mark(gate->source.store, figure->id, stale,
                                                          wisdom_driver(&gate->device),
                                                          timed ? outcome->score_us : 0, error);
}

static int judge(struct gate *gate, const struct wisdom_figure *figure,
                 const struct outcome *outcome, struct error *error) {
    char stale[REASON_SIZE + 64] = "";
    const bool comparable = outcome->predicted == (figure->predicted != 0);
    const double ratio = outcome->score_us / figure->p50_us;
    if (outcome->verdict != VERDICT_OK)
        snprintf(stale, sizeof stale, "%s: %s", verdict_name(outcome->verdict), outcome->reason);
    else if (comparable && ratio > 1 + gate->options->tolerance / 100)
        snprintf(stale, sizeof stale, "now takes %.3f us, and took %.3f", outcome->score_us,
                 figure->p50_us);
    return record(gate, figure, stale, outcome, error);
}

/* ---- one entry ---- */

/* An entry, as something that can be replayed. */
struct trial {
    const struct wisdom_figure *figure;
    struct replay_targets targets;
};

static bool same_template(const struct wisdom_figure *a, const struct wisdom_figure *b) {
    return strcmp(a->template_name, b->template_name) == 0 && strcmp(a->solution, b->solution) == 0;
}

/* Of the entry's case alone. */
static char *config_text(const struct wisdom_figure *first) {
    cJSON *config = cJSON_CreateObject();
    json_add(config, "template=%s objective=%s", first->template_name, "per_case");
    if (first->solution[0] != '\0')
        cJSON_AddItemToArray(cJSON_AddArrayToObject(config, "solutions"),
                             cJSON_CreateString(first->solution));
    cJSON *cases = cJSON_AddArrayToObject(config, "cases");
    cJSON_AddItemToArray(cases, cJSON_Parse(first->shape));
    cJSON *limits = cJSON_AddObjectToObject(config, "limits");
    cJSON_AddNumberToObject(limits, "smem_bytes", (double)first->smem_limit);
    return json_print(config);
}

static int make_scratch(struct replay_targets *targets, struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    if (path_join(targets->scratch, temporary, "evotile-gate-XXXXXX", error) < 0)
        return -1;
    if (mkdtemp(targets->scratch) != NULL)
        return 0;
    targets->scratch[0] = '\0';
    return error_set(error, "cannot make a folder in %s: set TMPDIR to one that can be written",
                     temporary);
}

static int write_config(struct trial *trial, const char *folder, struct error *error) {
    struct replay_targets *targets = &trial->targets;
    char *text = config_text(trial->figure);
    int status = make_scratch(targets, error);
    snprintf(targets->template_folder, PATH_SIZE, "%s", folder);
    if (status == 0 &&
        (path_join(targets->config_path, targets->scratch, "config.json", error) < 0 ||
         path_write_unsynced(targets->config_path, text, strlen(text), error) < 0))
        status = -1;
    if (status == 0) {
        targets->config = config_from_text(targets->config_path, text, folder, error);
        status = targets->config != NULL ? 0 : -1;
    }
    free(text);
    return status;
}

/* The machine code is judged as it is in the store. */
static int add_target(struct gate *gate, struct trial *trial, struct error *error) {
    const struct wisdom_figure *figure = trial->figure;
    struct replay_target *target = &trial->targets.items[trial->targets.count];
    char path[PATH_SIZE];
    size_t size;
    void *cubin = wisdom_source_cubin(&gate->source, figure, &size, error);
    int status = cubin != NULL ? 0 : -1;
    if (status == 0 && (path_join(path, trial->targets.scratch, "kernel.cubin", error) < 0 ||
                        path_write_unsynced(path, cubin, size, error) < 0))
        status = -1;
    free(cubin);
    if (status < 0)
        return -1;
    trial->targets.count++;
    snprintf(target->name, sizeof target->name, "%.100s", figure->case_name);
    target->score_us = figure->p50_us;
    target->request.cubins[0] = xstrdup(path);
    for (int part = 0; part < KEY_PART_COUNT; part++)
        key_set(&target->key, (enum key_part)part,
                part == KEY_GENOME    ? figure->genome
                : part == KEY_OPTIONS ? figure->options
                : part == KEY_NVRTC   ? figure->toolkit
                                      : "");
    return 0;
}

static int try_entry(struct gate *gate, struct trial *trial, struct single_trial *worker,
                     struct error *error) {
    struct replay_target *target = &trial->targets.items[0];
    struct trial_result *result = xcalloc(1, sizeof *result);
    target->request.full = true;
    target->request.promote = true;
    target->request.seed = single_trial_fresh_seed();
    int status = single_trial_run(worker, &target->request, result, error);
    memset(target->request.sources, 0, sizeof target->request.sources); /* the pool owns them now */
    memset(target->request.cubins, 0, sizeof target->request.cubins);
    if (status == 0) {
        status = judge(gate, trial->figure, &result->outcome, error);
        trial_result_release(result);
    }
    free(result);
    return status;
}

static int check_entry(struct gate *gate, const struct wisdom_figure *figure, const char *folder,
                       struct error *error) {
    struct trial trial = {.figure = figure};
    struct single_trial *worker = NULL;
    trial.targets = (struct replay_targets){.from = gate->path,
                                            .config_path = xcalloc(1, PATH_SIZE),
                                            .template_folder = xcalloc(1, PATH_SIZE),
                                            .scratch = xcalloc(1, PATH_SIZE),
                                            .items = xcalloc(1, sizeof *trial.targets.items)};
    int status = write_config(&trial, folder, error);
    if (status == 0)
        status = add_target(gate, &trial, error);
    if (status == 0) {
        worker = single_trial_new(trial.targets.config_path, folder, gate->device.spec, error);
        status = worker != NULL ? replay_target_genome(&trial.targets, &trial.targets.items[0],
                                                       single_trial_device(worker), error)
                                : -1;
    }
    if (status == 0)
        status = try_entry(gate, &trial, worker, error);
    single_trial_free(worker);
    replay_targets_release(&trial.targets);
    return status;
}

/* An entry that cannot be judged at all is stale, and the others go on. */
static int gate_entry(struct gate *gate, const struct wisdom_figure *figure,
                      const struct wisdom_template_state *state, struct error *error) {
    char why[256];
    struct error refused = {0};
    if (wisdom_is_outdated(figure, state, NULL, why, sizeof why))
        return record(gate, figure, why, NULL, error);
    const int status = check_entry(gate, figure, state->folder, &refused);
    if (status < 0 && refused.kind == ERROR_REFUSED)
        return record(gate, figure, refused.text, NULL, error);
    if (status < 0)
        *error = refused;
    return status;
}

/* ---- all ---- */

static int gate_entries(struct gate *gate, struct error *error) {
    struct wisdom_template_state *state = xcalloc(1, sizeof *state);
    const struct wisdom_figure *last = NULL;
    int status = 0;
    for (int i = 0; i < gate->source.figures.count && status == 0; i++) {
        const struct wisdom_figure *figure = &gate->source.figures.items[i];
        if (strcmp(figure->device, gate->device.name) != 0) {
            gate->elsewhere++;
            continue;
        }
        if (last == NULL || !same_template(last, figure))
            wisdom_find_template(figure, gate->options->templates, state);
        last = figure;
        status = gate_entry(gate, figure, state, error);
    }
    free(state);
    return status;
}

static int print_gate(const struct gate *gate) {
    cJSON *object = cJSON_CreateObject();
    json_add(object,
             "passed=%hhd gated=%s device=%s driver=%s tolerance_percent=%g entries=%d stale=%d "
             "of_other_devices=%d",
             gate->stale == 0, gate->path, gate->device.name, wisdom_driver(&gate->device),
             gate->options->tolerance, gate->checked, gate->stale, gate->elsewhere);
    cJSON_AddItemToObject(object, "rows", cJSON_Duplicate(gate->rows, 1));
    table_print_json(object, stdout);
    return gate->stale == 0 ? STATUS_DONE : STATUS_GATE;
}

int gate_wisdom_run(const char *path, const struct gate_wisdom_options *options,
                    struct error *error) {
    struct gate *gate = xcalloc(1, sizeof *gate);
    gate->path = path;
    gate->options = options;
    gate->rows = cJSON_CreateArray();
    int status =
        options->verify_key != NULL ? signature_verify(options->verify_key, path, error) : 0;
    if (status == 0)
        status = wisdom_source_open(&gate->source, path, error);
    if (status == 0)
        status = device_describe(options->device != NULL ? options->device : "auto", &gate->device,
                                 error);
    if (status == 0)
        status = gate_entries(gate, error);
    if (status == 0 && gate->checked == 0)
        status =
            error_input(error,
                        "%s has no entry of %s: give the device that its kernels were tuned on "
                        "with --device",
                        path, gate->device.name);
    if (status == 0)
        status = print_gate(gate);
    wisdom_source_close(&gate->source);
    cJSON_Delete(gate->rows);
    free(gate);
    return status;
}
