/*
 * reply: reads a proposal from the text that a model wrote.
 *
 *     cJSON *answer = reply_parse(text, &request, &error);
 *
 * Lenient in form: SEARCH/REPLACE blocks, whole files, a genome, or a JSON object with the keys of
 * an answer, with prose around them. Strict in substance: each search block must be found once in
 * the parent's file (blanks at line ends, or else indentation, may differ), names stay in the
 * folder, something changes, and solution.json stays JSON. What is wrong is an error that a model
 * or a person can act on.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_REPLY_H
#define EVOTILE_PROPOSERS_CHAT_REPLY_H

#include "proposers/wire/request.h"

/* An answer without "tokens", or NULL with an error. */
cJSON *reply_parse(const char *text, const struct request *request, struct error *error);

#endif
