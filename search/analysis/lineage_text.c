/* The lineage as text: what its proposals came to, a table of them, the tree of solutions, the way
   to the best one. */
#include "analysis/lineage.h"

#include "base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the proposals came to ---- */

/* "2 promote, 3 keep" */
static void add_counts(struct strbuf *text, const cJSON *counts) {
    const cJSON *count;
    cJSON_ArrayForEach(count, counts) {
        strbuf_print(text, "%s%d %s", count == counts->child ? "" : ", ", count->valueint,
                     count->string);
    }
}

static double number_of(const cJSON *object, const char *name) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

char *lineage_summary_text(const struct lineage *lineage) {
    struct strbuf text = {0};
    cJSON *summary = lineage_summary(lineage);
    const double tokens =
        number_of(summary, "prompt_tokens") + number_of(summary, "completion_tokens");
    const double cost = number_of(summary, "cost"), seconds = number_of(summary, "seconds");
    strbuf_print(&text, "%d proposal%s", lineage->count, lineage->count == 1 ? "" : "s");
    if (lineage->count > 0) {
        strbuf_print(&text, ": ");
        add_counts(&text, cJSON_GetObjectItemCaseSensitive(summary, "decisions"));
        strbuf_print(&text, "; verdicts: ");
        add_counts(&text, cJSON_GetObjectItemCaseSensitive(summary, "verdicts"));
    }
    if (tokens > 0)
        strbuf_print(&text, "; %.0f tokens", tokens);
    if (isfinite(cost))
        strbuf_print(&text, ", cost %.4g", cost);
    if (isfinite(seconds))
        strbuf_print(&text, "; %.0f s from the first question to the last decision", seconds);
    cJSON_Delete(summary);
    return text.bytes;
}

/* ---- proposals and solutions ---- */

const char *lineage_state(const struct store_proposal *row) {
    return row->decision != NULL ? row->decision : row->answer != NULL ? "open" : "asked";
}

struct table *lineage_table(const struct lineage *lineage) {
    static const struct table_column columns[] = {
        {.name = "number", .heading = "proposal", .right = true},
        {.name = "parent", .heading = "parent"},
        {.name = "other", .heading = "and"},
        {.name = "solution", .heading = "solution"},
        {.name = "decision", .heading = "decision"},
        {.name = "verdict", .heading = "verdict"},
        {.name = "score_us", .heading = "us", .right = true},
        {.name = "ratio", .heading = "times as\nfast", .right = true},
        {.name = "low", .heading = "low", .right = true},
        {.name = "high", .heading = "high", .right = true},
        {.name = "tokens", .heading = "tokens", .right = true},
        {.name = "hypothesis", .heading = "hypothesis: reason", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        const int64_t tokens = row->prompt_tokens + row->completion_tokens;
        const bool reverted = row->decision != NULL && strcmp(row->decision, "revert") == 0;
        const char *reason = reverted && row->reason != NULL ? row->reason : NULL;
        struct strbuf text = {0};
        strbuf_print(&text, "%s%s%s", row->hypothesis != NULL ? row->hypothesis : "",
                     row->hypothesis != NULL && reason != NULL ? ": " : "",
                     reason != NULL ? reason : "");
        table_add(table, "%ld %s %s %s %s %s %.3f %.3f %.3f %.3f", (long)row->number, row->parent,
                  row->other, row->solution, lineage_state(row), row->verdict, row->score_us,
                  row->ratio, row->low, row->high);
        if (tokens > 0)
            table_add(table, "%ld %s", (long)tokens, text.bytes);
        else
            table_add(table, "- %s", text.bytes);
        strbuf_release(&text);
    }
    return table;
}

static void print_solution(void *out, int depth, const char *solution,
                           const struct store_proposal *row) {
    if (row != NULL && !lineage_made_solution(row))
        return;
    fprintf(out, "%*s%s", 2 * depth, "", solution);
    if (row != NULL)
        fprintf(out, "  %s", lineage_state(row));
    if (row != NULL && isfinite(row->ratio))
        fprintf(out, "  %.3f us, %.3f times as fast", row->score_us, row->ratio);
    fprintf(out, "%s%s\n", row != NULL && row->hypothesis != NULL ? "  " : "",
            row != NULL && row->hypothesis != NULL ? row->hypothesis : "");
}

static void print_best(const struct lineage *lineage, FILE *out) {
    const struct store_proposal *path[LINEAGE_PATH_MAX];
    if (lineage->best == NULL)
        return;
    const int count = lineage_path(lineage, lineage->best, path, LINEAGE_PATH_MAX);
    fprintf(out, "\nbest: %s, %.3f us", lineage->best, lineage->best_us);
    if (lineage->best_us > 0 && lineage->first_us > 0)
        fprintf(out, ", %.3f times as fast as %s, the best start after tuning",
                lineage->first_us / lineage->best_us, lineage->first);
    fprintf(out, "\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "  %s of %s: %s\n", path[i]->solution, path[i]->parent,
                path[i]->hypothesis != NULL ? path[i]->hypothesis : "");
    if (lineage->diff != NULL)
        fprintf(out, "\n%s against %s\n%s", lineage->best, lineage->root, lineage->diff);
}

void lineage_print(const struct lineage *lineage, FILE *out) {
    struct table *table = lineage_table(lineage);
    char *summary = lineage_summary_text(lineage);
    fprintf(out, "%s\n\n", summary);
    free(summary);
    table_print(table, TABLE_TEXT, out);
    table_free(table);
    fprintf(out, "\nsolutions that passed, below what they change\n");
    lineage_walk(lineage, print_solution, out);
    print_best(lineage, out);
}
