/* diagnose: `try --diagnose`. */
#include "cli/diagnose.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "cli/cli.h"
#include "device/emulated.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"
#include "pool/worker_main.h"
#include "render/table.h"
#include "session/image_cache.h"
#include "session/single_trial.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column columns[] = {
    {.name = "kind", .heading = "kind"},
    {.name = "file", .heading = "file"},
    {.name = "line", .heading = "line", .right = true},
    {.name = "other_line", .heading = "with", .right = true},
    {.name = "kernel"},
    {.name = "block"},
    {.name = "thread"},
    {.name = "address"},
    {.name = "tensor"},
    {.name = "count", .heading = "times", .right = true},
    {.name = "degree", .heading = "degree", .right = true},
    {.name = "text", .heading = "first occurrence", .wrap = true},
};

struct diagnose_context {
    struct device *device;
    struct ptx_racecheck *racecheck;
    struct cache *cache;
    struct evaluation_settings settings;
    struct compiler *compiler;
    struct evaluator *evaluator;
    const struct template *template;
};

static void close_context(struct diagnose_context *context) {
    evaluator_free(context->evaluator);
    compiler_free(context->compiler);
    evaluation_settings_release(&context->settings);
    cache_free(context->cache);
    if (context->device != NULL)
        device_close(context->device);
}

/* Requires an emulated device. For `auto` chooses the one with the GPU's architecture. */
static int choose_device(const char *device, char spec[sizeof((struct device_info *)0)->spec],
                         struct error *error) {
    struct device_info info;
    if (strcmp(device, "auto") != 0 && strncmp(device, "emulated:", 9) != 0)
        return error_input(error,
                           "%s cannot check memory accesses: --diagnose needs an emulated device: "
                           "--device emulated:sm_89",
                           device);
    snprintf(spec, sizeof info.spec, "%s", device);
    if (strcmp(device, "auto") != 0)
        return 0;
    if (device_describe(device, &info, error) < 0)
        return -1;
    snprintf(spec, sizeof info.spec, "emulated:sm_%d", info.compute_capability);
    return 0;
}

static int open_context(struct diagnose_context *context, const struct config *config, int goal,
                        const char *device, struct error *error) {
    char spec[sizeof context->device->info.spec];
    *context = (struct diagnose_context){0};
    if (choose_device(device, spec, error) < 0)
        return -1;
    context->cache = cache_new(NULL, 0);
    const char *const folders[] = {cache_folder(context->cache), "/dev/null", NULL};
    sandbox_enter(false, folders);
    context->device = device_open(spec, error);
    if (context->device == NULL)
        return -1;
    context->racecheck = emulated_attach_racecheck(context->device, TEMPLATE_TAG_SYMBOL);
    const struct image_cache images = image_cache_on_disk(context->cache);
    evaluation_settings_from_config(&context->settings, config);
    context->compiler = compiler_new(&context->settings, &context->device->info, &images, error);
    if (context->compiler == NULL)
        return -1;
    const struct resource_budget budget = resource_budget_default();
    nvrtc_set_budget(compiler_nvrtc(context->compiler), &budget);
    context->evaluator =
        evaluator_new(&context->settings, context->device, context->compiler, error);
    context->template = compiler_template(context->compiler, goal, error);
    return context->evaluator == NULL || context->template == NULL ? -1 : 0;
}

static void add_position(struct table *table, const unsigned position[3]) {
    char text[64];
    snprintf(text, sizeof text, "%u,%u,%u", position[0], position[1], position[2]);
    table_add(table, "%s", text);
}

/* The findings that are costs, or those that are faults. */
static struct table *findings_table(const struct diagnose_context *context, bool costs) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < ptx_racecheck_finding_count(context->racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(context->racecheck, i);
        const char *slash = strrchr(finding->file, '/');
        char address[32];
        if (ptx_finding_is_cost(finding->kind) != costs)
            continue;
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)finding->address);
        table_add(table, "%s", ptx_finding_name(finding->kind));
        table_cell(table, cJSON_CreateString(finding->file),
                   slash != NULL ? slash + 1 : finding->file);
        table_add(table, finding->other_line > 0 ? "%d %d" : "%d -", finding->line,
                  finding->other_line);
        table_add(table, "%s", finding->kernel);
        add_position(table, finding->block);
        add_position(table, finding->thread);
        table_add(table, "%s %s %ld %.1f %s", address, finding->tensor, (int64_t)finding->count,
                  costs ? finding->degree : NAN, finding->text);
    }
    table_heading(table, costs ? "other_line" : "degree", NULL);
    return table;
}

static void print_json(const struct diagnose_context *context, const char *genome,
                       const struct trial_result *result, struct table *faults,
                       struct table *costs) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "genome=%s device=%s verdict=%s reason=%s", genome, context->device->info.name,
             verdict_name(result->outcome.verdict), result->outcome.reason);
    cJSON_AddItemToObject(object, "faults", table_json(faults));
    cJSON_AddItemToObject(object, "costs", table_json(costs));
    cJSON_AddItemToObject(object, "gates", single_trial_json_gates(result));
    table_print_json(object, stdout);
}

