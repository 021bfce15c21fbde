/*
 * proposer: the program that proposes solutions: a command of the shell that reads requests and
 * writes answers, one JSON object a line, in any order. It is started with the first request, and
 * again if it ends; what it has not answered is then sent again.
 *
 *     struct proposer *proposer = proposer_new("build/proposers/mutate", 600);
 *     proposer_send(proposer, 1, "{\"type\": \"propose\", \"number\": 1 ...}");
 *     struct proposer_event event;
 *     while ((got = proposer_poll(proposer, &event, &error)) == 1)
 *         proposer_event_release(&event);
 *     proposer_free(proposer);
 *
 * docs/evolve.md describes the messages, docs/schemas/proposer-1.json is their schema.
 */
#ifndef EVOTILE_EVOLVE_PROPOSER_H
#define EVOTILE_EVOLVE_PROPOSER_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <stdint.h>

struct proposer;

enum {
    PROPOSER_PROTOCOL = 1,
    PROPOSER_LINE_BYTES = 8 << 20, /* of an answer: JSON may double the size of a file */
    PROPOSER_STARTS_MAX = 4,       /* without an answer between them */
};

/* `timeout_s`: of each answer. */
struct proposer *proposer_new(const char *command, double timeout_s);
void proposer_free(struct proposer *proposer);

/* Sends a request, a JSON line; the number names it. Never blocks. */
void proposer_send(struct proposer *proposer, int64_t number, const char *line);

/* Of a request that was sent: its answer, or why there is none. */
struct proposer_event {
    int64_t number;
    cJSON *answer;      /* an object with that number; NULL: there is none */
    char *line;         /* as it came; NULL: nothing came */
    struct error error; /* without an answer */
};
void proposer_event_release(struct proposer_event *event);

/* Writes and reads what is possible without waiting. Returns 1 with an event; 0: none yet; -1: the
   program ends again and again without an answer. A line that is no answer to any request counts
   as one to the oldest. */
int proposer_poll(struct proposer *proposer, struct proposer_event *event, struct error *error);

/* Fills at most `limit` entries whose readiness means that proposer_poll has something to do;
   returns their number. For timeouts it must be called at least every 0.1 s. */
int proposer_descriptors(const struct proposer *proposer, struct pollfd *polled, int limit);

#endif
