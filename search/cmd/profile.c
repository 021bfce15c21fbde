/* profile: explains where a kernel spends its time, from timing, resources and Nsight Compute. */
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/diagnosis.h"
#include "cmd/profiled.h"
#include "cmd/records.h"
#include "cmd/solo.h"
#include "cmd/table.h"
#include "evolve/evolution.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct profiling_run {
    struct records records;
    struct record *record;
    struct device_info device;
    struct template *template;
    struct trial_result *result; /* of the trial that times it now */
    struct profile *profile;
    double limit_s;     /* time limit of ncu; 0: the default */
    const char *report; /* where ncu's report is saved; NULL: not saved */
    char missing[512];  /* why there are no counters; empty if there are */
};

/* ---- timing, and counting with ncu ---- */

/* Times the record like a champion, which also reads its resources from the device. */
static int time_it(struct profiling_run *it, const char *spec, struct error *error) {
    struct records *records = &it->records;
    struct solo *solo = solo_new(records->config_path, records->template_folder, spec, error);
    if (solo == NULL)
        return -1;
    it->device = *solo_device(solo);
    int status = record_genome(records, it->record, &it->device, error);
    if (status == 0) {
        struct trial_request request = it->record->request;
        request.full = true;
        request.seed = solo_fresh_seed();
        for (int c = 0; c < CASES_MAX; c++) /* the pool takes ownership */
            if (request.sources[c] != NULL &&
                (request.sources[c] = strdup(request.sources[c])) == NULL)
                BUG("out of memory");
        status = solo_try(solo, &request, it->result, error);
    }
    solo_free(solo); /* the worker must leave the GPU before ncu runs */
    if (status == 0 && it->result->outcome.verdict != VERDICT_OK)
        status =
            error_set(error, "the kernel fails now, so there is nothing to profile: %s: %.300s",
                      verdict_name(it->result->outcome.verdict), it->result->outcome.reason);
    return status;
}

/* Lists the kernels that one call launches. */
static int kernel_names(const struct template *template, const char *names[LAUNCHES_MAX]) {
    for (int l = 0; l < template->launches.count; l++)
        names[l] = template->launches.launches[l].kernel;
    return template->launches.count;
}

