/* Runs that finish, fail and are resumed; random kills are in kill_test.c. */
#include "resume/run.h"

#include <math.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>

static struct run_check run_check; /* large */

struct place {
    struct tiny tiny;
    char run_dir[PATH_SIZE];
};

static void make_place(struct place *place, const char *config) {
    struct error error = {0};
    tiny_make(&place->tiny, config);
    assert_int_equal(path_join(place->run_dir, place->tiny.folder, "run", &error), 0);
    run_check_init(&run_check, place->run_dir);
}

static pid_t launch_run(const struct place *place, const char *trials, char log_path[PATH_SIZE]) {
    const char *const arguments[] = {"--out", place->run_dir, "--trials", trials, NULL};
    return start_evotile(&place->tiny, "run", place->tiny.config, arguments, log_path);
}

static void run_trials(const struct place *place, const char *trials) {
    const char *const arguments[] = {"--out", place->run_dir, "--trials", trials, NULL};
    run_and_expect(&place->tiny, "run", place->tiny.config, arguments, 0);
}

static void inspect_finished(int64_t trials) {
    check_run(&run_check);
    assert_int_equal(run_check.observed, run_check.asked);
    assert_int_equal(run_check.observed, trials);
}

/* ---- goals ---- */

struct asked_goals {
    int64_t counts[CASES_MAX];
    int goal_count;
    bool uneven;
};

static int count_goal(void *context, const struct store_event *event, struct error *error) {
    struct asked_goals *asked = context;
    (void)error;
    if (event->observed)
        return 0;
    asked->counts[event->trial.goal]++;
    for (int g = 0; g < asked->goal_count; g++)
        if (asked->counts[g] + 1 < asked->counts[event->trial.goal])
            asked->uneven = true;
    return 0;
}

/* `search`: keys of the config, with a comma behind them. */
static void expect_goals_in_turn(const char *search) {
    struct place place;
    struct error error = {0};
    struct asked_goals asked = {.goal_count = 3};
    char config[1024];
    snprintf(config, sizeof config,
             "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\",\n"
             "  \"objective\": \"per_case\", " TINY_GENES ",\n"
             "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}, {\"ROWS\": 1, \"COLS\": 1},\n"
             "             {\"ROWS\": 3, \"COLS\": 7, \"BIAS\": 1}],\n"
             "  \"search\": {%s \"share_goals\": false} }",
             search);
    make_place(&place, config); /* run.h replays each goal alone */
    run_trials(&place, "31");
    inspect_finished(31);
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    assert_int_equal(store_goal_count(store), 3);
    assert_string_equal(store_goal_name(store, 1), "ROWS=1,COLS=1");
    assert_int_equal(store_events(store, 0, count_goal, &asked, &error), 0);
    assert_false(asked.uneven);
    assert_int_equal(asked.counts[0] + asked.counts[1] + asked.counts[2], 31);
    for (int g = 0; g < 3; g++)
        assert_int_not_equal(store_ranked(store, g, 1, &error), STORE_NO_TRIAL);
    store_close(store);
    tiny_remove(&place.tiny);
}

static void goals_are_asked_in_turn(void **state) {
    (void)state;
    expect_goals_in_turn("\"goals_by_gain\": false,");
}

/* A strategy that does not learn expects nothing. */
static void goals_of_random_genomes_are_asked_in_turn(void **state) {
    (void)state;
    expect_goals_in_turn("\"strategy\": \"random\",");
}

/* One genome for two cases that are compiled separately. */
static void joint_goals_cover_every_variant(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    make_place(&place, "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\"," TINY_GENES
                       ", \"cases\": [{\"ROWS\": 6, \"COLS\": 40},\n"
                       "  {\"ROWS\": 300, \"COLS\": 70, \"BIAS\": 1}] }");
    run_trials(&place, "25");
    inspect_finished(25);
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    struct store_trial *best = store_trial_read(store, store_ranked(store, 0, 1, &error), &error);
    assert_non_null(best);
    assert_int_equal(best->outcome->case_count, 2);
    double first = best->outcome->cases[0].warm.p50_us,
           second = best->outcome->cases[1].warm.p50_us;
    assert_true(first > 0 && second > first);
    assert_true(fabs(best->outcome->score_us - sqrt(first * second)) < 1e-9 * second);
    store_trial_free(best);
    store_close(store);
    tiny_remove(&place.tiny);
}

/* ---- ends ---- */

