/* Kills a run at random moments and resumes it, KILLS times (10; the requirement is 200: KILLS=200
 * tests/run resume/kill). */
#include "resume/run.h"

#include "base/random.h"

#define CONFIG(search)                                                                             \
    "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE                                   \
    "\", \"objective\": \"per_case\",\n"                                                           \
    "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}, {\"ROWS\": 3, \"COLS\": 7, \"BIAS\": 1}],\n"       \
    "  \"search\": {\"initial\": 12, \"population\": 8, \"share_goals\": false" search             \
    "}, " TINY_GENES " }"

enum { KILLS_DEFAULT = 10, TRIALS_A_KILL = 10, EARLY_MS = 600, LATER_MS = 300 };

static struct run_check run_check; /* large */

/* Starts or resumes the run, waits until more than `told` outcomes are stored (-1: does not wait),
   then for `delay_ms`, and kills it. */
static void kill_once(const struct tiny *tiny, const char *run_dir, const char *trials,
                      int64_t observed, int delay_ms) {
    struct error error = {0};
    char log_path[PATH_SIZE];
    int status;
    bool exists = store_holds_run(run_dir, &error) == 1;
    const char *const new_run_options[] = {"--out", run_dir, "--trials", trials, NULL};
    pid_t pid = exists ? start_evotile(tiny, "resume", run_dir, NULL, log_path)
                       : start_evotile(tiny, "run", tiny->config, new_run_options, log_path);
    siginfo_t ended = {0};
    while (observed >= 0 && stored_outcome_count(run_dir) <= observed && ended.si_pid == 0) {
        pause_ms(5);
        waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    }
    pause_ms(delay_ms);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) && WEXITSTATUS(status) != 0)
        fail_msg("%s ended with status %d:\n%s", exists ? "resume" : "run", WEXITSTATUS(status),
                 read_log(log_path));
}

static void kill_and_resume(const char *config_text, int kills) {
    struct tiny tiny;
    struct error error = {0};
    struct random random;
    char run_dir[PATH_SIZE], trials[24];
    int64_t wanted = (int64_t)kills * TRIALS_A_KILL;
    int64_t with_progress = 0, observed = 0;
    tiny_make(&tiny, config_text);
    assert_int_equal(path_join(run_dir, tiny.folder, "run", &error), 0);
    snprintf(trials, sizeof trials, "%lld", (long long)wanted);
    random_seed(&random, (uint64_t)time(NULL), 1);
    run_check_init(&run_check, run_dir);
    for (int i = 0; i < kills && run_check.observed < wanted; i++) {
        /* A third of the kills hit the creation of folder, database and workers. */
        bool early = i % 3 == 0;
        int delay_ms = (int)random_below(&random, early ? EARLY_MS : LATER_MS);
        kill_once(&tiny, run_dir, trials, early ? -1 : observed, delay_ms);
        if (store_holds_run(run_dir, &error) != 1)
            continue;
        check_run(&run_check);
        with_progress += run_check.observed > observed;
        observed = run_check.observed;
    }
    print_message(
        "%d kills, %lld of them of searches that had got on; %lld trials told, %lld asked\n", kills,
        (long long)with_progress, (long long)run_check.observed, (long long)run_check.asked);
    const char *const new_run_options[] = {"--out", run_dir, "--trials", trials, NULL};
    if (store_holds_run(run_dir, &error) == 1)
        run_and_expect(&tiny, "resume", run_dir, NULL, 0);
    else
        run_and_expect(&tiny, "run", tiny.config, new_run_options, 0);
    check_run(&run_check);
    assert_int_equal(run_check.asked, run_check.observed);
    assert_int_equal(run_check.observed, wanted);
    tiny_remove(&tiny);
}

static int kills_asked(void) {
    const char *asked = getenv("KILLS");
    return asked != NULL ? atoi(asked) : KILLS_DEFAULT;
}

static void no_kill_costs_a_finished_trial(void **state) {
    (void)state;
    kill_and_resume(CONFIG(""), kills_asked());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kill_costs_a_finished_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
