/* The lineage of a run whose sources evolve: a tree to open, and the winner's diff. */
#include "analysis/lineage.h"
#include "base/json.h"
#include "report/page_internal.h"

#include <math.h>
#include <string.h>

/* One solution of the tree: who it changes is shown by its indentation. */
static void add_solution(void *context, int depth, const char *solution,
                         const struct store_proposal *row) {
    if (row != NULL && !lineage_made_solution(row))
        return;
    cJSON *one = cJSON_CreateObject();
    cJSON_AddItemToArray(context, one);
    json_add(one, "indent=%g depth=%d", 1.4 * depth, depth);
    add_text(one, "solution", solution);
    add_text(one, "decision",
             row == NULL             ? "start"
             : row->decision != NULL ? row->decision
                                     : "open");
    add_text(one, "hypothesis", row != NULL ? row->hypothesis : NULL);
    add_text(one, "diff", row != NULL ? row->diff : NULL);
    if (row != NULL && isfinite(row->ratio))
        add_format(one, "gain", "%.3f us, %.3f times as fast as %.48s", row->score_us, row->ratio,
                   row->parent);
    else
        add_text(one, "gain", "");
}

int page_add_lineage(const struct page *page, cJSON *to, struct store *store, struct error *error) {
    struct lineage lineage;
    const int found = lineage_has(store, error);
    if (found <= 0)
        return found;
    int status = lineage_read(&lineage, store, error);
    if (status == 0) {
        cJSON *object = cJSON_AddObjectToObject(to, "lineage");
        lineage_walk(&lineage, add_solution, cJSON_AddArrayToObject(object, "tree"));
        add_text(object, "best", lineage.best);
        add_text(object, "root", lineage.root);
        add_text(object, "best_diff", lineage.diff);
        if (lineage.first_us > 0 && lineage.best_us > 0)
            add_format(object, "headline",
                       "%.3f us, %.3f times as fast as %.48s, the best start after tuning",
                       lineage.best_us, lineage.first_us / lineage.best_us, lineage.first);
        else
            add_text(object, "headline", "");
        status = add_table(page, object, "proposals", lineage_table(&lineage));
    }
    lineage_release(&lineage);
    return status;
}