static void an_exhausted_space_ends_the_run(void **state) {
    (void)state;
    struct place place;
    make_place(&place, TINY_CONFIG ", \"genes\": {\"THREADS\": [32, 64], \"BLOCKS\": [1, 2],\n"
                                   "  \"SPARE\": [2], \"ITEMS\": [1, 2]} }");
    run_trials(&place, "100000");
    inspect_finished(12); /* 2 threads, 2 blocks, and 1 + 2 of items and order */
    run_and_expect(&place.tiny, "resume", place.run_dir, NULL, 0);
    inspect_finished(12);
    tiny_remove(&place.tiny);
}

static void a_finished_run_starts_nothing(void **state) {
    (void)state;
    struct place place;
    char log_path[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    run_trials(&place, "5");
    inspect_finished(5);
    /* Workers start only after their lock was taken; here it is not even opened. */
    assert_int_equal(path_join(path, place.run_dir, "workers.lock", &error), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, NULL, log_path)), 0);
    expect_log(log_path, "is finished after 5 trials");
    assert_false(path_exists(path));
    inspect_finished(5);
    /* The budget can be raised, and the new one is stored. */
    const char *const more[] = {"--trials", "9", NULL};
    run_and_expect(&place.tiny, "resume", place.run_dir, more, 0);
    inspect_finished(9);
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, NULL, log_path)), 0);
    expect_log(log_path, "is finished after 9 trials");
    tiny_remove(&place.tiny);
}

/* Split into sessions, the same seed proposes the same trials as long as the outcomes arrive in the
   same order. With one trial in flight they would; here only the first ones must. */
static void the_seed_decides_the_start(void **state) {
    (void)state;
    struct place places[2];
    char *genomes[2][8];
    struct error error = {0};
    for (int p = 0; p < 2; p++) {
        make_place(&places[p], TINY_CONFIG ", \"seed\": 7, " TINY_GENES "}");
        run_trials(&places[p], p == 0 ? "8" : "3");
        const char *const more[] = {"--trials", "8", NULL};
        run_and_expect(&places[p].tiny, "resume", places[p].run_dir, more, 0);
        inspect_finished(8);
        struct store *store = store_open(places[p].run_dir, STORE_READ, &error);
        for (int64_t i = 0; i < 8; i++) {
            struct store_trial *trial = store_trial_read(store, i, &error);
            genomes[p][i] = strdup(trial->genome);
            store_trial_free(trial);
        }
        store_close(store);
    }
    for (int i = 0; i < 8; i++) {
        assert_string_equal(genomes[0][i], genomes[1][i]);
        free(genomes[0][i]);
        free(genomes[1][i]);
    }
    tiny_remove(&places[0].tiny);
    tiny_remove(&places[1].tiny);
}

/* ---- budgets ---- */

/* IN_FLIGHT_MOST: while the first trial is compiled, the workers of a large machine end others,
   most of which fail at once. */
enum { PATIENCE = 15, IN_FLIGHT_MOST = 256 };

/* When each goal last gained 1 %, from the stored events alone. */
struct patience {
    int64_t observed[CASES_MAX], observed_at[CASES_MAX];
    double gained_us[CASES_MAX];
};

static int count_gain(void *context, const struct store_event *event, struct error *error) {
    struct patience *it = context;
    const struct outcome *outcome = event->trial.outcome;
    int goal = event->trial.goal;
    (void)error;
    if (!event->observed)
        return 0;
    it->observed[goal]++;
    if (outcome->verdict != VERDICT_OK ||
        (it->gained_us[goal] > 0 && outcome->score_us > 0.99 * it->gained_us[goal]))
        return 0;
    it->gained_us[goal] = outcome->score_us;
    it->observed_at[goal] = it->observed[goal];
    return 0;
}

static void a_goal_without_gains_ends(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    struct patience it = {0};
    char log_path[PATH_SIZE];
    make_place(&place,
               "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\",\n"
               "  \"objective\": \"per_case\", " TINY_GENES ",\n"
               "  \"search\": {\"initial\": 12, \"population\": 8, \"share_goals\": false},\n"
               "  \"budget\": {\"patience\": 15, \"trials\": 900},\n"
               "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40},\n"
               "             {\"ROWS\": 3, \"COLS\": 7, \"BIAS\": 1}] }");
    const char *const arguments[] = {"--out", place.run_dir, NULL};
    run_and_expect(&place.tiny, "run", place.tiny.config, arguments, 0);
    check_run(&run_check);
    assert_in_range(run_check.observed, 2 * PATIENCE, 899);
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    assert_int_equal(store_events(store, 0, count_gain, &it, &error), 0);
    store_close(store);
    for (int g = 0; g < 2; g++) /* trials in flight at its end have outcomes as well */
        assert_in_range(it.observed[g] - it.observed_at[g], PATIENCE, PATIENCE + IN_FLIGHT_MOST);
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, NULL, log_path)), 0);
    expect_log(log_path, "is finished");
    inspect_finished(run_check.observed);
    tiny_remove(&place.tiny);
}

