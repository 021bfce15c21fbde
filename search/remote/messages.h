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
#ifndef EVOTILE_REMOTE_MESSAGES_H
#define EVOTILE_REMOTE_MESSAGES_H

#include "base/hash.h"
#include "device/device.h"
#include "evaluate/trial.h"
#include "remote/connection.h"
#include "template/solution_files.h"

/* What measurements depend on: all trials of a population come from the same platform. */
struct platform {
    struct device_info device; /* the worker's first device; its `spec` is local to the worker */
    char nvrtc[32];            /* version */
    char method[64];           /* TRIAL_METHOD */
};

/* True if trials from both platforms are comparable; if not, `why` says in what they differ. */
bool platform_same(const struct platform *a, const struct platform *b, char why[256]);

enum { QUEUE_FILES_MAX = 1024, QUEUE_PATH_SIZE = 256 };

struct run_file {
    char path[QUEUE_PATH_SIZE]; /* relative to the run's folder, and inside it */
    int64_t bytes;
    struct hash hash;
};

struct run_description {
    char id[QUEUE_ID_SIZE];
    char name[128]; /* for display */
    /* Of a server: the path of the solution that workers load first (template/solution_files.h).
       Requests then name others, whose files workers fetch. Empty: the run of a search. */
    char solution[SOLUTION_PATH_SIZE];
    double ack_wait_s; /* AckWait: a request is redelivered after so long without an extension */
    bool has_platform; /* the first worker is known: `platform` is what every worker must have */
    struct platform platform;
    int file_count;
    struct run_file *files; /* owned */
    int champion_count;     /* accepted since the coordinator started, one per goal */
    struct trial_champion *champions; /* owned */
};

char *run_description_print(const struct run_description *description);
int run_description_parse(struct run_description *description, const char *text,
                          struct error *error);
void run_description_release(struct run_description *description);

struct heartbeat {
    char worker[QUEUE_ID_SIZE];
    char host[64];
    struct platform platform;
    int devices;   /* in service */
    int capacity;  /* trials in flight that keep it busy */
    int in_flight; /* trials that it has now */
    bool leaving;  /* its last heartbeat: it shuts down */
};

char *heartbeat_print(const struct heartbeat *heartbeat);
/* On -1, `worker` and `host` identify the sender if these two could be read; else both are empty.
 */
int heartbeat_parse(struct heartbeat *heartbeat, const char *text, struct error *error);

#endif
