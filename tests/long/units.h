/*
 * units: a long test as units of work that JOBS processes do (default: one a core), each in the
 * order of their numbers. What a unit found depends on its number alone.
 *
 *     static bool check_unit(void *context, int unit, struct unit_result *result);
 *     const struct units work = {.name = "honest", .count = 250, .open = open, .run = check_unit};
 *     struct units_total total = units_run(&work);
 *
 * If LONG_STATE names a folder, as `make check-long` sets it, each finished unit is a line of the
 * file NAME in it; a later call leaves these units out. The file belongs to one build of the test
 * and one count: with another it starts again. UNIT=N does that unit alone, in this process, for a
 * debugger. SECONDS: no unit starts later than that.
 */
#ifndef EVOTILE_TESTS_LONG_UNITS_H
#define EVOTILE_TESTS_LONG_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/resource_limits.h"

enum { UNIT_JOBS_MAX = 256, UNIT_TEXT_SIZE = 2048, UNITS_BINARY_MAX = 1 << 30 };

struct unit_result {
    int64_t done, failed;
    uint64_t mark;             /* what distinguishes the unit's subject: a hash */
    char text[UNIT_TEXT_SIZE]; /* of the failures, lines */
};

struct units {
    const char *name;
    int count;
    int64_t each; /* what a unit does, part of the state's identity */
    void *context;
    void (*open)(void *context); /* in each process, before its first unit; may be NULL */
    /* Returns false if the process must not do another: its device is lost. */
    bool (*run)(void *context, int unit, struct unit_result *result);
};

struct units_total {
    int64_t done, failed;
    int units, distinct; /* finished ones; different marks */
    int lost;            /* processes that ended within a unit */
};

/* Shared by the processes. */
struct units_shared {
    int next;
    int unit[UNIT_JOBS_MAX]; /* that a job is doing; -1: none */
    struct unit_result result[UNIT_JOBS_MAX];
    bool finished[UNIT_JOBS_MAX]; /* the result is for the parent to take */
};

struct units_run {
    const struct units *work;
    struct units_shared *shared;
    struct units_total total;
    bool *known; /* of units: in the state */
    uint64_t *marks;
    FILE *state;
    double start, limit_s;
};

static inline int64_t units_number(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoll(text, NULL, 10) : otherwise;
}

static inline void units_add(struct units_run *run, const struct unit_result *result) {
    bool is_known = false;
    for (int i = 0; i < run->total.distinct && !is_known; i++)
        is_known = run->marks[i] == result->mark;
    if (!is_known)
        run->marks[run->total.distinct++] = result->mark;
    run->total.units++;
    run->total.done += result->done;
    run->total.failed += result->failed;
    if (result->text[0] != '\0')
        printf("%s", result->text);
}

/* ---- the state ---- */

static inline void units_read_state(struct units_run *run, FILE *file) {
    int unit;
    struct unit_result result = {0};
    while (fscanf(file, "%d %ld %ld %lx\n", &unit, &result.done, &result.failed, &result.mark) == 4)
        if (unit >= 0 && unit < run->work->count && !run->known[unit]) {
            run->known[unit] = true;
            units_add(run, &result);
        }
}

static inline void units_open_state(struct units_run *run) {
    struct error error = {0};
    char path[PATH_SIZE], identity[128], have[128] = "", hash[HASH_TEXT_SIZE];
    const char *folder = getenv("LONG_STATE");
    size_t size;
    if (folder == NULL || *folder == '\0')
        return;
    char *binary = path_read_file("/proc/self/exe", UNITS_BINARY_MAX, &size, &error);
    if (binary == NULL || path_make_folder(folder, &error) < 0 ||
        path_join(path, folder, run->work->name, &error) < 0) {
        printf("%s\n", error.text);
        exit(1);
    }
    snprintf(identity, sizeof identity, "%s %d %ld\n", hash_print(hash_bytes(binary, size), hash),
             run->work->count, run->work->each);
    free(binary);
    run->state = fopen(path, "r");
    bool same = run->state != NULL && fgets(have, sizeof have, run->state) != NULL &&
                strcmp(have, identity) == 0;
    if (same)
        units_read_state(run, run->state);
    if (run->state != NULL)
        fclose(run->state);
    run->state = fopen(path, same ? "a" : "w");
    if (run->state == NULL) {
        perror(path);
        exit(1);
    }
    if (!same)
        fprintf(run->state, "%s", identity);
    else
        printf("%s: %d of %d units were done before\n", run->work->name, run->total.units,
               run->work->count);
}

/* Failures are not stored: the next call tries their units again, and shows them again. */
static inline void units_store(struct units_run *run, int unit, const struct unit_result *result) {
    if (run->state == NULL || result->failed > 0)
        return;
    fprintf(run->state, "%d %ld %ld %lx\n", unit, result->done, result->failed, result->mark);
    fflush(run->state);
}

