/* cases: makes a config's cases of the calls of a program, or of a table of shapes. */
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "calls/tally.h"
#include "cli/cli.h"
#include "config/config.h"
#include "render/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_OTHERS = 4 };

struct cases_request {
    const char *template; /* as it was given */
    const char *csv, *torch, *out, *templates, *device;
    int64_t top;
    bool joint, json;
};

/* ---- the config ---- */

/* A name stays one; a path becomes absolute, so that the config may lie anywhere. */
static int name_template(const struct cases_request *request, char name[PATH_SIZE],
                         struct error *error) {
    char *path = template_is_folder(request->template) && strchr(request->template, '/') != NULL
                     ? realpath(request->template, NULL)
                     : NULL;
    int status = path_join(name, "", path != NULL ? path : request->template, error);
    free(path);
    return status;
}

/* A config has no weight of 0, and a share may be one, or nearly. */
static double weight_of(const struct tally_case *one) {
    const double least = 0.001;
    return fmax(100 * one->share, least);
}

/* "ROWS=64,COLS=100" as { "ROWS": 64, "COLS": 100, "weight": 1.5 }. */
static void print_case(const struct tally *tally, const struct tally_case *one,
                       struct strbuf *text) {
    char shape[CASE_NAME_SIZE], *rest = shape, *item;
    template_print_shape(tally->template, &one->shape, shape);
    const bool bare = *shape == '\0'; /* every dimension has its default */
    strbuf_print(text, "{");
    for (bool first = true; (item = strsep(&rest, ",")) != NULL && *item != '\0'; first = false) {
        const char *name = strsep(&item, "=");
        strbuf_print(text, "%s \"%s\": %s", first ? "" : ",", name, item);
    }
    strbuf_print(text, "%s \"weight\": %.4g }", bare ? "" : ",", weight_of(one));
}

static int write_config(const struct cases_request *request, const struct tally *tally, int kept,
                        struct error *error) {
    struct strbuf text = {0};
    char name[PATH_SIZE];
    if (name_template(request, name, error) < 0)
        return -1;
    strbuf_print(&text,
                 "// Made by `evotile cases` of %s: the cases of most of its time, in order.\n{\n",
                 request->csv != NULL ? request->csv : request->torch);
    strbuf_print(&text, "  \"template\": ");
    strbuf_add_quoted(&text, name);
    strbuf_print(&text, ",\n  \"objective\": \"%s\",\n  \"cases\": [\n",
                 request->joint ? "joint" : "per_case");
    for (int i = 0; i < kept; i++) {
        strbuf_print(&text, "    ");
        print_case(tally, &tally->cases[i], &text);
        strbuf_print(&text, "%s // %.1f %% of the time, %.0f call%s\n", i + 1 < kept ? "," : "",
                     100 * tally->cases[i].share, tally->cases[i].calls,
                     tally->cases[i].calls == 1 ? "" : "s");
    }
    strbuf_print(&text, "  ]\n}\n");
    int status = path_write_file(request->out, text.bytes, text.used, error);
    strbuf_release(&text);
    if (status < 0)
        return -1;
    /* It is read as `run` will read it. */
    struct config *config = config_load(request->out, request->templates, error);
    if (config == NULL)
        return -1;
    config_free(config);
    return 0;
}

/* ---- what is printed ---- */

static struct table *case_table(const struct tally *tally, int kept) {
    static const struct table_column columns[] = {
        {.name = "share", .heading = "share", .right = true},
        {.name = "calls", .heading = "calls", .right = true},
        {.name = "least_us", .heading = "least\nus", .right = true},
        {.name = "case", .heading = "case", .wrap = true},
    };
    struct table *table = table_new(columns, 4);
    for (int i = 0; i < kept; i++) {
        const struct tally_case *one = &tally->cases[i];
        char shape[CASE_NAME_SIZE], share[32];
        template_print_shape(tally->template, &one->shape, shape);
        snprintf(share, sizeof share, "%.1f %%", 100 * one->share);
        table_cell(table, cJSON_CreateNumber(one->share), share);
        table_add(table, "%.0f %.2f %s", one->calls, one->us, shape);
    }
    return table;
}

static void print_json(const struct tally *tally, int kept, double covered) {
    cJSON *root = cJSON_CreateObject(), *others = cJSON_CreateArray();
    struct table *table = case_table(tally, kept);
    json_add(root, "template=%s calls=%g covered=%g other_calls=%g calls_of_other_operators=%g",
             tally->template->name, tally->calls, covered, tally->other_calls, tally->unread_calls);
    cJSON_AddItemToObject(root, "cases", table_json(table));
    for (int i = 0; i < tally->other_count; i++) {
        cJSON *other = cJSON_CreateObject();
        json_add(other, "operator=%s reason=%s calls=%g", tally->others[i].called,
                 tally->others[i].reason, tally->others[i].calls);
        cJSON_AddItemToArray(others, other);
    }
    cJSON_AddItemToObject(root, "others", others);
    table_free(table);
    table_print_json(root, stdout);
}

