/* profile: explains where a kernel spends its time, from timing, resources and Nsight Compute. */
#include "analysis/bottleneck.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "pool/profile_candidate.h"
#include "render/table.h"
#include "run/kept_profiles.h"
#include "run/profile_results.h"
#include "run/replay_targets.h"
#include "session/single_trial.h"
#include "strategy/evolution.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct profile_context {
    struct replay_targets targets;
    struct replay_target *target;
    struct device_info device;
    struct template *template;
    struct trial_result *result; /* of the trial that times it now */
    struct profile *profile;
    double limit_s;                     /* time limit of ncu; 0: the default */
    const char *report;                 /* where ncu's counters are saved; NULL: not saved */
    bool keep;                          /* ncu's own report with the run */
    char kept[PATH_SIZE];               /* where that is; empty: nowhere */
    char missing[PROFILE_MISSING_SIZE]; /* why there are no counters; empty if there are */
};

/* ---- timing, and counting with ncu ---- */

/* Times the record like a champion, which also reads its resources from the device. */
static int time_target(struct profile_context *context, const char *spec, struct error *error) {
    struct replay_targets *targets = &context->targets;
    struct single_trial *single_trial =
        single_trial_new(targets->config_path, targets->template_folder, spec, error);
    if (single_trial == NULL)
        return -1;
    context->device = *single_trial_device(single_trial);
    int status = replay_target_genome(targets, context->target, &context->device, error);
    if (status == 0) {
        struct trial_request request = context->target->request;
        request.full = true;
        request.seed = single_trial_fresh_seed();
        for (int c = 0; c < CASES_MAX; c++) /* the pool takes ownership */
            request.sources[c] = xstrdup(request.sources[c]);
        status = single_trial_run(single_trial, &request, context->result, error);
    }
    single_trial_free(single_trial); /* the worker must leave the GPU before ncu runs */
    if (status == 0 && context->result->outcome.verdict != VERDICT_OK)
        status = error_set(
            error, "the kernel fails now, so there is nothing to profile: %s: %.300s",
            verdict_name(context->result->outcome.verdict), context->result->outcome.reason);
    return status;
}

/* Keeps ncu's own report, too, if that is asked for and ncu counts. */
static int keep_report(struct profile_context *context, const struct profile_candidate *settings,
                       const struct trial_request *request, struct error *error) {
    char path[PATH_SIZE], missing[PROFILE_MISSING_SIZE];
    if (!context->keep || context->missing[0] != '\0')
        return 0;
    if (kept_profile_prepare(context->targets.from, request->number, path, error) < 0 ||
        profile_candidate_keep(settings, request, path, missing, error) < 0)
        return -1;
    if (missing[0] == '\0')
        strcpy(context->kept, path);
    else
        log_warn("no report is kept: %s", missing);
    return 0;
}

static int collect_counters(struct profile_context *context, struct error *error) {
    char program[PATH_SIZE];
    if (!profile_device_is_real(&context->device, context->missing))
        return 0;
    if (path_program(program, error) < 0)
        return -1;
    const struct profile_candidate settings = {.program = program,
                                               .config_path = context->targets.config_path,
                                               .template_folder = context->targets.template_folder,
                                               .device = &context->device,
                                               .template = context->template,
                                               .limit_s = context->limit_s,
                                               .report = context->report};
    struct trial_request request = context->target->request;
    request.seed = single_trial_fresh_seed();
    return profile_candidate_run(&settings, &request, context->profile, context->missing, error) < 0
               ? -1
               : keep_report(context, &settings, &request, error);
}

/* ---- printing ---- */

/* One case with its counters and findings. */
struct profiled_case {
    char name[CASE_NAME_SIZE];
    struct bottleneck_case known;
    int kernel_count;
    const struct profiled_kernel *kernels;
    struct bottleneck_report report;
};

