/*
 * notice: what coordinator and workers tell of themselves, as JSON: a run's description, which lies
 * in the key-value bucket, and a worker's beat. What comes from the server is checked here, each
 * length and each path, before anything is done with it; its words go to terminals, and what holds
 * a control character is refused.
 *
 *     char *text = description_print(&description);            // the caller frees it
 *     if (description_parse(&description, text, &error) == 0) ...;
 * description_release(&description);
 *
 * That somebody speaks another protocol is an error which says so.
 */
#ifndef EVOTILE_QUEUE_NOTICE_H
#define EVOTILE_QUEUE_NOTICE_H

#include "base/hash.h"
#include "device/device.h"
#include "queue/link.h"
#include "trial/trial.h"

/* Where figures come from: of one population all are from the same. */
struct queue_place {
    struct device_info device; /* the first; its spec is the worker's own */
    char nvrtc[32];            /* its version */
    char method[64];           /* TRIAL_METHOD */
};

/* Whether figures of the two may stand in one population; if not, `why` says so. */
bool queue_place_same(const struct queue_place *a, const struct queue_place *b, char why[256]);

enum { QUEUE_FILES_MAX = 1024, QUEUE_PATH_SIZE = 256 };

struct queue_file {
    char path[QUEUE_PATH_SIZE]; /* relative, within the run's folder */
    int64_t bytes;
    struct hash hash;
};

struct description {
    char id[QUEUE_ID_SIZE];
    char name[128]; /* for people */
    double patience_s;
    bool placed; /* the first worker has said what it is: `place` is what all must be */
    struct queue_place place;
    int file_count;
    struct queue_file *files; /* owned */
    int champion_count;       /* crowned since the coordinator began, one a goal */
    struct trial_champion champions[CASES_MAX];
};

char *description_print(const struct description *description);
int description_parse(struct description *description, const char *text, struct error *error);
void description_release(struct description *description);

struct beat {
    char worker[QUEUE_ID_SIZE];
    char host[64];
    struct queue_place place;
    int devices;   /* that serve */
    int capacity;  /* trials that keep it busy */
    int in_flight; /* trials that it has */
    bool leaving;  /* this is its last */
};

char *beat_print(const struct beat *beat);
/* -1: `worker` and `host` say whose it is where that can be read, and are empty where not. */
int beat_parse(struct beat *beat, const char *text, struct error *error);

#endif
