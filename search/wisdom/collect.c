/* Merges stores, and removes what no longer holds. */
#include "base/log.h"
#include "base/memory.h"
#include "device/device.h"
#include "wisdom/wisdom.h"

#include <string.h>

/* ---- merge ---- */

static int copy_code(struct wisdom_store *store, struct wisdom_store *from, enum wisdom_codes table,
                     const char *key, const char *name, struct error *error) {
    size_t size;
    void *bytes = wisdom_store_code(from, table, key, &size, error);
    const int status =
        bytes != NULL ? wisdom_store_put_code(store, table, key, name, bytes, size, error) : -1;
    free(bytes);
    return status;
}

static void count_put(enum wisdom_put outcome, struct wisdom_counts *counts) {
    counts->added += outcome == WISDOM_ADDED;
    counts->better += outcome == WISDOM_BETTER;
    counts->kept += outcome == WISDOM_KEPT;
}

static int copy_figures(struct wisdom_store *store, struct wisdom_store *from,
                        struct wisdom_counts *counts, struct error *error) {
    struct wisdom_figures figures;
    if (wisdom_store_read(from, &figures, error) < 0)
        return -1;
    int status = 0;
    for (int i = 0; i < figures.count && status == 0; i++) {
        const struct wisdom_figure *figure = &figures.items[i];
        enum wisdom_put outcome = WISDOM_KEPT;
        if (copy_code(store, from, WISDOM_CODES_TABLE, figure->code, "", error) < 0 ||
            copy_code(store, from, WISDOM_TEMPLATES_TABLE, figure->template_hash,
                      figure->template_name, error) < 0 ||
            wisdom_store_put(store, figure, &outcome, error) < 0)
            status = -1;
        else
            count_put(outcome, counts);
    }
    wisdom_figures_release(&figures);
    return status;
}

int wisdom_merge(struct wisdom_store *store, const char *from, struct wisdom_counts *counts,
                 struct error *error) {
    struct wisdom_store *other = wisdom_store_open(from, STORE_READ, error);
    if (other == NULL)
        return -1;
    int status = wisdom_store_begin(other, error);
    if (status == 0) {
        status = wisdom_store_begin(store, error);
        if (status == 0)
            status = wisdom_store_end(store, copy_figures(store, other, counts, error), error);
        status = wisdom_store_end(other, status, error);
    }
    wisdom_store_close(other);
    return status;
}

/* ---- gc ---- */

/* A device of the figure's architecture: what is loaded with it is not launched. */
static struct device_info likely_device(const struct wisdom_figure *figure) {
    return (struct device_info){.compute_capability = (int)figure->compute_capability,
                                .sm_count = (int)figure->sm_count,
                                .smem_per_block = SMEM_DEFAULT_LIMIT,
                                .smem_per_block_optin = (int)figure->smem_limit,
                                .smem_per_sm = (int)figure->smem_limit,
                                .registers_per_sm = 65536,
                                .threads_per_sm = 1536};
}

static struct template *load_template(const struct wisdom_figure *figure, const char *folder,
                                      struct error *error) {
    struct json_document document;
    struct shape shape;
    const struct device_info device = likely_device(figure);
    const char *solution = figure->solution[0] != '\0' ? figure->solution : NULL;
    const struct template_setting bare = {.solution = solution};
    struct template *dimensions = template_load(folder, &bare, error);
    if (dimensions == NULL)
        return NULL;
    int status = json_read_text(&document, figure->case_name, figure->shape, error);
    if (status == 0) {
        const struct json root = json_root(&document);
        status = template_read_shape(dimensions, &root, NULL, &shape, error);
        json_release(&document);
    }
    template_free(dimensions);
    const struct template_setting setting = {.solution = solution,
                                             .device = &device,
                                             .smem_limit = (int)figure->smem_limit,
                                             .cases = &shape,
                                             .case_count = 1};
    return status == 0 ? template_load(folder, &setting, error) : NULL;
}

void wisdom_find_template(const struct wisdom_figure *figure, const char *templates,
                          struct wisdom_template_state *state) {
    struct error ignored = {0};
    *state = (struct wisdom_template_state){0};
    if (template_find(state->folder, figure->template_name, templates, &ignored) < 0)
        return;
    struct template *template = load_template(figure, state->folder, &ignored);
    if (template != NULL)
        hash_print(template->hash, state->hash);
    template_free(template);
}

const char *wisdom_driver(const struct device_info *device) {
    return device->driver[0] != '\0' ? device->driver : "none";
}

bool wisdom_is_outdated(const struct wisdom_figure *figure,
                        const struct wisdom_template_state *state, const struct device_info *device,
                        char *why, size_t size) {
    if (state->hash[0] == '\0') {
        snprintf(why, size, "its template is not here");
        return true;
    }
    if (strcmp(state->hash, figure->template_hash) != 0) {
        snprintf(why, size, "its template has changed");
        return true;
    }
    if (device == NULL || strcmp(device->name, figure->device) != 0)
        return false;
    const char *driver = wisdom_driver(device);
    if (strcmp(driver, figure->driver) == 0 || strcmp(driver, figure->checked_driver) == 0)
        return false;
    snprintf(why, size, "measured under driver %s, and this is %s", figure->driver, driver);
    return true;
}

static bool same_template(const struct wisdom_figure *a, const struct wisdom_figure *b) {
    return strcmp(a->template_name, b->template_name) == 0 && strcmp(a->solution, b->solution) == 0;
}

static int remove_outdated(struct wisdom_store *store, const struct wisdom_figures *figures,
                           const char *templates, const struct device_info *device,
                           struct wisdom_counts *counts, struct error *error) {
    struct wisdom_template_state *state = xcalloc(1, sizeof *state);
    int status = 0;
    for (int i = 0; i < figures->count && status == 0; i++) {
        const struct wisdom_figure *figure = &figures->items[i];
        char why[256];
        if (i == 0 || !same_template(figure - 1, figure))
            wisdom_find_template(figure, templates, state);
        bool drop = wisdom_is_outdated(figure, state, device, why, sizeof why);
        if (!drop && figure->stale[0] != '\0') {
            snprintf(why, sizeof why, "%.240s", figure->stale);
            drop = true;
        }
        if (!drop)
            continue;
        log_info("removed %s %s of %s: %s", figure->template_name, figure->case_name,
                 figure->device, why);
        status = wisdom_store_remove(store, figure->id, error);
        counts->removed++;
    }
    free(state);
    return status;
}

int wisdom_collect(struct wisdom_store *store, const char *templates,
                   const struct device_info *device, struct wisdom_counts *counts,
                   struct error *error) {
    struct wisdom_figures figures = {0};
    int status = wisdom_store_begin(store, error);
    if (status < 0)
        return -1;
    status = wisdom_store_read(store, &figures, error);
    if (status == 0)
        status = remove_outdated(store, &figures, templates, device, counts, error);
    if (status == 0 && wisdom_store_sweep(store, error) < 0)
        status = -1;
    wisdom_figures_release(&figures);
    return wisdom_store_end(store, status, error);
}
