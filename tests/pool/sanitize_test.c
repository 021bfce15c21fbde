/* sanitize: parsing the tools' reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pool/sanitize.h"

static void reports_are_parsed(void **state) {
    (void)state;
    static const struct {
        const char *report;
        bool ran;
        int count;
        const char *first;
    } rows[] = {
        {"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", true, 0, ""},
        {"========= COMPUTE-SANITIZER\n"
         "========= Invalid __global__ read of size 4 bytes\n"
         "=========     at attention_fwd+0x1b0\n"
         "=========     by thread (0,0,0) in block (0,0,0)\n"
         "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
         "========= ERROR SUMMARY: 12 errors\n",
         true, 12, "Invalid __global__ read of size 4 bytes, at attention_fwd+0x1b0"},
        {"========= COMPUTE-SANITIZER\n"
         "========= Error: Race reported between Write access at k+0x90 and Read access at k+0xd0\n"
         "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
         true, 1, "Error: Race reported between Write access at k+0x90 and Read access at k+0xd0"},
        {"========= COMPUTE-SANITIZER\n========= Error: No supported GPU\n", false, 0,
         "Error: No supported GPU"},
        {"", false, 0, "the report has no summary"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct findings findings = {.ran = false};
        sanitize_read(rows[i].report, &findings);
        assert_int_equal(findings.ran, rows[i].ran);
        assert_int_equal(findings.count, rows[i].count);
        assert_string_equal(findings.first, rows[i].first);
    }
}

/* A tool with a clean report and a worker that never answers. */
static void unfinished_tool_is_not_clean(void **state) {
    (void)state;
    static const char script[] = "#!/bin/sh\n"
                                 "echo '========= ERROR SUMMARY: 0 errors' > \"$4\"\n"
                                 "exec sleep 1000\n";
    struct error error = {0};
    struct findings findings[SANITIZER_COUNT];
    char folder[] = "/tmp/evotile-sanitize-XXXXXX";
    char tool[PATH_SIZE];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(tool, folder, "compute-sanitizer", &error), 0);
    assert_int_equal(path_write_file(tool, script, sizeof script - 1, &error), 0);
    assert_int_equal(chmod(tool, 0755), 0);
    const struct tool_settings how = {.tool = tool,
                                      .program = "/bin/true",
                                      .config_path = "config.json",
                                      .template_folder = folder,
                                      .device = "cuda:0",
                                      .limit_s = 0.2};
    const struct trial_request request = {.number = 1};
    assert_int_equal(sanitize_run(&how, &request, findings, &error), 0);
    for (int t = 0; t < SANITIZER_COUNT; t++) {
        assert_false(findings[t].ran);
        assert_int_equal(findings[t].count, 0);
        assert_string_equal(findings[t].first, "not finished after 0.2 s");
    }
    assert_int_equal(path_remove_tree(folder, &error), 0);
}

static void missing_tool_has_a_remedy(void **state) {
    (void)state;
    struct error error = {0};
    char path[PATH_SIZE];
    setenv("PATH", "/nowhere", 1);
    unsetenv("CUDA_HOME");
    if (sanitize_find(path, &error) < 0)
        assert_non_null(strstr(error.text, "install it"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_parsed),
        cmocka_unit_test(unfinished_tool_is_not_clean),
        cmocka_unit_test(missing_tool_has_a_remedy),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("sanitize", tests, NULL, NULL);
}
