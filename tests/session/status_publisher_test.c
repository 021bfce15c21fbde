/* A run that writes its status, pauses and continues, with a fake NVML (tests/device/fake_nvml.c).
   This program is also its device worker, with a made-up measuring device and made-up results. */
#include "evaluate/tiny.h"

#include "base/clock.h"
#include "device/nvml.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"
#include "session/session.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_S = 60 };

/* ---- the worker ---- */

static void write_line(char *line) {
    printf("%s\n", line);
    fflush(stdout);
    free(line);
}

/* The answer of the device worker, sent immediately. */
static void answer(const struct trial_request *request) {
    struct trial_result result =
        (struct trial_result){.number = request->number,
                              .goal = request->goal,
                              .genome = request->genome,
                              .opponent = request->opponent.present ? request->opponent.trial : -1,
                              .worker = "cuda:0"};
    outcome_set_cases(&result.outcome, 1);
    result.outcome.score_us = 1e3 / (double)(request->number + 1);
    result.outcome.cases[0].warm.p50_us = result.outcome.score_us;
    write_line(protocol_print_result(&result));
    trial_result_release(&result);
}

static int serve_requests(void) {
    struct error error = {0};
    struct device_info info;
    char *line = NULL;
    size_t room = 0;
    signal(SIGINT, SIG_IGN);
    if (device_describe(TINY_DEVICE, &info, &error) < 0)
        return 1;
    snprintf(info.spec, sizeof info.spec, "cuda:0");
    snprintf(info.uuid, sizeof info.uuid, "0123456789abcdef0123456789abcdef");
    info.predicts = false;
    write_line(protocol_print_device(&info));
    while (getline(&line, &room, stdin) > 0) {
        struct protocol_message message;
        line[strcspn(line, "\n")] = '\0';
        if (protocol_read(line, &message, &error) < 0)
            return 1;
        if (message.kind == PROTOCOL_REQUEST) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            answer(&message.request);
        }
        protocol_message_release(&message);
    }
    free(line);
    return 0;
}

/* ---- the run ---- */

struct publish_fixture {
    struct tiny tiny;
    char run_dir[PATH_SIZE], gpu[PATH_SIZE], library[PATH_SIZE];
    pid_t run;
};

static void set_gpu(const struct publish_fixture *fixture, int temperature_c, int others) {
    struct error error = {0};
    char text[64];
    snprintf(text, sizeof text, "%d %d 4\n", temperature_c, others);
    assert_int_equal(path_write_file(fixture->gpu, text, strlen(text), &error), 0);
}

/* Starts a new run, or resumes the old one, until it has so many trials. */
static int run_session(const struct publish_fixture *fixture, int64_t trials) {
    struct error error = {0};
    struct session session;
    struct session_settings settings = {0};
    bool again = trials > 0;
    cJSON *changes = cJSON_CreateObject();
    if (again) {
        config_change_integer(changes, "budget.trials", trials);
    } else { /* kept for the resumed run */
        cJSON_AddTrueToObject(changes, "search.nice");
        config_change_integer(changes, "search.max_temperature_c", 80);
    }
    struct config *config =
        again ? NULL : config_load(fixture->tiny.config, "tests/templates", &error);
    if (config != NULL)
        config = config_change(config, changes, &error);
    int status = again ? session_resume(&session, fixture->run_dir, changes, &settings, &error)
                       : session_create(&session, fixture->run_dir, config, &settings, &error);
    cJSON_Delete(changes);
    if (status == 0)
        status = session_search(&session, &error);
    session_close(&session);
    if (status < 0)
        fprintf(stderr, "%s\n", error.text);
    return status < 0 ? 9 : status;
}

static void start(struct publish_fixture *fixture, int64_t trials) {
    fixture->run = fork();
    if (fixture->run == 0) {
        setenv("PATH", "/nowhere", 1); /* no compute-sanitizer */
        _exit(run_session(fixture, trials));
    }
    assert_true(fixture->run > 0);
}

