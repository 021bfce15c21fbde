/* profile_process: a stand-in for ncu runs the worker, on the emulated device, and reports recorded
   figures. The source of the candidate is a stranger's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>

#include "pool/fake_ncu.h"
#include "pool/profile_process.h"

static int make_folder(void **state) {
    (void)state;
    fake_ncu_open(FAKE_NCU_TOOL);
    setenv("FAKE_REPORT", "tests/pool/ncu/in_its_form.csv", 1);
    fake_ncu_write("secret", "x");
    fake_ncu_write("run/config.json",
                   "{ \"template\": \"axpy\", "
                   "\"cases\": [{ \"N\": 70 }], \"device\": \"emulated:sm_90\" }");
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return fake_ncu_close();
}

/* Copies tests/templates/axpy with so much text before its kernel, and profiles the solution. */
static cJSON *profile_with(const char *text) {
    char command[PATH_SIZE], config[PATH_SIZE], solution[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    struct device_info device;
    snprintf(command, sizeof command,
             "rm -rf %s/templates && mkdir %s/templates && cp -r tests/templates/axpy %s/templates",
             fake_ncu_folder, fake_ncu_folder, fake_ncu_folder);
    assert_int_equal(system(command), 0);
    fake_ncu_path("templates/axpy/loop/kernel.cu", path);
    char *kernel = path_read_file(path, 1 << 16, NULL, &error);
    assert_non_null(kernel);
    char *whole = malloc(strlen(text) + strlen(kernel) + 1);
    sprintf(whole, "%s%s", text, kernel);
    fake_ncu_write("templates/axpy/loop/kernel.cu", whole);
    free(whole);
    free(kernel);
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    const struct profile_process_settings settings = {
        .program = getenv("EVOTILE"),
        .config_path = fake_ncu_path("run/config.json", config),
        .template_folder = fake_ncu_path("templates/axpy/loop", solution),
        .device = &device};
    struct trial_request request = {.number = 1};
    struct profile_process *it = profile_process_start(&settings, &request, &error);
    if (it == NULL)
        fail_msg("%s", error.text);
    cJSON *counters;
    while ((counters = profile_process_read(it)) == NULL)
        poll(&(struct pollfd){.fd = profile_process_descriptor(it), .events = POLLIN}, 1, 1000);
    profile_process_free(it);
    return counters;
}

static void kernels_are_counted(void **state) {
    (void)state;
    cJSON *counters = profile_with("");
    const cJSON *missing = cJSON_GetObjectItem(counters, "missing");
    if (!cJSON_IsNull(missing))
        fail_msg("%s", missing->valuestring);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(counters, "kernels")), 2);
    cJSON_Delete(counters);
}

/* The worker under the tool is in no sandbox: if it compiled the source, that could find out which
   files the host has. */
static void no_source_looks_for_files(void **state) {
    (void)state;
    char text[512];
    snprintf(text, sizeof text,
             "#define PLACE \"%s/secret\"\n#if __has_include(PLACE)\n#error seen\n#endif\n",
             fake_ncu_folder);
    unsetenv("FAKE_REPORT"); /* then the worker's own message is shown */
    cJSON *counters = profile_with(text);
    setenv("FAKE_REPORT", "tests/pool/ncu/in_its_form.csv", 1);
    const char *missing = cJSON_GetObjectItem(counters, "missing")->valuestring;
    if (missing == NULL || strstr(missing, "compile_failed") != NULL ||
        strstr(missing, "no kernel") == NULL)
        fail_msg("%s", missing);
    cJSON_Delete(counters);
}

static void a_source_that_does_not_compile_is_named(void **state) {
    (void)state;
    cJSON *counters = profile_with("#error not this one\n");
    char *text = cJSON_PrintUnformatted(counters);
    assert_non_null(strstr(text, "not this one"));
    free(text);
    cJSON_Delete(counters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_counted),
        cmocka_unit_test(no_source_looks_for_files),
        cmocka_unit_test(a_source_that_does_not_compile_is_named),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
