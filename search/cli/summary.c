/* summary: how a run found its champions. */
#include "cli/cli.h"
#include "report/page.h"

static int run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    bool markdown = false;
    const struct option_row rows[] = {
        OPTION("json", NULL, "print one JSON object", &json),
        OPTION("markdown", NULL, "print Markdown", &markdown),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    if (json && markdown) {
        error_input(&error, "summary: --json and --markdown are mutually exclusive: give one");
        return error_report(&error);
    }
    struct store *store = store_open(argv[0], STORE_READ, &error);
    if (store == NULL)
        return error_report(&error);
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
