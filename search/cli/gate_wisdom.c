#include "cli/gate_wisdom.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "cli/cli.h"
#include "cli/wisdom_part.h"
#include "render/table.h"

#include <math.h>
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
    struct wisdom_part **parts;    /* in the order in which they are tried */
    int part_count;
    double end;  /* by clock_seconds: no entry but the first starts after it */
    double said; /* when progress was logged */
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
    if (stale[0] != '\0')
        log_info("%s, %s: %s", figure->template_name, figure->case_name, stale);
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

/* Adds the entry to a part that has a place for it, else to a new one. */
static void add_entry(struct gate *gate, int index, const char *folder) {
    const struct wisdom_figure *figure = &gate->source.figures.items[index];
    for (int p = 0; p < gate->part_count; p++)
        if (wisdom_part_add(gate->parts[p], figure, index))
            return;
    gate->parts = xrealloc(gate->parts, (size_t)(gate->part_count + 1) * sizeof *gate->parts);
    struct wisdom_part *part = wisdom_part_new(gate->path, &gate->source, folder);
    gate->parts[gate->part_count++] = part;
    wisdom_part_add(part, figure, index);
}

static bool is_of_device(const struct gate *gate, const struct wisdom_figure *figure) {
    return strcmp(figure->device, gate->device.name) == 0;
}

/* A figure of the devices' model. */
struct listed {
    const struct wisdom_figure *figure;
    int64_t
        checked_at; /* with the driver of now; 0: never, or after now, as a clock may have said */
};

/* What was checked longest ago comes first, so that gates of limited time reach everything. */
static int compare_checked(const void *a, const void *b) {
    const struct listed *one = a, *other = b;
    if (one->checked_at != other->checked_at)
        return one->checked_at < other->checked_at ? -1 : 1;
    return one->figure < other->figure ? -1 : 1;
}

/* The caller frees the list. */
static struct listed *list_figures(struct gate *gate) {
    const struct wisdom_figures *figures = &gate->source.figures;
    const char *driver = wisdom_driver(&gate->device);
    const double now = clock_unix_seconds();
    struct listed *list = xcalloc((size_t)figures->count + 1, sizeof *list);
    for (int i = 0; i < figures->count; i++) {
        const struct wisdom_figure *figure = &figures->items[i];
        const bool known =
            strcmp(figure->checked_driver, driver) == 0 && (double)figure->checked_at <= now;
        if (is_of_device(gate, figure))
            list[gate->count++] = (struct listed){figure, known ? figure->checked_at : 0};
    }
    gate->elsewhere = figures->count - gate->count;
    qsort(list, (size_t)gate->count, sizeof *list, compare_checked);
    return list;
}

/* Records what is outdated, and divides the others into parts. */
static int make_parts(struct gate *gate, struct error *error) {
    struct wisdom_template_state *state = xcalloc(1, sizeof *state);
    struct listed *list = list_figures(gate);
    const struct wisdom_figure *last = NULL;
    int status = 0;
    for (int i = 0; i < gate->count && status == 0; i++) {
        const struct wisdom_figure *figure = list[i].figure;
        char why[256];
        if (last == NULL || !same_template(last, figure))
            wisdom_find_template(figure, gate->options->templates, state);
        last = figure;
        if (wisdom_is_outdated(figure, state, NULL, why, sizeof why))
            status = record(gate, figure, why, NULL, error);
        else
            add_entry(gate, (int)(figure - gate->source.figures.items), state->folder);
    }
    free(list);
    free(state);
    return status;
}

static int gate_entries(struct gate *gate, struct error *error) {
    const double seconds = gate->options->seconds;
    gate->said = clock_seconds();
    gate->end = seconds > 0 ? gate->said + seconds : INFINITY;
    int status = make_parts(gate, error);
    for (int p = 0; p < gate->part_count && status == 0 && (p == 0 || clock_seconds() < gate->end);
         p++)
        status =
            wisdom_part_try(gate->parts[p], &gate->devices, gate->end, report_entry, gate, error);
    for (int p = 0; p < gate->part_count; p++)
        wisdom_part_free(gate->parts[p]);
    free(gate->parts);
    return status < 0 || gate->count > 0
               ? status
               : error_input(error,
                             "%s has no entry of %s: give the device that its kernels were tuned "
                             "on with --device",
                             gate->path, gate->device.name);
}

static int print_gate(struct gate *gate) {
    cJSON *object = cJSON_CreateObject();
    json_add(object,
             "passed=%hhd gated=%s device=%s driver=%s tolerance_percent=%g entries=%d stale=%d "
             "not_reached=%d of_other_devices=%d",
             gate->stale == 0, gate->path, gate->device.name, wisdom_driver(&gate->device),
             gate->options->tolerance, gate->checked, gate->stale, gate->count - gate->checked,
             gate->elsewhere);
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    for (int i = 0; i < gate->source.figures.count; i++) {
        if (gate->rows[i] != NULL)
            cJSON_AddItemToArray(rows, gate->rows[i]);
        gate->rows[i] = NULL;
    }
    table_print_json(object, stdout);
    if (gate->checked < gate->count)
        log_info("%d of %d entries were not reached in %g s%s", gate->count - gate->checked,
                 gate->count, gate->options->seconds,
                 gate->source.store != NULL ? ": the next gate of this store begins with them"
                                            : "");
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
    if (status == 0)
        status = print_gate(gate);
    for (int i = 0; gate->rows != NULL && i < gate->source.figures.count; i++)
        cJSON_Delete(gate->rows[i]);
    free(gate->rows);
    wisdom_source_close(&gate->source);
    free(gate);
    return status;
}
