/*
 * exchanges: the file in which questions and answers are kept: for --record, which writes it, and
 * for --replay, which answers from it.
 *
 *     struct exchanges exchanges;
 *     if (exchanges_open(&exchanges, "run.exchanges", true, &error) < 0)
 *         return -1;
 *     cJSON *known = exchanges_find(&exchanges, &request, question, &error);
 *     struct exchange exchange = {.question = question, .answer = known};
 *     exchanges_add(&exchanges, &request, &exchange, &error);
 *     exchanges_close(&exchanges);
 *
 * The first line is {"evotile_exchanges": 1}; each other one has the proposal's "number", the hash
 * of its "parent", the hash of the "question", the model's "reply" and the "answer". A line is
 * written and synced before the answer is given. A last line that a crash cut is dropped.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_EXCHANGES_H
#define EVOTILE_PROPOSERS_CHAT_EXCHANGES_H

#include "proposers/wire/request.h"

enum { EXCHANGES_VERSION = 1 };

struct exchanges {
    const char *path;
    cJSON *lines; /* an array of those read and added */
    int file;     /* -1: opened to read */
};

/* `record`: the file is created if it is missing and appended to. Another version, and a line that
   is not an exchange, are errors. */
int exchanges_open(struct exchanges *exchanges, const char *path, bool record, struct error *error);
void exchanges_close(struct exchanges *exchanges);

/* The answer about the same parent under the same number, and, if `question` is not NULL, to the
   same question; a copy, or NULL with an error that says which of these differs. */
cJSON *exchanges_find(const struct exchanges *exchanges, const struct request *request,
                      const char *question, struct error *error);

/* What was asked, and what that took. */
struct exchange {
    const char *question, *reply; /* the reply may be NULL: none came */
    const cJSON *answer, *tokens; /* the tokens, too, also of an answer that is an error */
};
int exchanges_add(struct exchanges *exchanges, const struct request *request,
                  const struct exchange *exchange, struct error *error);

/* What all answers so far took. */
void exchanges_sum(const struct exchanges *exchanges, int64_t *tokens, double *cost);

#endif
