/* Requests that name a config and a template of their own, in a pool of another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "config/config.h"
#include "pool/local_pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char top[] = "/tmp/other_template.XXXXXX";
static struct pool *pool;
static int64_t trials;
static struct genome own_default;

static void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static void write_config(const char *name, const char *template, const char *shape,
                         char path[PATH_SIZE]) {
    struct error error = {0};
    char text[512];
    snprintf(text, sizeof text, "{ \"template\": \"%s\", \"cases\": [%s] }", template, shape);
    must(path_join(path, top, name, &error), &error);
    must(path_write_file(path, text, strlen(text), &error), &error);
}

static int start_pool(void **state) {
    (void)state;
    struct error error = {0};
    char config[PATH_SIZE];
    signal(SIGPIPE, SIG_IGN);
    assert_non_null(mkdtemp(top));
    write_config("config.json", "axpy", "{ \"N\": 500 }", config);
    const struct local_pool_settings settings = {.program = getenv("EVOTILE"),
                                                 .config_path = config,
                                                 .template_folder = "tests/templates/axpy/loop",
                                                 .devices = "emulated:sm_90",
                                                 .device_workers = 1};
    pool = local_pool_new(&settings, &error);
    must(pool != NULL ? 0 : -1, &error);
    struct config *own = config_from_file(config, settings.template_folder, &error);
    must(own != NULL ? 0 : -1, &error);
    struct template *template = config_load_template(own, 0, pool_device(pool), &error);
    must(template != NULL ? 0 : -1, &error);
    own_default = genome_default(template->space);
    template_free(template);
    config_free(own);
    return 0;
}

static int stop_pool(void **state) {
    (void)state;
    struct error error = {0};
    pool_free(pool);
    return path_remove_tree(top, &error);
}

/* Evaluates the default genome of a template; NULL: of the pool's own. */
static void evaluate(const char *config, const char *folder, struct trial_result *result) {
    struct error error = {0};
    int got = 0;
    struct trial_request request = {.number = ++trials, .full = true, .seed = (uint64_t)trials};
    if (folder != NULL) {
        struct config *read = config_from_file(config, folder, &error);
        must(read != NULL ? 0 : -1, &error);
        struct template *template = config_load_template(read, 0, pool_device(pool), &error);
        must(template != NULL ? 0 : -1, &error);
        request.genome = genome_default(template->space);
        template_free(template);
        config_free(read);
        request.config = strdup(config);
        request.template_folder = strdup(folder);
    } else {
        request.genome = own_default;
    }
    pool_submit(pool, &request);
    while (got == 0)
        got = pool_wait(pool, 1, result, &error);
    must(got, &error);
}

static void expect_verdict(const char *config, const char *folder, enum verdict verdict) {
    struct trial_result result;
    evaluate(config, folder, &result);
    if (result.outcome.verdict != verdict)
        fail_msg("%s is %s: %s", folder, verdict_name(result.outcome.verdict),
                 result.outcome.reason);
    trial_result_release(&result);
}

/* More templates than a worker keeps, each judged by its own reference, also when it comes again.
 */
static void each_template_has_its_own_judge(void **state) {
    (void)state;
    static const struct {
        const char *folder, *shape;
    } others[] = {{"constant_filter", "{ \"H\": 20, \"W\": 30 }"},
                  {"vector_copy", "{ \"N\": 300 }"},
                  {"histogram", "{ \"N\": 900 }"},
                  {"rms_rows", "{ \"ROWS\": 3, \"COLS\": 70 }"},
                  {"sum_two_pass", "{ \"N\": 900 }"},
                  {"axpy/vector", "{ \"N\": 300 }"}};
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            char config[PATH_SIZE], folder[PATH_SIZE], name[64];
            struct error error = {0};
            snprintf(name, sizeof name, "config%zu.json", i);
            write_config(name, others[i].folder, others[i].shape, config);
            must(path_join(folder, "tests/templates", others[i].folder, &error), &error);
            expect_verdict(config, folder, VERDICT_OK);
            expect_verdict(NULL, NULL, VERDICT_OK);
        }
}

/* The same solution is wrong by the reference of another problem, which differs in one number. */
static void a_changed_problem_is_another_one(void **state) {
    (void)state;
    static const char *const files[] = {"reference.cu", "plain.cu", "reference.c"};
    struct error error = {0};
    char config[PATH_SIZE], problem[PATH_SIZE], folder[PATH_SIZE];
    must(path_join(problem, top, "axpy", &error), &error);
    must(path_copy_tree("tests/templates/axpy", problem, &error), &error);
    must(path_join(folder, problem, "loop", &error), &error);
    write_config("same.json", "axpy", "{ \"N\": 500 }", config);
    expect_verdict(config, folder, VERDICT_OK);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_SIZE], changed[8192];
        must(path_join(path, problem, files[i], &error), &error);
        if (!path_exists(path))
            continue;
        char *text = path_read_file(path, sizeof changed / 2, NULL, &error);
        must(text != NULL ? 0 : -1, &error);
        const char *at = strstr(text, "+ y[i]");
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s+ 3 * y[i]%s", (int)(at - text), text,
                 at + strlen("+ y[i]"));
        must(path_write_file(path, changed, strlen(changed), &error), &error);
        free(text);
    }
    write_config("other.json", "axpy", "{ \"N\": 500 }", config);
    expect_verdict(config, folder, VERDICT_WRONG);
    expect_verdict(NULL, NULL, VERDICT_OK);
}

/* What is wrong with such a template is a verdict, and the pool goes on. */
static void a_broken_template_is_a_verdict(void **state) {
    (void)state;
    struct error error = {0};
    char config[PATH_SIZE], folder[PATH_SIZE];
    write_config("broken.json", "axpy", "{ \"N\": 500 }", config);
    must(path_join(folder, top, "axpy/vector", &error), &error);
    expect_verdict(config, folder, VERDICT_WRONG); /* by the changed reference */
    struct trial_request request = {.number = ++trials,
                                    .full = true,
                                    .config = strdup(config),
                                    .template_folder = strdup("tests/templates/no_such_template")};
    struct trial_result result;
    pool_submit(pool, &request);
    int got = 0;
    while (got == 0)
        got = pool_wait(pool, 1, &result, &error);
    must(got, &error);
    assert_int_equal(result.outcome.verdict, VERDICT_INVALID);
    assert_true(result.outcome.reason[0] != '\0');
    trial_result_release(&result);
    expect_verdict(NULL, NULL, VERDICT_OK);
    assert_int_equal(pool_restarts(pool), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_template_has_its_own_judge),
        cmocka_unit_test(a_changed_problem_is_another_one),
        cmocka_unit_test(a_broken_template_is_a_verdict),
    };
    return cmocka_run_group_tests_name("other templates", tests, start_pool, stop_pool);
}