/* The first trial meets the target `reached`; no trial meets `beyond`, so that only the number of
   trials limits the run. A target given on resume is stored for the next resume. */
static void end_at_target(const char *option, const char *reached, const char *beyond) {
    struct place place;
    char log_path[PATH_SIZE], trials[24];
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    const char *const arguments[] = {"--out", place.run_dir, option, reached, NULL};
    run_and_expect(&place.tiny, "run", place.tiny.config, arguments, 0);
    check_run(&run_check);
    assert_in_range(run_check.observed, 1, IN_FLIGHT_MOST);
    int64_t observed = run_check.observed;
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, NULL, log_path)), 0);
    expect_log(log_path, "is finished");
    snprintf(trials, sizeof trials, "%lld", (long long)observed + 4);
    const char *const more[] = {option, beyond, "--trials", trials, NULL};
    run_and_expect(&place.tiny, "resume", place.run_dir, more, 0);
    inspect_finished(observed + 4);
    run_and_expect(&place.tiny, "resume", place.run_dir, NULL, 0);
    inspect_finished(observed + 4);
    tiny_remove(&place.tiny);
}

static void a_target_that_is_reached_ends_the_run(void **state) {
    (void)state;
    end_at_target("--target", "1000", "0.001");
}

/* Ratio 1 is met by the default genome itself, ratio 1,000,000 by no genome. */
static void a_ratio_to_the_default_ends_the_run(void **state) {
    (void)state;
    end_at_target("--target-ratio", "1", "1e6");
}

/* ---- interruptions ---- */

static void a_signal_finishes_what_is_in_flight(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        struct place place;
        char log_path[PATH_SIZE];
        make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
        pid_t pid = launch_run(&place, "900", log_path);
        wait_for_outcomes(place.run_dir, 3);
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(exit_status(pid), 0);
        expect_log(log_path, "interrupted: continue with `evotile resume ");
        check_run(&run_check);
        assert_int_equal(run_check.observed, run_check.asked);
        assert_in_range(run_check.observed, 3, 899);
        char trials[24];
        snprintf(trials, sizeof trials, "%lld", (long long)run_check.asked + 5);
        const char *const more[] = {"--trials", trials, NULL};
        run_and_expect(&place.tiny, "resume", place.run_dir, more, 0);
        check_run(&run_check);
        assert_int_equal(run_check.observed, strtoll(trials, NULL, 10));
        tiny_remove(&place.tiny);
    }
}

/* A hanging trial would delay the first ^C until its deadline. It is submitted again on resume. */
static void a_second_signal_stops_at_once(void **state) {
    (void)state;
    struct place place;
    char log_path[PATH_SIZE];
    make_place(&place, TINY_CONFIG ", \"genes\": {\"FAULT\": [\"hang\"], \"THREADS\": [32]} }");
    pid_t pid = launch_run(&place, "3", log_path);
    struct error error = {0};
    for (int round = 0; round < 6000 && store_holds_run(place.run_dir, &error) != 1; round++)
        pause_ms(10);
    kill(pid, SIGINT);
    kill(pid, SIGTERM); /* another signal: two pending ones of the same kind are merged */
    int status = exit_status(pid);
    assert_int_equal(status, 0);
    check_run(&run_check);
    run_and_expect(&place.tiny, "resume", place.run_dir, NULL, 0);
    inspect_finished(3);
    tiny_remove(&place.tiny);
}

/* ---- more than one process ---- */

