#include "evaluate/calibrate.h"

#include "base/json_fields.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "evaluate/compare.h"
#include "evaluate/compile.h"
#include "evaluate/duel.h"

#include <math.h>
#include <string.h>

extern const char _binary_search_evaluate_calibrate_cu_start[]; /* embedded by the Makefile */
extern const char _binary_search_evaluate_calibrate_cu_end[];

enum { FORMAT = 2, THREADS = 256, SAMPLES = 9, DUELS = 12, EMPTY_LAUNCHES = 100, ATTEMPTS = 3 };
static const double min_margin = 0.005, margin_factor = 1.5, deadline_s = 10;

/* A device alone reaches more of its fp32 peak (an H200 0.83), and its duels deviate less. */
static const double alone_share = 0.6, alone_margin = 0.02;

/* ---- storing ---- */

#define FIGURE(member) JSON_FIELD_REQUIRED(struct device_info, member, #member, DOUBLE, 0, 1e300)
static const struct json_field figures[] = {
    FIGURE(dram_gb_per_s), FIGURE(l2_gb_per_s), FIGURE(tensor_tflops), FIGURE(fp32_tflops),
    FIGURE(launch_us),     FIGURE(event_us),    FIGURE(duel_margin),   {0},
};

int calibration_path(const struct device_info *info, char path[PATH_SIZE], struct error *error) {
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    bool has_data = data != NULL && data[0] == '/';
    char name[sizeof info->uuid + 32];
    if (!has_data && (home == NULL || home[0] != '/'))
        return error_set(error, "HOME is not set: set XDG_DATA_HOME");
    snprintf(name, sizeof name, "evotile/devices/%s.json",
             info->uuid[0] != '\0' ? info->uuid : "unknown");
    return path_join(path, has_data ? data : home, has_data ? "" : ".local/share", error) < 0
               ? -1
               : path_join(path, path, name, error);
}

int calibration_write(const char *path, const struct device_info *info, struct error *error) {
    char folder[PATH_SIZE];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "format", FORMAT);
    cJSON_AddStringToObject(object, "name", info->name);
    cJSON_AddStringToObject(object, "uuid", info->uuid);
    cJSON_AddStringToObject(object, "driver", info->driver);
    for (const struct json_field *figure = figures; figure->key != NULL; figure++)
        cJSON_AddNumberToObject(object, figure->key,
                                *(const double *)((const char *)info + figure->offset));
    char *text = json_print(object);
    int status = path_parent(folder, path, error);
    if (status == 0)
        status = path_make_folder(folder, error);
    if (status == 0)
        status = path_write_file(path, text, strlen(text), error);
    free(text);
    return status;
}

static bool has_text(const struct json *root, const char *key, const char *expected) {
    struct json value;
    struct error ignored;
    const char *text;
    return json_find(root, key, &value) && json_string(&value, &text, &ignored) == 0 &&
           strcmp(text, expected) == 0;
}

bool calibration_read(const char *path, struct device_info *info) {
    struct json_document document;
    struct error ignored = {0};
    struct device_info found = *info;
    struct json format;
    if (!path_exists(path) || json_read(&document, path, &ignored) < 0)
        return false;
    struct json root = json_root(&document);
    bool is_valid = json_is_object(&root, &ignored) == 0 && json_find(&root, "format", &format) &&
                    cJSON_IsNumber(format.value) && format.value->valuedouble == FORMAT &&
                    has_text(&root, "name", info->name) && has_text(&root, "uuid", info->uuid) &&
                    has_text(&root, "driver", info->driver);
    is_valid = is_valid && json_fields_read(&root, figures, &found, &ignored) == 0;
    json_release(&document);
    if (is_valid)
        *info = found;
    return is_valid;
}

/* ---- kernels ---- */

