/* page_kernel: the section of an exported kernel. */
#include "report/page_internal.h"

/* "1.2 % (0.4 to 2.0)" */
static void add_interval(cJSON *to, const char *name, double ratio, double low, double high) {
    add_format(to, name, "%.1f %% (%.1f to %.1f)", 100 * (ratio - 1), 100 * (low - 1),
               100 * (high - 1));
}

/* The regret at shapes that fitted nothing. */
static void add_stated(cJSON *to, const struct regret *stated) {
    if (stated->count == 0) {
        add_text(to, "stated", "");
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(to, "stated");
    json_add(object, "shapes=%d", stated->count);
    if (stated->unserved > 0)
        json_add(object, "unserved=%d", stated->unserved);
    add_interval(object, "median", stated->median, stated->median_low, stated->median_high);
    add_interval(object, "p95", stated->p95, stated->p95_low, stated->p95_high);
    add_format(object, "worst", "%.1f %%", 100 * (stated->worst - 1));
}

static void add_names(const struct regret_map *map, const int *dimensions, int count,
                      struct strbuf *text) {
    for (int i = 0; i < count; i++)
        strbuf_print(text, "%s%s", i == 0 ? "" : ", ", map->shapes->names[dimensions[i]]);
}

/* Says what the axes, the panels and the cells are. */
static void add_map_note(cJSON *to, const struct regret_map *map) {
    struct strbuf text = {0};
    if (map->x.dimension >= 0) {
        strbuf_print(&text, "Across: ");
        add_names(map, &map->x.dimension, 1, &text);
        strbuf_print(&text, ". ");
    }
    if (map->y.dimension >= 0) {
        strbuf_print(&text, "Upwards: ");
        add_names(map, &map->y.dimension, 1, &text);
        strbuf_print(&text, ". ");
    }
    if (map->panel_dimension_count > 0) {
        strbuf_print(&text, "A panel for each value of: ");
        add_names(map, map->panel_dimensions, map->panel_dimension_count, &text);
        strbuf_print(&text, ". ");
    }
    if (map->rest_count > 0) {
        strbuf_print(&text, "A cell has all values of ");
        add_names(map, map->rest, map->rest_count, &text);
        strbuf_print(&text, ". ");
    }
    strbuf_print(&text, "A cell shows the worst of its shapes, those included that the tree was "
                        "fitted to.");
    add_text(to, "map_note", text.bytes);
    strbuf_release(&text);
}

static void add_map(const struct page *page, cJSON *to, const struct regret_map *map) {
    if (map == NULL) {
        add_text(to, "map", "");
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(to, "map");
    add_text(object, "x", map->x.dimension < 0 ? "" : map->shapes->names[map->x.dimension]);
    add_text(object, "y", map->y.dimension < 0 ? "" : map->shapes->names[map->y.dimension]);
    add_map_note(object, map);
    page_add_map_picture(page, object, map);
    add_table(page, object, "cells", regret_map_table(map));
}

void page_add_kernel(const struct page *page, cJSON *kernels, int index) {
    const struct kernel_regret *it = page->content->kernels[index];
    const struct manifest *manifest = &it->manifest;
    const struct manifest_regret *regret = &it->regret;
    int fitted = 0;
    cJSON *to = cJSON_CreateObject();
    cJSON_AddItemToArray(kernels, to);
    for (int s = 0; s < regret->shapes.count; s++)
        fitted += regret->shapes.fitted[s];
    add_format(to, "id", "k%d", index);
    add_text(to, "path", it->path);
    add_text(to, "kernel", manifest->name);
    add_text(to, "template", manifest->template_name);
    add_text(to, "device", manifest->device);
    add_format(
        to, "choice",
        "Of %d genomes %d %s exported, within %.3g %% of the fastest at the %d shapes that a "
        "decision tree of depth %d was fitted to, which chooses among %d variants.",
        regret->genomes, regret->exported_genomes, regret->exported_genomes == 1 ? "is" : "are",
        100 * regret->within, fitted, tree_depth(manifest->tree), manifest->variant_count);
    add_text(to, "kernel_note",
             page->count + page->content->kernel_count > 1 && regret->predicted
                 ? "The times of this export are predictions of the emulated device, "
                   "not measurements."
                 : "");
    add_stated(to, &regret->stated);
    add_map(page, to, it->map);
}