static int fill_case(const struct profile_context *context, int c, int *next,
                     struct profiled_case *one, struct error *error) {
    struct launch_plan plan;
    const struct outcome *outcome = &context->result->outcome;
    memset(one, 0, sizeof *one);
    template_print_shape(context->template, &context->template->cases[c], one->name);
    if (template_launch_plan(context->template, &context->target->request.genome, c, &plan, error) <
        0)
        return -1;
    one->known = (struct bottleneck_case){.device = &context->device,
                                          .resources = &outcome->resources,
                                          .threads = launch_plan_threads(&plan),
                                          .timed = &outcome->cases[c],
                                          .operations = plan.operations,
                                          .bytes = plan.bytes};
    one->kernels = &context->profile->kernels[*next];
    one->kernel_count = profile_case_kernels(context->profile, &plan, next);
    bottleneck_from_trial(&one->known, &one->report);
    bottleneck_from_profile(&one->known, one->kernels, one->kernel_count, &one->report);
    return 0;
}

static cJSON *case_json(const struct profiled_case *one) {
    const struct case_outcome *timed = one->known.timed;
    cJSON *object = cJSON_CreateObject();
    json_add(object, "name=%s p50_us=%g tflops=%g operations=%ld bytes=%ld ctas=%d waves=%g",
             one->name, timed->warm.p50_us, timed->tflops, one->known.operations, one->known.bytes,
             timed->ctas, bottleneck_waves(&one->known));
    cJSON_AddItemToObject(object, "kernels", profile_kernels_json(one->kernels, one->kernel_count));
    cJSON *findings = cJSON_AddArrayToObject(object, "findings");
    for (int f = 0; f < one->report.count; f++) {
        const struct bottleneck_finding *finding = &one->report.findings[f];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(findings, item);
        json_add(item, "finding=%s value=%g text=%s", finding->name, finding->value, finding->text);
    }
    return object;
}

static void print_kernels(const struct profiled_case *one) {
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
    for (int k = 0; k < one->kernel_count; k++) {
        table_add(table, "%s %s %s", one->kernels[k].name, one->kernels[k].grid,
                  one->kernels[k].block);
        for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
            table_add(table, "%.0f", one->kernels[k].values[m]);
    }
    table_print(table, TABLE_TEXT, stdout);
    table_free(table);
}

static void print_case(const struct profiled_case *one, bool predicted) {
    const struct bottleneck_case *known = &one->known;
    const struct case_outcome *timed = known->timed;
    printf("\n%s: %.2f us%s\n  %.4g MFLOP and %.4g KB a call: %.1f TFLOP/s, %.1f GB/s; %d blocks "
           "of %d "
           "threads, %.2f waves, %.0f %% of the warps\n",
           one->name, timed->warm.p50_us, predicted ? " predicted" : "",
           1e-6 * (double)known->operations, 1e-3 * (double)known->bytes,
           (double)known->operations / timed->warm.p50_us * 1e-6,
           (double)known->bytes / timed->warm.p50_us * 1e-3, timed->ctas, known->threads,
           bottleneck_waves(known), 100 * known->resources->occupancy);
    if (one->kernel_count > 0)
        print_kernels(one);
    for (int f = 0; f < one->report.count; f++)
        printf("  %s\n", one->report.findings[f].text);
}

/* The advice of the template's hints that apply to these measurements: an array of strings. */
static cJSON *list_advice(const struct profile_context *context, const struct measures *measures) {
    const struct space *space = context->template->space;
    uint32_t holding = space_hints(space, &context->target->request.genome, measures);
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < space->hints.count; r++) {
        char text[ADVICE_SIZE];
        if ((holding >> r & 1) == 0)
            continue;
        bottleneck_advice(space, r, text);
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
    }
    return list;
}

static cJSON *header_json(const struct profile_context *context) {
    struct timespec now;
    char genome[GENOME_TEXT_SIZE];
    cJSON *object = cJSON_CreateObject();
    clock_gettime(CLOCK_REALTIME, &now);
    genome_print(&context->target->request.genome, context->template->space, genome);
    json_add(object, "trial=%ld goal=%d genome=%s device=%s measured=%ld predicted=%hhd",
             context->target->request.number, context->target->request.goal, genome,
             context->device.name, now.tv_sec, context->result->outcome.predicted);
    if (context->missing[0] != '\0')
        cJSON_AddStringToObject(object, "missing", context->missing);
    return object;
}

