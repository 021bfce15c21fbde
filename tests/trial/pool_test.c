#include "trial/tiny.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/random.h"
#include "trial/crew.h"

enum { PATIENCE_S = 60, TRIALS_MAX = 1000 };

struct bench_of_pool {
    struct tiny tiny;
    struct pool *pool;
    struct config *config;
    struct template *template;
    bool seen[TRIALS_MAX];
};

static void prepare(struct bench_of_pool *test) {
    struct error error = {0};
    struct device_info device;
    memset(test, 0, sizeof *test);
    tiny_make(&test->tiny, TINY_CONFIG "}");
    test->config = config_from_text("config.json", TINY_CONFIG "}", TINY_TEMPLATE, &error);
    assert_non_null(test->config);
    assert_int_equal(device_describe(TINY_DEVICE, &device, &error), 0);
    test->template = config_load_template(test->config, 0, &device, &error);
    if (test->template == NULL)
        fail_msg("%s", error.text);
}

static struct pool *open_pool(const struct bench_of_pool *test, int compile_workers,
                              int device_workers, double deadline_s, struct error *error) {
    const struct crew_settings settings = {.program = test->tiny.program,
                                           .config_path = test->tiny.config,
                                           .template_folder = TINY_TEMPLATE,
                                           .devices = TINY_DEVICE,
                                           .compile_workers = compile_workers,
                                           .device_workers = device_workers,
                                           .deadline_s = deadline_s};
    return crew_new(&settings, error);
}

static void start(struct bench_of_pool *test, int compile_workers, int device_workers,
                  double deadline_s) {
    struct error error = {0};
    prepare(test);
    test->pool = open_pool(test, compile_workers, device_workers, deadline_s, &error);
    if (test->pool == NULL)
        fail_msg("%s", error.text);
}

static void end(struct bench_of_pool *test) {
    pool_free(test->pool);
    template_free(test->template);
    config_free(test->config);
    tiny_remove(&test->tiny);
}

static void submit_genome(struct bench_of_pool *test, int64_t number, const struct genome *genome,
                          double champion_us) {
    const struct trial_request request = {
        .number = number, .genome = *genome, .champion_us = champion_us, .seed = (uint64_t)number};
    pool_submit(test->pool, &request);
}

static void submit(struct bench_of_pool *test, int64_t number, const char *text,
                   double champion_us) {
    struct error error = {0};
    struct genome genome;
    if (genome_parse(&genome, test->template->space, text, &error) < 0)
        fail_msg("%s", error.text);
    submit_genome(test, number, &genome, champion_us);
}

/* The next result; each trial number may come once. The caller releases it. */
static void take(struct bench_of_pool *test, struct trial_result *result) {
    struct error error = {0};
    int got = pool_wait(test->pool, PATIENCE_S, result, &error);
    if (got < 0)
        fail_msg("%s", error.text);
    if (got == 0)
        fail_msg("no result in %d s", PATIENCE_S);
    assert_in_range(result->number, 0, TRIALS_MAX - 1);
    if (test->seen[result->number])
        fail_msg("trial %lld came twice", (long long)result->number);
    test->seen[result->number] = true;
}

static void expect(struct bench_of_pool *test, int64_t number, enum verdict verdict,
                   const char *reason) {
    static struct trial_result result;
    take(test, &result);
    assert_int_equal(result.number, number);
    if (result.outcome.verdict != verdict || strstr(result.outcome.reason, reason) == NULL)
        fail_msg("trial %lld is %s (%s), not %s (%s)", (long long)number,
                 verdict_name(result.outcome.verdict), result.outcome.reason, verdict_name(verdict),
                 reason);
    trial_result_release(&result);
}

/* ---- trials ---- */

