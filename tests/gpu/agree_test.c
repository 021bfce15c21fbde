/*
 * 300 random genomes of the templates in six shapes each, on a GPU and on the emulated device:
 * every element of their outputs is within the bounds of emulated/agree.h. EVOTILE_SHARE=N runs one
 * of N genomes.
 */
#include "emulated/agree.h"

#include "base/path.h"

#define EMULATED "emulated:sm_90"

static const char *device_spec(void) {
    return getenv("EVOTILE_DEVICE") ? getenv("EVOTILE_DEVICE") : "cuda:0";
}

static void devices_agree(void **state) {
    (void)state;
    const struct agree_plan plan = {
        .one = EMULATED,
        .other = device_spec(),
        .share = getenv("EVOTILE_SHARE") ? atoi(getenv("EVOTILE_SHARE")) : 1,
        .seed = getenv("EVOTILE_SEED") ? (uint64_t)atoi(getenv("EVOTILE_SEED")) : 0,
        .jobs = processes_jobs()};
    char *report = NULL, path[512];
    size_t length = 0;
    FILE *text = open_memstream(&report, &length);
    assert_non_null(text);
    int bad = agree_all(&plan, text);
    fclose(text);
    fputs(report, stdout);
    fflush(stdout);
    if (getenv("OUT") != NULL) {
        struct error error = {0};
        snprintf(path, sizeof path, "%s/agree.txt", getenv("OUT"));
        assert_int_equal(path_write_file(path, report, length, &error), 0);
    }
    free(report);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree)};
    struct device_info device;
    struct error error = {0};
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    if (device_describe(device_spec(), &device, &error) < 0) {
        printf("no GPU: %s\n", error.text);
        return 77;
    }
    if (device.compute_capability != 90) {
        printf("%s is not sm_90, which one of the templates needs\n", device.name);
        return 77;
    }
    printf("%s, driver %s\n", device.name, device.driver);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