static void print_text(const struct diagnose_context *context, const char *genome,
                       const struct trial_result *result, struct table *faults,
                       struct table *costs) {
    printf("%s\non %s\n", genome, context->device->info.name);
    single_trial_print_gates(result);
    if (result->outcome.verdict != VERDICT_OK)
        printf("%s: %s\n", verdict_name(result->outcome.verdict), result->outcome.reason);
    if (result->outcome.verdict ==
        VERDICT_COMPILE_FAILED) /* nothing ran, so there are no findings */
        return;
    printf("\n%s\n", table_row_count(faults) > 0 ? "faults" : "no faults");
    if (table_row_count(faults) > 0)
        table_print(faults, TABLE_TEXT, stdout);
    if (table_row_count(costs) > 0) {
        printf("\ncosts (degree: passes or sectors per necessary one)\n");
        table_print(costs, TABLE_TEXT, stdout);
    }
}

/* Returns true if the goal's own cases can be checked too, in about ten seconds. */
static bool cases_are_small(const struct diagnose_context *context, const struct genome *genome) {
    static const double operations_max = 1e9;
    double operations = 0;
    struct launch_plan plan;
    struct error ignored;
    for (int c = 0; c < context->template->case_count; c++) {
        if (template_launch_plan(context->template, genome, c, &plan, &ignored) < 0)
            return false;
        operations += (double)plan.operations;
    }
    return operations <= operations_max;
}

/* Checks the template's small cases, then the goal's own if they are small. */
static int try_cases(struct diagnose_context *context, struct trial_request *request,
                     const struct device_image images[CASES_MAX], struct trial_result *result,
                     struct error *error) {
    int status = evaluator_run(context->evaluator, request, images, result, error);
    request->profiled = true;
    if (status == 0 && result->outcome.verdict == VERDICT_OK &&
        cases_are_small(context, &request->genome))
        status = evaluator_run(context->evaluator, request, images, result, error);
    return status;
}

static int check_genome(struct diagnose_context *context, struct trial_request *request, bool json,
                        struct error *error) {
    struct device_image images[CASES_MAX];
    char genome[GENOME_TEXT_SIZE];
    struct trial_result *result = xcalloc(1, sizeof *result);
    genome_print(&request->genome, context->template->space, genome);
    int status = compiler_build(context->compiler, request, images, result, error);
    if (status == 0) {
        status = try_cases(context, request, images, result, error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    if (status >= 0) {
        struct table *faults = findings_table(context, false);
        struct table *costs = findings_table(context, true);
        (json ? print_json : print_text)(context, genome, result, faults, costs);
        bool clean = table_row_count(faults) == 0 && result->outcome.verdict == VERDICT_OK;
        status = clean ? STATUS_DONE : STATUS_GATE;
        table_free(faults);
        table_free(costs);
    }
    trial_result_release(result);
    free(result);
    return status;
}

int diagnose_genome(const struct config *config, int goal, const char *device, const char *genome,
                    bool json, struct error *error) {
    struct diagnose_context context;
    struct trial_request request = {
        .goal = goal, .under_tool = true, .seed = single_trial_fresh_seed()};
    int status = open_context(&context, config, goal, device, error);
    if (status == 0)
        status = genome_parse(&request.genome, context.template->space, genome, error);
    if (status == 0)
        status = check_genome(&context, &request, json, error);
    close_context(&context);
    return status;
}

/* ---- the worker ---- */

enum { WORDS_MAX = 16, WORKER_LIMIT_S = 600, POLL_MS = 100, EXIT_GRACE_S = 10 };

/* Copies the worker's lines to standard output until it has closed its own. Returns false if that
   takes too long. */
static bool copy_output(struct process *child) {
    double deadline = clock_seconds() + WORKER_LIMIT_S;
    const char *line;
    while (!child->ended && clock_seconds() < deadline) {
        struct pollfd polled[] = {{.fd = child->from, .events = POLLIN},
                                  {.fd = child->errors.from, .events = POLLIN}};
        poll(polled, 2, POLL_MS);
        process_read_output(child);
        while ((line = process_next_line(child)) != NULL)
            puts(line);
    }
    return child->ended;
}

int diagnose_in_worker(const char *const *words, struct error *error) {
    char program[PATH_SIZE];
    struct process child;
    struct process_end end;
    const char *argv[WORDS_MAX + 4] = {program, POOL_WORKER, DIAGNOSE_WORKER};
    for (int i = 0; words[i] != NULL; i++) {
        if (i == WORDS_MAX)
            BUG("more than %d words for a worker", WORDS_MAX);
        argv[3 + i] = words[i];
    }
    if (path_program(program, error) < 0 || process_start_relayed(&child, argv, error) < 0)
        return -1;
    bool finished = copy_output(&child);
    process_stop(&child, finished ? EXIT_GRACE_S : 0, &end);
    if (!finished) {
        printf("timeout: the worker did not finish in %d s\n", WORKER_LIMIT_S);
        return STATUS_GATE;
    }
    if (end.is_by_outside) {
        printf("lost: the worker was %s from outside: run it again\n", end.text);
        return STATUS_GATE;
    }
    if (end.status < 0) {
        printf("crashed: the worker was %s\n", end.text);
        return STATUS_GATE;
    }
    return end.status;
}
