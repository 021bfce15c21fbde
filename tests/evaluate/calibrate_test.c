/* Stored calibration figures, and the roofline floor computed from them. */
#include "evaluate/calibrate.h"
#include "evaluate/roofline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/evotile-calibrate-XXXXXX";

static struct device_info h200(void) {
    return (struct device_info){.name = "NVIDIA H200",
                                .uuid = "0123456789abcdef0123456789abcdef",
                                .driver = "13.0",
                                .l2_bytes = 60 << 20,
                                .dram_gb_per_s = 4447.25,
                                .l2_gb_per_s = 8380,
                                .tensor_tflops = 636.6666666666666,
                                .fp32_tflops = 55.8,
                                .launch_us = 0.504,
                                .event_us = 1.28,
                                .duel_margin = 0.005};
}

static struct device_info bare(void) {
    struct device_info info = h200();
    info.dram_gb_per_s = info.l2_gb_per_s = info.tensor_tflops = info.fp32_tflops = 0;
    info.launch_us = info.event_us = info.duel_margin = 0;
    return info;
}

static void path_of(const struct device_info *info, char path[PATH_SIZE]) {
    struct error error;
    setenv("XDG_DATA_HOME", folder, 1);
    assert_int_equal(calibration_path(info, path, &error), 0);
}

static void figures_are_read_back(void **state) {
    (void)state;
    char path[PATH_SIZE];
    struct error error;
    struct device_info written = h200();
    struct device_info read = bare();
    path_of(&written, path);
    assert_non_null(strstr(path, "/evotile/devices/0123456789abcdef"));
    assert_false(calibration_read(path, &read));
    assert_int_equal(calibration_write(path, &written, &error), 0);
    assert_true(calibration_read(path, &read));
    assert_memory_equal(&read, &written, sizeof read);
}

static void other_driver_or_device_is_rejected(void **state) {
    (void)state;
    char path[PATH_SIZE];
    struct device_info other = bare();
    path_of(&other, path);
    strcpy(other.driver, "13.1");
    assert_false(calibration_read(path, &other));
    other = bare();
    strcpy(other.name, "NVIDIA L4");
    assert_false(calibration_read(path, &other));
    assert_true(other.dram_gb_per_s == 0);
}

static void damaged_file_is_rejected(void **state) {
    (void)state;
    char path[PATH_SIZE];
    struct error error;
    struct device_info info = bare();
    path_of(&info, path);
    size_t size;
    char *text = path_read_file(path, 1 << 20, &size, &error);
    assert_non_null(text);
    /* Cut anywhere before its last brace. */
    for (size_t length = 0; length < (size_t)(strrchr(text, '}') - text); length += 7) {
        assert_int_equal(path_write_file(path, text, length, &error), 0);
        assert_false(calibration_read(path, &info));
        assert_true(info.dram_gb_per_s == 0);
    }
    const char *wrong[] = {"[]", "{\"format\": 1}", "12", "{\"format\": 3}"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(path_write_file(path, wrong[i], strlen(wrong[i]), &error), 0);
        assert_false(calibration_read(path, &info));
    }
    free(text);
}

static void floor_is_below_measured_figures(void **state) {
    (void)state;
    struct device_info info = h200();
    /* Attention at (2,8,512,64), as measured on this H200: 9.2 us warm, 13.0 us cold. */
    const struct work work = {
        .operations = INT64_C(1073741824), .bytes = 4 << 20, .output_bytes = 1 << 20};
    double warm = roofline_floor_us(&info, &work, false);
    double cold = roofline_floor_us(&info, &work, true);
    assert_true(warm > 0.4 && warm < 9.1);
    assert_true(cold > 0.6 && cold < 13);
    /* By operations: 1.07 GFLOP at twice 637 TFLOP/s. */
    assert_true(fabs(warm - 1073741824 / (2e6 * info.tensor_tflops)) < 1e-9);
    double share = roofline_share(&info, &work, 4, 9.2);
    assert_true(share > 0.15 && share < 0.25);
}

static void bytes_limit_the_floor(void **state) {
    (void)state;
    struct device_info info = h200();
    const struct work work = {.operations = 1000, .bytes = 84 << 20, .output_bytes = 20 << 20};
    assert_true(fabs(roofline_floor_us(&info, &work, false) - (84 << 20) / (1.1e3 * 8380)) < 1e-9);
    /* What is written may stay in L2. */
    assert_true(fabs(roofline_floor_us(&info, &work, true) - (64 << 20) / (1.1e3 * 4447.25)) <
                1e-9);
}

static void no_floor_without_ceilings(void **state) {
    (void)state;
    struct device_info info = bare();
    const struct work work = {1000000, 1000000, 0};
    assert_true(roofline_floor_us(&info, &work, false) == 0);
    assert_true(roofline_floor_us(&info, &work, true) == 0);
    assert_true(roofline_share(&info, &work, 4, 5.0) == 0);
}

/* ---- a device that is shared ---- */

struct device_graph {
    const char *kernel;
    int samples;
};

/* An H200 of which another process takes so large a part of each sample, but of every n-th none. */
static struct {
    double slowed;
    int free_every, rounds, duels;
    double deviation; /* of the second side of a duel */
} shared;

static int load_nothing(struct device *device, const struct device_image *image,
                        struct device_module **module, struct error *error) {
    (void)device, (void)image, (void)error;
    *module = (struct device_module *)&shared;
    return 0;
}

static void unload_nothing(struct device *device, struct device_module *module) {
    (void)device, (void)module;
}

static int memory_anywhere(struct device *device, const char *name, size_t bytes, uint64_t *address,
                           struct error *error) {
    (void)device, (void)name, (void)bytes, (void)error;
    *address = 256;
    return 0;
}

