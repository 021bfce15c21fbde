#include "cli/gate_wisdom.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "cli/cli.h"
#include "cli/wisdom_part.h"
#include "render/table.h"

#include <stdlib.h>
#include <string.h>

enum { SAID_EVERY_S = 20 };

struct gate {
    const char *path;
    const struct gate_wisdom_options *options;
    struct wisdom_source source;
    struct device_list devices;    /* of one model, */
    struct device_info device;     /* which is this one's */
    cJSON **rows;                  /* of each figure; NULL: none yet */
    int count;                     /* figures of that model */
    int checked, stale, elsewhere; /* elsewhere: of other devices */
    double said;                   /* when progress was logged */
};

/* ---- what is found ---- */

/* Adds a row, and marks the entry in the store. `stale` "": it holds. */
static int record(struct gate *gate, const struct wisdom_figure *figure, const char *stale,
                  const struct outcome *outcome, struct error *error) {
    cJSON *row = cJSON_CreateObject();
    const bool timed = outcome != NULL && outcome->verdict == VERDICT_OK;
    gate->rows[figure - gate->source.figures.items] = row;
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

/* ---- all ---- */

static int report_entry(void *context, int index, const struct outcome *outcome,
                        const char *refused, struct error *error) {
    struct gate *gate = context;
    const struct wisdom_figure *figure = &gate->source.figures.items[index];
    const int status = outcome != NULL ? judge(gate, figure, outcome, error)
                                       : record(gate, figure, refused, NULL, error);
    if (clock_seconds() - gate->said >= SAID_EVERY_S) {
        gate->said = clock_seconds();
        log_info("%d of %d entries are verified, %d are stale", gate->checked, gate->count,
                 gate->stale);
    }
    return status;
}

static bool same_template(const struct wisdom_figure *a, const struct wisdom_figure *b) {
    return strcmp(a->template_name, b->template_name) == 0 && strcmp(a->solution, b->solution) == 0;
}

/* Tries what the part has, and ends it. */
static int try_part(struct gate *gate, struct wisdom_part **part, struct error *error) {
    const int status =
        *part == NULL ? 0 : wisdom_part_try(*part, &gate->devices, report_entry, gate, error);
    wisdom_part_free(*part);
    *part = NULL;
    return status;
}

/* Adds the entry to the part, after that has been tried if it has no place for it. */
static int add_entry(struct gate *gate, struct wisdom_part **part, int index, const char *folder,
                     struct error *error) {
    const struct wisdom_figure *figure = &gate->source.figures.items[index];
    if (*part != NULL && wisdom_part_add(*part, figure, index))
        return 0;
    if (try_part(gate, part, error) < 0)
        return -1;
    *part = wisdom_part_new(gate->path, &gate->source, folder);
    wisdom_part_add(*part, figure, index);
    return 0;
}

static bool is_of_device(const struct gate *gate, const struct wisdom_figure *figure) {
    return strcmp(figure->device, gate->device.name) == 0;
}

static int gate_entries(struct gate *gate, struct error *error) {
    struct wisdom_template_state *state = xcalloc(1, sizeof *state);
    const struct wisdom_figures *figures = &gate->source.figures;
    const struct wisdom_figure *last = NULL;
    struct wisdom_part *part = NULL;
    int status = 0;
    for (int i = 0; i < figures->count; i++)
        gate->count += is_of_device(gate, &figures->items[i]);
    gate->elsewhere = figures->count - gate->count;
    gate->said = clock_seconds();
    for (int i = 0; i < figures->count && status == 0; i++) {
        const struct wisdom_figure *figure = &figures->items[i];
        char why[256];
        if (!is_of_device(gate, figure))
            continue;
        if (last == NULL || !same_template(last, figure))
            wisdom_find_template(figure, gate->options->templates, state);
        last = figure;
        status = wisdom_is_outdated(figure, state, NULL, why, sizeof why)
                     ? record(gate, figure, why, NULL, error)
                     : add_entry(gate, &part, i, state->folder, error);
    }
    if (status == 0)
        status = try_part(gate, &part, error);
    wisdom_part_free(part);
    free(state);
    return status;
}

static int print_gate(struct gate *gate) {
    cJSON *object = cJSON_CreateObject();
    json_add(object,
             "passed=%hhd gated=%s device=%s driver=%s tolerance_percent=%g entries=%d stale=%d "
             "of_other_devices=%d",
             gate->stale == 0, gate->path, gate->device.name, wisdom_driver(&gate->device),
             gate->options->tolerance, gate->checked, gate->stale, gate->elsewhere);
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    for (int i = 0; i < gate->source.figures.count; i++) {
        if (gate->rows[i] != NULL)
            cJSON_AddItemToArray(rows, gate->rows[i]);
        gate->rows[i] = NULL;
    }
    table_print_json(object, stdout);
    return gate->stale == 0 ? STATUS_DONE : STATUS_GATE;
}

int gate_wisdom_run(const char *path, const struct gate_wisdom_options *options,
                    struct error *error) {
    struct gate *gate = xcalloc(1, sizeof *gate);
    gate->path = path;
    gate->options = options;
    int status =
        options->verify_key != NULL ? signature_verify(options->verify_key, path, error) : 0;
    if (status == 0)
        status = wisdom_source_open(&gate->source, path, error);
    if (status == 0)
        status = device_list_read(&gate->devices,
                                  options->device != NULL ? options->device : "auto", error);
    if (status == 0)
        status = device_list_describe(&gate->devices, &gate->device, error);
    if (status == 0) {
        gate->rows = xcalloc((size_t)gate->source.figures.count + 1, sizeof *gate->rows);
        status = gate_entries(gate, error);
    }
    if (status == 0 && gate->checked == 0)
        status =
            error_input(error,
                        "%s has no entry of %s: give the device that its kernels were tuned on "
                        "with --device",
                        path, gate->device.name);
    if (status == 0)
        status = print_gate(gate);
    for (int i = 0; gate->rows != NULL && i < gate->source.figures.count; i++)
        cJSON_Delete(gate->rows[i]);
    free(gate->rows);
    wisdom_source_close(&gate->source);
    free(gate);
    return status;
}