int calibrate_load(struct device *device, struct nvrtc *nvrtc, struct device_module **module,
                   struct error *error) {
    char reason[REASON_SIZE];
    char *source = xstrndup(_binary_search_evaluate_calibrate_cu_start,
                            (size_t)(_binary_search_evaluate_calibrate_cu_end -
                                     _binary_search_evaluate_calibrate_cu_start));
    int status = load_kernels(device, nvrtc, "calibrate.cu", source, NULL, module, reason, error);
    free(source);
    if (status == 1)
        BUG("calibrate.cu does not compile: %s", reason);
    return status;
}

static struct device_sequence make_call(struct device_module *module, const char *kernel,
                                        int blocks) {
    return (struct device_sequence){
        .count = 1,
        .launches = {{.module = module,
                      .kernel = kernel,
                      .grid = {(unsigned)blocks, 1, 1},
                      .block = {THREADS, 1, 1}}},
    };
}

/* Both compute kernels take the same arguments. */
static struct device_sequence make_compute_call(struct device_module *module, const char *kernel,
                                                int blocks, int iterations, uint64_t sink) {
    struct device_sequence sequence = make_call(module, kernel, blocks);
    int32_t count = iterations;
    launch_add_argument(&sequence.launches[0], &count, 4);
    launch_add_argument(&sequence.launches[0], &sink, 8);
    return sequence;
}

struct device_sequence calibrate_multiply_add_call(struct device_module *module, int blocks,
                                                   int iterations, uint64_t sink) {
    return make_compute_call(module, "evotile_multiply_add", blocks, iterations, sink);
}

struct device_sequence calibrate_matrix_call(struct device_module *module, int blocks,
                                             int iterations, uint64_t sink) {
    return make_compute_call(module, "evotile_matrix", blocks, iterations, sink);
}

/* ---- measuring ---- */

struct calibration {
    struct device *device;
    struct device_module *module;
    uint64_t sink;
    struct error *error;
};

static int set_failure(struct calibration *calibration, const char *reason) {
    return error_set(calibration->error, "calibrating the device failed: %.300s", reason);
}

/* The least time of a call, in graphs of `launches` calls: another process on the device only makes
   calls longer. */
static int measure_call(struct calibration *calibration, const struct device_sequence *sequence,
                        int launches, bool cold, double *call_us) {
    const struct device_backend *backend = calibration->device->backend;
    const struct device_timing timing = {
        .launches = launches, .cold = cold, .deadline_s = deadline_s};
    struct device_graph *graph;
    char reason[REASON_SIZE];
    double samples_us[SAMPLES];
    enum verdict verdict =
        backend->graph_new(calibration->device, sequence, 1, &timing, &graph, reason);
    if (verdict != VERDICT_OK)
        return set_failure(calibration, reason);
    /* The first pass warms up clocks and caches. */
    for (int i = 0; i < 2 && verdict == VERDICT_OK; i++)
        verdict = backend->graph_sample(calibration->device, graph, SAMPLES, samples_us, reason);
    backend->graph_free(calibration->device, graph);
    if (verdict != VERDICT_OK)
        return set_failure(calibration, reason);
    *call_us = statistics_percentile(samples_us, SAMPLES, 0);
    return 0;
}

static int measure_read(struct calibration *calibration, size_t bytes, int passes,
                        double *gb_per_s) {
    const struct device_backend *backend = calibration->device->backend;
    struct device_sequence sequence =
        make_call(calibration->module, "evotile_read", 8 * calibration->device->info.sm_count);
    struct device_launch *launch = &sequence.launches[0];
    uint64_t from;
    uint64_t count = bytes / 16;
    int32_t times = passes;
    double call_us = 0;
    if (backend->memory_new(calibration->device, "the bytes to read", bytes, &from,
                            calibration->error) < 0)
        return -1;
    launch_add_argument(launch, &from, 8);
    launch_add_argument(launch, &count, 8);
    launch_add_argument(launch, &times, 4);
    launch_add_argument(launch, &calibration->sink, 8);
    int status =
        backend->fill32(calibration->device, from, 0x5eed5eedu, bytes / 4, calibration->error);
    if (status == 0)
        status = measure_call(calibration, &sequence, 1, false, &call_us);
    backend->memory_free(calibration->device, from);
    if (status == 0)
        *gb_per_s = (double)bytes * passes / call_us * 1e-3;
    return status;
}

