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
    const char *wrong[] = {"[]", "{\"format\": 1}", "12", "{\"format\": 2}"};
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
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
