/* run: starts evotile as a child process on the tiny template, and checks the invariants of the run
 * that it leaves, however it ended. For the tests of run and resume.
 */
#ifndef EVOTILE_TESTS_RESUME_RUN_H
#define EVOTILE_TESTS_RESUME_RUN_H

#include "evaluate/tiny.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "session/session.h"

/* All faults except those that take a second. */
#define TINY_GENES "\"genes\": {\"FAULT\": [\"none\", \"wrong\", \"syntax\", \"trap\"]}"

/* ---- the program ---- */

/* Starts evotile with these arguments after the verb and RUN or CONFIG. Its stderr goes to the file
   `said` in the folder. */
static inline pid_t start_evotile(const struct tiny *tiny, const char *verb, const char *what,
                                  const char *const *arguments, char log_path[PATH_SIZE]) {
    struct error error = {0};
    const char *argv[16] = {tiny->program, verb, what};
    int count = 3;
    for (; arguments != NULL && *arguments != NULL; arguments++)
        argv[count++] = *arguments;
    assert_int_equal(path_join(log_path, tiny->folder, "said", &error), 0);
    setenv("EVOTILE_TEMPLATES", "tests/templates", 1);
    pid_t pid = fork();
    if (pid == 0) {
        int file = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        execv(tiny->program, (char *const *)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static inline int exit_status(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static inline char *read_log(const char *log_path) {
    struct error error = {0};
    char *text = path_read_file(log_path, 1 << 20, NULL, &error);
    if (text == NULL)
        fail_msg("%s", error.text);
    return text;
}

static inline void expect_log(const char *log_path, const char *words) {
    char *text = read_log(log_path);
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" is not in what it said:\n%s", words, text);
    free(text);
}

/* Starts evotile, waits for it and expects this exit status. */
static inline void run_and_expect(const struct tiny *tiny, const char *verb, const char *what,
                                  const char *const *arguments, int status) {
    char log_path[PATH_SIZE];
    int got = exit_status(start_evotile(tiny, verb, what, arguments, log_path));
    if (got != status) {
        char *text = read_log(log_path);
        fail_msg("%s ended with status %d, not %d:\n%s", verb, got, status, text);
    }
}

static inline void pause_ms(int milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)milliseconds * 1000000L % 1000000000L,
                                 .tv_sec = milliseconds / 1000},
              NULL);
}

/* Trials with a stored outcome so far; -1 before there is a run. */
static inline int64_t stored_outcome_count(const char *run_dir) {
    struct error error = {0};
    struct store_counts counts;
    if (store_holds_run(run_dir, &error) != 1)
        return -1;
    struct store *store = store_open(run_dir, STORE_READ, &error);
    if (store == NULL)
        return -1;
    int64_t observed = store_count(store, &counts, &error) == 0 ? counts.observed : -1;
    store_close(store);
    return observed;
}

/* Waits until so many trials are stored, or the process has ended. */
static inline void wait_for_outcomes(const char *run_dir, int64_t least) {
    for (int round = 0; round < 6000 && stored_outcome_count(run_dir) < least; round++)
        pause_ms(10);
    assert_true(stored_outcome_count(run_dir) >= least);
}

/* ---- the invariants of a run ---- */

enum { RUN_TRIALS_MAX = 20000 };

/* A finished trial as the last check found it: it must not change afterwards. */
struct finished_trial {
    int64_t observed_event;
    struct hash outcome;
};

struct run_check {
    const char *run_dir;
    struct config *config;
    struct device_info device;
    int goal_count;
    struct template *templates[CASES_MAX];
    struct evolution *evolutions[CASES_MAX];
    int64_t events, asked, observed, remeasured;
    int64_t champions[CASES_MAX]; /* the last accepted */
    struct finished_trial finished[RUN_TRIALS_MAX];
    int again[RUN_TRIALS_MAX];   /* how often a trial was remeasured */
    bool member[RUN_TRIALS_MAX]; /* it is in its population now */
    bool champion_pending; /* killed while elites were remeasured, before the champions were */
};

static inline struct hash hash_outcome(const struct store_trial *trial) {
    struct hasher *hasher = hasher_new();
    const struct outcome *outcome = trial->outcome;
    hasher_add_text(hasher, trial->genome);
    hasher_add(hasher, &outcome->verdict, sizeof outcome->verdict);
    hasher_add(hasher, &outcome->score_us, sizeof outcome->score_us);
    hasher_add(hasher, &outcome->compile_s, sizeof outcome->compile_s);
    hasher_add(hasher, &trial->finished, sizeof trial->finished);
    return hasher_finish(hasher);
}

/* Repeats the search from the stored events, independently of the session's own replay. */
static inline int check_event(void *context, const struct store_event *event, struct error *error) {
    struct run_check *it = context;
    const struct store_trial *trial = &event->trial;
    struct evolution *evolution = it->evolutions[trial->goal];
    struct genome genome;
    struct proposal proposal;
    if (event->number != ++it->events)
        return error_set(error, "event %lld comes after %lld", (long long)event->number,
                         (long long)it->events - 1);
    if (genome_parse(&genome, it->templates[trial->goal]->space, trial->genome, error) < 0)
        return -1;
    if (!event->observed) {
        if (trial->number != it->asked++ || trial->asked != event->number)
            return error_set(error, "trial %lld was asked as number %lld", (long long)trial->number,
                             (long long)it->asked - 1);
        if (evolution_ask(evolution, &proposal) != 1 || !genome_equal(&proposal.genome, &genome))
            return error_set(error, "trial %lld is not what the search asks for",
                             (long long)trial->number);
        return 0;
    }
    if (trial->observed != event->number || trial->asked >= event->number)
        return error_set(error, "trial %lld was told out of turn", (long long)trial->number);
    const struct outcome *outcome = trial->outcome;
    if (event->again) {
        if (it->finished[trial->number].observed_event == 0)
            return error_set(error, "trial %lld was told again before it was told",
                             (long long)trial->number);
        evolution_tell_again(evolution, trial->number, &genome, outcome);
        it->again[trial->number]++;
        it->remeasured++;
        return 0;
    }
    evolution_tell_outcome(evolution, trial->number, &genome, outcome);
    it->observed++;
    struct finished_trial *before = &it->finished[trial->number];
    struct hash hash = hash_outcome(trial);
    if (before->observed_event != 0 &&
        (before->observed_event != event->number || !hash_equal(before->outcome, hash)))
        return error_set(error, "trial %lld was done again", (long long)trial->number);
    *before = (struct finished_trial){event->number, hash};
    return 0;
}