/* ---- the processes ---- */

static inline bool units_late(const struct units_run *run) {
    return run->limit_s > 0 && clock_seconds() - run->start > run->limit_s;
}

static inline void units_do(struct units_run *run, int job) {
    struct units_shared *shared = run->shared;
    bool usable = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (run->work->open != NULL)
        run->work->open(run->work->context);
    while (usable && !units_late(run)) {
        int unit = __atomic_fetch_add(&shared->next, 1, __ATOMIC_SEQ_CST);
        if (unit >= run->work->count)
            break;
        if (run->known[unit])
            continue;
        while (__atomic_load_n(&shared->finished[job], __ATOMIC_SEQ_CST))
            usleep(1000);
        memset(&shared->result[job], 0, sizeof shared->result[job]);
        __atomic_store_n(&shared->unit[job], unit, __ATOMIC_SEQ_CST);
        usable = run->work->run(run->work->context, unit, &shared->result[job]);
        __atomic_store_n(&shared->finished[job], true, __ATOMIC_SEQ_CST);
    }
    fflush(NULL);
    if (!usable) /* a driver whose device is lost may not end in its exit handlers */
        _exit(0);
    exit(0);
}

static inline pid_t units_start(struct units_run *run, int job) {
    run->shared->unit[job] = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        units_do(run, job);
    return pid;
}

static inline void units_take(struct units_run *run, int job) {
    struct units_shared *shared = run->shared;
    if (!__atomic_load_n(&shared->finished[job], __ATOMIC_SEQ_CST))
        return;
    units_add(run, &shared->result[job]);
    units_store(run, shared->unit[job], &shared->result[job]);
    shared->unit[job] = -1;
    __atomic_store_n(&shared->finished[job], false, __ATOMIC_SEQ_CST);
}

/* Returns whether the job goes on in another process. */
static inline bool units_ended(struct units_run *run, int job, int status) {
    units_take(run, job);
    int unit = run->shared->unit[job];
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
        printf("unit %d: %s %d: UNIT=%d does it again\n", unit,
               WIFSIGNALED(status) ? "killed by signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), unit);
        run->total.lost++;
        if (unit < 0) /* it cannot even open its device */
            return false;
    }
    return run->shared->next < run->work->count && !units_late(run) && run->total.lost < 100;
}

static inline void units_show(const struct units_run *run) {
    printf("%s: %d of %d units, %ld done, %ld failed, %.0f s\n", run->work->name, run->total.units,
           run->work->count, run->total.done, run->total.failed, clock_seconds() - run->start);
    fflush(stdout);
}

static inline void units_in_parallel(struct units_run *run, int jobs) {
    pid_t pids[UNIT_JOBS_MAX];
    double shown = clock_seconds();
    int alive = 0;
    for (int j = 0; j < jobs; j++, alive++)
        pids[j] = units_start(run, j);
    while (alive > 0) {
        usleep(2000);
        for (int j = 0; j < jobs; j++) {
            int status;
            units_take(run, j);
            if (pids[j] <= 0 || waitpid(pids[j], &status, WNOHANG) != pids[j])
                continue;
            bool again = units_ended(run, j, status);
            pids[j] = again ? units_start(run, j) : 0;
            alive -= !again;
        }
        if (clock_seconds() - shown > 20) {
            units_show(run);
            shown = clock_seconds();
        }
    }
}

static inline struct units_total units_run(const struct units *work) {
    struct units_run run = {
        .work = work, .start = clock_seconds(), .limit_s = (double)units_number("SECONDS", 0)};
    int64_t only = units_number("UNIT", -1);
    int jobs = (int)units_number("JOBS", resource_limits_read("").cores);
    run.known = xcalloc((size_t)work->count, sizeof *run.known);
    run.marks = xcalloc((size_t)work->count, sizeof *run.marks);
    if (only >= 0) {
        struct unit_result *result = xcalloc(1, sizeof *result);
        if (work->open != NULL)
            work->open(work->context);
        work->run(work->context, (int)only, result);
        units_add(&run, result);
        free(result);
    } else {
        run.shared = mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (run.shared == MAP_FAILED)
            abort();
        units_open_state(&run);
        units_in_parallel(&run, jobs < 1               ? 1
                                : jobs > UNIT_JOBS_MAX ? UNIT_JOBS_MAX
                                : jobs > work->count   ? work->count
                                                       : jobs);
        munmap(run.shared, sizeof *run.shared);
        if (run.state != NULL)
            fclose(run.state);
        if (run.total.units < work->count)
            printf("%s: %d of %d units were not finished: run it again to go on\n", work->name,
                   work->count - run.total.units, work->count);
    }
    free(run.known);
    free(run.marks);
    return run.total;
}

#endif
