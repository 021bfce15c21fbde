#include "evaluate/tiny.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/random.h"
#include "pool/local_pool.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"

enum { TRIALS_MAX = 1000, TRIALS_A_WORKER = 100 };

/* Wall time: how long to wait for a result; how long a worker may take for a trial where a test
   does not say, 0: the pool's default. The sanitizers on a busy host need more: a kernel that hangs
   is ended after some CPU time. */
#ifdef __SANITIZE_ADDRESS__
enum { WAIT_LIMIT_S = 600, DEADLINE_S = 300 };
#else
enum { WAIT_LIMIT_S = 60, DEADLINE_S = 0 };
#endif

struct pool_fixture {
    struct tiny tiny;
    struct pool *pool;
    struct config *config;
    struct template *template;
    bool seen[TRIALS_MAX];
};

/* Of the test that runs: one that fails does not come to release_fixture. */
static struct pool *open_now;

static int stop_workers(void **state) {
    (void)state;
    pool_free(open_now);
    open_now = NULL;
    return 0;
}

static void init_fixture(struct pool_fixture *test) {
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

static struct pool *open_pool(const struct pool_fixture *test, int compile_workers,
                              int device_workers, double deadline_s, struct error *error) {
    const struct local_pool_settings settings = {.trials_a_worker = TRIALS_A_WORKER,
                                                 .program = test->tiny.program,
                                                 .config_path = test->tiny.config,
                                                 .template_folder = TINY_TEMPLATE,
                                                 .devices = TINY_DEVICE,
                                                 .compile_workers = compile_workers,
                                                 .device_workers = device_workers,
                                                 .deadline_s =
                                                     deadline_s > 0 ? deadline_s : DEADLINE_S};
    return local_pool_new(&settings, error);
}

static void start_fixture(struct pool_fixture *test, int compile_workers, int device_workers,
                          double deadline_s) {
    struct error error = {0};
    init_fixture(test);
    test->pool = open_now = open_pool(test, compile_workers, device_workers, deadline_s, &error);
    if (test->pool == NULL)
        fail_msg("%s", error.text);
}

static void release_fixture(struct pool_fixture *test) {
    pool_free(test->pool);
    open_now = NULL;
    template_free(test->template);
    config_free(test->config);
    tiny_remove(&test->tiny);
}

static void submit_genome(struct pool_fixture *test, int64_t number, const struct genome *genome,
                          double champion_us) {
    const struct trial_request request = {
        .number = number, .genome = *genome, .champion_us = champion_us, .seed = (uint64_t)number};
    pool_submit(test->pool, &request);
}

static void submit(struct pool_fixture *test, int64_t number, const char *text,
                   double champion_us) {
    struct error error = {0};
    struct genome genome;
    if (genome_parse(&genome, test->template->space, text, &error) < 0)
        fail_msg("%s", error.text);
    submit_genome(test, number, &genome, champion_us);
}

/* The next result; each trial number may come once. The caller releases it. */
static void take_result(struct pool_fixture *test, struct trial_result *result) {
    struct error error = {0};
    int got = pool_wait(test->pool, WAIT_LIMIT_S, result, &error);
    if (got < 0)
        fail_msg("%s", error.text);
    if (got == 0)
        fail_msg("no result in %d s", WAIT_LIMIT_S);
    assert_in_range(result->number, 0, TRIALS_MAX - 1);
    if (test->seen[result->number])
        fail_msg("trial %lld came twice", (long long)result->number);
    test->seen[result->number] = true;
}

static void expect(struct pool_fixture *test, int64_t number, enum verdict verdict,
                   const char *reason) {
    static struct trial_result result;
    take_result(test, &result);
    assert_int_equal(result.number, number);
    if (result.outcome.verdict != verdict || strstr(result.outcome.reason, reason) == NULL)
        fail_msg("trial %lld is %s (%s), not %s (%s)", (long long)number,
                 verdict_name(result.outcome.verdict), result.outcome.reason, verdict_name(verdict),
                 reason);
    trial_result_release(&result);
}

/* ---- trials ---- */

static void every_trial_returns_one_result(void **state) {
    (void)state;
    static const int workers[][2] = {{1, 1}, {0, 2}, {2, 1}};
    enum { TRIALS = 40 };
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        struct pool_fixture test;
        struct genome genomes[TRIALS];
        struct random random;
        static struct trial_result result;
        start_fixture(&test, workers[w][0], workers[w][1], 0);
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
            take_result(&test, &result);
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
        release_fixture(&test);
    }
}

