/* sanitize: runs recorded kernels under the four tools of compute-sanitizer. */
#include "pool/sanitize.h"

#include "base/memory.h"
#include "cli/cli.h"
#include "render/table.h"
#include "run/replay_targets.h"
#include "session/single_trial.h"

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

struct sanitize_context {
    struct replay_targets targets;
    struct device_info device;
    struct tool_settings how;
    struct table *table;
    int finding_count, failed_tools; /* findings; tools that did not finish */
};

static int sanitize_target(struct sanitize_context *context, struct replay_target *target,
                           struct error *error) {
    struct findings findings[SANITIZER_COUNT];
    if (replay_target_genome(&context->targets, target, &context->device, error) < 0)
        return -1;
    target->request.seed = single_trial_fresh_seed();
    if (sanitize_run(&context->how, &target->request, findings, error) < 0)
        return -1;
    for (int tool = 0; tool < SANITIZER_COUNT; tool++) {
        table_add(context->table, findings[tool].ran ? "%s %s %d" : "%s %s -", target->name,
                  sanitizer_name((enum sanitizer)tool), findings[tool].count);
        table_add(context->table, "%.1f %s", findings[tool].seconds, findings[tool].first);
        context->finding_count += findings[tool].count;
        context->failed_tools += !findings[tool].ran;
    }
    return 0;
}

/* Requires a GPU: compute-sanitizer cannot run on an emulated device. */
static int prepare_tool(struct sanitize_context *context, const char *device, char tool[PATH_SIZE],
                        char program[PATH_SIZE], struct error *error) {
    const char *recorded_device = context->targets.device;
    const char *spec = device != NULL ? device : recorded_device != NULL ? recorded_device : "auto";
    if (sanitize_find(tool, error) < 0 || device_describe(spec, &context->device, error) < 0)
        return -1;
    if (context->device.predicts)
        return error_set(
            error,
            "%s is not a GPU, and compute-sanitizer needs one: give --device cuda:0, or "
            "use `evotile try --diagnose` on an emulated device",
            context->device.spec);
    if (path_program(program, error) < 0)
        return -1;
    context->how = (struct tool_settings){.tool = tool,
                                          .program = program,
                                          .config_path = context->targets.config_path,
                                          .template_folder = context->targets.template_folder,
                                          .device = context->device.spec,
                                          .compile_for = &context->device};
    return 0;
}

static int print_findings(const struct sanitize_context *context, bool json) {
    if (json) {
        cJSON *object = cJSON_CreateObject();
        json_add(object, "device=%s findings=%d", context->device.name, context->finding_count);
        cJSON_AddItemToObject(object, "rows", table_json(context->table));
        table_print_json(object, stdout);
    } else {
        table_print(context->table, TABLE_TEXT, stdout);
    }
    return context->finding_count > 0  ? STATUS_GATE
           : context->failed_tools > 0 ? STATUS_FAILED
                                       : STATUS_DONE;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct replay_choice choice = replay_choice_default();
    const char *device = NULL;
    bool json = false;
    const struct option_row rows[] = {
        REPLAY_OPTIONS(choice),
        OPTION("device", "SPEC", "cuda:N (default: the run's device)", &device),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    char tool[PATH_SIZE];
    char program[PATH_SIZE];
    struct sanitize_context *context = xcalloc(1, sizeof *context);
    signal(SIGPIPE, SIG_IGN);
    context->table = table_new(columns, sizeof columns / sizeof *columns);
    int status = replay_targets_read(&context->targets, argv[0], &choice, false, &error);
    if (status == 0)
        status = prepare_tool(context, device, tool, program, &error);
    for (int i = 0; i < context->targets.count && status == 0; i++)
        status = sanitize_target(context, &context->targets.items[i], &error);
    if (status == 0)
        status = print_findings(context, json);
    replay_targets_release(&context->targets);
    table_free(context->table);
    free(context);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_sanitize = {
    .name = "sanitize",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "run a kernel under compute-sanitizer",
    VERB_HELP(sanitize),
    .run = run,
};
