/*
 * processes: numbered items, distributed to child processes that each work through a range of them.
 * If an item ends its process, only that item is lost: another process continues with the next.
 *
 *     struct processes processes = {.count = 1632, .jobs = 4, .context = &desk,
 *                                   .open = open_desk, .work = judge, .lost = note_loss};
 *     processes_run(&processes);
 *
 * `open` and `work` run in the child; results for the parent go to memory from processes_shared.
 * `lost` runs in the parent.
 */
#ifndef EVOTILE_TESTS_DEVICE_PROCESSES_H
#define EVOTILE_TESTS_DEVICE_PROCESSES_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MAX = 32 };

struct processes {
    int count, jobs;
    void *context;
    void (*open)(void *context);
    void (*work)(void *context, int item, int end); /* the process continues up to `end` */
    void (*lost)(void *context, int item, int status);
};

/* One for each CPU core, limited for the GPU's sake. */
static inline int processes_jobs(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 16 ? 16 : (int)processors;
}

/* Zeroed memory that children and parent share; release it with munmap. */
static inline void *processes_shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

struct processes_share {
    int at, end;
    pid_t child;
};

static inline void processes_start(const struct processes *processes,
                                   struct processes_share *share) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child > 0) {
        share->child = child;
        return;
    }
    processes->open(processes->context);
    for (; share->at < share->end; share->at++)
        processes->work(processes->context, share->at, share->end);
    fflush(NULL);
    _exit(0);
}

static inline void processes_run(const struct processes *processes) {
    struct processes_share *shares = processes_shared(PROCESSES_MAX * sizeof *shares);
    int running = 0, status;
    for (int i = 0; i < processes->jobs; i++) {
        shares[i].at = processes->count * i / processes->jobs;
        shares[i].end = processes->count * (i + 1) / processes->jobs;
        running += shares[i].at < shares[i].end;
        if (shares[i].at < shares[i].end)
            processes_start(processes, &shares[i]);
    }
    for (pid_t ended; running > 0 && (ended = wait(&status)) > 0;)
        for (int i = 0; i < processes->jobs; i++) {
            struct processes_share *share = &shares[i];
            if (share->child != ended)
                continue;
            if (share->at < share->end)
                processes->lost(processes->context, share->at++, status);
            if (share->at < share->end)
                processes_start(processes, share);
            else
                running--;
            break;
        }
    munmap(shares, PROCESSES_MAX * sizeof *shares);
}

#endif