static bool any_worker_is_busy(const struct pool_fixture *test) {
    struct pool_worker workers[8];
    int count = pool_list_workers(test->pool, workers, 8);
    bool busy = false;
    for (int w = 0; w < count && w < 8; w++)
        busy = busy || workers[w].state == POOL_BUSY || workers[w].state == POOL_STARTING;
    return busy;
}

static bool any_worker_runs(const struct pool_fixture *test, int64_t trial) {
    struct pool_worker workers[8];
    int count = pool_list_workers(test->pool, workers, 8);
    for (int w = 0; w < count && w < 8; w++)
        if (workers[w].state == POOL_BUSY && workers[w].trial == trial)
            return true;
    return false;
}

/* A caller that only polls gets its trials done, and takes the results when it waits. */
static void poll_runs_queued_trials(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    start_fixture(&test, 1, 1, 0);
    submit(&test, 0, "THREADS=32", 0);
    submit(&test, 1, "THREADS=64", 0);
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    for (int idle = 0; idle < 20 && clock_seconds() < end_s; usleep(5000)) {
        assert_int_equal(pool_poll(test.pool, &error), 0);
        idle = any_worker_is_busy(&test) ? 0 : idle + 1;
    }
    assert_int_equal(pool_in_flight(test.pool), 2);
    for (int n = 0; n < 2; n++) {
        static struct trial_result result;
        assert_int_equal(pool_wait(test.pool, 0, &result, &error), 1);
        assert_int_equal(result.number, n);
        trial_result_release(&result);
    }
    release_fixture(&test);
}

/* A candidate that fails by itself costs no worker. */
static void verdicts_are_returned(void **state) {
    (void)state;
    struct pool_fixture test;
    start_fixture(&test, 1, 1, 0);
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
    expect(&test, 5, VERDICT_TIMEOUT, "time limit");
    assert_int_equal(pool_restarts(test.pool), 0);
    release_fixture(&test);
}

/* A folder cannot be made there. */
static const char unwritable_cache[] = "/proc/version/cache";

static void wait_until_compiled(struct pool_fixture *test, int64_t trial) {
    struct error error = {0};
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (!any_worker_runs(test, trial) && clock_seconds() < end_s)
        assert_int_equal(pool_poll(test->pool, &error), 0);
    while (any_worker_runs(test, trial) && clock_seconds() < end_s) {
        assert_int_equal(pool_poll(test->pool, &error), 0);
        usleep(1000);
    }
    assert_false(any_worker_runs(test, trial));
}

/* Without a cache on disk a device worker gets a candidate's machine code from the pool: its source
   is gone when the device worker starts on it. */
static void device_worker_never_compiles(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    char path[PATH_SIZE];
    char *const cache = strdup(getenv("EVOTILE_CACHE") != NULL ? getenv("EVOTILE_CACHE") : "");
    setenv("EVOTILE_CACHE", unwritable_cache, 1);
    start_fixture(&test, 1, 1, 0);
    struct trial_request request = {.number = 0};
    assert_int_equal(genome_parse(&request.genome, test.template->space, "THREADS=64", &error), 0);
    char *source = template_source(test.template, &request.genome, 0, &error);
    assert_non_null(source);
    assert_int_equal(path_join(path, test.tiny.folder, "candidate.cu", &error), 0);
    assert_int_equal(path_write_file(path, source, strlen(source), &error), 0);
    request.sources[0] = strdup(path);
    pool_pause(test.pool, 0, true);
    pool_submit(test.pool, &request);
    wait_until_compiled(&test, 0);
    assert_int_equal(unlink(path), 0);
    pool_pause(test.pool, 0, false);
    expect(&test, 0, VERDICT_OK, "");
    assert_int_equal(pool_restarts(test.pool), 0);
    release_fixture(&test);
    setenv("EVOTILE_CACHE", cache, 1);
    free(source);
    free(cache);
}

/* With so slow a champion, the deadline of a hang is longer than any test. */
static const double slow_champion_us = 1e7;

