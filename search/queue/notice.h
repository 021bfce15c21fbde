/*
 * messages: what coordinator and workers publish about themselves, as JSON: a run's description
 * (in the key-value store) and a worker's heartbeat. Whatever comes from the server is validated
 * here before use: every length, every path. Its strings are printed on terminals, so a text with a
 * control character is rejected.
 *
 *     char *text = run_description_print(&description);        // the caller frees it
 *     if (run_description_parse(&description, text, &error) == 0)
 *         ...;
 *     run_description_release(&description);
 *
 * A message of another protocol version is an error that says so.
 */
#ifndef EVOTILE_QUEUE_NOTICE_H
#define EVOTILE_QUEUE_NOTICE_H

#include "base/hash.h"
#include "device/device.h"
#include "queue/link.h"
#include "trial/trial.h"

/* What measurements depend on: all trials of a population come from the same platform. */
struct queue_place {
    struct device_info device; /* the worker's first device; its `spec` is local to the worker */
    char nvrtc[32];            /* version */
    char method[64];           /* TRIAL_METHOD */
};

/* True if trials from both platforms are comparable; if not, `why` says in what they differ. */
bool queue_place_same(const struct queue_place *a, const struct queue_place *b, char why[256]);

enum { QUEUE_FILES_MAX = 1024, QUEUE_PATH_SIZE = 256 };

struct queue_file {
    char path[QUEUE_PATH_SIZE]; /* relative to the run's folder, and inside it */
    int64_t bytes;
    struct hash hash;
};

struct description {
    char id[QUEUE_ID_SIZE];
    char name[128];    /* for display */
    double patience_s; /* AckWait: a request is redelivered after so long without an extension */
    bool placed;       /* the first worker is known: `platform` is what every worker must have */
    struct queue_place place;
    int file_count;
    struct queue_file *files; /* owned */
    int champion_count;       /* accepted since the coordinator started, one per goal */
    struct trial_champion champions[CASES_MAX];
};

char *description_print(const struct description *description);
int description_parse(struct description *description, const char *text, struct error *error);
void description_release(struct description *description);

struct beat {
    char worker[QUEUE_ID_SIZE];
    char host[64];
    struct queue_place place;
    int devices;   /* in service */
    int capacity;  /* trials in flight that keep it busy */
    int in_flight; /* trials that it has now */
    bool leaving;  /* its last heartbeat: it shuts down */
};

char *beat_print(const struct beat *beat);
/* On -1, `worker` and `host` identify the sender if these two could be read; else both are empty.
 */
int beat_parse(struct beat *beat, const char *text, struct error *error);

#endif