static void every_trial_has_its_result(void **state) {
    (void)state;
    static const int workers[][2] = {{1, 1}, {0, 2}, {2, 1}};
    enum { TRIALS = 40 };
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        struct bench_of_pool test;
        struct genome genomes[TRIALS];
        struct random random;
        static struct trial_result result;
        start(&test, workers[w][0], workers[w][1], 0);
        assert_true(pool_capacity(test.pool) >= workers[w][0] + workers[w][1]);
        assert_true(pool_device(test.pool)->predicts);
        random_seed(&random, 1, 1);
        for (int i = 0; i < TRIALS; i++) {
            do
                assert_true(space_sample(test.template->space, &random, &genomes[i]));
            while (genomes[i].value[space_find_gene(test.template->space, "FAULT")] != 0);
            submit_genome(&test, i, &genomes[i], 0);
        }
        for (int i = 0; i < TRIALS; i++) {
            assert_int_equal(pool_in_flight(test.pool), TRIALS - i);
            take(&test, &result);
            assert_true(genome_equal(&result.genome, &genomes[result.number]));
            if (result.outcome.verdict != VERDICT_OK)
                fail_msg("trial %lld is %s: %s", (long long)result.number,
                         verdict_name(result.outcome.verdict), result.outcome.reason);
            assert_true(result.has_key && result.outcome.predicted);
            assert_true(result.outcome.score_us > 0);
            trial_result_release(&result);
        }
        struct error error = {0};
        assert_int_equal(pool_wait(test.pool, 0, &result, &error), 0);
        assert_int_equal(pool_restarts(test.pool), 0);
        end(&test);
    }
}

static bool any_is_busy(const struct bench_of_pool *test) {
    struct pool_worker workers[8];
    int count = pool_look(test->pool, workers, 8);
    bool busy = false;
    for (int w = 0; w < count && w < 8; w++)
        busy = busy || workers[w].state == POOL_BUSY || workers[w].state == POOL_STARTING;
    return busy;
}

static bool any_has(const struct bench_of_pool *test, int64_t trial) {
    struct pool_worker workers[8];
    int count = pool_look(test->pool, workers, 8);
    for (int w = 0; w < count && w < 8; w++)
        if (workers[w].state == POOL_BUSY && workers[w].trial == trial)
            return true;
    return false;
}

/* A caller that only polls gets its trials done, and takes the results when it waits. */
static void tended_workers_do_what_waits(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    start(&test, 1, 1, 0);
    submit(&test, 0, "THREADS=32", 0);
    submit(&test, 1, "THREADS=64", 0);
    double end_s = clock_seconds() + PATIENCE_S;
    for (int idle = 0; idle < 20 && clock_seconds() < end_s; usleep(5000)) {
        assert_int_equal(pool_tend(test.pool, &error), 0);
        idle = any_is_busy(&test) ? 0 : idle + 1;
    }
    assert_int_equal(pool_in_flight(test.pool), 2);
    for (int n = 0; n < 2; n++) {
        static struct trial_result result;
        assert_int_equal(pool_wait(test.pool, 0, &result, &error), 1);
        assert_int_equal(result.number, n);
        trial_result_release(&result);
    }
    end(&test);
}

/* A candidate that fails by itself costs no worker. */
static void verdicts_come_through(void **state) {
    (void)state;
    struct bench_of_pool test;
    start(&test, 1, 1, 0);
    submit(&test, 0, "FAULT=wrong", 0);
    expect(&test, 0, VERDICT_WRONG, "relative L2 error");
    submit(&test, 1, "FAULT=syntax", 0);
    expect(&test, 1, VERDICT_COMPILE_FAILED, "kernel.cu");
    submit(&test, 2, "FAULT=trap", 0);
    expect(&test, 2, VERDICT_CRASHED, "trap");
    submit(&test, 3, "THREADS=128,ITEMS=4", 0);
    expect(&test, 3, VERDICT_INVALID, "at most 256 elements");
    submit(&test, 4, "SPARE=48,THREADS=96", 0);
    expect(&test, 4, VERDICT_OK, "");
    submit(&test, 5, "FAULT=hang", 0);
    expect(&test, 5, VERDICT_TIMEOUT, "deadline");
    assert_int_equal(pool_restarts(test.pool), 0);
    end(&test);
}