/* A champion's score sets the deadline of trials compared against it. */
static void queued_trials_get_new_champion(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    static const int compile_workers[] = {0, 1};
    for (size_t w = 0; w < sizeof compile_workers / sizeof *compile_workers; w++) {
        start_fixture(&test, compile_workers[w], 1, 0);
        struct trial_champion champion = {.trial = 7, .score_us = slow_champion_us};
        assert_int_equal(genome_parse(&champion.genome, test.template->space, "", &error), 0);
        submit(&test, 0, "FAULT=hang", slow_champion_us);
        submit(&test, 1, "FAULT=hang", slow_champion_us);
        pool_set_champion(test.pool, &champion); /* as slow as the one before */
        champion.score_us = 1;
        champion.goal = 1; /* no trial has this goal */
        pool_set_champion(test.pool, &champion);
        champion.goal = 0;
        pool_set_champion(test.pool, &champion);
        champion.score_us = slow_champion_us; /* an older one that arrives late */
        pool_set_champion(test.pool, &champion);
        expect(&test, 0, VERDICT_TIMEOUT, "time limit");
        expect(&test, 1, VERDICT_TIMEOUT, "time limit");
        release_fixture(&test);
    }
}

/* While the caller takes no result, a single worker gets only one more trial, for any speed: the
   trial after that is still queued. */
static void single_worker_is_deterministic(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    struct trial_champion champion = {.trial = 7, .score_us = 1};
    start_fixture(&test, 0, 1, 0);
    assert_int_equal(genome_parse(&champion.genome, test.template->space, "", &error), 0);
    submit(&test, 0, "THREADS=32", 0);
    submit(&test, 1, "THREADS=64", 0);
    submit(&test, 2, "FAULT=hang", slow_champion_us);
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    for (int idle = 0; idle < 20 && clock_seconds() < end_s; usleep(50000)) {
        assert_int_equal(pool_poll(test.pool, &error), 0);
        idle = any_worker_runs(&test, 1) ? idle + 1 : 0;
    }
    pool_set_champion(test.pool, &champion);
    expect(&test, 0, VERDICT_OK, "");
    expect(&test, 1, VERDICT_OK, "");
    expect(&test, 2, VERDICT_TIMEOUT, "time limit");
    release_fixture(&test);
}

/* The number behind a name in /proc/PID/status; -1: none. */
static int status_number(pid_t pid, const char *name) {
    char path[64], line[256];
    int number = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            number = atoi(line + strlen(name));
    if (file != NULL)
        fclose(file);
    return number;
}

/* Both kinds have a seccomp filter (mode 2) and no way to new privileges; this process has not. */
static void workers_are_in_a_sandbox(void **state) {
    (void)state;
    static const char *const roles[] = {"compile", "device"};
    struct pool_fixture test;
    pid_t pids[CHILDREN_MAX];
    if (status_number(getpid(), "Seccomp:") < 0)
        skip();
    start_fixture(&test, 1, 1, 0);
    submit(&test, 0, "ITEMS=2", 0);
    expect(&test, 0, VERDICT_OK, "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(workers_of(getpid(), roles[i], pids), 1);
        assert_int_equal(status_number(pids[0], "Seccomp:"), 2);
        assert_int_equal(status_number(pids[0], "NoNewPrivs:"), 1);
    }
    release_fixture(&test);
}

/* ---- lost workers ---- */

/* Stops the only worker of a role, so that it gets the next trial and does not begin it. */
static void freeze_worker(const char *role) {
    pid_t pids[CHILDREN_MAX];
    assert_int_equal(workers_of(getpid(), role, pids), 1);
    assert_int_equal(kill(pids[0], SIGSTOP), 0);
}

/* Until a worker of the pool has the trial. */
static void wait_until_runs(struct pool_fixture *test, int64_t trial) {
    struct error error = {0};
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (!any_worker_runs(test, trial) && clock_seconds() < end_s) {
        assert_int_equal(pool_poll(test->pool, &error), 0);
        usleep(1000);
    }
    assert_true(any_worker_runs(test, trial));
}

