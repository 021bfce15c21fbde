/* summary: how a run found its champions, and what proposals came to. */
#include "analysis/lineage.h"
#include "analysis/proposal_scores.h"
#include "cli/cli.h"
#include "render/table.h"
#include "report/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Which summary, in which form. */
struct summary {
    bool json, markdown, lineage, proposals;
};

static int check_options(const struct summary *summary, int runs, struct error *error) {
    if (summary->json && summary->markdown)
        return error_input(error,
                           "summary: --json and --markdown are mutually exclusive: give one");
    if (summary->lineage && summary->proposals)
        return error_input(error,
                           "summary: --lineage and --proposals are mutually exclusive: give one");
    if (runs > 1 && !summary->proposals)
        return error_input(error, "summary: one RUN, unless --proposals counts over several");
    return 0;
}

static int print_lineage_json(struct store *store, struct error *error) {
    struct lineage lineage;
    cJSON *object =
        lineage_read(&lineage, store, error) == 0 ? lineage_json(&lineage, store, error) : NULL;
    if (object != NULL)
        table_print_json(object, stdout);
    lineage_release(&lineage);
    return object != NULL ? 0 : -1;
}

static int print_lineage_text(struct store *store, struct error *error) {
    struct lineage lineage;
    const int status = lineage_read(&lineage, store, error);
    if (status == 0)
        lineage_print(&lineage, stdout);
    lineage_release(&lineage);
    return status;
}

static int print_run(const struct summary *summary, const char *run, struct error *error) {
    struct store *store = store_open(run, STORE_READ, error);
    if (store == NULL)
        return -1;
    const int status = !summary->lineage   ? page_print_summary(store,
                                                              summary->json       ? PAGE_JSON
                                                                : summary->markdown ? PAGE_MARKDOWN
                                                                                    : PAGE_TEXT,
                                                                stdout, error)
                       : summary->json     ? print_lineage_json(store, error)
                       : summary->markdown ? page_print_lineage(store, stdout, error)
                                           : print_lineage_text(store, error);
    store_close(store);
    return status;
}

/* A run that is counted twice would count more than others. */
static int check_runs_differ(char **runs, int count, struct error *error) {
    char first[PATH_MAX], second[PATH_MAX];
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++)
            if (realpath(runs[a], first) != NULL && realpath(runs[b], second) != NULL &&
                strcmp(first, second) == 0)
                return error_input(error, "summary: the run %s is given twice: name it once",
                                   runs[a]);
    return 0;
}

static int count_proposals(struct proposal_scores *scores, char **runs, int count,
                           struct error *error) {
    int status = 0;
    for (int r = 0; r < count && status == 0; r++) {
        struct store *store = store_open(runs[r], STORE_READ, error);
        status = store != NULL ? proposal_scores_add(scores, store, error) : -1;
        store_close(store);
    }
    return status;
}

static int print_proposals(const struct summary *summary, char **runs, int count,
                           struct error *error) {
    struct proposal_scores *scores = proposal_scores_new();
    const int status = check_runs_differ(runs, count, error) < 0
                           ? -1
                           : count_proposals(scores, runs, count, error);
    struct table *table = status == 0 ? proposal_scores_table(scores) : NULL;
    if (table != NULL && summary->json)
        table_print_json(table_json(table), stdout);
    else if (table != NULL)
        table_print(table, summary->markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    table_free(table);
    proposal_scores_free(scores);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct summary summary = {0};
    const struct option_row rows[] = {
        OPTION("json", NULL, "print one JSON object", &summary.json),
        OPTION("markdown", NULL, "print Markdown", &summary.markdown),
        OPTION("lineage", NULL, "of sources that evolve: what came from what, and by what change",
               &summary.lineage),
        OPTION("proposals", NULL,
               "of one or several such runs: what compiled, ran and was correct, how much faster",
               &summary.proposals),
        {0},
    };
    struct error error = {0};
    const int count = options_parse(verb, rows, argc, argv, 1, INT16_MAX);
    if (count < 0)
        return STATUS_USAGE;
    const int status = check_options(&summary, count, &error) < 0 ? -1
                       : summary.proposals ? print_proposals(&summary, argv, count, &error)
                                           : print_run(&summary, argv[0], &error);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_summary = {
    .name = "summary",
    .arguments = "RUN... [options]",
    .summary = "show how a run found its champions, and what its trials reveal",
    VERB_HELP(summary),
    .run = run,
};
