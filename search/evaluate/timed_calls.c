#include "evaluate/timed_calls.h"

#include "base/memory.h"
#include "evaluate/prepare_call.h"

#include <stdlib.h>
#include <string.h>

/* A placement's copies take so much of a GPU's memory at most: 2 GB of an H200, on which five
   placements and both sides of a duel exist at a time. */
enum { MEMORY_SHARE = 64 };

static bool is_prepared(const struct buffers *buffers, int t) {
    return buffers->plan->tensors[t].present &&
           buffers->template->tensors[t].before != BEFORE_ANYTHING;
}

static void write_round(struct timed_calls *calls, int round, struct buffers *buffers) {
    const int sets = calls->buffers->set_count;
    for (int s = 0; s < sets; s++) {
        buffers_sequence(buffers, s, calls->module, &calls->calls[round * sets + s]);
        if (calls->before != NULL)
            buffers_prepare_sequence(buffers, s, &calls->before[round * sets + s]);
    }
}

void timed_calls_init(struct timed_calls *calls, struct buffers *buffers,
                      struct device_module *module) {
    const size_t sets = (size_t)buffers->set_count;
    *calls = (struct timed_calls){.buffers = buffers, .module = module, .rounds = 1};
    calls->calls = xcalloc(sets, sizeof *calls->calls);
    if (template_prepares_calls(buffers->template))
        calls->before = xcalloc(sets, sizeof *calls->before);
    write_round(calls, 0, buffers);
}

/* Leaves the tensors that are not its own. */
static void release_copies(struct timed_calls *calls, struct buffers *round) {
    for (int s = 0; s < round->set_count; s++)
        for (int t = 0; t < round->template->tensor_count; t++)
            if (calls->shared || !is_prepared(round, t))
                round->tensors[s][t] = 0;
    buffers_release(round);
}

void timed_calls_release(struct timed_calls *calls) {
    for (int r = 1; r < calls->rounds; r++)
        release_copies(calls, &calls->more[r - 1]);
    free(calls->more);
    free(calls->calls);
    free(calls->before);
    *calls = (struct timed_calls){0};
}

/* Of one round. */
static int64_t bytes_of_copies(const struct buffers *buffers) {
    int64_t bytes = 0;
    for (int t = 0; t < buffers->template->tensor_count; t++)
        if (is_prepared(buffers, t))
            bytes += buffers->plan->tensors[t].bytes * buffers->set_count;
    return bytes;
}

static int rounds_of(const struct timed_calls *calls, int launches) {
    const int64_t bytes = bytes_of_copies(calls->buffers);
    const int64_t fitting = calls->buffers->device->info.memory_bytes / MEMORY_SHARE / bytes;
    const int rounds = launches / calls->buffers->set_count;
    return fitting + 1 < rounds ? (int)fitting + 1 : rounds;
}

/* Whether another measurement's copies can be used; its tensors are as large if their sets are the
   same ones. */
static bool are_alike(const struct timed_calls *calls, const struct timed_calls *other,
                      int rounds) {
    if (other == NULL || other->rounds != rounds ||
        other->buffers->set_count != calls->buffers->set_count)
        return false;
    for (int t = 0; t < calls->buffers->template->tensor_count; t++)
        if (is_prepared(calls->buffers, t) &&
            calls->buffers->tensors[0][t] != other->buffers->tensors[0][t])
            return false;
    return true;
}

/* Allocates the copies of a round; the other tensors are those of the sets. */
static int init_round(const struct timed_calls *calls, const struct buffers *like,
                      struct buffers *round, struct error *error) {
    const struct buffers *sets = calls->buffers;
    const int tensors = sets->template->tensor_count;
    if (like != NULL) {
        *round = *sets;
        memset(round->more, 0, sizeof round->more);
        memcpy(round->tensors, like->tensors, sizeof round->tensors);
    } else {
        struct launch_plan *copies = xmalloc(sizeof *copies);
        *copies = *sets->plan;
        for (int t = 0; t < tensors; t++)
            copies->tensors[t].present = is_prepared(sets, t);
        int status = buffers_init(round, sets->comparator, sets->device, sets->template, copies,
                                  sets->set_count, error);
        free(copies);
        if (status < 0)
            return -1;
        round->plan = sets->plan;
    }
    for (int s = 0; s < sets->set_count; s++)
        for (int t = 0; t < tensors; t++)
            if (!is_prepared(sets, t))
                round->tensors[s][t] = sets->tensors[s][t];
    return 0;
}

int timed_calls_add(struct timed_calls *calls, int launches, const struct timed_calls *share_with,
                    struct error *error) {
    const int sets = calls->buffers->set_count;
    if (calls->before == NULL || launches <= sets || bytes_of_copies(calls->buffers) == 0)
        return launches;
    const int rounds = rounds_of(calls, launches);
    const size_t count = (size_t)(rounds * sets);
    calls->shared = are_alike(calls, share_with, rounds);
    calls->more = xcalloc((size_t)rounds, sizeof *calls->more);
    calls->calls = xrealloc(calls->calls, count * sizeof *calls->calls);
    calls->before = xrealloc(calls->before, count * sizeof *calls->before);
    for (; calls->rounds < rounds; calls->rounds++) {
        struct buffers *round = &calls->more[calls->rounds - 1];
        if (init_round(calls, calls->shared ? &share_with->more[calls->rounds - 1] : NULL, round,
                       error) < 0)
            return -1;
        write_round(calls, calls->rounds, round);
    }
    return rounds * sets;
}

int timed_calls_rotation(const struct timed_calls *calls, int launches) {
    const int sets = calls->buffers->set_count;
    return calls->rounds > 1 && launches > sets ? launches : sets;
}

void timed_calls_view(const struct timed_calls *calls, int round, struct buffers *view) {
    *view = *calls->buffers;
    if (round > 0)
        memcpy(view->tensors, calls->more[round - 1].tensors, sizeof view->tensors);
}

int timed_calls_agree(const struct timed_calls *calls, int set, int rounds, struct error *error) {
    uint64_t first, other;
    if (buffers_checksum(calls->buffers, set, ROLE_OUTPUT, &first, error) < 0)
        return -1;
    for (int r = 1; r < rounds; r++) {
        if (buffers_checksum(&calls->more[r - 1], set, ROLE_OUTPUT, &other, error) < 0)
            return -1;
        if (other != first)
            return 0;
    }
    return 1;
}
