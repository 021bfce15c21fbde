/* sanitize: runs recorded kernels under the four tools of compute-sanitizer. */
#include "trial/sanitize.h"

#include "cmd/cmd.h"
#include "cmd/records.h"
#include "cmd/solo.h"
#include "cmd/table.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct table_column columns[] = {
    {.name = "record", .heading = "record"},
    {.name = "tool", .heading = "tool"},
    {.name = "findings", .heading = "findings", .right = true},
    {.name = "seconds", .heading = "seconds", .right = true},
    {.name = "first", .heading = "first finding", .wrap = true},
};

struct inspection {
    struct records records;
    struct device_info device;
    struct sanitizing how;
    struct table *table;
    int found, failed; /* findings; tools that did not finish */
};

static int inspect(struct inspection *inspection, struct record *record, struct error *error) {
    struct findings findings[SANITIZER_COUNT];
    if (record_genome(&inspection->records, record, &inspection->device, error) < 0)
        return -1;
    record->request.seed = solo_fresh_seed();
    if (sanitize_run(&inspection->how, &record->request, findings, error) < 0)
        return -1;
    for (int tool = 0; tool < SANITIZER_COUNT; tool++) {
        table_text(inspection->table, record->name);
        table_text(inspection->table, sanitizer_name((enum sanitizer)tool));
        if (findings[tool].ran)
            table_integer(inspection->table, findings[tool].count);
        else
            table_none(inspection->table);
        table_number(inspection->table, findings[tool].seconds, 1);
        table_text(inspection->table, findings[tool].first);
        inspection->found += findings[tool].count;
        inspection->failed += !findings[tool].ran;
    }
    return 0;
}

/* Requires a GPU: compute-sanitizer cannot run on an emulated device. */
static int prepare(struct inspection *inspection, const char *device, char tool[PATH_SIZE],
                   char program[PATH_SIZE], struct error *error) {
    const char *recorded = inspection->records.device;
    const char *spec = device != NULL ? device : recorded != NULL ? recorded : "auto";
    if (sanitize_find(tool, error) < 0 || device_describe(spec, &inspection->device, error) < 0)
        return -1;
    if (inspection->device.predicts)
        return error_set(
            error,
            "%s is not a GPU, and compute-sanitizer needs one: give --device cuda:0, or "
            "use `evotile try --diagnose` on an emulated device",
            inspection->device.spec);
    ssize_t length = readlink("/proc/self/exe", program, PATH_SIZE - 1);
    if (length < 0)
        return error_set(error, "cannot find our own program: %s", strerror(errno));
    program[length] = '\0';
    inspection->how = (struct sanitizing){.tool = tool,
                                          .program = program,
                                          .config_path = inspection->records.config_path,
                                          .template_folder = inspection->records.template_folder,
                                          .device = inspection->device.spec};
    return 0;
}

static int tell(const struct inspection *inspection, bool json) {
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "device", inspection->device.name);
        cJSON_AddNumberToObject(object, "findings", inspection->found);
        cJSON_AddItemToObject(object, "rows", table_json(inspection->table));
        table_print_json(object, stdout);
    } else {
        table_print(inspection->table, TABLE_TEXT, stdout);
    }
    return inspection->found > 0    ? STATUS_GATE
           : inspection->failed > 0 ? STATUS_FAILED
                                    : STATUS_DONE;
}

static int run(const struct verb *verb, int argc, char **argv) {
    int64_t rank = 1;
    int64_t goal = 0;
    const char *device = NULL;
    bool json = false;
    const struct option_row rows[] = {
        {"rank", "K", "rank on the board, from 1 (default: 1, the champion)", OPTION_INTEGER,
         &rank},
        {"goal", "K", "case of a per_case run, from 0 (default 0)", OPTION_INTEGER, &goal},
        {"device", "SPEC", "cuda:N (default: the run's device)", OPTION_TEXT, &device},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    char tool[PATH_SIZE];
    char program[PATH_SIZE];
    struct inspection *inspection = calloc(1, sizeof *inspection);
    if (inspection == NULL)
        BUG("out of memory");
    signal(SIGPIPE, SIG_IGN);
    inspection->table = table_new(columns, sizeof columns / sizeof *columns);
    int status = records_read(&inspection->records, argv[0], rank, goal, &error);
    if (status == 0)
        status = prepare(inspection, device, tool, program, &error);
    for (int i = 0; i < inspection->records.count && status == 0; i++)
        status = inspect(inspection, &inspection->records.items[i], &error);
    if (status == 0)
        status = tell(inspection, json);
    records_release(&inspection->records);
    table_free(inspection->table);
    free(inspection);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_sanitize = {
    .name = "sanitize",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "run a kernel under compute-sanitizer",
    VERB_HELP(sanitize),
    .run = run,
};