static void say_others(const struct tally *tally) {
    for (int i = 0; i < tally->other_count && i < SHOWN_OTHERS; i++)
        log_info("%.0f call%s of %s: no case: %s", tally->others[i].calls,
                 tally->others[i].calls == 1 ? "" : "s", tally->others[i].called,
                 tally->others[i].reason);
    if (tally->other_count > SHOWN_OTHERS)
        log_info("%d further reasons are in --json", tally->other_count - SHOWN_OTHERS);
}

static int show(const struct cases_request *request, const struct tally *tally,
                struct error *error) {
    const int kept = tally->count < request->top ? tally->count : (int)request->top;
    double covered = 0;
    for (int i = 0; i < kept; i++)
        covered += tally->cases[i].share;
    say_others(tally);
    if (tally->count == 0 && request->csv != NULL)
        return error_input(error, "%s has no case of %s below its first line", request->csv,
                           tally->template->name);
    if (tally->count == 0)
        return error_input(error,
                           "%s has no case of %s: %.0f calls of its operators that are none, and "
                           "%.0f of other operators",
                           request->torch, tally->template->name, tally->other_calls,
                           tally->unread_calls);
    if (request->json)
        print_json(tally, kept, covered);
    else {
        struct table *table = case_table(tally, kept);
        table_print(table, TABLE_TEXT, stdout);
        table_free(table);
    }
    log_info("%.0f call%s in %d case%s; %.1f %% of the time is in the %d listed", tally->calls,
             tally->calls == 1 ? "" : "s", tally->count, tally->count == 1 ? "" : "s",
             100 * covered, kept);
    if (request->out == NULL) {
        log_info("--out FILE.json writes these as a config");
        return 0;
    }
    if (write_config(request, tally, kept, error) < 0)
        return -1;
    log_info("written: `evotile try %s` checks %s, `evotile run %s` searches a champion for %s",
             request->out, request->joint ? "them" : "the first case", request->out,
             request->joint ? "all, by their weights" : "each");
    return 0;
}

/* ---- the verb ---- */

static int make_cases(const struct cases_request *request, struct error *error) {
    char folder[PATH_SIZE];
    struct device_info device;
    if (template_is_folder(request->template)
            ? path_join(folder, "", request->template, error) < 0
            : template_find(folder, request->template, request->templates, error) < 0)
        return -1;
    if (device_describe(request->device, &device, error) < 0)
        return -1;
    struct tally *tally = tally_new(folder, error);
    int status = tally == NULL ? -1
                 : (request->csv != NULL ? tally_read_csv(tally, request->csv, error)
                                         : tally_read_calls(tally, request->torch, error)) < 0
                     ? -1
                     : tally_weigh(tally, &device, error);
    if (status == 0)
        status = show(request, tally, error);
    tally_free(tally);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct cases_request request = {.top = CASES_MAX, .device = "emulated:sm_90"};
    struct error error = {0};
    const struct option_row rows[] = {
        OPTION("from-csv", "FILE", "a table of shapes, whose first line names dimensions",
               &request.csv),
        OPTION("from-torch", "FILE", "calls that `python3 -m evotile.record` wrote",
               &request.torch),
        OPTION("top", "N", "keep the N cases with most of the time (default 64)", &request.top),
        OPTION("out", "FILE", "write a config with the cases", &request.out),
        OPTION("joint", NULL, "the config has one champion for all cases, by their weights",
               &request.joint),
        OPTION("device", "SPEC",
               "whose published figures give the least times (default emulated:sm_90)",
               &request.device),
        OPTION("templates", "DIR", "folder that is searched for templates first",
               &request.templates),
        OPTION("json", NULL, "print one JSON object", &request.json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    request.template = argv[0];
    int status = 0;
    if ((request.csv == NULL) == (request.torch == NULL))
        status = error_input(&error, "give one of --from-csv FILE and --from-torch FILE");
    else if (request.top < 1 || request.top > CASES_MAX)
        status =
            error_input(&error, "--top is from 1 to %d, the most cases of a config", CASES_MAX);
    else if (request.joint && request.out == NULL)
        status = error_input(&error, "--joint is of the config that --out FILE.json writes");
    else
        status = make_cases(&request, &error);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_cases = {
    .name = "cases",
    .arguments = "TEMPLATE (--from-torch FILE | --from-csv FILE) [options]",
    .summary = "make a config's cases from the calls of a program",
    VERB_HELP(cases),
    .run = run,
};