static inline void run_check_init(struct run_check *it, const char *run_dir) {
    memset(it, 0, sizeof *it);
    it->run_dir = run_dir;
}

static inline int load_evolutions(struct run_check *it, struct error *error) {
    it->config = run_dir_read_config(it->run_dir, error);
    if (it->config == NULL || device_describe(TINY_DEVICE, &it->device, error) < 0)
        return -1;
    it->goal_count = config_goal_count(it->config);
    for (int g = 0; g < it->goal_count; g++) {
        struct evolution_settings settings = evolution_defaults();
        snprintf(settings.strategy, sizeof settings.strategy, "%s", it->config->strategy);
        settings.population = it->config->population;
        settings.initial = it->config->initial;
        settings.exploration = it->config->exploration;
        it->templates[g] = config_load_template(it->config, g, &it->device, error);
        if (it->templates[g] == NULL)
            return -1;
        it->champions[g] = STORE_NO_TRIAL;
        it->evolutions[g] = evolution_new(it->templates[g]->space, &settings, it->config->seed,
                                          1 + (uint64_t)g, error);
        if (it->evolutions[g] == NULL)
            return -1;
    }
    return 0;
}

static inline int last_champion(void *context, const struct store_champion *champion,
                                struct error *error) {
    struct run_check *it = context;
    (void)error;
    it->champions[champion->goal] = champion->trial;
    return 0;
}

/* A goal whose population is empty keeps its last champion only if that failed when it was timed
   again. */
static inline int check_dropped(const struct run_check *it, struct store *store, int64_t number,
                                struct error *error) {
    struct store_trial *trial = store_trial_read(store, number, error);
    if (trial == NULL)
        return -1;
    bool dropped = it->again[number] > 0 && trial->outcome->verdict != VERDICT_OK;
    store_trial_free(trial);
    return dropped ? 0 : error_set(error, "champion %lld is in no population", (long long)number);
}

/* Compares population, random state and counters with the checkpoint's digest, and the champions
   with the stored ones. */
static inline int check_state(struct run_check *it, struct store *store, struct error *error) {
    struct store_checkpoint checkpoint;
    struct hasher *hasher = hasher_new();
    int64_t best[CASES_MAX];
    memset(it->member, 0, sizeof it->member);
    for (int g = 0; g < it->goal_count; g++) {
        const struct population *population = evolution_population(it->evolutions[g]);
        const struct member *champion = evolution_champion(it->evolutions[g]);
        struct hash digest = evolution_digest(it->evolutions[g]);
        hasher_add(hasher, &digest, sizeof digest);
        for (int k = 0; k < population->count; k++)
            it->member[population->members[k].trial] = true;
        best[g] = champion != NULL ? champion->trial : STORE_NO_TRIAL;
        it->champions[g] = STORE_NO_TRIAL;
    }
    struct hash digest = hasher_finish(hasher);
    int found = store_checkpoint_read(store, &checkpoint, error);
    if (found < 0)
        return -1;
    if (found == 0)
        return it->events == 0 ? 0 : error_set(error, "events without a checkpoint");
    free(checkpoint.text);
    if (checkpoint.events != it->events || !hash_equal(checkpoint.digest, digest))
        return error_set(error, "the checkpoint is not what its events lead to");
    if (store_champions(store, last_champion, it, error) < 0)
        return -1;
    for (int g = 0; g < it->goal_count; g++) {
        if (best[g] == STORE_NO_TRIAL && it->champions[g] != STORE_NO_TRIAL) {
            if (check_dropped(it, store, it->champions[g], error) < 0)
                return -1;
            continue;
        }
        if (it->champions[g] != best[g] && !it->champion_pending)
            return error_set(error, "the champion of goal %d is trial %lld, not its best, %lld", g,
                             (long long)it->champions[g], (long long)best[g]);
    }
    return 0;
}

/* Checks the run as it is now; fails the test unless every invariant holds. May be called
   repeatedly: a trial that is finished at one call must be unchanged at the next. */
static inline void check_run(struct run_check *it) {
    struct error error = {0};
    int64_t observed_before = it->observed;
    it->events = it->asked = it->observed = it->remeasured = 0;
    memset(it->again, 0, sizeof it->again);
    struct store *store = store_open(it->run_dir, STORE_READ, &error);
    if (store == NULL || load_evolutions(it, &error) < 0 ||
        store_events(store, 0, check_event, it, &error) < 0 || check_state(it, store, &error) < 0)
        fail_msg("%s", error.text);
    if (it->observed < observed_before)
        fail_msg("of %lld finished trials %lld are left", (long long)observed_before,
                 (long long)it->observed);
    store_close(store);
    for (int g = 0; g < it->goal_count; g++) {
        evolution_free(it->evolutions[g]);
        template_free(it->templates[g]);
    }
    config_free(it->config);
}

#endif
