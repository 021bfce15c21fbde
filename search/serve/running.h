/*
 * running: the candidates of a server that are being judged, and the tasks that wait for each.
 *
 *     struct running_list list = {0};
 *     struct running *running = running_add(&list, &candidate, number, best_us);
 *     running_add_task(running, task);
 *     running = running_find_number(&list, number);
 *     running_end(&list, running);                // once it is judged
 *
 * A candidate passes one step after another: its own trial, and then what its request asks for: a
 * duel with the baseline, and counters.
 */
#ifndef EVOTILE_SERVE_RUNNING_H
#define EVOTILE_SERVE_RUNNING_H

#include "serve/candidate.h"
#include "serve/tasks.h"

struct waiting_task {
    int64_t id;
    char client[CLIENT_NAME_SIZE];
};

enum running_step { RUNNING_TRIAL, RUNNING_BASELINE, RUNNING_COUNTERS };

struct running {
    struct running *next;
    int64_t number; /* of its trial in the pool */
    enum running_step step;
    struct candidate candidate;
    double best_us; /* what is faster must pass the final checks; 0: whatever it takes */
    double start_s;
    cJSON *answer; /* after its own trial. Owned */
    bool kept;     /* the answer is to be kept */
    int task_count;
    struct waiting_task *tasks; /* owned */
};

struct running_list {
    struct running *first;
};

/* Adds a candidate that has no tasks yet. */
struct running *running_add(struct running_list *list, const struct candidate *candidate,
                            int64_t number, double best_us);
/* The same candidate, checked at least as one whose client's best score is `best_us`; NULL: there
   is none. */
struct running *running_find(const struct running_list *list, const struct candidate *candidate,
                             double best_us);
struct running *running_find_step(const struct running_list *list, enum running_step step);
struct running *running_find_number(const struct running_list *list, int64_t number);
void running_add_task(struct running *running, const struct task *task);
/* Removes it from the list and frees it. */
void running_end(struct running_list *list, struct running *running);
void running_list_release(struct running_list *list);

#endif
