#include "remote/worker_registry.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"

#include <string.h>

enum { WORKERS_MAX = 4096 };

void worker_registry_release(struct worker_registry *registry) {
    free(registry->workers);
    *registry = (struct worker_registry){0};
}

struct remote_worker *worker_registry_find(struct worker_registry *registry, const char *id) {
    for (int h = 0; h < registry->count; h++)
        if (strcmp(registry->workers[h].heartbeat.worker, id) == 0)
            return &registry->workers[h];
    if (registry->count == WORKERS_MAX)
        return NULL;
    registry->workers = xgrow(registry->workers, registry->count, sizeof *registry->workers);
    struct remote_worker *worker = &registry->workers[registry->count++];
    *worker = (struct remote_worker){0};
    return worker;
}

void worker_registry_remove(struct worker_registry *registry, struct remote_worker *worker) {
    *worker = registry->workers[--registry->count];
}

int worker_registry_expire(struct worker_registry *registry) {
    double now = clock_seconds();
    int vanished = 0;
    for (int h = registry->count - 1; h >= 0; h--) {
        struct remote_worker *worker = &registry->workers[h];
        if (now - worker->last_seen < interval_s(INTERVAL_HEARTBEAT_TIMEOUT))
            continue;
        if (!worker->rejected) {
            log_info("the worker on %s timed out: others get its work", worker->heartbeat.host);
            vanished++;
        }
        worker_registry_remove(registry, worker);
    }
    return vanished;
}

int worker_registry_capacity(const struct worker_registry *registry) {
    int capacity = 0;
    for (int h = 0; h < registry->count; h++)
        capacity += registry->workers[h].rejected ? 0 : registry->workers[h].heartbeat.capacity;
    return capacity;
}

int worker_registry_list(const struct worker_registry *registry, struct pool_worker *workers,
                         int limit) {
    int count = 0;
    for (int h = 0; h < registry->count; h++) {
        const struct remote_worker *worker = &registry->workers[h];
        for (int d = 0; d < worker->heartbeat.devices && !worker->rejected; d++, count++) {
            if (count >= limit)
                continue;
            workers[count] = (struct pool_worker){
                .role = "device",
                .state = worker->heartbeat.in_flight > d ? POOL_BUSY : POOL_IDLE,
                .trial = -1,
                .since_s = clock_seconds() - worker->last_seen};
            snprintf(workers[count].host, sizeof workers[count].host, "%s", worker->heartbeat.host);
        }
    }
    return count;
}
