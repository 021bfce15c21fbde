/* report: an HTML, Markdown, JSON or CSV report about one or more runs. */
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "cli/cli.h"
#include "report/page.h"

#include <signal.h>
#include <string.h>

enum report_format { REPORT_HTML, REPORT_MARKDOWN, REPORT_JSON, REPORT_CSV, REPORT_FORMAT_COUNT };

static const enum page_format page_formats[REPORT_FORMAT_COUNT] = {PAGE_HTML, PAGE_MARKDOWN,
                                                                   PAGE_JSON};

static int print_report(struct run_data *const *runs, int count, enum report_format format,
                        FILE *out, struct error *error) {
    if (format == REPORT_CSV) {
        page_print_csv(runs, count, out);
        return 0;
    }
    return page_print(runs, count, page_formats[format], out, error);
}

/* Replaces the file atomically: on a failure the old one stays. */
static int write_file(struct run_data *const *runs, int count, enum report_format format,
                      const char *path, struct error *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&text, &size);
    int status = print_report(runs, count, format, out, error);
    fclose(out);
    if (status == 0)
        status = path_write_file(path, text, size, error);
    free(text);
    if (status == 0)
        log_info("wrote %s, %.2f MB%s", path, (double)size * 1e-6,
                 format == REPORT_HTML ? ": open it in a browser" : "");
    return status;
}

/* HTML goes to a file, by default in the run folder; the other formats go to stdout. */
static int write_report(struct run_data *const *runs, int count, enum report_format format,
                        const char *path, struct error *error) {
    char default_path[PATH_SIZE];
    if (path == NULL && format != REPORT_HTML)
        return print_report(runs, count, format, stdout, error);
    if (path == NULL && path_join(default_path, runs[0]->path, "report.html", error) < 0)
        return -1;
    return write_file(runs, count, format, path != NULL ? path : default_path, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *path = NULL;
    bool markdown = false;
    bool json = false;
    bool csv = false;
    const struct option_row rows[] = {
        OPTION("out", "FILE",
               "output file, also -o FILE (default RUN/report.html; other formats: stdout)", &path),
        OPTION("markdown", NULL, "print Markdown, without pictures", &markdown),
        OPTION("json", NULL, "print the tables as one JSON object", &json),
        OPTION("csv", NULL, "print every trial as a line of CSV", &csv),
        {0},
    };
    struct error error = {0};
    int count = options_parse(verb, rows, argc, argv, 1, INT16_MAX);
    if (count < 0)
        return STATUS_USAGE;
    if (markdown + json + csv > 1) {
        error_input(&error,
                    "report: --markdown, --json and --csv are mutually exclusive: give one");
        return error_report(&error);
    }
    signal(SIGPIPE, SIG_IGN);
    struct run_data **runs = xcalloc((size_t)count, sizeof *runs);
    int status = 0;
    for (int r = 0; r < count && status == 0; r++)
        status = (runs[r] = run_data_read(argv[r], &error)) != NULL ? 0 : -1;
    if (status == 0)
        status = write_report(runs, count,
                              markdown ? REPORT_MARKDOWN
                              : json   ? REPORT_JSON
                              : csv    ? REPORT_CSV
                                       : REPORT_HTML,
                              path, &error);
    for (int r = 0; r < count; r++)
        run_data_free(runs[r]);
    free(runs);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_report = {
    .name = "report",
    .arguments = "RUN... [options]",
    .summary = "write an HTML report about one or more runs",
    VERB_HELP(report),
    .run = run,
};