static int count_it(struct profiling_run *it, struct error *error) {
    struct error missing = {0};
    char tool[PATH_SIZE];
    char program[PATH_SIZE];
    const char *names[LAUNCHES_MAX];
    if (it->device.predicts) {
        snprintf(it->missing, sizeof it->missing,
                 "%s is not a GPU, and ncu profiles only GPUs: use --device cuda:0",
                 it->device.spec);
        return 0;
    }
    if (profile_find(tool, &missing) < 0) {
        snprintf(it->missing, sizeof it->missing, "%.400s", missing.text);
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", program, PATH_SIZE - 1);
    if (length < 0)
        return error_set(error, "cannot find our own program: %s", strerror(errno));
    program[length] = '\0';
    const struct profiling how = {.tool = tool,
                                  .program = program,
                                  .config_path = it->records.config_path,
                                  .template_folder = it->records.template_folder,
                                  .device = it->device.spec,
                                  .kernels = names,
                                  .kernel_count = kernel_names(it->template, names),
                                  .limit_s = it->limit_s,
                                  .report = it->report};
    struct trial_request request = it->record->request;
    request.seed = solo_fresh_seed();
    if (profile_run(&how, &request, it->profile, error) < 0)
        return -1;
    if (it->profile->problem[0] != '\0')
        snprintf(it->missing, sizeof it->missing, "ncu: %s", it->profile->problem);
    return 0;
}

/* ---- printing ---- */

/* One case with its counters and findings. */
struct told_case {
    char name[CASE_NAME_SIZE];
    struct known_case known;
    int kernel_count;
    const struct profiled_kernel *kernels;
    struct diagnosis diagnosis;
};

/* Threads per block of the launch with the most shared memory, which is the launch that the trial's
   resources describe. */
static int threads_of(const struct plan *plan) {
    const struct planned_launch *largest = &plan->launches[0];
    for (int l = 1; l < plan->launch_count; l++)
        if (plan->launches[l].smem_bytes > largest->smem_bytes)
            largest = &plan->launches[l];
    return (int)(largest->block[0] * largest->block[1] * largest->block[2]);
}

/* Returns the number of ncu's kernels, from `*next` on, that belong to this case, and advances
   `*next`. ncu lists kernels in launch order, which is the order of the cases. After a kernel that
   differs from the launch plan the rest of the list is ignored. */
static int take_kernels(const struct profile *profile, const struct plan *plan, int *next) {
    for (int l = 0; l < plan->launch_count; l++) {
        char grid[32];
        const struct planned_launch *launch = &plan->launches[l];
        snprintf(grid, sizeof grid, "(%u, %u, %u)", launch->grid[0], launch->grid[1],
                 launch->grid[2]);
        const struct profiled_kernel *kernel =
            *next + l < profile->count ? &profile->kernels[*next + l] : NULL;
        if (kernel == NULL || strcmp(kernel->name, launch->kernel) != 0 ||
            strcmp(kernel->grid, grid) != 0) {
            *next = profile->count;
            return 0;
        }
    }
    *next += plan->launch_count;
    return plan->launch_count;
}

static int make_case(const struct profiling_run *it, int c, int *next, struct told_case *told,
                     struct error *error) {
    struct plan plan;
    const struct outcome *outcome = &it->result->outcome;
    memset(told, 0, sizeof *told);
    template_print_shape(it->template, &it->template->cases[c], told->name);
    if (template_plan(it->template, &it->record->request.genome, c, &plan, error) < 0)
        return -1;
    told->known = (struct known_case){.device = &it->device,
                                      .resources = &outcome->resources,
                                      .threads = threads_of(&plan),
                                      .timed = &outcome->cases[c],
                                      .operations = plan.operations,
                                      .bytes = plan.bytes};
    told->kernels = &it->profile->kernels[*next];
    told->kernel_count = take_kernels(it->profile, &plan, next);
    diagnose_known(&told->known, &told->diagnosis);
    diagnose_counted(&told->known, told->kernels, told->kernel_count, &told->diagnosis);
    return 0;
}

static cJSON *case_json(const struct told_case *told) {
    const struct case_outcome *timed = told->known.timed;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", told->name);
    cJSON_AddNumberToObject(object, "p50_us", timed->warm.p50_us);
    cJSON_AddNumberToObject(object, "tflops", timed->tflops);
    cJSON_AddNumberToObject(object, "operations", (double)told->known.operations);
    cJSON_AddNumberToObject(object, "bytes", (double)told->known.bytes);
    cJSON_AddNumberToObject(object, "ctas", timed->ctas);
    cJSON_AddNumberToObject(object, "waves", diagnosis_waves(&told->known));
    cJSON *kernels = cJSON_AddArrayToObject(object, "kernels");
    for (int k = 0; k < told->kernel_count; k++) {
        const struct profiled_kernel *kernel = &told->kernels[k];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(kernels, one);
        cJSON_AddStringToObject(one, "kernel", kernel->name);
        cJSON_AddStringToObject(one, "grid", kernel->grid);
        cJSON_AddStringToObject(one, "block", kernel->block);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            if (isfinite(kernel->values[m]))
                cJSON_AddNumberToObject(one, profile_metric_name((enum profile_metric)m),
                                        kernel->values[m]);
    }
    cJSON *findings = cJSON_AddArrayToObject(object, "findings");
    for (int f = 0; f < told->diagnosis.count; f++) {
        const struct finding *finding = &told->diagnosis.findings[f];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(findings, one);
        cJSON_AddStringToObject(one, "finding", finding->name);
        cJSON_AddNumberToObject(one, "value", finding->value);
        cJSON_AddStringToObject(one, "text", finding->text);
    }
    return object;
}

static void print_kernels(const struct told_case *told) {
    struct table_column columns[PROFILE_METRIC_COUNT + 3] = {
        {.heading = "kernel"}, {.heading = "grid"}, {.heading = "block"}};
    int count = 3;
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++) {
        static const char *const short_names[PROFILE_METRIC_COUNT] = {"ns",
                                                                      "SM\n%",
                                                                      "memory\n%",
                                                                      "DRAM\n%",
                                                                      "DRAM\nbytes",
                                                                      "SMs\nactive\n%",
                                                                      "warps\n%",
                                                                      "tensor\npipe\n%",
                                                                      "bank\nconflicts",
                                                                      "shared\nwavefronts",
                                                                      "L2\nsectors",
                                                                      "L2\nhits\n%"};
        columns[count++] = (struct table_column){.heading = short_names[m], .right = true};
    }
    struct table *table = table_new(columns, count);
    for (int k = 0; k < told->kernel_count; k++) {
        table_text(table, told->kernels[k].name);
        table_text(table, told->kernels[k].grid);
        table_text(table, told->kernels[k].block);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            table_number(table, told->kernels[k].values[m], 0);
    }
    table_print(table, TABLE_TEXT, stdout);
    table_free(table);
}

