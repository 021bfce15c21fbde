#include "queue/roster.h"

#include "base/clock.h"
#include "base/log.h"

#include <string.h>

enum { WORKERS_MAX = 4096 };

static const double forget_after_s = 15; /* without a heartbeat */

void roster_release(struct roster *roster) {
    free(roster->helpers);
    *roster = (struct roster){0};
}

struct helper *roster_find(struct roster *roster, const char *id) {
    for (int h = 0; h < roster->count; h++)
        if (strcmp(roster->helpers[h].beat.worker, id) == 0)
            return &roster->helpers[h];
    if (roster->count == WORKERS_MAX)
        return NULL;
    roster->helpers =
        realloc(roster->helpers, (size_t)(roster->count + 1) * sizeof *roster->helpers);
    if (roster->helpers == NULL)
        BUG("out of memory");
    struct helper *helper = &roster->helpers[roster->count++];
    *helper = (struct helper){0};
    return helper;
}

void roster_drop(struct roster *roster, struct helper *helper) {
    *helper = roster->helpers[--roster->count];
}

int roster_forget(struct roster *roster) {
    double now = clock_seconds();
    int vanished = 0;
    for (int h = roster->count - 1; h >= 0; h--) {
        struct helper *helper = &roster->helpers[h];
        if (now - helper->heard < forget_after_s)
            continue;
        if (!helper->refused) {
            log_info("the worker on %s timed out: others get its work", helper->beat.host);
            vanished++;
        }
        roster_drop(roster, helper);
    }
    return vanished;
}

int roster_capacity(const struct roster *roster) {
    int capacity = 0;
    for (int h = 0; h < roster->count; h++)
        capacity += roster->helpers[h].refused ? 0 : roster->helpers[h].beat.capacity;
    return capacity;
}

int roster_look(const struct roster *roster, struct pool_worker *workers, int limit) {
    int count = 0;
    for (int h = 0; h < roster->count; h++) {
        const struct helper *helper = &roster->helpers[h];
        for (int d = 0; d < helper->beat.devices && !helper->refused; d++, count++) {
            if (count >= limit)
                continue;
            workers[count] =
                (struct pool_worker){.role = "device",
                                     .state = helper->beat.in_flight > d ? POOL_BUSY : POOL_IDLE,
                                     .trial = -1,
                                     .since_s = clock_seconds() - helper->heard};
            snprintf(workers[count].host, sizeof workers[count].host, "%s", helper->beat.host);
        }
    }
    return count;
}
