/* report: an HTML, Markdown, JSON or CSV report about runs and exported kernels. */
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

static int print_report(const struct page_content *content, enum report_format format, FILE *out,
                        struct error *error) {
    if (format != REPORT_CSV)
        return page_print(content, page_formats[format], out, error);
    if (content->kernel_count > 0)
        return error_input(error,
                           "report: --csv prints the trials of runs, and %s is an exported kernel: "
                           "leave it out, or give --json",
                           content->kernels[0]->path);
    page_print_csv(content->runs, content->run_count, out);
    return 0;
}

/* Replaces the file atomically: on a failure the old one stays. */
static int write_file(const struct page_content *content, enum report_format format,
                      const char *path, struct error *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&text, &size);
    int status = print_report(content, format, out, error);
    fclose(out);
    if (status == 0)
        status = path_write_file(path, text, size, error);
    free(text);
    if (status == 0)
        log_info("wrote %s, %.2f MB%s", path, (double)size * 1e-6,
                 format == REPORT_HTML ? ": open it in a browser" : "");
    return status;
}

/* HTML goes to a file, by default in `folder`; the other formats go to stdout. */
static int write_report(const struct page_content *content, enum report_format format,
                        const char *folder, const char *path, struct error *error) {
    char default_path[PATH_SIZE];
    if (path == NULL && format != REPORT_HTML)
        return print_report(content, format, stdout, error);
    if (path == NULL && path_join(default_path, folder, "report.html", error) < 0)
        return -1;
    return write_file(content, format, path != NULL ? path : default_path, error);
}

/* Each folder is a run or an exported kernel. */
static int read_folders(char **folders, int count, struct run_data **runs,
                        struct kernel_regret **kernels, struct page_content *content,
                        struct error *error) {
    *content = (struct page_content){.runs = runs, .kernels = kernels};
    for (int i = 0; i < count; i++) {
        if (kernel_regret_is_kernel(folders[i])) {
            if ((kernels[content->kernel_count] = kernel_regret_read(folders[i], error)) == NULL)
                return -1;
            content->kernel_count++;
        } else {
            if ((runs[content->run_count] = run_data_read(folders[i], error)) == NULL)
                return -1;
            content->run_count++;
        }
    }
    return 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *path = NULL;
    bool markdown = false;
    bool json = false;
    bool csv = false;
    const struct option_row rows[] = {
        OPTION("out", "FILE",
               "output file, also -o FILE (default report.html in the first folder; other formats: "
               "stdout)",
               &path),
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
    struct kernel_regret **kernels = xcalloc((size_t)count, sizeof *kernels);
    struct page_content content;
    int status = read_folders(argv, count, runs, kernels, &content, &error);
    if (status == 0)
        status = write_report(&content,
                              markdown ? REPORT_MARKDOWN
                              : json   ? REPORT_JSON
                              : csv    ? REPORT_CSV
                                       : REPORT_HTML,
                              argv[0], path, &error);
    for (int i = 0; i < count; i++) {
        run_data_free(runs[i]);
        kernel_regret_free(kernels[i]);
    }
    free(runs);
    free(kernels);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_report = {
    .name = "report",
    .arguments = "RUN|KERNEL_DIR... [options]",
    .summary = "write an HTML report about runs and exported kernels",
    VERB_HELP(report),
    .run = run,
};