static void print_case(const struct told_case *told, bool predicted) {
    const struct known_case *known = &told->known;
    const struct case_outcome *timed = known->timed;
    printf("\n%s: %.2f us%s\n  %.4g MFLOP and %.4g KB a call: %.1f TFLOP/s, %.1f GB/s; %d blocks "
           "of %d "
           "threads, %.2f waves, %.0f %% of the warps\n",
           told->name, timed->warm.p50_us, predicted ? " predicted" : "",
           1e-6 * (double)known->operations, 1e-3 * (double)known->bytes,
           (double)known->operations / timed->warm.p50_us * 1e-6,
           (double)known->bytes / timed->warm.p50_us * 1e-3, timed->ctas, known->threads,
           diagnosis_waves(known), 100 * known->resources->occupancy);
    if (told->kernel_count > 0)
        print_kernels(told);
    for (int f = 0; f < told->diagnosis.count; f++)
        printf("  %s\n", told->diagnosis.findings[f].text);
}

/* The advice of the template's hints that apply to these measurements: an array of strings. */
static cJSON *advise(const struct profiling_run *it, const struct measures *measures) {
    const struct space *space = it->template->space;
    uint32_t holding = space_rules(space, &it->record->request.genome, measures);
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < space->rules.count; r++) {
        char text[ADVICE_SIZE];
        if ((holding >> r & 1) == 0)
            continue;
        diagnosis_advice(space, r, text);
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
    }
    return list;
}

static cJSON *head_json(const struct profiling_run *it) {
    struct timespec now;
    char genome[GENOME_TEXT_SIZE];
    cJSON *object = cJSON_CreateObject();
    clock_gettime(CLOCK_REALTIME, &now);
    genome_print(&it->record->request.genome, it->template->space, genome);
    cJSON_AddNumberToObject(object, "trial", (double)it->record->request.number);
    cJSON_AddNumberToObject(object, "goal", it->record->request.goal);
    cJSON_AddStringToObject(object, "genome", genome);
    cJSON_AddStringToObject(object, "device", it->device.name);
    cJSON_AddNumberToObject(object, "measured", (double)now.tv_sec);
    cJSON_AddBoolToObject(object, "predicted", it->result->outcome.predicted);
    if (it->missing[0] != '\0')
        cJSON_AddStringToObject(object, "missing", it->missing);
    return object;
}