/* Kills the worker that has the trial; its successor gets it as soon as it is ready. */
static void kill_worker_in_trial(struct pool_fixture *test, const char *role, int64_t trial,
                                 int signal) {
    pid_t pids[CHILDREN_MAX];
    struct error error = {0};
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    /* A worker that has just been forked is not one by its name yet; and the pool may still take
       one for busy whose first thread has ended, but not yet all. */
    do {
        assert_int_equal(pool_poll(test->pool, &error), 0);
        wait_until_runs(test, trial);
    } while (workers_of(getpid(), role, pids) != 1 && clock_seconds() < end_s);
    assert_int_equal(kill(pids[0], signal), 0);
    assert_int_equal(kill(pids[0], SIGCONT), 0);
    while (parent_of(pids[0]) == getpid())
        assert_int_equal(pool_poll(test->pool, &error), 0);
    assert_int_equal(pool_poll(test->pool, &error), 0);
}

/* As the kernel does when memory runs out: it says nothing of the candidate. */
static void trial_of_killed_worker_is_repeated(void **state) {
    (void)state;
    static const char *const roles[] = {"device", "compile"};
    for (int with_compiler = 0; with_compiler < 2; with_compiler++) {
        struct pool_fixture test;
        start_fixture(&test, with_compiler, 1, 0);
        submit(&test, 0, "ITEMS=2", 0);
        expect(&test, 0, VERDICT_OK, ""); /* its workers are ready */
        freeze_worker(roles[with_compiler]);
        submit(&test, 1, "ITEMS=2", 0);
        kill_worker_in_trial(&test, roles[with_compiler], 1, SIGKILL);
        expect(&test, 1, VERDICT_OK, "");
        assert_int_equal(pool_restarts(test.pool), 1);
        release_fixture(&test);
    }
}

/* The trials behind it are not touched. */
static void trial_is_lost_with_its_second_worker(void **state) {
    (void)state;
    struct pool_fixture test;
    start_fixture(&test, 0, 1, 0);
    submit(&test, 0, "FAULT=hang", slow_champion_us);
    for (int i = 1; i <= 5; i++)
        submit(&test, i, "ITEMS=2", 0);
    kill_worker_in_trial(&test, "device", 0, SIGKILL);
    kill_worker_in_trial(&test, "device", 0, SIGKILL);
    expect(&test, 0, VERDICT_LOST,
           "the device worker was killed by signal 9 (Killed) from outside, as one before it");
    for (int i = 1; i <= 5; i++)
        expect(&test, i, VERDICT_OK, "");
    assert_int_equal(pool_restarts(test.pool), 2);
    release_fixture(&test);
}

/* A fault of its own is the candidate's, the first time. */
static void worker_that_crashes_costs_its_trial(void **state) {
    (void)state;
    struct pool_fixture test;
    start_fixture(&test, 0, 1, 0);
    submit(&test, 0, "FAULT=hang", slow_champion_us);
    submit(&test, 1, "ITEMS=2", 0);
    kill_worker_in_trial(&test, "device", 0, SIGSEGV);
    expect(&test, 0, VERDICT_CRASHED, "the device worker was ");
    expect(&test, 1, VERDICT_OK, "");
    assert_int_equal(pool_restarts(test.pool), 1);
    release_fixture(&test);
}

/* Whatever a compile worker does when it is killed, every trial comes back, once. */
static void killed_compile_workers_cost_no_trial(void **state) {
    (void)state;
    enum { TRIALS = 60, KILLS = 4 };
    struct pool_fixture test;
    static struct trial_result result;
    struct random random;
    struct genome genome;
    int kills = 0, lost = 0;
    start_fixture(&test, 1, 1, 0);
    random_seed(&random, 2, 1);
    for (int i = 0; i < TRIALS; i++) {
        do
            assert_true(space_sample(test.template->space, &random, &genome));
        while (genome.value[space_find_gene(test.template->space, "FAULT")] != 0);
        submit_genome(&test, i, &genome, 0);
    }
    for (int i = 0; i < TRIALS; i++) {
        pid_t pids[CHILDREN_MAX];
        take_result(&test, &result);
        lost += result.outcome.verdict == VERDICT_LOST;
        assert_true(result.outcome.verdict == VERDICT_OK ||
                    (result.outcome.verdict == VERDICT_LOST &&
                     strstr(result.outcome.reason, "compile worker") != NULL));
        trial_result_release(&result);
        if (i % 10 == 5 && kills < KILLS && workers_of(getpid(), "compile", pids) == 1)
            kills += kill(pids[0], SIGKILL) == 0;
    }
    assert_true(kills > 0 && 2 * lost <= kills);
    assert_true(pool_restarts(test.pool) <= kills);
    assert_int_equal(pool_in_flight(test.pool), 0);
    release_fixture(&test);
}

