/* diagnose: `try --diagnose`. */
#include "cmd/diagnose.h"

#include "cmd/cmd.h"
#include "cmd/images.h"
#include "cmd/solo.h"
#include "cmd/table.h"
#include "device/emulated.h"
#include "trial/bench.h"

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

struct diagnosing {
    struct device *device;
    struct ptx_microscope *microscope;
    struct cache *cache;
    struct compiler *compiler;
    struct bench *bench;
    const struct template *template;
};

static void close(struct diagnosing *diagnosing) {
    bench_free(diagnosing->bench);
    compiler_free(diagnosing->compiler);
    cache_free(diagnosing->cache);
    if (diagnosing->device != NULL)
        device_close(diagnosing->device);
}

/* Requires an emulated device. For `auto` chooses the one with the GPU's architecture. */
static int choose(const char *device, char spec[sizeof((struct device_info *)0)->spec],
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

static int open(struct diagnosing *diagnosing, const struct config *config, int goal,
                const char *device, struct error *error) {
    char spec[sizeof diagnosing->device->info.spec];
    *diagnosing = (struct diagnosing){0};
    if (choose(device, spec, error) < 0)
        return -1;
    diagnosing->device = device_open(spec, error);
    if (diagnosing->device == NULL)
        return -1;
    diagnosing->microscope = emulated_microscope(diagnosing->device, TEMPLATE_MARK_SYMBOL);
    diagnosing->cache = cache_new(NULL, 0);
    const struct image_cache images = images_cached(diagnosing->cache);
    diagnosing->compiler = compiler_new(config, &diagnosing->device->info, &images, error);
    if (diagnosing->compiler == NULL)
        return -1;
    diagnosing->bench = bench_new(config, diagnosing->device, diagnosing->compiler, error);
    diagnosing->template = compiler_template(diagnosing->compiler, goal, error);
    return diagnosing->bench == NULL || diagnosing->template == NULL ? -1 : 0;
}

static void add_position(struct table *table, const unsigned position[3]) {
    char text[64];
    snprintf(text, sizeof text, "%u,%u,%u", position[0], position[1], position[2]);
    table_text(table, text);
}

/* The findings that are costs, or those that are faults. */
static struct table *table_of(const struct diagnosing *diagnosing, bool costs) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < ptx_microscope_count(diagnosing->microscope); i++) {
        const struct ptx_finding *finding = ptx_microscope_finding(diagnosing->microscope, i);
        const char *slash = strrchr(finding->file, '/');
        char address[32];
        if (ptx_finding_is_cost(finding->kind) != costs)
            continue;
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)finding->address);
        table_text(table, ptx_finding_name(finding->kind));
        table_cell(table, cJSON_CreateString(finding->file),
                   slash != NULL ? slash + 1 : finding->file);
        table_integer(table, finding->line);
        if (finding->other_line > 0)
            table_integer(table, finding->other_line);
        else
            table_none(table);
        table_text(table, finding->kernel);
        add_position(table, finding->block);
        add_position(table, finding->thread);
        table_text(table, address);
        table_text(table, finding->tensor);
        table_integer(table, (int64_t)finding->count);
        if (costs)
            table_number(table, finding->degree, 1);
        else
            table_none(table);
        table_text(table, finding->text);
    }
    table_heading(table, costs ? 3 : 10, NULL);
    return table;
}

static void print_json(const struct diagnosing *diagnosing, const char *genome,
                       const struct trial_result *result, struct table *faults,
                       struct table *costs) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "genome", genome);
    cJSON_AddStringToObject(object, "device", diagnosing->device->info.name);
    cJSON_AddStringToObject(object, "verdict", verdict_name(result->outcome.verdict));
    cJSON_AddStringToObject(object, "reason", result->outcome.reason);
    cJSON_AddItemToObject(object, "faults", table_json(faults));
    cJSON_AddItemToObject(object, "costs", table_json(costs));
    cJSON_AddItemToObject(object, "gates", solo_json_gates(result));
    table_print_json(object, stdout);
}

static void print_text(const struct diagnosing *diagnosing, const char *genome,
                       const struct trial_result *result, struct table *faults,
                       struct table *costs) {
    printf("%s\non %s\n", genome, diagnosing->device->info.name);
    solo_print_gates(result);
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
static bool are_small(const struct diagnosing *diagnosing, const struct genome *genome) {
    static const double operations_max = 1e9;
    double operations = 0;
    struct plan plan;
    struct error unheard;
    for (int c = 0; c < diagnosing->template->case_count; c++) {
        if (template_plan(diagnosing->template, genome, c, &plan, &unheard) < 0)
            return false;
        operations += (double)plan.operations;
    }
    return operations <= operations_max;
}

/* Checks the template's small cases, then the goal's own if they are small. */
static int try_cases(struct diagnosing *diagnosing, struct trial_request *request,
                     const struct device_image images[CASES_MAX], struct trial_result *result,
                     struct error *error) {
    int status = bench_try(diagnosing->bench, request, images, result, error);
    request->profiled = true;
    if (status == 0 && result->outcome.verdict == VERDICT_OK &&
        are_small(diagnosing, &request->genome))
        status = bench_try(diagnosing->bench, request, images, result, error);
    return status;
}

static int look(struct diagnosing *diagnosing, struct trial_request *request, bool json,
                struct error *error) {
    struct device_image images[CASES_MAX];
    char genome[GENOME_TEXT_SIZE];
    struct trial_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        BUG("out of memory");
    genome_print(&request->genome, diagnosing->template->space, genome);
    int status = compiler_build(diagnosing->compiler, request, images, result, error);
    if (status == 0) {
        status = try_cases(diagnosing, request, images, result, error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    if (status >= 0) {
        struct table *faults = table_of(diagnosing, false);
        struct table *costs = table_of(diagnosing, true);
        (json ? print_json : print_text)(diagnosing, genome, result, faults, costs);
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
    struct diagnosing diagnosing;
    struct trial_request request = {.goal = goal, .watched = true, .seed = solo_fresh_seed()};
    int status = open(&diagnosing, config, goal, device, error);
    if (status == 0)
        status = genome_parse(&request.genome, diagnosing.template->space, genome, error);
    if (status == 0)
        status = look(&diagnosing, &request, json, error);
    close(&diagnosing);
    return status;
}