/* Measures a compute kernel's TFLOP/s. */
static int measure_compute(struct calibration *calibration, const char *kernel,
                           double operations_per_iteration, double *tflops) {
    enum { ITERATIONS = 4096 };
    int blocks = 8 * calibration->device->info.sm_count;
    struct device_sequence sequence =
        make_compute_call(calibration->module, kernel, blocks, ITERATIONS, calibration->sink);
    double call_us;
    if (measure_call(calibration, &sequence, 1, false, &call_us) < 0)
        return -1;
    *tflops = operations_per_iteration * ITERATIONS * blocks * THREADS / call_us * 1e-6;
    return 0;
}

/* Duels of a kernel of some 5 us against itself. */
static int measure_margin(struct calibration *calibration, double *margin) {
    const struct device_backend *backend = calibration->device->backend;
    const struct device_info *info = &calibration->device->info;
    struct device_sequence sequence =
        calibrate_multiply_add_call(calibration->module, info->sm_count, 500, calibration->sink);
    const struct device_timing timing = {.launches = duel_launches(5, 1), .deadline_s = deadline_s};
    char reason[REASON_SIZE];
    *margin = min_margin;
    for (int d = 0; d < DUELS; d++) {
        const struct duel_settings settings = {
            .blocks = 10, .margin = min_margin, .seed = (uint64_t)d};
        struct duel_outcome outcome;
        struct duel *duel = duel_new(&settings, 1);
        struct device_graph *graphs[DUEL_SIDES] = {NULL, NULL};
        enum verdict verdict = VERDICT_OK;
        for (int i = 0; i < DUEL_SIDES && verdict == VERDICT_OK; i++)
            verdict = backend->graph_new(calibration->device, &sequence, 1, &timing,
                                         &graphs[(i + d) % DUEL_SIDES], reason);
        const struct duel_sampler samplers[DUEL_SIDES] = {
            {.device = calibration->device, .graph = graphs[0]},
            {.device = calibration->device, .graph = graphs[1]}};
        if (verdict == VERDICT_OK)
            verdict = duel_round(duel, 0, samplers, timing.launches, reason);
        if (verdict == VERDICT_OK) {
            duel_decide(duel, &outcome);
            *margin = fmax(*margin, margin_factor * fabs(outcome.ratio - 1));
        }
        duel_free(duel);
        for (int i = 0; i < DUEL_SIDES; i++)
            if (graphs[i] != NULL)
                backend->graph_free(calibration->device, graphs[i]);
        if (verdict != VERDICT_OK)
            return set_failure(calibration, reason);
    }
    return 0;
}

static int measure_all(struct calibration *calibration, struct device_info *info) {
    const size_t mebibyte = 1 << 20;
    const struct device_sequence empty_graph = {0};
    const struct device_sequence empty_kernel =
        make_call(calibration->module, "evotile_nothing", 1);
    size_t quarter_of_memory = (size_t)info->memory_bytes / 4 / mebibyte * mebibyte;
    size_t large = quarter_of_memory > 0 && quarter_of_memory < 1024 * mebibyte ? quarter_of_memory
                                                                                : 1024 * mebibyte;
    size_t small = (size_t)info->l2_bytes / 3 / mebibyte * mebibyte;
    if (measure_read(calibration, large, 1, &info->dram_gb_per_s) < 0 ||
        measure_read(calibration, small > 0 ? small : mebibyte, 64, &info->l2_gb_per_s) < 0 ||
        measure_compute(calibration, "evotile_multiply_add", 16, &info->fp32_tflops) < 0 ||
        measure_call(calibration, &empty_kernel, EMPTY_LAUNCHES, false, &info->launch_us) < 0 ||
        measure_call(calibration, &empty_graph, 1, true, &info->event_us) < 0)
        return -1;
    if (info->compute_capability >= 80 &&
        measure_compute(calibration, "evotile_matrix", 8 * 4096 / 32.0, &info->tensor_tflops) < 0)
        return -1;
    return measure_margin(calibration, &info->duel_margin);
}

