/*
 * scripted: a device that runs candidates on the emulated backend and invents their latencies:
 * whole trials are tested with it through race, timing, duel and final checks. It counts the calls
 * it gets.
 *
 *     struct scripted it;
 *     scripted_open(&it, SCRIPTED_CONFIG "}");
 *     it.warm_us[2] = 10;                                       // of blocks of 2 warps: THREADS=64
 *     struct trial_request request = scripted_request(&it, "THREADS=64");
 *     scripted_run_trial(&it, &request, &result);
 *     scripted_close(&it);
 *
 * Genomes are those of tests/templates/scaled_add; the latency depends on THREADS.
 */
#ifndef EVOTILE_TESTS_TRIAL_SCRIPTED_H
#define EVOTILE_TESTS_TRIAL_SCRIPTED_H

#include "evaluate/tiny.h"

#include "base/random.h"
#include "device/emulated.h"
#include "evaluate/buffers.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"

#include <math.h>

enum { SCRIPTED_WARPS_MAX = 5 };

/* As on an H200 (evaluate/timing_budget.h). */
static const double power_limit_us = 80e3;

#define SCRIPTED_CONFIG                                                                            \
    "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\",\n"                           \
    "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}]"

struct device_graph {
    double us; /* per call */
    unsigned warps;
    int launches;
    bool cold, ran, shorter; /* shorter: than a timed one */
    bool first;              /* of the first call, which is timed only if this host is slow */
    int set_count, changes;  /* changes: as counted when it ran */
    struct device_sequence *sets;
};

struct scripted {
    struct device_backend backend;
    struct device *device;
    struct config *config;
    struct evaluation_settings settings;
    struct compiler *compiler;
    struct evaluator *evaluator;
    struct template *template;
    int64_t trials;
    struct random random;
    const struct device_image
        *stale_image;            /* what the cache returns for every key; NULL: it is empty */
    bool skips_timed_calls;      /* a graph's calls compute nothing */
    bool keeps_results;          /* they compute nothing but the first time */
    bool keeps_cold;             /* the same in cold graphs only */
    bool skips_shorter;          /* they compute nothing in warm graphs of fewer calls than 20 */
    double change_delay;         /* relative, of the calls of a graph in which inputs change */
    bool writes_to_freed_memory; /* report a write to freed memory */
    const char *damaged_kernel;  /* name of a kernel that gets wrong results in its third argument;
                             NULL:  none */
    double scatter;              /* of samples, relative */
    double drift;                /* of the whole device, relative, from each sample to the next */
    int slower_after;            /* warm samples, from which on all take longer; 0: never */
    double slower_by;            /* relative */
    double power_slows[SCRIPTED_WARPS_MAX]; /* relative; a kernel of so many warps that has run
                                               alone for power_limit_us */
    unsigned loaded_by;                     /* warps of the kernel that ran last */
    double loaded_us;                       /* for how long */
    double interference; /* relative delay of two samples of three: another process runs beside
                            them */
    double warm_us[SCRIPTED_WARPS_MAX], cold_us[SCRIPTED_WARPS_MAX]; /* per call */
    double spread; /* relative spread of a call's time over placements: five consecutive graphs
                      have -2 to 2 times it */
    int drifted;   /* samples since the drift started */
    int changes;   /* of inputs */
    int modules, graphs, waits, allocations, compilations, warm_samples,
        cold_samples; /* counters */
};

/* The instance of the device's functions, which get only a device. */
static struct scripted *scripted;

static enum verdict scripted_graph_new(struct device *device, const struct device_sequence *sets,
                                       int set_count, const struct device_timing *timing,
                                       struct device_graph **graph, char *reason) {
    (void)device, (void)reason;
    unsigned warps = sets[0].launches[0].block[0] / 32;
    *graph = malloc(sizeof **graph);
    assert_non_null(*graph);
    (*graph)->us = (timing->cold ? scripted->cold_us : scripted->warm_us)[warps];
    (*graph)->warps = warps;
    (*graph)->launches = timing->launches;
    (*graph)->us *= 1 + scripted->spread * (scripted->graphs % 5 - 2);
    (*graph)->cold = timing->cold;
    (*graph)->ran = false;
    (*graph)->shorter = !timing->cold && timing->launches < 20;
    (*graph)->set_count = set_count;
    (*graph)->sets = malloc((size_t)set_count * sizeof *sets);
    assert_non_null((*graph)->sets);
    memcpy((*graph)->sets, sets, (size_t)set_count * sizeof *sets);
    (*graph)->first = !timing->cold && timing->launches == 1 && set_count == 1;
    scripted->graphs += !timing->cold && !(*graph)->first;
    return VERDICT_OK;
}