static void a_run_belongs_to_one_process(void **state) {
    (void)state;
    struct place place;
    char log_path[PATH_SIZE], pid_text[32];
    struct error error = {0};
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    pid_t pid = launch_run(&place, "40", log_path);
    wait_for_outcomes(place.run_dir, 1);
    struct tiny other = place.tiny; /* a separate log for the other processes */
    assert_int_equal(path_join(other.folder, place.tiny.folder, "other", &error), 0);
    assert_int_equal(path_make_folder(other.folder, &error), 0);
    const char *const arguments[] = {"--out", place.run_dir, "--trials", "40", NULL};
    assert_int_equal(exit_status(start_evotile(&other, "run", other.config, arguments, log_path)),
                     2);
    expect_log(log_path, "holds a run already");
    /* If the first process is still running, the error names it. */
    siginfo_t ended = {0};
    waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    pid_t second = start_evotile(&other, "resume", place.run_dir, NULL, log_path);
    int status = exit_status(second);
    if (status != 0) {
        assert_int_equal(status, 1);
        snprintf(pid_text, sizeof pid_text, "process %d ", (int)pid);
        expect_log(log_path, pid_text);
    }
    assert_int_equal(exit_status(pid), 0);
    inspect_finished(40);
    tiny_remove(&place.tiny);
}

static void a_database_that_is_open_elsewhere_is_left_alone(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    char log_path[PATH_SIZE], pid_text[32];
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    run_trials(&place, "4");
    struct store *store = store_open(place.run_dir, STORE_WRITE, &error);
    assert_non_null(store);
    const char *const more[] = {"--trials", "8", NULL};
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, more, log_path)), 1);
    snprintf(pid_text, sizeof pid_text, "process %d ", (int)getpid());
    expect_log(log_path, pid_text);
    store_close(store);
    inspect_finished(4);
    tiny_remove(&place.tiny);
}

static void resume_waits_for_dying_workers(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    char log_path[PATH_SIZE], path[PATH_SIZE];
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    run_trials(&place, "4");
    /* Hold the lock, as a worker of the earlier session does until it exits. */
    assert_int_equal(path_join(path, place.run_dir, "workers.lock", &error), 0);
    int lock = open(path, O_RDWR | O_CLOEXEC);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    const char *const more[] = {"--trials", "8", NULL};
    pid_t pid = start_evotile(&place.tiny, "resume", place.run_dir, more, log_path);
    for (int round = 0; round < 2000; round++) {
        char *text = read_log(log_path);
        bool waits = strstr(text, "waiting for the workers") != NULL;
        free(text);
        if (waits)
            break;
        pause_ms(10);
    }
    expect_log(log_path, "waiting for the workers");
    assert_int_equal(stored_outcome_count(place.run_dir), 4);
    close(lock);
    assert_int_equal(exit_status(pid), 0);
    inspect_finished(8);
    tiny_remove(&place.tiny);
}

/* ---- starting ---- */

/* `run` can start again in a folder that was left by a kill at any step of its start. */
static void a_run_killed_at_its_start_can_be_started_again(void **state) {
    (void)state;
    static const char *const left[] = {"workers.lock", "config.json", "run.db"};
    struct error error = {0};
    for (int steps = 0; steps <= 3; steps++) {
        struct place place;
        char path[PATH_SIZE];
        make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
        assert_int_equal(path_make_folder(place.run_dir, &error), 0);
        for (int i = 0; i < steps; i++) {
            assert_int_equal(path_join(path, place.run_dir, left[i], &error), 0);
            assert_int_equal(path_write_file(path, "{", i == 1 ? 1 : 0, &error), 0);
        }
        run_trials(&place, "3");
        inspect_finished(3);
        tiny_remove(&place.tiny);
    }
}

static void files_of_others_are_not_overwritten(void **state) {
    (void)state;
    static const char *const names[] = {"config.json", "template"};
    struct error error = {0};
    for (int i = 0; i < 2; i++) {
        struct place place;
        char path[PATH_SIZE], log_path[PATH_SIZE];
        make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
        assert_int_equal(path_make_folder(place.run_dir, &error), 0);
        assert_int_equal(path_join(path, place.run_dir, names[i], &error), 0);
        assert_int_equal(path_write_file(path, "mine", 4, &error), 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(exit_status(launch_run(&place, "3", log_path)), 2);
            expect_log(log_path, "would overwrite");
        }
        char *text = path_read_file(path, 100, NULL, &error);
        assert_string_equal(text, "mine");
        free(text);
        tiny_remove(&place.tiny);
    }
}

