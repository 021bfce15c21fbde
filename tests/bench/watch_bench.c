/* Startup latency of `watch` on a large run, and its CPU time while the run continues: on a
   pseudo-terminal, with a writer that stores 13 trials per second.

       make bench-watch
       build/tests/bench/watch_bench RUN      uses an existing run (reading_bench generates one) and
                                              adds a few hundred trials to it
 */
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "made_run.h"

enum { TRIALS = 200000, FIRST_VIEWS = 5, WATCHED_S = 20, TRIALS_PER_S = 13 };
static const char config[] = "configs/attention_h200.json";

/* The view's last line: once it appears, the view is complete. */
static const char end_of_view[] = "q: quit";

struct watcher {
    pid_t pid;
    int terminal;
    size_t used;
    int64_t drawn; /* bytes since the last reset */
    char shown[1 << 20];
};

static void start_watch(struct watcher *watcher, const char *program, const char *run) {
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    watcher->used = 0;
    watcher->pid = forkpty(&watcher->terminal, NULL, NULL, &size);
    if (watcher->pid == 0) {
        setenv("TERM", "xterm", 1);
        execl(program, "evotile", "watch", run, NULL);
        _exit(127);
    }
    if (watcher->pid < 0)
        BUG("cannot open a terminal for watch");
}

/* Reads its output for `seconds`, or until the view is complete; returns whether it is. */
static bool read_output(struct watcher *watcher, double seconds, bool until_whole) {
    double end = clock_seconds() + seconds;
    bool complete = false;
    while (clock_seconds() < end && !(until_whole && complete)) {
        struct pollfd ready = {.fd = watcher->terminal, .events = POLLIN};
        if (poll(&ready, 1, (int)fmax(0, 1e3 * (end - clock_seconds()))) <= 0)
            continue;
        if (watcher->used + 4096 >= sizeof watcher->shown)
            watcher->used = 0;
        ssize_t count = read(watcher->terminal, watcher->shown + watcher->used, 4095);
        if (count <= 0)
            break;
        watcher->used += (size_t)count;
        watcher->drawn += count;
        watcher->shown[watcher->used] = '\0';
        complete = complete || strstr(watcher->shown, end_of_view) != NULL;
    }
    return complete;
}

/* Quits it; returns its CPU time in seconds. */
static double quit_watch(struct watcher *watcher) {
    struct rusage usage;
    int status;
    if (write(watcher->terminal, "q", 1) != 1)
        BUG("watch does not read its terminal");
    read_output(watcher, 2, false);
    if (wait4(watcher->pid, &status, 0, &usage) < 0 || status != 0)
        BUG("watch ended with status %d: %s", status, watcher->shown);
    close(watcher->terminal);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void publish(const char *run, int64_t observed, double seconds) {
    struct error error = {0};
    struct timespec now;
    struct run_status status = run_status_empty();
    clock_gettime(CLOCK_REALTIME, &now);
    status.updated = (double)now.tv_sec;
    status.observed = observed;
    status.asked = observed + 16;
    status.seconds = seconds;
    status.trials_per_s = TRIALS_PER_S;
    status.worker_count = 16;
    for (int w = 0; w < status.worker_count; w++)
        status.workers[w] = (struct pool_worker){.role = w == 0 ? "device" : "compile",
                                                 .state = POOL_BUSY,
                                                 .trial = observed + w,
                                                 .since_s = 0.1 * w};
    if (status_file_write(&status, run, &error) < 0)
        BUG("%s", error.text);
}

/* Adds a trial like the best one of goal 0, optionally as a new champion. */
static void add_trial(struct store *store, int64_t number, const struct store_trial *like,
                      bool is_champion) {
    struct error error = {0};
    const struct store_ask ask = {.number = number,
                                  .genome = like->genome,
                                  .parent_a = like->number,
                                  .parent_b = STORE_NO_TRIAL,
                                  .operator_name = like->operator_name};
    if (store_begin(store, &error) < 0 || store_ask(store, &ask, &error) < 0 ||
        store_tell(store, number, like->outcome, NULL, "bench", &error) < 0 ||
        (is_champion && store_record_champion(store, 0, number, like->number,
                                              like->outcome->score_us, &error) < 0) ||
        store_commit(store, &error) < 0)
        BUG("%s", error.text);
}

/* Prints the latency of the first complete view; returns the mean CPU time. */
static double bench_first(struct watcher *watcher, const char *program, const char *run) {
    double cost_s = 0;
    for (int i = 0; i < FIRST_VIEWS; i++) {
        double started_s = clock_seconds();
        start_watch(watcher, program, run);
        if (!read_output(watcher, 30, true))
            BUG("watch shows no view: %s", watcher->shown);
        double whole_s = clock_seconds() - started_s;
        double one_s = quit_watch(watcher);
        printf("first view after %.3f s; CPU time until exit %.3f s\n", whole_s, one_s);
        cost_s += one_s / FIRST_VIEWS;
    }
    return cost_s;
}

static void bench(const char *program, const char *run) {
    static struct watcher watcher;
    struct error error = {0};
    struct store_counts counts;
    double first_s = bench_first(&watcher, program, run);
    struct store *store = store_open(run, STORE_WRITE, &error);
    if (store == NULL || store_count(store, &counts, &error) < 0)
        BUG("%s", error.text);
    struct store_trial *like = store_trial_read(store, store_ranked(store, 0, 1, &error), &error);
    if (like == NULL)
        BUG("%s", error.text);
    publish(run, counts.observed, 0);
    start_watch(&watcher, program, run);
    read_output(&watcher, 30, true);
    watcher.drawn = 0;
    double started_s = clock_seconds();
    for (int i = 0; clock_seconds() - started_s < WATCHED_S; i++) {
        add_trial(store, counts.asked + i, like, i % TRIALS_PER_S == 0);
        if (i % TRIALS_PER_S == 0)
            publish(run, counts.observed + i, clock_seconds() - started_s);
        read_output(&watcher, 1.0 / TRIALS_PER_S, false);
    }
    double watched_s = clock_seconds() - started_s;
    int64_t drawn = watcher.drawn;
    double after_s = quit_watch(&watcher) - first_s;
    printf("with a writer, %.0f s after the first view took %.3f s of CPU time: %.2f %% of a core; "
           "%lld bytes were drawn\n",
           watched_s, after_s, 100 * after_s / watched_s, (long long)drawn);
    store_trial_free(like);
    store_close(store);
}

int main(int argc, char **argv) {
    char program[PATH_SIZE], folder[PATH_SIZE], run[PATH_SIZE];
    struct error error = {0};
    if (path_program_folder(program, &error) < 0 ||
        path_join(program, program, "../../evotile", &error) < 0)
        BUG("%s", error.text);
    if (argc > 1) {
        bench(program, argv[1]);
        return 0;
    }
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    if (path_join(folder, temporary, "evotile-watch-XXXXXX", &error) < 0 ||
        mkdtemp(folder) == NULL || path_join(run, folder, "run", &error) < 0)
        BUG("cannot make a folder in %s", temporary);
    if (made_run(config, run, TRIALS, &error) < 0)
        BUG("%s", error.text);
    printf("a run of %d trials over the cases of %s\n", TRIALS, config);
    bench(program, run);
    path_remove_tree(folder, &error);
    return 0;
}
