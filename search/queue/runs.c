#include "queue/runs.h"

#include "base/clock.h"
#include "base/log.h"
#include "queue/server.h"

#include <string.h>

enum { KNOWN_MAX = 256 };

static const double silence_s = 60;

/* A run that was seen before, and when its description last changed. */
struct known {
    char id[QUEUE_ID_SIZE];
    uint64_t revision;
    double changed; /* clock_seconds */
    bool refused;
};

struct runs {
    struct link *link;
    int count;
    struct known known[KNOWN_MAX];
};

struct runs *runs_new(struct link *link) {
    struct runs *runs = calloc(1, sizeof *runs);
    if (runs == NULL)
        BUG("out of memory");
    runs->link = link;
    return runs;
}

void runs_free(struct runs *runs) {
    free(runs);
}

static struct known *know(struct runs *runs, const char *id) {
    for (int k = 0; k < runs->count; k++)
        if (strcmp(runs->known[k].id, id) == 0)
            return &runs->known[k];
    if (runs->count == KNOWN_MAX) /* drops the oldest: it has long ended */
        memmove(runs->known, runs->known + 1, (size_t)--runs->count * sizeof *runs->known);
    struct known *known = &runs->known[runs->count++];
    *known = (struct known){0};
    snprintf(known->id, sizeof known->id, "%s", id);
    return known;
}

int runs_read(struct runs *runs, const char *id, struct description *description,
              struct error *error) {
    struct known *known = know(runs, id);
    kvEntry *entry = NULL;
    if (kvStore_Get(&entry, runs->link->runs, id) != NATS_OK)
        return 0;
    if (kvEntry_Revision(entry) != known->revision)
        known->changed = clock_seconds();
    known->revision = kvEntry_Revision(entry);
    int length = kvEntry_ValueLen(entry);
    char *text = strndup(kvEntry_Value(entry), length <= QUEUE_MESSAGE_MAX ? (size_t)length : 0);
    kvEntry_Destroy(entry);
    if (text == NULL)
        BUG("out of memory");
    int status = description_parse(description, text, error);
    free(text);
    if (status == 0 && strcmp(description->id, id) != 0) {
        description_release(description);
        status = error_input(error, "its description has the id of run %s", description->id);
    }
    if (status < 0)
        return -1;
    if (clock_seconds() - known->changed < silence_s)
        return 1;
    description_release(description);
    return 0;
}

void runs_refuse(struct runs *runs, const char *id, const struct error *error) {
    struct known *known = know(runs, id);
    if (!known->refused)
        log_warn("this worker skips run %s: %s", id, error->text);
    known->refused = true;
}

int runs_find(struct runs *runs, struct description *description, struct error *error) {
    kvKeysList keys = {0};
    int status = link_bind(runs->link, false, error);
    if (status != 0) /* 1: no coordinator has used this server yet */
        return status < 0 ? -1 : 0;
    if (kvStore_Keys(&keys, runs->link->runs, NULL) != NATS_OK)
        return 0;
    for (int k = 0; k < keys.Count && status != 1; k++) {
        struct error why = {0};
        if (strlen(keys.Keys[k]) != QUEUE_ID_SIZE - 1 || know(runs, keys.Keys[k])->refused)
            continue;
        status = runs_read(runs, keys.Keys[k], description, &why);
        if (status < 0)
            runs_refuse(runs, keys.Keys[k], &why);
    }
    kvKeysList_Destroy(&keys);
    return status == 1;
}