/* With so slow a champion, the deadline of a hang is longer than any test. */
static const double patient_us = 1e7;

/* A champion's score sets the deadline of trials compared against it. */
static void who_waits_faces_the_new_champion(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    static const int compile_workers[] = {0, 1};
    for (size_t w = 0; w < sizeof compile_workers / sizeof *compile_workers; w++) {
        start(&test, compile_workers[w], 1, 0);
        struct trial_champion champion = {.trial = 7, .score_us = patient_us};
        assert_int_equal(genome_parse(&champion.genome, test.template->space, "", &error), 0);
        submit(&test, 0, "FAULT=hang", patient_us);
        submit(&test, 1, "FAULT=hang", patient_us);
        pool_crown(test.pool, &champion); /* as slow as the one before */
        champion.score_us = 1;
        champion.goal = 1; /* no trial has this goal */
        pool_crown(test.pool, &champion);
        champion.goal = 0;
        pool_crown(test.pool, &champion);
        champion.score_us = patient_us; /* an older one that arrives late */
        pool_crown(test.pool, &champion);
        expect(&test, 0, VERDICT_TIMEOUT, "deadline");
        expect(&test, 1, VERDICT_TIMEOUT, "deadline");
        end(&test);
    }
}

/* While the caller takes no result, a single worker gets only one more trial, for any speed: the
   trial after that is still queued. */
static void whom_one_worker_makes_face_is_no_matter_of_time(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    struct trial_champion champion = {.trial = 7, .score_us = 1};
    start(&test, 0, 1, 20);
    assert_int_equal(genome_parse(&champion.genome, test.template->space, "", &error), 0);
    submit(&test, 0, "THREADS=32", 0);
    submit(&test, 1, "THREADS=64", 0);
    submit(&test, 2, "FAULT=hang", patient_us);
    double end_s = clock_seconds() + PATIENCE_S;
    for (int idle = 0; idle < 20 && clock_seconds() < end_s; usleep(50000)) {
        assert_int_equal(pool_tend(test.pool, &error), 0);
        idle = any_has(&test, 1) ? idle + 1 : 0;
    }
    pool_crown(test.pool, &champion);
    expect(&test, 0, VERDICT_OK, "");
    expect(&test, 1, VERDICT_OK, "");
    expect(&test, 2, VERDICT_TIMEOUT, "deadline");
    end(&test);
}

/* ---- lost workers ---- */

static void a_killed_device_worker_costs_its_trial(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    static struct trial_result result;
    pid_t pids[CHILDREN_MAX];
    start(&test, 0, 1, 0);
    submit(&test, 0, "FAULT=hang", patient_us);
    for (int i = 1; i <= 5; i++)
        submit(&test, i, "ITEMS=2", 0);
    assert_int_equal(pool_wait(test.pool, 0, &result, &error), 0); /* dispatches it to the worker */
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    expect(&test, 0, VERDICT_CRASHED, "killed by signal 9");
    for (int i = 1; i <= 5; i++)
        expect(&test, i, VERDICT_OK, "");
    assert_int_equal(pool_restarts(test.pool), 1);
    end(&test);
}