static void free_nothing(struct device *device, uint64_t address) {
    (void)device, (void)address;
}

static int fill_nothing(struct device *device, uint64_t address, uint32_t word, size_t words,
                        struct error *error) {
    (void)device, (void)address, (void)word, (void)words, (void)error;
    return 0;
}

static enum verdict graph_of(struct device *device, const struct device_sequence *sets, int count,
                             const struct device_timing *timing, struct device_graph **graph,
                             char *reason) {
    (void)device, (void)count, (void)reason;
    *graph = calloc(1, sizeof **graph);
    (*graph)->kernel = sets->count == 0 ? "" : sets->launches[0].kernel;
    shared.rounds += strcmp((*graph)->kernel, "evotile_read") == 0;
    if (timing->launches > 1 && strcmp((*graph)->kernel, "evotile_multiply_add") == 0)
        (*graph)->samples = shared.duels++ % 2; /* the sides of a duel: here 0 or 1 */
    return VERDICT_OK;
}

static enum verdict sample_graph(struct device *device, struct device_graph *graph, int count,
                                 double *samples_us, char *reason) {
    static const struct {
        const char *kernel;
        double us;
    } times[] = {{"", 1.3},
                 {"evotile_nothing", 0.5},
                 {"evotile_read", 240},
                 {"evotile_multiply_add", 317},
                 {"evotile_matrix", 1790}};
    (void)device, (void)reason;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 5; k++)
            if (strcmp(times[k].kernel, graph->kernel) == 0) {
                bool is_free = shared.free_every > 0 && i % shared.free_every == 0;
                samples_us[i] = times[k].us * (is_free ? 1 : 1 + shared.slowed) *
                                (1 + shared.deviation * graph->samples);
            }
    return VERDICT_OK;
}

static void free_graph(struct device *device, struct device_graph *graph) {
    (void)device;
    free(graph);
}

static const struct device_backend shared_backend = {.module_load = load_nothing,
                                                     .module_unload = unload_nothing,
                                                     .memory_new = memory_anywhere,
                                                     .memory_free = free_nothing,
                                                     .fill32 = fill_nothing,
                                                     .graph_new = graph_of,
                                                     .graph_sample = sample_graph,
                                                     .graph_free = free_graph};

/* Calibrates an H200 without stored figures; returns whether they are stored then. */
static bool calibrate_shared(struct device_info *info) {
    char path[PATH_SIZE];
    struct error error;
    struct device device = {.backend = &shared_backend, .info = bare()};
    struct nvrtc *nvrtc = nvrtc_open(&error);
    assert_non_null(nvrtc);
    device.info.compute_capability = 90;
    device.info.sm_count = 132;
    device.info.clock_mhz = 1980;
    device.info.memory_bytes = INT64_C(139) << 30;
    path_of(&device.info, path);
    unlink(path);
    shared.rounds = shared.duels = 0;
    assert_int_equal(calibrate_device(&device, nvrtc, &error), 0);
    nvrtc_close(nvrtc);
    *info = device.info;
    return path_exists(path);
}

static void figures_of_a_device_alone_are_stored(void **state) {
    (void)state;
    struct device_info info;
    memset(&shared, 0, sizeof shared);
    assert_true(calibrate_shared(&info));
    assert_true(info.fp32_tflops > 55 && info.fp32_tflops < 56);
    assert_true(info.tensor_tflops > 600 && info.tensor_tflops < 650);
    assert_int_equal(shared.rounds, 2); /* of DRAM and L2, once */
}

/* One sample of four that nothing disturbs is enough. */
static void a_few_undisturbed_samples_are_enough(void **state) {
    (void)state;
    struct device_info alone, info;
    memset(&shared, 0, sizeof shared);
    assert_true(calibrate_shared(&alone));
    shared.slowed = 2;
    shared.free_every = 4;
    assert_true(calibrate_shared(&info));
    assert_true(info.tensor_tflops == alone.tensor_tflops);
    assert_true(info.l2_gb_per_s == alone.l2_gb_per_s);
}

/* The figures of a device that another process uses refused honest kernels as impossible, until the
   file was deleted. */
static void figures_of_a_busy_device_refuse_nothing(void **state) {
    (void)state;
    struct device_info alone, info;
    const struct work work = {.operations = INT64_C(1) << 32, .bytes = 4 << 20};
    memset(&shared, 0, sizeof shared);
    assert_true(calibrate_shared(&alone));
    shared.slowed = 3;
    assert_false(calibrate_shared(&info));
    assert_int_equal(shared.rounds, 2 * 3);
    assert_true(roofline_floor_us(&info, &work, false) <= roofline_floor_us(&alone, &work, false));
    assert_true(roofline_floor_us(&info, &work, false) >
                0.5 * roofline_floor_us(&alone, &work, false));
}

static void noisy_duels_are_not_stored(void **state) {
    (void)state;
    struct device_info info;
    memset(&shared, 0, sizeof shared);
    shared.deviation = 0.05;
    assert_false(calibrate_shared(&info));
    assert_true(info.duel_margin > 0.05 && info.duel_margin < 0.1);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    struct error error;
    (void)state;
    return path_remove_tree(folder, &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_read_back),
        cmocka_unit_test(other_driver_or_device_is_rejected),
        cmocka_unit_test(damaged_file_is_rejected),
        cmocka_unit_test(floor_is_below_measured_figures),
        cmocka_unit_test(bytes_limit_the_floor),
        cmocka_unit_test(no_floor_without_ceilings),
        cmocka_unit_test(figures_of_a_device_alone_are_stored),
        cmocka_unit_test(a_few_undisturbed_samples_are_enough),
        cmocka_unit_test(figures_of_a_busy_device_refuse_nothing),
        cmocka_unit_test(noisy_duels_are_not_stored),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