/* Returns whether inputs change in every replay: the second member of evotile_change's arguments
   points to seed, generation and kind of change, as in evaluate/carry_over.c. */
static bool scripted_changes_inputs(struct device *device, const struct device_graph *graph) {
    enum { CHANGE_EVERY_ROW = 1 };
    struct error error = {0};
    uint64_t address, control[3] = {0};
    for (int s = 0; s < graph->set_count; s++) {
        const struct device_launch *launch = &graph->sets[s].launches[0];
        if (launch->kernel == NULL || strcmp(launch->kernel, "evotile_change") != 0)
            continue;
        memcpy(&address, launch->arguments[1].bytes, sizeof address);
        if (emulated_backend.read(device, address, control, sizeof control, &error) < 0)
            fail_msg("%s", error.text);
    }
    return control[2] == CHANGE_EVERY_ROW;
}

/* One sample as the power limit slows it down: another kernel starts at the full clock. */
static double scripted_power(const struct device_graph *graph) {
    if (graph->warps != scripted->loaded_by)
        scripted->loaded_us = 0;
    scripted->loaded_by = graph->warps;
    scripted->loaded_us += graph->us * graph->launches;
    return scripted->loaded_us > power_limit_us ? 1 + scripted->power_slows[graph->warps] : 1;
}

/* The calls run once, so that outputs exist, and again when the evaluator filled or changed inputs.
 */