/* Multiply-adds of all its lanes at its highest clock. Lanes of a multiprocessor: CUDA C++
   Programming Guide, "Compute Capabilities"; later ones have 128. */
static double fp32_peak_tflops(const struct device_info *info) {
    int lanes = info->compute_capability <= 80 ? 64 : 128;
    return 2e-6 * lanes * info->sm_count * info->clock_mhz;
}

static bool was_alone(const struct device_info *info) {
    return info->fp32_tflops >= alone_share * fp32_peak_tflops(info) &&
           info->duel_margin <= alone_margin;
}

/* Measures until the device seems to do nothing else; what is best of the attempts counts. */
static int measure_attempts(struct calibration *calibration, struct device_info *info) {
    for (int i = 0; i < ATTEMPTS && (i == 0 || !was_alone(info)); i++) {
        struct device_info found = *info;
        if (measure_all(calibration, &found) < 0)
            return -1;
        if (i > 0) {
            found.dram_gb_per_s = fmax(found.dram_gb_per_s, info->dram_gb_per_s);
            found.l2_gb_per_s = fmax(found.l2_gb_per_s, info->l2_gb_per_s);
            found.tensor_tflops = fmax(found.tensor_tflops, info->tensor_tflops);
            found.fp32_tflops = fmax(found.fp32_tflops, info->fp32_tflops);
            found.launch_us = fmin(found.launch_us, info->launch_us);
            found.event_us = fmin(found.event_us, info->event_us);
            found.duel_margin = fmin(found.duel_margin, info->duel_margin);
        }
        *info = found;
    }
    return 0;
}

/* Raises ceilings that are too low by what fp32 is too low, so that they refuse no honest kernel as
   impossible. */
static void raise_ceilings(struct device_info *info) {
    double factor = fmax(1, fp32_peak_tflops(info) / info->fp32_tflops);
    info->dram_gb_per_s *= factor;
    info->l2_gb_per_s *= factor;
    info->tensor_tflops *= factor;
    info->fp32_tflops *= factor;
}

static int run_calibration(struct device *device, struct nvrtc *nvrtc, struct error *error) {
    struct calibration calibration = {.device = device, .error = error};
    struct device_info info = device->info;
    int status = calibrate_load(device, nvrtc, &calibration.module, error);
    if (status == 0)
        status = device->backend->memory_new(device, "a sink", 4, &calibration.sink, error);
    if (status == 0)
        status = measure_attempts(&calibration, &info);
    if (calibration.sink != 0)
        device->backend->memory_free(device, calibration.sink);
    if (calibration.module != NULL)
        device->backend->module_unload(device, calibration.module);
    if (status == 0)
        device->info = info;
    return status;
}

int calibrate_device(struct device *device, struct nvrtc *nvrtc, struct error *error) {
    char path[PATH_SIZE];
    struct error path_error = {0};
    bool has_path = calibration_path(&device->info, path, &path_error) == 0;
    if (has_path && calibration_read(path, &device->info))
        return 0;
    if (run_calibration(device, nvrtc, error) < 0)
        return -1;
    if (!was_alone(&device->info)) {
        log_warn("%s reaches %.1f of %.1f fp32 TFLOP/s, and its duels deviate by %.1f %%: end what "
                 "else uses it, or unlock its clocks; these figures are not stored",
                 device->info.spec, device->info.fp32_tflops, fp32_peak_tflops(&device->info),
                 100 * device->info.duel_margin);
        raise_ceilings(&device->info);
        return 0;
    }
    if (!has_path || calibration_write(path, &device->info, &path_error) < 0)
        log_warn("this device's calibration cannot be stored and is measured every time: %s",
                 path_error.text);
    return 0;
}
