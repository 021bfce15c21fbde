#include "export/dispatch.h"

#include <math.h>
#include <string.h>

bool dispatch_is_exported(const struct export *export) {
    return export->request->dispatch != NULL && export->request->variant_count > 1;
}

void export_tree_inputs(const struct tree *tree, const struct template *template,
                        const struct shape *shape, int64_t inputs[TREE_INPUTS_MAX]) {
    for (int i = 0; i < tree->input_count; i++)
        inputs[i] = template_dimension(template, shape, tree->names[i], 0);
}

/* ---- the launcher ---- */

void dispatch_add_tree(const struct export *export, cJSON *values) {
    struct strbuf tree = {0}, orders = {0};
    if (!dispatch_is_exported(export))
        return;
    if (tree_depth(export->request->dispatch->tree) == 0)
        strbuf_print(&tree, "    (void)shape; /* one order is for every shape */\n");
    tree_write_c(export->request->dispatch->tree, "shape->", 4, &tree);
    tree_write_orders(export->request->dispatch->tree, 4, &orders);
    embedded_add_text(values, "tree", &tree);
    embedded_add_text(values, "orders", &orders);
}

/* ---- the header ---- */

/* "1.2 %" */
static void add_percent(double ratio, struct strbuf *text) {
    strbuf_print(text, "%.1f %%", 100 * (ratio - 1));
}

void dispatch_add_comment(const struct export *export, cJSON *values) {
    const struct export_dispatch *dispatch = export->request->dispatch;
    struct strbuf words = {0}, text = {0};
    cJSON_AddBoolToObject(values, "any_dispatch", dispatch != NULL);
    if (dispatch == NULL)
        return;
    const struct regret *regret = &dispatch->held_out;
    strbuf_print(&words,
                 "Of %d genomes %d %s here, within %.3g %% of the fastest at the shapes that a "
                 "decision tree of depth %d was fitted to, which chooses among the variants. ",
                 dispatch->genomes, dispatch->exported_genomes,
                 dispatch->exported_genomes == 1 ? "is" : "are", 100 * dispatch->within,
                 tree_depth(dispatch->tree));
    if (regret->count == 0) {
        strbuf_print(&words, "No other shapes were timed: its regret is not known.");
    } else {
        strbuf_print(&words, "Its regret, %s at %d other shape%s, against the fastest of these: ",
                     dispatch->predicted ? "predicted" : "measured", regret->count,
                     regret->count == 1 ? "" : "s");
        strbuf_print(&words, "median ");
        add_percent(regret->median, &words);
        strbuf_print(&words, " (95 %% interval %.1f to %.1f), 95th percentile ",
                     100 * (regret->median_low - 1), 100 * (regret->median_high - 1));
        add_percent(regret->p95, &words);
        strbuf_print(&words, " (%.1f to %.1f), worst ", 100 * (regret->p95_low - 1),
                     100 * (regret->p95_high - 1));
        add_percent(regret->worst, &words);
        char name[CASE_NAME_SIZE];
        template_print_shape(export->template, &dispatch->shapes[dispatch->worst_shape], name);
        strbuf_print(&words, " at %s.", name);
    }
    if (regret->unserved > 0)
        strbuf_print(&words, " Others that have no kernel here, though one of these fits: %d.",
                     regret->unserved);
    if (dispatch->unfit > 0)
        strbuf_print(&words, " Shapes that none of these fits: %d.", dispatch->unfit);
    strbuf_add_wrapped(&text, " * ", words.bytes);
    embedded_add_text(values, "dispatch", &text);
    strbuf_release(&words);
}

/* ---- the manifest ---- */

static void add_time(cJSON *list, double us) {
    cJSON_AddItemToArray(list,
                         isfinite(us) && us > 0 ? cJSON_CreateNumber(us) : cJSON_CreateNull());
}

static void add_shapes(const struct export *export, cJSON *object) {
    const struct export_dispatch *dispatch = export->request->dispatch;
    const int count = export->request->variant_count;
    cJSON *list = cJSON_AddArrayToObject(object, "shapes");
    for (int s = 0; s < dispatch->shape_count; s++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        cJSON_AddItemToObject(one, "shape",
                              template_shape_json(export->template, &dispatch->shapes[s]));
        cJSON_AddBoolToObject(one, "fitted", dispatch->fitted[s]);
        if (dispatch->least_us[s] > 0)
            cJSON_AddNumberToObject(one, "least_us", dispatch->least_us[s]);
        cJSON *times = cJSON_AddArrayToObject(one, "us");
        for (int v = 0; v < count; v++)
            add_time(times, dispatch->us[s * count + v]);
    }
}

void dispatch_add_manifest(const struct export *export, cJSON *root) {
    const struct export_dispatch *dispatch = export->request->dispatch;
    if (dispatch == NULL)
        return;
    cJSON *object = cJSON_AddObjectToObject(root, "dispatch");
    cJSON_AddNumberToObject(object, "within", dispatch->within);
    cJSON_AddNumberToObject(object, "genomes", dispatch->genomes);
    cJSON_AddNumberToObject(object, "exported_genomes", dispatch->exported_genomes);
    cJSON_AddBoolToObject(object, "fewest", dispatch->fewest);
    cJSON_AddBoolToObject(object, "predicted", dispatch->predicted);
    cJSON_AddNumberToObject(object, "unfit", dispatch->unfit);
    cJSON_AddItemToObject(object, "regret", regret_json(&dispatch->held_out));
    cJSON_AddItemToObject(object, "regret_fitted", regret_json(&dispatch->of_fitted));
    cJSON *ranges = dispatch->ranges != NULL ? cJSON_Parse(dispatch->ranges) : NULL;
    if (ranges != NULL)
        cJSON_AddItemToObject(object, "ranges", ranges);
    cJSON_AddItemToObject(object, "choice", tree_json(dispatch->tree));
    add_shapes(export, object);
}