static enum verdict scripted_graph_sample(struct device *device, struct device_graph *graph,
                                          int count, double *samples_us, char *reason) {
    scripted->waits += !graph->first;
    bool keeps = scripted->keeps_results || (scripted->keeps_cold && graph->cold);
    graph->ran = (graph->ran && (keeps || graph->changes == scripted->changes)) ||
                 (scripted->skips_shorter && graph->shorter);
    graph->changes = scripted->changes;
    for (int s = 0; s < graph->set_count && !graph->ran && !scripted->skips_timed_calls; s++) {
        enum verdict verdict = emulated_backend.run(device, &graph->sets[s], 60, reason);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    graph->ran = true;
    double delay = scripted_changes_inputs(device, graph) ? 1 + scripted->change_delay : 1;
    int *samples = graph->cold ? &scripted->cold_samples : &scripted->warm_samples;
    for (int i = 0; i < count; i++, ++*samples)
        samples_us[i] =
            graph->us * delay * scripted_power(graph) *
            (1 + scripted->scatter * (random_uniform(&scripted->random) - 0.5)) *
            pow(1 + scripted->drift, scripted->drifted++) *
            (*samples % 3 == 0 ? 1 : 1 + scripted->interference) *
            (scripted->slower_after > 0 && scripted->warm_samples >= scripted->slower_after
                 ? 1 + scripted->slower_by
                 : 1);
    return VERDICT_OK;
}

static void scripted_graph_free(struct device *device, struct device_graph *graph) {
    (void)device;
    free(graph->sets);
    free(graph);
}

static int scripted_module_load(struct device *device, const struct device_image *image,
                                struct device_module **module, struct error *error) {
    scripted->modules++;
    return emulated_backend.module_load(device, image, module, error);
}

static int scripted_memory_new(struct device *device, const char *name, size_t bytes,
                               uint64_t *address, struct error *error) {
    scripted->allocations++;
    return emulated_backend.memory_new(device, name, bytes, address, error);
}

/* Emulated memory traps every stray access, so there is nothing to check; but this function
   makes the evaluator run its self-test. */
static enum verdict scripted_check_red_zones(struct device *device, bool freed_too, char *reason) {
    (void)device;
    scripted->waits++;
    if (!freed_too || !scripted->writes_to_freed_memory)
        return VERDICT_OK;
    snprintf(reason, REASON_SIZE, "wrote 4 bytes beside freed memory");
    return VERDICT_WROTE_OUTSIDE;
}

/* Simulates one of the evaluator's kernels with constants that a candidate overwrote. */
static void scripted_damage(struct device *device, const struct device_launch *launch) {
    static const float wrong = 0.5f;
    struct error error = {0};
    uint64_t address;
    if (strcmp(launch->kernel, scripted->damaged_kernel) != 0)
        return;
    memcpy(&address, launch->arguments[2].bytes, sizeof address);
    if (emulated_backend.write(device, address, &wrong, sizeof wrong, &error) < 0)
        fail_msg("%s", error.text);
}

static enum verdict scripted_run(struct device *device, const struct device_sequence *sequence,
                                 double deadline_s, char *reason) {
    scripted->waits++;
    enum verdict verdict = emulated_backend.run(device, sequence, 60 + deadline_s, reason);
    for (int i = 0; i < sequence->count; i++)
        scripted->changes += sequence->launches[i].kernel != NULL &&
                             (strcmp(sequence->launches[i].kernel, "evotile_change") == 0 ||
                              strcmp(sequence->launches[i].kernel, "evotile_fill") == 0);
    for (int i = 0; scripted->damaged_kernel != NULL && i < sequence->count; i++)
        scripted_damage(device, &sequence->launches[i]);
    return verdict;
}

static int scripted_read(struct device *device, uint64_t address, void *to, size_t bytes,
                         struct error *error) {
    scripted->waits++;
    return emulated_backend.read(device, address, to, bytes, error);
}

/* A cache that is empty, or damaged so that every entry is the same kernel. */
static bool scripted_get(void *context, struct hash hash, struct device_image *image) {
    (void)context, (void)hash;
    const struct device_image *stale_image = scripted->stale_image;
    if (stale_image == NULL)
        return false;
    void *cubin = malloc(stale_image->cubin_bytes);
    assert_non_null(cubin);
    memcpy(cubin, stale_image->cubin, stale_image->cubin_bytes);
    *image = (struct device_image){"cached",
                                   cubin,
                                   stale_image->cubin_bytes,
                                   strdup(stale_image->ptx),
                                   strdup(stale_image->log),
                                   NULL};
    return true;
}

static void scripted_put(void *context, struct hash hash, const struct device_image *image) {
    (void)context, (void)hash, (void)image;
    scripted->compilations++;
}

static inline void scripted_open(struct scripted *it, const char *config) {
    struct error error = {0};
    static const struct image_cache cache = {scripted_get, scripted_put, NULL};
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    *it = (struct scripted){.scatter = 1e-4, .slower_by = 0.1, .backend = emulated_backend};
    scripted = it;
    random_seed(&it->random, 1, 1);
    for (int w = 0; w < SCRIPTED_WARPS_MAX; w++)
        it->warm_us[w] = it->cold_us[w] = 10;
    it->backend.graph_new = scripted_graph_new;
    it->backend.graph_sample = scripted_graph_sample;
    it->backend.graph_free = scripted_graph_free;
    it->backend.module_load = scripted_module_load;
    it->backend.memory_new = scripted_memory_new;
    it->backend.run = scripted_run;
    it->backend.read = scripted_read;
    it->backend.check_red_zones = scripted_check_red_zones;
    it->device = device_open(TINY_DEVICE, &error);
    if (it->device == NULL)
        fail_msg("%s", error.text);
    it->device->backend = &it->backend;
    it->device->info.predicts = false;
    it->device->info.duel_margin = 0.005; /* as calibrated */
    it->device->info.l2_gb_per_s = 5000;
    it->config = config_from_text("config.json", config, TINY_TEMPLATE, &error);
    if (it->config == NULL)
        fail_msg("%s", error.text);
    evaluation_settings_from_config(&it->settings, it->config);
    it->template = config_load_template(it->config, 0, &it->device->info, &error);
    it->compiler = compiler_new(&it->settings, &it->device->info, &cache, &error);
    if (it->template == NULL || it->compiler == NULL)
        fail_msg("%s", error.text);
    it->evaluator = evaluator_new(&it->settings, it->device, it->compiler, &error);
    if (it->evaluator == NULL)
        fail_msg("%s", error.text);
}

static inline void scripted_close(struct scripted *it) {
    evaluator_free(it->evaluator);
    compiler_free(it->compiler);
    template_free(it->template);
    evaluation_settings_release(&it->settings);
    config_free(it->config);
    device_close(it->device);
    scripted = NULL;
}

static inline struct genome scripted_genome(const struct scripted *it, const char *text) {
    struct error error = {0};
    struct genome genome;
    if (genome_parse(&genome, it->template->space, text, &error) < 0)
        fail_msg("%s", error.text);
    return genome;
}

static inline struct trial_request scripted_request(struct scripted *it, const char *genome) {
    struct trial_request request = {.number = it->trials, .genome = scripted_genome(it, genome)};
    request.seed = (uint64_t)++it->trials;
    return request;
}

/* The caller releases both. */
static inline void scripted_run_trial(struct scripted *it, const struct trial_request *request,
                                      struct trial_result *result) {
    it->loaded_us = 0; /* a trial begins with correctness, which is no load */
    struct error error = {0};
    struct device_image images[CASES_MAX];
    *result =
        (struct trial_result){.number = request->number, .genome = request->genome, .opponent = -1};
    int status = compiler_build(it->compiler, request, images, result, &error);
    if (status == 0) {
        status = evaluator_run(it->evaluator, request, images, result, &error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    if (status < 0)
        fail_msg("%s", error.text);
}

#endif
