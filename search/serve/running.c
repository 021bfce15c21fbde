#include "serve/running.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct running *running_add(struct running_list *list, const struct candidate *candidate,
                            int64_t number, double best_us) {
    struct running *running = xcalloc(1, sizeof *running);
    running->number = number;
    running->candidate = *candidate;
    running->best_us = best_us;
    running->start_s = clock_seconds();
    running->next = list->first;
    list->first = running;
    return running;
}

/* Whether what must be checked if it takes less than `used_us` is checked if it takes less than
   `best_us`; 0 is however long it takes. */
static bool is_checked_enough(double used_us, double best_us) {
    return used_us <= 0 || (best_us > 0 && best_us <= used_us);
}

struct running *running_find(const struct running_list *list, const struct candidate *candidate,
                             double best_us) {
    for (struct running *running = list->first; running != NULL; running = running->next)
        if (hash_equal(running->candidate.hash, candidate->hash) &&
            is_checked_enough(running->best_us, best_us))
            return running;
    return NULL;
}

struct running *running_find_step(const struct running_list *list, enum running_step step) {
    for (struct running *running = list->first; running != NULL; running = running->next)
        if (running->step == step)
            return running;
    return NULL;
}

struct running *running_find_number(const struct running_list *list, int64_t number) {
    for (struct running *running = list->first; running != NULL; running = running->next)
        if (running->number == number)
            return running;
    return NULL;
}

void running_add_task(struct running *running, const struct task *task) {
    running->tasks =
        xrealloc(running->tasks, (size_t)(running->task_count + 1) * sizeof *running->tasks);
    struct waiting_task *added = &running->tasks[running->task_count++];
    added->id = task->id;
    strcpy(added->client, task->client);
}

void running_end(struct running_list *list, struct running *running) {
    struct running **at = &list->first;
    while (*at != running)
        at = &(*at)->next;
    *at = running->next;
    cJSON_Delete(running->answer);
    free(running->tasks);
    free(running);
}

void running_list_release(struct running_list *list) {
    while (list->first != NULL)
        running_end(list, list->first);
}