static int end_of(const struct publish_fixture *fixture) {
    int status;
    assert_int_equal(waitpid(fixture->run, &status, 0), fixture->run);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Waits for a status of this phase that is newer than `after`. */
static struct run_status wait_for_phase(const struct publish_fixture *fixture, enum phase phase,
                                        double after, int64_t observed) {
    struct run_status status = run_status_empty();
    double end = clock_seconds() + PATIENCE_S;
    while (clock_seconds() < end) {
        struct error error = {0};
        if (status_file_read(&status, fixture->run_dir, &error) == 1 && status.phase == phase &&
            status.updated > after && status.observed >= observed)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    fail_msg("the run is not %s with %lld trials but %s with %lld: %s", phase_text(phase),
             (long long)observed, phase_text(status.phase), (long long)status.observed,
             status.reason);
    return status;
}

static bool device_is_busy(const struct run_status *status) {
    for (int w = 0; w < status->worker_count; w++)
        if (strcmp(status->workers[w].role, "device") == 0 && status->workers[w].state != POOL_IDLE)
            return true;
    return false;
}

/* While paused, only the trial that had started gets an outcome: with the device idle, one more
   status may count it, and no other one. */
static struct run_status wait_for_pause(const struct publish_fixture *fixture, double after,
                                        const char *reason) {
    struct run_status first = wait_for_phase(fixture, PHASE_PAUSED, after, 0);
    while (device_is_busy(&first))
        first = wait_for_phase(fixture, PHASE_PAUSED, first.updated, 0);
    first = wait_for_phase(fixture, PHASE_PAUSED, first.updated, 0);
    struct run_status second = wait_for_phase(fixture, PHASE_PAUSED, first.updated, 0);
    assert_int_equal(second.observed, first.observed);
    assert_string_equal(second.reason, reason);
    assert_true(second.asked > second.observed);
    return second;
}

static int setup(void **state) {
    struct publish_fixture *fixture = calloc(1, sizeof *fixture);
    struct error error = {0};
    char command[3 * PATH_SIZE];
    tiny_make(&fixture->tiny, TINY_CONFIG ", \"objective\": \"per_case\", "
                                          "\"genes\": {\"FAULT\": [\"none\"]} }");
    if (path_join(fixture->run_dir, fixture->tiny.folder, "run", &error) < 0 ||
        path_join(fixture->gpu, fixture->tiny.folder, "gpu", &error) < 0 ||
        path_join(fixture->library, fixture->tiny.folder, "libnvidia-ml.so.1", &error) < 0)
        return -1;
    snprintf(command, sizeof command,
             "gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o '%s' tests/device/fake_nvml.c",
             fixture->library);
    if (system(command) != 0)
        return -1;
    setenv("FAKE_NVML", fixture->gpu, 1);
    setenv("EVOTILE_INTERVALS", "status=0.1", 1);
    *state = fixture;
    /* From now on, opening libnvidia-ml.so.1 by name gives this library. */
    return dlopen(fixture->library, RTLD_NOW | RTLD_LOCAL) != NULL ? 0 : -1;
}

static int teardown(void **state) {
    struct publish_fixture *fixture = *state;
    tiny_remove(&fixture->tiny);
    free(fixture);
    return 0;
}

static void nvml_is_read(void **state) {
    struct publish_fixture *fixture = *state;
    struct error error = {0};
    struct nvml_gpu gpu;
    struct nvml_state is;
    struct nvml_process processes[8];
    set_gpu(fixture, 61, 2);
    struct nvml *nvml = nvml_open(&error);
    assert_non_null(nvml);
    assert_string_equal(nvml_driver(nvml), "599.99.01");
    assert_true(nvml_find(nvml, "0123456789abcdef0123456789abcdef", &gpu));
    nvml_read(nvml, &gpu, &is);
    assert_int_equal(is.sm_mhz, 1755);
    assert_int_equal(is.temperature_c, 61);
    assert_true(is.power_w == 412 && is.power_limit_w == 700);
    assert_int_equal(is.slowdowns, 4);
    assert_int_equal(is.memory_bytes, -1); /* unknown */
    assert_int_equal(nvml_processes(nvml, &gpu, processes, 8), 3);
    nvml_close(nvml);
}

static void pauses_and_continues(void **state) {
    struct publish_fixture *fixture = *state;
    struct run_status is;
    set_gpu(fixture, 50, 0);
    start(fixture, 0);
    is = wait_for_phase(fixture, PHASE_SEARCHING, 0, 5);
    assert_int_equal(is.gpu.temperature_c, 50);
    assert_int_equal(is.gpu.sm_mhz, 1755);
    assert_int_equal(is.others, 0);
    assert_true(is.nice && is.max_temperature_c == 80);
    assert_true(is.worker_count >= 1 && strcmp(is.workers[0].role, "device") == 0);

    set_gpu(fixture, 50, 1);
    is = wait_for_pause(fixture, is.updated, "1 other process on the GPU");
    set_gpu(fixture, 50, 0);
    is = wait_for_phase(fixture, PHASE_SEARCHING, is.updated, is.observed + 5);

    set_gpu(fixture, 81, 0);
    is = wait_for_pause(fixture, is.updated, "the GPU is at 81 degrees Celsius; continues at 75");
    set_gpu(fixture, 76, 0);
    is = wait_for_pause(fixture, is.updated + 0.2,
                        "the GPU is at 76 degrees Celsius; continues at 75");
    set_gpu(fixture, 75, 0);
    is = wait_for_phase(fixture, PHASE_SEARCHING, is.updated, is.observed + 5);

    /* A paused run can be interrupted; its trials in flight are evaluated on resume. */
    set_gpu(fixture, 75, 1);
    is = wait_for_pause(fixture, is.updated, "1 other process on the GPU");
    kill(fixture->run, SIGINT);
    assert_int_equal(end_of(fixture), 1);
    is = wait_for_phase(fixture, PHASE_INTERRUPTED, is.updated, is.observed);
    assert_true(is.asked > is.observed);
    int64_t trials = is.asked + 20;
    start(fixture, trials);
    is = wait_for_pause(fixture, is.updated, "1 other process on the GPU");
    set_gpu(fixture, 30, 0);
    assert_int_equal(end_of(fixture), 0);
    is = wait_for_phase(fixture, PHASE_FINISHED, is.updated, trials);
    assert_int_equal(is.asked, trials);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvml_is_read),
        cmocka_unit_test(pauses_and_continues),
    };
    if (argc > 1 && strcmp(argv[1], POOL_WORKER) == 0)
        return serve_requests();
    return cmocka_run_group_tests_name("publish", tests, setup, teardown);
}
