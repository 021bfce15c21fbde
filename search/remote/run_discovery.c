#include "remote/run_discovery.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "remote/connection_internal.h"

#include <string.h>

enum { KNOWN_MAX = 256 };

static const double silence_timeout_s = 60;

/* After so many polls a rejected run is tried again: its coordinator restores a file that is
   missing on the queue, and a user a program that is missing here. */
static const double retry_polls = 15;

/* A run that was seen before, and when its description last changed. */
struct known_run {
    char id[QUEUE_ID_SIZE];
    uint64_t revision;
    double changed; /* clock_seconds */
    bool rejected;
    double retried; /* when it may be found again */
};

struct run_discovery {
    struct connection *connection;
    int count;
    struct known_run known[KNOWN_MAX];
};

struct run_discovery *run_discovery_new(struct connection *connection) {
    struct run_discovery *discovery = xcalloc(1, sizeof *discovery);
    discovery->connection = connection;
    return discovery;
}

void run_discovery_free(struct run_discovery *discovery) {
    free(discovery);
}

static struct known_run *find_or_add_run(struct run_discovery *discovery, const char *id) {
    for (int k = 0; k < discovery->count; k++)
        if (strcmp(discovery->known[k].id, id) == 0)
            return &discovery->known[k];
    if (discovery->count == KNOWN_MAX) /* drops the oldest: it has long ended */
        memmove(discovery->known, discovery->known + 1,
                (size_t)--discovery->count * sizeof *discovery->known);
    struct known_run *known = &discovery->known[discovery->count++];
    *known = (struct known_run){0};
    snprintf(known->id, sizeof known->id, "%s", id);
    return known;
}

int run_discovery_read(struct run_discovery *discovery, const char *id,
                       struct run_description *description, struct error *error) {
    struct known_run *known = find_or_add_run(discovery, id);
    kvEntry *entry = NULL;
    if (kvStore_Get(&entry, discovery->connection->runs, id) != NATS_OK)
        return 0;
    if (kvEntry_Revision(entry) != known->revision)
        known->changed = clock_seconds();
    known->revision = kvEntry_Revision(entry);
    int length = kvEntry_ValueLen(entry);
    char *text = xstrndup(kvEntry_Value(entry), length <= QUEUE_MESSAGE_MAX ? (size_t)length : 0);
    kvEntry_Destroy(entry);
    int status = run_description_parse(description, text, error);
    free(text);
    if (status == 0 && strcmp(description->id, id) != 0) {
        run_description_release(description);
        status = error_input(error, "its description has the id of run %s", description->id);
    }
    if (status < 0)
        return -1;
    if (clock_seconds() - known->changed < silence_timeout_s)
        return 1;
    run_description_release(description);
    return 0;
}

void run_discovery_reject(struct run_discovery *discovery, const char *id,
                          const struct error *error) {
    struct known_run *known = find_or_add_run(discovery, id);
    if (!known->rejected)
        log_warn("this worker skips run %s: %s", id, error->text);
    known->rejected = true;
    known->retried = clock_seconds() + retry_polls * interval_s(INTERVAL_RUN_POLL);
}

int run_discovery_find(struct run_discovery *discovery, struct run_description *description,
                       struct error *error) {
    kvKeysList keys = {0};
    int status = connection_bind_streams(discovery->connection, false, error);
    if (status != 0) /* 1: no coordinator has used this server yet */
        return status < 0 ? -1 : 0;
    if (kvStore_Keys(&keys, discovery->connection->runs, NULL) != NATS_OK)
        return 0;
    for (int k = 0; k < keys.Count && status != 1; k++) {
        struct error why = {0};
        if (strlen(keys.Keys[k]) != QUEUE_ID_SIZE - 1 ||
            find_or_add_run(discovery, keys.Keys[k])->retried > clock_seconds())
            continue;
        status = run_discovery_read(discovery, keys.Keys[k], description, &why);
        if (status < 0)
            run_discovery_reject(discovery, keys.Keys[k], &why);
    }
    kvKeysList_Destroy(&keys);
    return status == 1;
}