/* Creates the JSON object of the profile in `*object`, and prints it as text unless `json`. */
static int tell(const struct profiling_run *it, bool json, cJSON **object, struct error *error) {
    int next = 0;
    bool counted = true; /* every case has counters */
    struct told_case *told = malloc(sizeof *told);
    if (told == NULL)
        BUG("out of memory");
    *object = head_json(it);
    cJSON *cases = cJSON_AddArrayToObject(*object, "cases");
    if (!json)
        printf("%s\n%s\non %s\n", it->record->name,
               cJSON_GetObjectItem(*object, "genome")->valuestring, it->device.name);
    int status = 0;
    for (int c = 0; c < it->template->case_count && status == 0; c++) {
        status = make_case(it, c, &next, told, error);
        counted = counted && told->kernel_count > 0;
        if (status == 0)
            cJSON_AddItemToArray(cases, case_json(told));
        if (status == 0 && !json)
            print_case(told, it->result->outcome.predicted);
    }
    free(told);
    struct measures measures = evolution_measures(&it->result->outcome.resources);
    if (counted)
        profile_measure(it->profile->kernels, next, &measures);
    profiled_add(*object, &measures);
    cJSON *advice = advise(it, &measures);
    const cJSON *one;
    cJSON_AddItemToObject(*object, "advice", advice);
    if (!json && status == 0 && advice->child != NULL)
        printf("\nadvice of the template\n");
    cJSON_ArrayForEach(one, advice) if (!json && status == 0) printf("  %s\n", one->valuestring);
    if (!json && it->missing[0] != '\0')
        printf("\nno counters: %s\n", it->missing);
    return status;
}

/* ---- the verb ---- */

/* Stores the profile with the run's trial; an exported kernel has no run folder. Takes ownership of
   the object. */
static int keep(const struct profiling_run *it, cJSON *object, struct error *error) {
    if (it->records.scratch[0] != '\0') {
        cJSON_Delete(object);
        return 0;
    }
    return profiled_keep(it->records.from, it->record->request.number, object, error);
}

static int profile_all(struct profiling_run *it, const char *device, bool json,
                       struct error *error) {
    const struct records *records = &it->records;
    const char *spec = device != NULL ? device : records->device != NULL ? records->device : "auto";
    cJSON *object = NULL;
    if (time_it(it, spec, error) < 0)
        return -1;
    it->template =
        config_load_template(records->config, it->record->request.goal, &it->device, error);
    if (it->template == NULL || count_it(it, error) < 0)
        return -1;
    int status = tell(it, json, &object, error);
    if (status == 0 && json) {
        cJSON *copy = cJSON_Duplicate(object, 1);
        table_print_json(copy, stdout);
    }
    if (status == 0)
        return keep(it, object, error);
    cJSON_Delete(object);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct profiling_run it = {0};
    int64_t rank = 1;
    int64_t goal = 0;
    const char *device = NULL;
    bool json = false;
    const struct option_row rows[] = {
        {"rank", "K", "rank on the board, from 1 (default: 1, the champion)", OPTION_INTEGER,
         &rank},
        {"goal", "K", "case of a per_case run or of an exported kernel, from 0 (default 0)",
         OPTION_INTEGER, &goal},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
         OPTION_TEXT, &device},
        {"time", "LIMIT", "time limit of ncu (default 2m)", OPTION_DURATION, &it.limit_s},
        {"report", "FILE", "save ncu's own report there, as CSV", OPTION_TEXT, &it.report},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    it.profile = profile_new();
    it.result = calloc(1, sizeof *it.result);
    if (it.result == NULL)
        BUG("out of memory");
    int status = records_read(&it.records, argv[0], rank, goal, &error);
    if (status == 0)
        status = (it.record = records_choose(&it.records, goal, &error)) != NULL ? 0 : -1;
    if (status == 0)
        status = profile_all(&it, device, json, &error);
    template_free(it.template);
    profile_free(it.profile);
    trial_result_release(it.result);
    free(it.result);
    records_release(&it.records);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_profile = {
    .name = "profile",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "explain where a kernel spends its time",
    VERB_HELP(profile),
    .run = run,
};