static void killed_compile_workers_cost_at_most_a_trial_each(void **state) {
    (void)state;
    enum { TRIALS = 60, KILLS = 4 };
    struct bench_of_pool test;
    static struct trial_result result;
    struct random random;
    struct genome genome;
    int kills = 0, crashed = 0;
    start(&test, 1, 1, 0);
    random_seed(&random, 2, 1);
    for (int i = 0; i < TRIALS; i++) {
        do
            assert_true(space_sample(test.template->space, &random, &genome));
        while (genome.value[space_find_gene(test.template->space, "FAULT")] != 0);
        submit_genome(&test, i, &genome, 0);
    }
    for (int i = 0; i < TRIALS; i++) {
        pid_t pids[CHILDREN_MAX];
        take(&test, &result);
        crashed += result.outcome.verdict == VERDICT_CRASHED;
        assert_true(result.outcome.verdict == VERDICT_OK ||
                    (result.outcome.verdict == VERDICT_CRASHED &&
                     strstr(result.outcome.reason, "compile worker") != NULL));
        trial_result_release(&result);
        if (i % 10 == 5 && kills < KILLS && workers_of(getpid(), "compile", pids) == 1)
            kills += kill(pids[0], SIGKILL) == 0;
    }
    assert_true(kills > 0 && crashed <= kills);
    assert_true(pool_restarts(test.pool) <= kills);
    assert_int_equal(pool_in_flight(test.pool), 0);
    end(&test);
}

static void a_hung_worker_is_killed_at_its_deadline(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    static struct trial_result result;
    pid_t before[CHILDREN_MAX], after[CHILDREN_MAX];
    start(&test, 0, 1, 2);
    submit(&test, 0, "FAULT=hang", patient_us);
    expect(&test, 0, VERDICT_TIMEOUT, "the device worker was killed after 2 s");
    assert_int_equal(pool_restarts(test.pool), 1);
    submit(&test, 1, "ITEMS=2", 0);
    expect(&test, 1, VERDICT_OK, "");
    /* An idle worker has no deadline. */
    assert_int_equal(workers_of(getpid(), "device", before), 1);
    assert_int_equal(pool_wait(test.pool, 2.5, &result, &error), 0);
    assert_int_equal(workers_of(getpid(), "device", after), 1);
    assert_int_equal(before[0], after[0]);
    assert_int_equal(pool_restarts(test.pool), 1);
    end(&test);
}

/* Starts a process that keeps `process` from exiting when killed, as a driver can, until it ends
   itself. Returns 0 if tracing is not permitted. */
