/* profile_keep: what ncu is asked for, and which report is kept. A script stands in for ncu, and
   runs the worker on the emulated device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>

#include "config/config.h"
#include "pool/fake_ncu.h"
#include "pool/profile_keep.h"

/* Lists its arguments, and does with the file of --export, its % as ncu reads them, and with that
   of
   --log-file what $FAKE_NCU says. */
#define TOOL                                                                                       \
    "#!/bin/sh\n"                                                                                  \
    "echo \"$@\" > \"$0.called\"\n"                                                                \
    "while [ \"$1\" != --export ]; do shift; done\n"                                               \
    "export=$(echo \"$2\" | sed 's/%%/%/g')\n"                                                     \
    "while [ \"$1\" != --log-file ]; do shift; done\n"                                             \
    "log=$2\n"                                                                                     \
    "eval \"$FAKE_NCU\"\n"                                                                         \
    "shift 3\n" /* --log-file FILE --force-overwrite */                                            \
    "exec \"$@\"\n"

static char path[PATH_SIZE], problem[TOOL_PROBLEM_SIZE];
static struct device_info device;
static struct genome genome;

static int open_folder(void **state) {
    (void)state;
    fake_ncu_open(TOOL);
    struct error error = {0};
    char config_path[PATH_SIZE];
    fake_ncu_write("run/config.json", "{ \"template\": \"axpy\", \"cases\": [{ \"N\": 70 }], "
                                      "\"device\": \"emulated:sm_90\" }");
    fake_ncu_write("100%/other", "");
    fake_ncu_path("100%/12.ncu-rep", path);
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    struct config *config =
        config_load(fake_ncu_path("run/config.json", config_path), "tests/templates", &error);
    struct template *template =
        config != NULL ? config_load_template(config, 0, &device, &error) : NULL;
    if (template == NULL)
        fail_msg("%s", error.text);
    genome = genome_default(template->space);
    template_free(template);
    config_free(config);
    return 0;
}

static int close_folder(void **state) {
    (void)state;
    return fake_ncu_close();
}

static void keep(const char *script, double limit_s) {
    struct error error = {0};
    char tool[PATH_SIZE], config_path[PATH_SIZE];
    const char *const kernels[] = {"axpy", "axpy_more"};
    const struct profile_settings settings = {
        .run = {.tool = fake_ncu_path("bin/ncu", tool),
                .program = getenv("EVOTILE"),
                .config_path = fake_ncu_path("run/config.json", config_path),
                .template_folder = "tests/templates/axpy/loop",
                .device = device.spec,
                .limit_s = limit_s,
                .compile_for = &device},
        .kernels = kernels,
        .kernel_count = 2};
    const struct trial_request request = {.number = 12, .genome = genome};
    setenv("FAKE_NCU", script, 1);
    if (profile_keep(&settings, &request, path, problem, &error) < 0)
        fail_msg("%s", error.text);
}

static void assert_kept(const char *expected) {
    struct error error = {0};
    char folder[PATH_SIZE], **names;
    int count;
    char *text = path_read_file(path, 1 << 16, NULL, &error);
    if (text == NULL)
        fail_msg("%s", error.text);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(path_list(fake_ncu_path("100%", folder), &names, &count, &error), 0);
    assert_int_equal(count, 2); /* no part of another one */
    path_list_free(names, count);
}

static void whole_report_is_kept(void **state) {
    (void)state;
    struct error error = {0};
    char called[PATH_SIZE];
    keep("echo first > \"$export\"", 0);
    assert_string_equal(problem, "");
    assert_kept("first\n");
    char *words = path_read_file(fake_ncu_path("bin/ncu.called", called), 1 << 16, NULL, &error);
    assert_non_null(words);
    assert_non_null(strstr(words, "--set full"));
    assert_non_null(strstr(words, "--cache-control none --clock-control none"));
    assert_non_null(strstr(words, "--kernel-name regex:^(axpy|axpy_more)$"));
    assert_non_null(strstr(words, "/100%%/12.part.ncu-rep"));
    assert_non_null(strstr(words, "pool-worker device emulated:sm_90"));
    free(words);
    keep("echo second > \"$export\"", 0);
    assert_string_equal(problem, "");
    assert_kept("second\n");
}

/* What is there stays, until another one is whole. */
static void failure_keeps_the_report_before(void **state) {
    (void)state;
    keep("echo before > \"$export\"", 0);
    keep("true", 0);
    assert_string_equal(problem, "it wrote no report");
    assert_kept("before\n");
    keep(": > \"$export\"", 0);
    assert_string_equal(problem, "it wrote no report");
    assert_kept("before\n");
    keep("echo half > \"$export\"; echo '==ERROR== ERR_NVGPUCTRPERM - no permission' > \"$log\"",
         0);
    assert_string_equal(problem, "ERR_NVGPUCTRPERM - no permission");
    assert_kept("before\n");
    keep("echo half > \"$export\"; exit 0", 0); /* the worker never ran */
    assert_non_null(strstr(problem, "the worker did not start"));
    assert_kept("before\n");
    keep("echo half > \"$export\"; exec sleep 100", 2);
    assert_non_null(strstr(problem, "not finished after"));
    assert_kept("before\n");
    keep("echo after > \"$export\"; echo '==WARNING== Note: clocks' > \"$log\"", 0);
    assert_string_equal(problem, "");
    assert_kept("after\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_report_is_kept),
        cmocka_unit_test(failure_keeps_the_report_before),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
