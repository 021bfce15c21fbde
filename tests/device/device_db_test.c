/* Device files, and the parsing of device specs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "device/device_db.h"

static char folder[64];

static int make(void **state) {
    (void)state;
    strcpy(folder, "/tmp/evotile-devices-XXXXXX");
    return mkdtemp(folder) != NULL ? setenv("EVOTILE_DEVICES", folder, 1) : -1;
}

static int discard(void **state) {
    (void)state;
    struct error error = {0};
    unsetenv("EVOTILE_DEVICES");
    return path_remove_tree(folder, &error);
}

static void put(const char *name, const char *text) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, folder, name, &error), 0);
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

#define DEVICE(architecture, more)                                                                 \
    "{ \"name\": \"A B\", \"architecture\": \"" architecture "\", \"sm_count\": 3,\n"              \
    "\"smem_per_block\": 49152, \"smem_per_block_optin\": 65536, \"smem_per_sm\": 70000,\n"        \
    "\"registers_per_sm\": 65536, \"threads_per_sm\": 1024, \"blocks_per_sm\": 16,\n"              \
    "\"memory_bytes\": \"123456789012\", \"l2_bytes\": 4096, \"clock_mhz\": 1.5,\n"                \
    "\"dram_gb_per_s\": 2, \"tensor_tflops\": 3.5, \"fp32_tflops\": 4" more " }"

static void reads_every_figure(void **state) {
    (void)state;
    struct device_info info;
    struct error error = {0};
    put("a.json",
        DEVICE("sm_75", ",\n\"l2_gb_per_s\": 5, \"launch_us\": 0.5, \"about\": \"x\", "
                        "\"clusters_of_2\": 6, \"clusters_of_4\": 7, \"clusters_of_8\": 8"));
    if (device_db_find(75, &info, &error) < 0)
        fail_msg("%s", error.text);
    assert_string_equal(info.spec, "emulated:sm_75");
    assert_non_null(strstr(info.name, "A B"));
    assert_int_equal(info.compute_capability, 75);
    assert_int_equal(info.sm_count, 3);
    assert_int_equal(info.smem_per_block, 49152);
    assert_int_equal(info.smem_per_block_optin, 65536);
    assert_int_equal(info.smem_per_sm, 70000);
    assert_int_equal(info.registers_per_sm, 65536);
    assert_int_equal(info.threads_per_sm, 1024);
    assert_int_equal(info.blocks_per_sm, 16);
    assert_int_equal(info.clusters_of_2, 6);
    assert_int_equal(info.clusters_of_4, 7);
    assert_int_equal(info.clusters_of_8, 8);
    assert_true(info.memory_bytes == INT64_C(123456789012));
    assert_int_equal(info.l2_bytes, 4096);
    assert_true(info.clock_mhz == 1.5);
    assert_true(info.dram_gb_per_s == 2);
    assert_true(info.l2_gb_per_s == 5);
    assert_true(info.tensor_tflops == 3.5);
    assert_true(info.fp32_tflops == 4);
    assert_true(info.launch_us == 0.5);
    assert_true(info.predicts);
    assert_string_equal(info.uuid, "");
}

static void takes_the_first_by_name(void **state) {
    (void)state;
    struct device_info info;
    struct error error = {0};
    put("notes.txt", "no device");
    put("b.json", DEVICE("sm_80", ""));
    put("c.json", DEVICE("sm_75", ", \"launch_us\": 2"));
    put("a.json", DEVICE("sm_75", ", \"launch_us\": 1"));
    assert_int_equal(device_db_find(75, &info, &error), 0);
    assert_true(info.launch_us == 1);
    assert_int_equal(device_db_find(90, &info, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(
        strstr(error.text, "no device of sm_90: there are emulated:sm_75, emulated:sm_80;"));
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{ \"name\": \"x\" }", ":1: the key \"architecture\" is missing"},
        {"{ \"name\": \"x\", \"architecture\": \"sm_75\" }", ":1: the key \"sm_count\" is missing"},
        {DEVICE("75", ""), ":1: architecture: must be an architecture such as \"sm_89\""},
        {DEVICE("sm_75x", ""), ":1: architecture: must be an architecture such as \"sm_89\""},
        {DEVICE("sm_75", ", \"l2_gbs\": 1"), ":5: l2_gbs: unknown key; did you mean \"l2_bytes\"?"},
        {DEVICE("sm_75", ", \"launch_us\": -1"), ":5: launch_us: must lie between 0 and 1000"},
        {DEVICE("sm_75", ", \"launch_us\": \"x\""), ":5: launch_us: must be a number"},
        {"[]", ":1: must be an object: { ... }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device_info info = {.sm_count = 77};
        struct error error = {0};
        char expected[512];
        put("a.json", rows[i].text);
        snprintf(expected, sizeof expected, "%s/a.json%s", folder, rows[i].message);
        assert_int_equal(device_db_find(75, &info, &error), -1);
        assert_string_equal(error.text, expected);
        assert_int_equal(info.sm_count, 77);
    }
}

static void specs(void **state) {
    (void)state;
    struct device_info info;
    struct error error = {0};
    put("a.json", DEVICE("sm_75", ""));
    assert_int_equal(device_describe("emulated:sm_75", &info, &error), 0);
    assert_int_equal(info.sm_count, 3);
    static const struct {
        const char *spec, *message;
    } rows[] = {
        {"gpu", "there is no device \"gpu\": use auto, cuda:0 or emulated:sm_89"},
        {"", "there is no device \"\": use auto, cuda:0 or emulated:sm_89"},
        {"emulated:", "\"emulated:\" has no architecture: use emulated:sm_89"},
        {"emulated:sm_75a", "\"emulated:sm_75a\" has no architecture: use emulated:sm_89"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        error = (struct error){0};
        assert_int_equal(device_describe(rows[i].spec, &info, &error), -1);
        assert_string_equal(error.text, rows[i].message);
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_null(device_open(rows[i].spec, &error));
    }
    device_close(NULL);
}

static void shipped_files(void **state) {
    (void)state;
    static const struct {
        int architecture, sm_count;
    } rows[] = {{80, 108}, {86, 72}, {89, 58}, {90, 132}};
    unsetenv("EVOTILE_DEVICES");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device_info info;
        struct error error = {0};
        if (device_db_find(rows[i].architecture, &info, &error) < 0)
            fail_msg("%s", error.text);
        assert_int_equal(info.sm_count, rows[i].sm_count);
        assert_true(info.smem_per_block < info.smem_per_block_optin);
        assert_true(info.smem_per_block_optin < info.smem_per_sm);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_every_figure, make, discard),
        cmocka_unit_test_setup_teardown(takes_the_first_by_name, make, discard),
        cmocka_unit_test_setup_teardown(mistakes, make, discard),
        cmocka_unit_test_setup_teardown(specs, make, discard),
        cmocka_unit_test_setup_teardown(shipped_files, make, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
