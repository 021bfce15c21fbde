/* keep_profiles: which champions' reports a session keeps, and when it keeps none. A stand-in for
   ncu runs the worker on the emulated device, which is said to be a GPU. */
#include "session/scripted_session.h"

#include "pool/fake_ncu.h"
#include "pool/worker_main.h"
#include "run/kept_profiles.h"

/* Writes the report, notes the call in "$0.calls", and runs the worker unless $FAKE_NCU_FAILS. */
#define TOOL                                                                                       \
    "#!/bin/sh\n"                                                                                  \
    "echo >> \"$0.calls\"\n"                                                                       \
    "while [ \"$1\" != --export ]; do shift; done\n"                                               \
    "[ \"$FAKE_NCU_FAILS\" ] && exit 1\n"                                                          \
    "echo report > \"$2\"\n"                                                                       \
    "while [ \"$1\" != --log-file ]; do shift; done\n"                                             \
    "shift 3\n"                                                                                    \
    "exec \"$@\"\n"

static bool keeps, predicts;
static int signal_to_send; /* after the first trial; 0: none */

/* How often ncu was called. */
static int count_calls(void) {
    struct error error = {0};
    char path[PATH_SIZE];
    size_t size = 0;
    if (path_exists(fake_ncu_path("bin/ncu.calls", path)))
        free(path_read_file(path, 1 << 16, &size, &error));
    return (int)size;
}

/* Makes the session's files, as session_create does. */
static void prepare(void) {
    struct error error = {0};
    char path[PATH_SIZE];
    session.config->keep_profiles = keeps;
    session.config->sanitize_every = -1;
    scripted.pool.device.predicts = predicts;
    assert_int_equal(path_join(path, session.run_dir, "config.json", &error), 0);
    static const char config[] = TINY_CONFIG " }";
    assert_int_equal(path_write_file(path, config, strlen(config), &error), 0);
    if (run_dir_copy_template(TINY_TEMPLATE, "scaled_add", session.run_dir, &error) < 0)
        fail_msg("%s", error.text);
}

static double score_us(int64_t trial) {
    if (signal_to_send != 0 && trial == 0)
        raise(signal_to_send);
    return 100 - (double)trial;
}

/* Searches five trials, of which each is faster than the one before. */
static void search(void) {
    scripted_prepare = prepare;
    scripted_devices = 1;
    scripted_search("\"budget\": {\"trials\": 5}", 1, score_us);
}

static int reset(void **state) {
    (void)state;
    char path[PATH_SIZE];
    unlink(fake_ncu_path("bin/ncu.calls", path));
    unsetenv("FAKE_NCU_FAILS");
    keeps = true;
    predicts = false;
    signal_to_send = scripted_status = 0;
    return 0;
}

static void last_champion_is_kept_once(void **state) {
    (void)state;
    int64_t trials[KEPT_PROFILES_MAX];
    search();
    assert_int_equal(kept_profiles_list(session.run_dir, trials), 1);
    assert_int_equal(trials[0], 4);
    assert_int_equal(count_calls(), 1);
    session_keep_profile(&session, 0);
    assert_int_equal(count_calls(), 1);
}

/* Without the option, on a device that predicts, or where ncu fails or is missing, the search ends
   as it would. */
static void search_ends_without_reports(void **state) {
    (void)state;
    int64_t trials[KEPT_PROFILES_MAX];
    keeps = false;
    search();
    assert_int_equal(count_calls(), 0);
    scripted_close(NULL);
    keeps = predicts = true;
    search();
    assert_int_equal(count_calls(), 0);
    scripted_close(NULL);
    predicts = false;
    setenv("FAKE_NCU_FAILS", "1", 1);
    search();
    assert_int_equal(count_calls(), 1);
    assert_int_equal(kept_profiles_list(session.run_dir, trials), 0);
    scripted_close(NULL);
    char *path = xstrdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    search();
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(kept_profiles_list(session.run_dir, trials), 0);
}

/* Nothing is timed beside ncu, and ncu does not run beside a timing. */
static void nothing_runs_beside_a_trial(void **state) {
    (void)state;
    keeps = false;
    search();
    session.config->keep_profiles = true;
    scripted.pool.in_flight = 1;
    session_keep_profile(&session, 0);
    assert_int_equal(count_calls(), 0);
    scripted.pool.in_flight = 0;
    session_keep_profile(&session, 0);
    assert_int_equal(count_calls(), 1);
}

static void interrupted_run_keeps_its_champion(void **state) {
    (void)state;
    signal_to_send = SIGINT;
    scripted_status = 1;
    search();
    assert_true(kept_profile_exists(session.run_dir, 0));
}

/* Who sends SIGTERM does not wait for minutes. */
static void terminated_run_keeps_none(void **state) {
    (void)state;
    signal_to_send = SIGTERM;
    scripted_status = 1;
    search();
    assert_int_equal(count_calls(), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(last_champion_is_kept_once, reset, scripted_close),
        cmocka_unit_test_setup_teardown(search_ends_without_reports, reset, scripted_close),
        cmocka_unit_test_setup_teardown(nothing_runs_beside_a_trial, reset, scripted_close),
        cmocka_unit_test_setup_teardown(interrupted_run_keeps_its_champion, reset, scripted_close),
        cmocka_unit_test_setup_teardown(terminated_run_keeps_none, reset, scripted_close),
    };
    if (argc > 1 && strcmp(argv[1], POOL_WORKER) == 0) /* a worker is the calling program */
        return execv(getenv("EVOTILE"), argv);
    fake_ncu_open(TOOL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return fake_ncu_close() < 0 ? 1 : failed;
}
