/* summary: how a run found its champions. */
#include "analysis/lineage.h"
#include "cli/cli.h"
#include "render/table.h"
#include "report/page.h"

static int print_lineage(struct store *store, bool json, struct error *error) {
    struct lineage lineage;
    int status = lineage_read(&lineage, store, error);
    cJSON *object = status == 0 && json ? lineage_json(&lineage, store, error) : NULL;
    if (status == 0 && json && object == NULL)
        status = -1;
    if (object != NULL)
        table_print_json(object, stdout);
    else if (status == 0)
        lineage_print(&lineage, stdout);
    lineage_release(&lineage);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool markdown = false, lineage = false;
    const struct option_row rows[] = {
        OPTION("json", NULL, "print one JSON object", &json),
        OPTION("markdown", NULL, "print Markdown", &markdown),
        OPTION("lineage", NULL, "of sources that evolve: what came from what, and by what change",
               &lineage),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    if (json && markdown) {
        error_input(&error, "summary: --json and --markdown are mutually exclusive: give one");
        return error_report(&error);
    }
    if (lineage && markdown) {
        error_input(&error, "summary: --lineage is text, or --json: leave --markdown out");
        return error_report(&error);
    }
    struct store *store = store_open(argv[0], STORE_READ, &error);
    if (store == NULL)
        return error_report(&error);
    if (lineage) {
        const int shown = print_lineage(store, json, &error);
        store_close(store);
        return shown < 0 ? error_report(&error) : STATUS_DONE;
    }
    int status = page_print_summary(store,
                                    json       ? PAGE_JSON
                                    : markdown ? PAGE_MARKDOWN
                                               : PAGE_TEXT,
                                    stdout, &error);
    store_close(store);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_summary = {
    .name = "summary",
    .arguments = "RUN [options]",
    .summary = "show how a run found its champions, and what its trials reveal",
    VERB_HELP(summary),
    .run = run,
};