static void hung_worker_is_killed_at_its_deadline(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    static struct trial_result result;
    pid_t before[CHILDREN_MAX], after[CHILDREN_MAX];
    start_fixture(&test, 0, 1, 2);
    submit(&test, 0, "FAULT=hang", slow_champion_us);
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
    release_fixture(&test);
}

/* Starts a process that keeps `process` from exiting when killed, as a driver can, until it ends
   itself. Returns 0 if tracing is not permitted. */
static pid_t block_exit(pid_t process) {
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

static void release_exit(pid_t tracer) {
    assert_int_equal(kill(tracer, SIGKILL), 0);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
}

/* The pid of the only device worker, which cannot exit when killed, with a hanging trial in it. */
static pid_t hang_and_block_exit(struct pool_fixture *test, int64_t number, pid_t *tracer) {
    struct error error = {0};
    static struct trial_result result;
    pid_t pids[CHILDREN_MAX];
    submit(test, number, "FAULT=hang", slow_champion_us);
    assert_int_equal(pool_wait(test->pool, 0, &result, &error), 0); /* dispatches it to the
                                                                       worker */
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    *tracer = block_exit(pids[0]);
    return pids[0];
}

static void zombie_worker_blocks_its_device(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    static struct trial_result result;
    pid_t pids[CHILDREN_MAX], tracer, zombie;
    start_fixture(&test, 0, 1, 2);
    hang_and_block_exit(&test, 0, &tracer);
    if (tracer == 0) { /* tracing is not permitted */
        release_fixture(&test);
        skip();
    }
    submit(&test, 1, "ITEMS=2", 0);
    expect(&test, 0, VERDICT_TIMEOUT, "the device worker was killed after 2 s");
    assert_int_equal(pool_restarts(test.pool), 1);
    assert_int_equal(pool_wait(test.pool, 3, &result, &error), 0);
    assert_int_equal(workers_of(getpid(), "device", pids), 2); /* its replacement has started */
    release_exit(tracer);
    expect(&test, 1, VERDICT_OK, "");
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    assert_int_equal(pool_restarts(test.pool), 1);
    zombie = hang_and_block_exit(&test, 2, &tracer);
    assert_int_not_equal(tracer, 0);
    release_fixture(&test); /* does not wait for the zombie worker */
    assert_int_equal(waitpid(zombie, NULL, WNOHANG), 0);
    release_exit(tracer);
    assert_int_equal(waitpid(zombie, NULL, 0), zombie);
}

static void workers_are_recycled(void **state) {
    (void)state;
    enum { TRIALS = TRIALS_A_WORKER + 10 };
    struct pool_fixture test;
    pid_t before[CHILDREN_MAX], after[CHILDREN_MAX];
    start_fixture(&test, 0, 1, 0);
    assert_int_equal(workers_of(getpid(), "device", before), 1);
    for (int i = 0; i < TRIALS; i++)
        submit(&test, i, "ITEMS=2", 0);
    for (int i = 0; i < TRIALS; i++)
        expect(&test, i, VERDICT_OK, "");
    assert_int_equal(workers_of(getpid(), "device", after), 1);
    assert_int_not_equal(before[0], after[0]);
    assert_int_equal(pool_restarts(test.pool), 0); /* no trial was lost */
    release_fixture(&test);
}

/* ---- several devices ---- */

static struct pool *open_pool_on_devices(const struct pool_fixture *test, const char *program,
                                         const char *devices, struct error *error) {
    const struct local_pool_settings settings = {.program = program,
                                                 .config_path = test->tiny.config,
                                                 .template_folder = TINY_TEMPLATE,
                                                 .devices = devices,
                                                 .compile_workers = 1};
    return local_pool_new(&settings, error);
}

/* Runs trials; their results come in any order. */
static void run_trials(struct pool_fixture *test, int count) {
    static struct trial_result result;
    for (int i = 0; i < count; i++)
        submit(test, i, "ITEMS=2", 0);
    for (int i = 0; i < count; i++) {
        take_result(test, &result);
        assert_int_equal(result.outcome.verdict, VERDICT_OK);
        trial_result_release(&result);
    }
    memset(test->seen, 0, sizeof test->seen);
}

static void every_device_has_a_worker(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    pid_t pids[CHILDREN_MAX];
    static struct trial_result result;
    init_fixture(&test);
    test.pool = open_now =
        open_pool_on_devices(&test, test.tiny.program, TINY_DEVICE "," TINY_DEVICE, &error);
    if (test.pool == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(pool_device_count(test.pool), 2);
    assert_int_equal(workers_of(getpid(), "device", pids), 2);
    assert_int_equal(workers_of(getpid(), "compile", pids), 1);
    run_trials(&test, 20);
    /* One paused device does not stop the other; two paused ones stop all trials. */
    pool_pause(test.pool, 0, true);
    run_trials(&test, 20);
    pool_pause(test.pool, 1, true);
    submit(&test, 0, "ITEMS=2", 0);
    assert_int_equal(pool_wait(test.pool, 0.5, &result, &error), 0);
    pool_pause(test.pool, 0, false);
    expect(&test, 0, VERDICT_OK, "");
    release_fixture(&test);
}

static void two_models_do_not_mix(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    init_fixture(&test);
    test.pool =
        open_pool_on_devices(&test, test.tiny.program, "emulated:sm_89,emulated:sm_90", &error);
    assert_null(test.pool);
    assert_non_null(strstr(error.text, "figures of two models do not mix"));
    assert_int_equal(error.kind, ERROR_INPUT);
    release_fixture(&test);
}

/* One device's worker never starts: after three failed starts the other device runs all trials. */
static void failing_device_is_quarantined(void **state) {
    (void)state;
    struct pool_fixture test;
    struct error error = {0};
    char program[PATH_SIZE];
    char script[3 * PATH_SIZE];
    pid_t pids[CHILDREN_MAX];
    init_fixture(&test);
    assert_int_equal(path_join(program, test.tiny.folder, "evotile.sh", &error), 0);
    snprintf(
        script, sizeof script,
        "#!/bin/sh\n[ $2 = compile ] || mkdir %s/first 2>/dev/null || exit 1\nexec %s \"$@\"\n",
        test.tiny.folder, test.tiny.program);
    assert_int_equal(path_write_file(program, script, strlen(script), &error), 0);
    assert_int_equal(chmod(program, 0755), 0);
    test.pool = open_now =
        open_pool_on_devices(&test, program, TINY_DEVICE "," TINY_DEVICE, &error);
    if (test.pool == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(workers_of(getpid(), "device", pids), 1);
    int capacity = pool_capacity(test.pool);
    run_trials(&test, 20);
    assert_int_equal(pool_capacity(test.pool), capacity);
    /* The last device is not quarantined: when its worker cannot start again, the pool fails. */
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    static struct trial_result result;
    submit(&test, 0, "ITEMS=2", 0);
    int got;
    while ((got = pool_wait(test.pool, WAIT_LIMIT_S, &result, &error)) == 1)
        trial_result_release(&result);
    assert_int_equal(got, -1);
    assert_non_null(strstr(error.text, "does not start"));
    release_fixture(&test);
}

/* ---- workers that cannot start ---- */

static void expect_no_pool(const char *config, const char *folder, const char *device,
                           int compile_workers, const char *words) {
    struct tiny tiny;
    struct error error = {0};
    tiny_make(&tiny, config);
    const struct local_pool_settings settings = {.program = tiny.program,
                                                 .config_path = tiny.config,
                                                 .template_folder = folder,
                                                 .devices = device,
                                                 .compile_workers = compile_workers};
    struct pool *pool = local_pool_new(&settings, &error);
    assert_null(pool);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
    tiny_remove(&tiny);
}

static void start_failure_is_reported(void **state) {
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
static void template_error_is_reported(void **state) {
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
static void program_that_is_no_worker_fails(void **state) {
    (void)state;
    struct error error = {0};
    static const char *const programs[] = {"/bin/true", "/nowhere/evotile"};
    for (int i = 0; i < 2; i++) {
        const struct local_pool_settings settings = {.program = programs[i],
                                                     .config_path = "config.json",
                                                     .template_folder = TINY_TEMPLATE,
                                                     .devices = TINY_DEVICE};
        assert_null(local_pool_new(&settings, &error));
        assert_non_null(strstr(error.text, "does not start"));
    }
}

/* ---- the parent's end ---- */

/* Runs a parent with a busy device worker and an idle compile worker. It asserts nothing: a
   failure would continue with the other tests in this process, too. */
static void run_parent(struct pool_fixture *test, const struct genome *hang, int say) {
    struct error error = {0};
    static struct trial_result result;
    test->pool = open_pool(test, 1, 1, 0, &error);
    if (test->pool == NULL)
        _exit(1);
    submit_genome(test, 0, hang, slow_champion_us);
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
    struct pool_fixture test;
    struct genome hang;
    struct error error = {0};
    pid_t pids[CHILDREN_MAX], compile_pids[CHILDREN_MAX];
    init_fixture(&test);
    assert_int_equal(genome_parse(&hang, test.template->space, "FAULT=hang", &error), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* orphans become children of this
                                                              process */
    assert_int_equal(pipe(pipes), 0);
    pid_t parent = fork();
    if (parent == 0)
        run_parent(&test, &hang, pipes[1]);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &word, 1), 1);
    close(pipes[0]);
    assert_int_equal(workers_of(parent, "device", pids), 1);
    assert_int_equal(workers_of(parent, "compile", compile_pids), 1);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    /* The alarm ends the test if one of them survives. */
    alarm(WAIT_LIMIT_S);
    assert_int_equal(waitpid(pids[0], NULL, 0), pids[0]);
    assert_int_equal(waitpid(compile_pids[0], NULL, 0), compile_pids[0]);
    alarm(0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    release_fixture(&test);
}

/* Also without the parent-death signal: a worker exits at the end of its input. */
static void worker_exits_at_end_of_input(void **state) {
    (void)state;
    struct tiny tiny;
    struct process worker;
    struct error error = {0};
    struct process_end end;
    tiny_make(&tiny, TINY_CONFIG "}");
    const char *const argv[] = {tiny.program, POOL_WORKER, NULL};
    const struct worker_start start = {.has_device = true,
                                       .threads = 1,
                                       .device = {.spec = TINY_DEVICE},
                                       .config_path = tiny.config,
                                       .template_folder = (char *)TINY_TEMPLATE};
    assert_int_equal(process_start(&worker, argv, &error), 0);
    char *line = protocol_print_start(&start);
    assert_true(process_send(&worker, line));
    free(line);
    process_stop(&worker, WAIT_LIMIT_S, &end); /* closes its input first */
    assert_string_equal(end.text, "ended with status 0");
    tiny_remove(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_trial_returns_one_result, stop_workers),
        cmocka_unit_test_teardown(poll_runs_queued_trials, stop_workers),
        cmocka_unit_test_teardown(verdicts_are_returned, stop_workers),
        cmocka_unit_test_teardown(device_worker_never_compiles, stop_workers),
        cmocka_unit_test_teardown(queued_trials_get_new_champion, stop_workers),
        cmocka_unit_test_teardown(single_worker_is_deterministic, stop_workers),
        cmocka_unit_test_teardown(workers_are_in_a_sandbox, stop_workers),
        cmocka_unit_test_teardown(trial_of_killed_worker_is_repeated, stop_workers),
        cmocka_unit_test_teardown(trial_is_lost_with_its_second_worker, stop_workers),
        cmocka_unit_test_teardown(worker_that_crashes_costs_its_trial, stop_workers),
        cmocka_unit_test_teardown(killed_compile_workers_cost_no_trial, stop_workers),
        cmocka_unit_test_teardown(hung_worker_is_killed_at_its_deadline, stop_workers),
        cmocka_unit_test_teardown(zombie_worker_blocks_its_device, stop_workers),
        cmocka_unit_test_teardown(workers_are_recycled, stop_workers),
        cmocka_unit_test_teardown(every_device_has_a_worker, stop_workers),
        cmocka_unit_test_teardown(two_models_do_not_mix, stop_workers),
        cmocka_unit_test_teardown(failing_device_is_quarantined, stop_workers),
        cmocka_unit_test_teardown(start_failure_is_reported, stop_workers),
        cmocka_unit_test_teardown(template_error_is_reported, stop_workers),
        cmocka_unit_test_teardown(program_that_is_no_worker_fails, stop_workers),
        cmocka_unit_test_teardown(workers_die_with_their_parent, stop_workers),
        cmocka_unit_test_teardown(worker_exits_at_end_of_input, stop_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
