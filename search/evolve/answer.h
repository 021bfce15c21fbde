/*
 * answer: what a proposer answers, read and checked.
 *
 *     struct answer answer;
 *     if (answer_read(&answer, object, &error) < 0)
 *         return -1;
 *     cJSON *files = answer_apply(&answer, parent_files, &error);
 *     cJSON_Delete(files);
 */
#ifndef EVOTILE_EVOLVE_ANSWER_H
#define EVOTILE_EVOLVE_ANSWER_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Pointers into the object. What the proposer did not give is NULL, 0 or NaN. */
struct answer {
    const char *parent; /* 32 digits */
    const char *hypothesis;
    const char *genome; /* or changes of files, of either kind or both: */
    const cJSON *edits, *files;
    int64_t prompt_tokens, completion_tokens;
    double cost;
};

enum { HYPOTHESIS_BYTES = 4096, REFUSAL_BYTES = 300 };

/* Fills what can be read also after an error, which is of kind ERROR_INPUT: the answer lacks what
   it must have, or the proposer gives up. */
int answer_read(struct answer *answer, const cJSON *object, struct error *error);

/* The files of the solution that it proposes; the caller owns them. NULL without an error if it
   proposes a genome; NULL with one if the change does not apply. */
cJSON *answer_apply(const struct answer *answer, const cJSON *parent, struct error *error);

#endif