/* A run that fails to start leaves nothing. */
static void a_failed_start_leaves_nothing(void **state) {
    (void)state;
    struct place place;
    char log_path[PATH_SIZE];
    make_place(&place, TINY_CONFIG ", \"genes\": {\"THREADS\": [128], \"ITEMS\": [4]} }");
    assert_int_equal(exit_status(launch_run(&place, "3", log_path)), 2);
    expect_log(log_path, "no genome is valid");
    assert_false(path_exists(place.run_dir));
    const char *const arguments[] = {"--out",    place.run_dir, "--trials", "3",
                                     "--device", "cuda:77",     NULL};
    assert_int_not_equal(
        exit_status(start_evotile(&place.tiny, "run", place.tiny.config, arguments, log_path)), 0);
    assert_false(path_exists(place.run_dir));
    tiny_remove(&place.tiny);
}

/* ---- a full disk ---- */

static int count_lines(const char *text) {
    int lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* A small disk in a separate namespace would hide the run from this process. As root the disk is
   mounted here; otherwise the file size is limited, for which SQLite has another message. */
static bool mount_small(const char *folder, const char *options) {
    return mount("none", folder, "tmpfs", 0, options) == 0;
}

static void a_full_disk_harms_nothing(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    char log_path[PATH_SIZE], disk[PATH_SIZE], ballast[PATH_SIZE];
    struct rlimit before, limited;
    make_place(&place, TINY_CONFIG ", " TINY_GENES "}");
    assert_int_equal(path_join(disk, place.tiny.folder, "disk", &error), 0);
    assert_int_equal(path_make_folder(disk, &error), 0);
    bool mounted = mount_small(disk, "size=1m");
    assert_int_equal(path_join(place.run_dir, disk, "run", &error), 0);
    assert_int_equal(path_join(ballast, disk, "ballast", &error), 0);
    run_trials(&place, "4");
    inspect_finished(4);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    if (mounted) {
        int file = open(ballast, O_WRONLY | O_CREAT, 0666);
        static const char block[4096] = {1};
        while (write(file, block, sizeof block) > 0)
            ;
        close(file);
        assert_int_equal(truncate(ballast, 1 << 19), 0); /* half a megabyte is left */
    } else {
        limited = before;
        limited.rlim_cur = 200000;
        setrlimit(RLIMIT_FSIZE, &limited);
    }
    const char *const more[] = {"--trials", "1100", NULL};
    int status = exit_status(start_evotile(&place.tiny, "resume", place.run_dir, more, log_path));
    setrlimit(RLIMIT_FSIZE, &before);
    char *text = read_log(log_path);
    const char *last = strstr(text, "evotile: cannot ");
    if (status != 1 || last == NULL || count_lines(last) != 1 || strstr(last, "resume") == NULL)
        fail_msg("status %d:\n%s", status, text);
    free(text);
    check_run(&run_check);
    assert_in_range(run_check.observed, 4, 1099);
    if (mounted)
        assert_int_equal(unlink(ballast), 0);
    char trials[24];
    snprintf(trials, sizeof trials, "%lld", (long long)run_check.asked + 5);
    const char *const some[] = {"--trials", trials, NULL};
    run_and_expect(&place.tiny, "resume", place.run_dir, some, 0);
    check_run(&run_check);
    assert_int_equal(run_check.observed, strtoll(trials, NULL, 10));
    if (mounted)
        umount(disk);
    tiny_remove(&place.tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goals_are_asked_in_turn),
        cmocka_unit_test(goals_of_random_genomes_are_asked_in_turn),
        cmocka_unit_test(joint_goals_cover_every_variant),
        cmocka_unit_test(an_exhausted_space_ends_the_run),
        cmocka_unit_test(a_finished_run_starts_nothing),
        cmocka_unit_test(the_seed_decides_the_start),
        cmocka_unit_test(a_goal_without_gains_ends),
        cmocka_unit_test(a_target_that_is_reached_ends_the_run),
        cmocka_unit_test(a_ratio_to_the_default_ends_the_run),
        cmocka_unit_test(a_signal_finishes_what_is_in_flight),
        cmocka_unit_test(a_second_signal_stops_at_once),
        cmocka_unit_test(a_run_belongs_to_one_process),
        cmocka_unit_test(a_database_that_is_open_elsewhere_is_left_alone),
        cmocka_unit_test(resume_waits_for_dying_workers),
        cmocka_unit_test(a_run_killed_at_its_start_can_be_started_again),
        cmocka_unit_test(files_of_others_are_not_overwritten),
        cmocka_unit_test(a_failed_start_leaves_nothing),
        cmocka_unit_test(a_full_disk_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