static pid_t haunt(pid_t process) {
    int pipes[2];
    char may;
    assert_int_equal(pipe(pipes), 0);
    pid_t tracer = fork();
    if (tracer == 0) {
        may = ptrace(PTRACE_SEIZE, process, 0, PTRACE_O_TRACEEXIT) == 0;
        if (write(pipes[1], &may, 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &may, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    if (may)
        return tracer;
    kill(tracer, SIGKILL);
    waitpid(tracer, NULL, 0);
    return 0;
}

static void let_go(pid_t tracer) {
    assert_int_equal(kill(tracer, SIGKILL), 0);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
}

/* The pid of the only device worker, which cannot exit when killed, with a hanging trial in it. */
static pid_t hang_and_haunt(struct bench_of_pool *test, int64_t number, pid_t *tracer) {
    struct error error = {0};
    static struct trial_result result;
    pid_t pids[CHILDREN_MAX];
    submit(test, number, "FAULT=hang", patient_us);
    assert_int_equal(pool_wait(test->pool, 0, &result, &error), 0); /* dispatches it to the
                                                                       worker */
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    *tracer = haunt(pids[0]);
    return pids[0];
}

static void nothing_is_timed_beside_a_worker_that_has_not_gone(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    static struct trial_result result;
    pid_t pids[CHILDREN_MAX], tracer, ghost;
    start(&test, 0, 1, 2);
    hang_and_haunt(&test, 0, &tracer);
    if (tracer == 0) { /* tracing is not permitted */
        end(&test);
        skip();
    }
    submit(&test, 1, "ITEMS=2", 0);
    expect(&test, 0, VERDICT_TIMEOUT, "the device worker was killed after 2 s");
    assert_int_equal(pool_restarts(test.pool), 1);
    assert_int_equal(pool_wait(test.pool, 3, &result, &error), 0);
    assert_int_equal(workers_of(getpid(), "device", pids), 2); /* its replacement has started */
    let_go(tracer);
    expect(&test, 1, VERDICT_OK, "");
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    assert_int_equal(pool_restarts(test.pool), 1);
    ghost = hang_and_haunt(&test, 2, &tracer);
    assert_int_not_equal(tracer, 0);
    end(&test); /* does not wait for the zombie worker */
    assert_int_equal(waitpid(ghost, NULL, WNOHANG), 0);
    let_go(tracer);
    assert_int_equal(waitpid(ghost, NULL, 0), ghost);
}

static void workers_are_recycled(void **state) {
    (void)state;
    enum { TRIALS = 450 };
    struct bench_of_pool test;
    pid_t before[CHILDREN_MAX], after[CHILDREN_MAX];
    start(&test, 0, 1, 0);
    assert_int_equal(workers_of(getpid(), "device", before), 1);
    for (int i = 0; i < TRIALS; i++)
        submit(&test, i, "ITEMS=2", 0);
    for (int i = 0; i < TRIALS; i++)
        expect(&test, i, VERDICT_OK, "");
    assert_int_equal(workers_of(getpid(), "device", after), 1);
    assert_int_not_equal(before[0], after[0]);
    assert_int_equal(pool_restarts(test.pool), 0); /* no trial was lost */
    end(&test);
}

/* ---- several devices ---- */

static struct pool *open_several(const struct bench_of_pool *test, const char *program,
                                 const char *devices, struct error *error) {
    const struct crew_settings settings = {.program = program,
                                           .config_path = test->tiny.config,
                                           .template_folder = TINY_TEMPLATE,
                                           .devices = devices,
                                           .compile_workers = 1};
    return crew_new(&settings, error);
}

/* Runs trials; their results come in any order. */
static void do_trials(struct bench_of_pool *test, int count) {
    static struct trial_result result;
    for (int i = 0; i < count; i++)
        submit(test, i, "ITEMS=2", 0);
    for (int i = 0; i < count; i++) {
        take(test, &result);
        assert_int_equal(result.outcome.verdict, VERDICT_OK);
        trial_result_release(&result);
    }
    memset(test->seen, 0, sizeof test->seen);
}

static void every_device_has_a_worker(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    pid_t pids[CHILDREN_MAX];
    static struct trial_result result;
    prepare(&test);
    test.pool = open_several(&test, test.tiny.program, TINY_DEVICE "," TINY_DEVICE, &error);
    if (test.pool == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(pool_device_count(test.pool), 2);
    assert_int_equal(workers_of(getpid(), "device", pids), 2);
    assert_int_equal(workers_of(getpid(), "compile", pids), 1);
    do_trials(&test, 20);
    /* One paused device does not stop the other; two paused ones stop all trials. */
    pool_pause(test.pool, 0, true);
    do_trials(&test, 20);
    pool_pause(test.pool, 1, true);
    submit(&test, 0, "ITEMS=2", 0);
    assert_int_equal(pool_wait(test.pool, 0.5, &result, &error), 0);
    pool_pause(test.pool, 0, false);
    expect(&test, 0, VERDICT_OK, "");
    end(&test);
}

static void two_models_do_not_mix(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    prepare(&test);
    test.pool = open_several(&test, test.tiny.program, "emulated:sm_89,emulated:sm_90", &error);
    assert_null(test.pool);
    assert_non_null(strstr(error.text, "figures of two models do not mix"));
    assert_int_equal(error.kind, ERROR_INPUT);
    end(&test);
}

/* One device's worker never starts: after three failed starts the other device runs all trials. */
static void a_device_that_fails_is_set_aside(void **state) {
    (void)state;
    struct bench_of_pool test;
    struct error error = {0};
    char program[PATH_SIZE];
    char script[3 * PATH_SIZE];
    pid_t pids[CHILDREN_MAX];
    prepare(&test);
    assert_int_equal(path_join(program, test.tiny.folder, "evotile.sh", &error), 0);
    snprintf(
        script, sizeof script,
        "#!/bin/sh\n[ $3 = compile ] || mkdir %s/first 2>/dev/null || exit 1\nexec %s \"$@\"\n",
        test.tiny.folder, test.tiny.program);
    assert_int_equal(path_write_file(program, script, strlen(script), &error), 0);
    assert_int_equal(chmod(program, 0755), 0);
    test.pool = open_several(&test, program, TINY_DEVICE "," TINY_DEVICE, &error);
    if (test.pool == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    int capacity = pool_capacity(test.pool);
    do_trials(&test, 20);
    assert_int_equal(pool_capacity(test.pool), capacity);
    /* The last device is not quarantined: when its worker cannot start again, the pool fails. */
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    static struct trial_result result;
    submit(&test, 0, "ITEMS=2", 0);
    int got;
    while ((got = pool_wait(test.pool, PATIENCE_S, &result, &error)) == 1)
        trial_result_release(&result);
    assert_int_equal(got, -1);
    assert_non_null(strstr(error.text, "does not start"));
    end(&test);
}

/* ---- workers that cannot start ---- */

static void expect_no_pool(const char *config, const char *folder, const char *device,
                           int compile_workers, const char *words) {
    struct tiny tiny;
    struct error error = {0};
    tiny_make(&tiny, config);
    const struct crew_settings settings = {.program = tiny.program,
                                           .config_path = tiny.config,
                                           .template_folder = folder,
                                           .devices = device,
                                           .compile_workers = compile_workers};
    struct pool *pool = crew_new(&settings, &error);
    assert_null(pool);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
    tiny_remove(&tiny);
}

static void who_cannot_start_says_why(void **state) {
    (void)state;
    pid_t pids[CHILDREN_MAX];
    expect_no_pool(TINY_CONFIG "}", TINY_TEMPLATE, "emulated:sm_12", 1, "sm_12");
    expect_no_pool(TINY_CONFIG "}", TINY_TEMPLATE, "toaster:0", 0, "toaster");
    expect_no_pool(TINY_CONFIG "}", "tests/templates/nowhere", TINY_DEVICE, 1, "nowhere");
    expect_no_pool(TINY_CONFIG ", \"sed\": 1}", TINY_TEMPLATE, TINY_DEVICE, 1, "did you mean");
    expect_no_pool("{", TINY_TEMPLATE, TINY_DEVICE, 1, "config.json");
    assert_int_equal(workers_of(getpid(), "device", pids), 0);
}

/* A worker passes on the template's own error. */
static void a_template_that_does_not_load_is_told(void **state) {
    (void)state;
    char folder[PATH_SIZE];
    char path[PATH_SIZE];
    struct error error = {0};
    struct tiny tiny;
    tiny_make(&tiny, "{}");
    assert_int_equal(path_join(folder, tiny.folder, "scaled_add", &error), 0);
    assert_int_equal(path_copy_tree(TINY_TEMPLATE, folder, &error), 0);
    assert_int_equal(path_join(path, folder, "reference.cu", &error), 0);
    assert_int_equal(path_write_file(path, "not CUDA", 8, &error), 0);
    expect_no_pool(TINY_CONFIG "}", folder, TINY_DEVICE, 1, "reference.cu");
    assert_int_equal(path_join(path, folder, "template.json", &error), 0);
    assert_int_equal(path_write_file(path, "{ \"format\": 2 }", 15, &error), 0);
    expect_no_pool(TINY_CONFIG "}", folder, TINY_DEVICE, 1, "template.json");
    tiny_remove(&tiny);
}

/* A program that is not a worker. */
static void a_program_that_is_no_worker_is_given_up(void **state) {
    (void)state;
    struct error error = {0};
    static const char *const programs[] = {"/bin/true", "/nowhere/evotile"};
    for (int i = 0; i < 2; i++) {
        const struct crew_settings settings = {.program = programs[i],
                                               .config_path = "config.json",
                                               .template_folder = TINY_TEMPLATE,
                                               .devices = TINY_DEVICE};
        assert_null(crew_new(&settings, &error));
        assert_non_null(strstr(error.text, "does not start"));
    }
}

/* ---- the parent's end ---- */

/* Runs a parent with a busy device worker and an idle compile worker. It asserts nothing: a
   failure would continue with the other tests in this process, too. */
static void be_a_parent(struct bench_of_pool *test, const struct genome *hang, int say) {
    struct error error = {0};
    static struct trial_result result;
    test->pool = open_pool(test, 1, 1, 0, &error);
    if (test->pool == NULL)
        _exit(1);
    submit_genome(test, 0, hang, patient_us);
    for (int round = 0; round < 10; round++) /* until it is compiled and running */
        pool_wait(test->pool, 0.1, &result, &error);
    if (write(say, "!", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void workers_die_with_their_parent(void **state) {
    (void)state;
    int pipes[2];
    char word;
    struct bench_of_pool test;
    struct genome hang;
    struct error error = {0};
    pid_t pids[CHILDREN_MAX], compile_pids[CHILDREN_MAX];
    prepare(&test);
    assert_int_equal(genome_parse(&hang, test.template->space, "FAULT=hang", &error), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* orphans become children of this
                                                              process */
    assert_int_equal(pipe(pipes), 0);
    pid_t parent = fork();
    if (parent == 0)
        be_a_parent(&test, &hang, pipes[1]);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &word, 1), 1);
    close(pipes[0]);
    assert_int_equal(workers_of(parent, "device", pids), 1);
    assert_int_equal(workers_of(parent, "compile", compile_pids), 1);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    /* The alarm ends the test if one of them survives. */
    alarm(PATIENCE_S);
    assert_int_equal(waitpid(pids[0], NULL, 0), pids[0]);
    assert_int_equal(waitpid(compile_pids[0], NULL, 0), compile_pids[0]);
    alarm(0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    end(&test);
}

/* Also without the parent-death signal: a worker exits at the end of its input. */
static void a_worker_ends_with_its_input(void **state) {
    (void)state;
    struct tiny tiny;
    struct process worker;
    struct error error = {0};
    char how[64];
    tiny_make(&tiny, TINY_CONFIG "}");
    const char *const argv[] = {tiny.program, "worker",    "--role",     "device",
                                "--config",   tiny.config, "--template", TINY_TEMPLATE,
                                "--device",   TINY_DEVICE, NULL};
    assert_int_equal(process_start(&worker, argv, &error), 0);
    process_stop(&worker, PATIENCE_S, how, sizeof how); /* closes its input first */
    assert_string_equal(how, "ended with status 0");
    tiny_remove(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trial_has_its_result),
        cmocka_unit_test(tended_workers_do_what_waits),
        cmocka_unit_test(verdicts_come_through),
        cmocka_unit_test(who_waits_faces_the_new_champion),
        cmocka_unit_test(whom_one_worker_makes_face_is_no_matter_of_time),
        cmocka_unit_test(a_killed_device_worker_costs_its_trial),
        cmocka_unit_test(killed_compile_workers_cost_at_most_a_trial_each),
        cmocka_unit_test(a_hung_worker_is_killed_at_its_deadline),
        cmocka_unit_test(nothing_is_timed_beside_a_worker_that_has_not_gone),
        cmocka_unit_test(workers_are_recycled),
        cmocka_unit_test(every_device_has_a_worker),
        cmocka_unit_test(two_models_do_not_mix),
        cmocka_unit_test(a_device_that_fails_is_set_aside),
        cmocka_unit_test(who_cannot_start_says_why),
        cmocka_unit_test(a_template_that_does_not_load_is_told),
        cmocka_unit_test(a_program_that_is_no_worker_is_given_up),
        cmocka_unit_test(workers_die_with_their_parent),
        cmocka_unit_test(a_worker_ends_with_its_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