/* Creates the JSON object of the profile in `*object`, and prints it as text unless `json`. */
static int print_profile(const struct profile_context *context, bool json, cJSON **object,
                         struct error *error) {
    int next = 0;
    bool has_counters = true; /* every case has counters */
    struct profiled_case *one = xmalloc(sizeof *one);
    *object = header_json(context);
    cJSON *cases = cJSON_AddArrayToObject(*object, "cases");
    if (!json)
        printf("%s\n%s\non %s\n", context->target->name,
               cJSON_GetObjectItem(*object, "genome")->valuestring, context->device.name);
    int status = 0;
    for (int c = 0; c < context->template->case_count && status == 0; c++) {
        status = fill_case(context, c, &next, one, error);
        has_counters = has_counters && one->kernel_count > 0;
        if (status == 0)
            cJSON_AddItemToArray(cases, case_json(one));
        if (status == 0 && !json)
            print_case(one, context->result->outcome.predicted);
    }
    free(one);
    struct measures measures = evolution_measures(&context->result->outcome.resources);
    if (has_counters)
        profile_set_measures(context->profile->kernels, next, &measures);
    profile_results_add(*object, &measures);
    cJSON *advice = list_advice(context, &measures);
    const cJSON *item;
    cJSON_AddItemToObject(*object, "advice", advice);
    if (!json && status == 0 && advice->child != NULL)
        printf("\nadvice of the template\n");
    cJSON_ArrayForEach(item, advice) if (!json && status == 0) printf("  %s\n", item->valuestring);
    if (!json && context->missing[0] != '\0')
        printf("\nno counters: %s\n", context->missing);
    if (!json && context->kept[0] != '\0')
        printf("\nncu's report: %s\n", context->kept);
    return status;
}

/* ---- the verb ---- */

/* Stores the profile with the run's trial; an exported kernel has no run folder. Takes ownership of
   the object. */
static int store_profile(const struct profile_context *context, cJSON *object,
                         struct error *error) {
    if (context->targets.scratch[0] != '\0') {
        cJSON_Delete(object);
        return 0;
    }
    return profile_results_write(context->targets.from, context->target->request.number, object,
                                 error);
}

static int profile_target(struct profile_context *context, const char *device, bool json,
                          struct error *error) {
    const struct replay_targets *targets = &context->targets;
    const char *spec = device != NULL ? device : targets->device != NULL ? targets->device : "auto";
    cJSON *object = NULL;
    if (time_target(context, spec, error) < 0)
        return -1;
    context->template = config_load_template(targets->config, context->target->request.goal,
                                             &context->device, error);
    if (context->template == NULL || collect_counters(context, error) < 0)
        return -1;
    int status = print_profile(context, json, &object, error);
    if (status == 0 && json) {
        cJSON *copy = cJSON_Duplicate(object, 1);
        json_add(copy, "kept=%s", context->kept[0] != '\0' ? context->kept : NULL);
        table_print_json(copy, stdout);
    }
    if (status == 0)
        return store_profile(context, object, error);
    cJSON_Delete(object);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct profile_context context = {0};
    struct replay_choice choice = replay_choice_default();
    const char *device = NULL;
    bool json = false;
    const struct option_row rows[] = {
        REPLAY_OPTIONS(choice),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
               &device),
        {"time", "LIMIT", "time limit of ncu (default 2m; of --keep 5m)", OPTION_DURATION,
         &context.limit_s},
        OPTION("report", "FILE", "save ncu's counters there, as CSV", &context.report),
        OPTION("keep", NULL, "keep ncu's own report, all sections, in the run's folder",
               &context.keep),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    context.profile = xcalloc(1, sizeof *context.profile);
    context.result = xcalloc(1, sizeof *context.result);
    int status = replay_targets_read(&context.targets, argv[0], &choice, false, &error);
    if (status == 0 && context.keep && context.targets.scratch[0] != '\0')
        status = error_input(&error,
                             "%s is an exported kernel, whose folder stays as it is: give --keep "
                             "with the run that it came from",
                             argv[0]);
    context.target = &context.targets.items[0];
    if (status == 0)
        status = profile_target(&context, device, json, &error);
    template_free(context.template);
    free(context.profile);
    trial_result_release(context.result);
    free(context.result);
    replay_targets_release(&context.targets);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_profile = {
    .name = "profile",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "explain where a kernel spends its time",
    VERB_HELP(profile),
    .run = run,
};
