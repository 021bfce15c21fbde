/*
 * external_program: a program of the user's that answers questions through a pipe, one line of JSON
 * each: a baseline (baseline.h) or a reference (reference_program.h). docs/templates.md has both
 * protocols.
 *
 *     const struct baseline_command command = {.count = 1, .words = {"program"}, .limit_s = 60};
 *     struct external_program it = {.command = &command, .role = "baseline"};
 *     struct json_document document;
 *     struct json answer;
 *     if (external_program_start(&it, &error) == 0 &&
 *         external_program_ask(&it, "begin", NULL, &document, &answer, &error) == 0)
 *         json_release(&document);
 *     external_program_stop(&it);
 */
#ifndef EVOTILE_EVALUATE_EXTERNAL_PROGRAM_H
#define EVOTILE_EVALUATE_EXTERNAL_PROGRAM_H

#include "base/json.h"
#include "base/process.h"
#include "template/template.h"

struct external_program {
    const struct baseline_command *command;
    const char *role;     /* in messages: "the baseline's program" */
    enum error_kind kind; /* of its failures: ERROR_FAILED, or ERROR_INPUT if it is a template's */
    struct process child; /* zero before external_program_start */
};

/* Its name in messages: the script's if the command has one. */
const char *external_program_name(const struct external_program *program);

/* Finds the command's first word and starts it. */
int external_program_start(struct external_program *program, struct error *error);
/* Ends it; a program that was not started, or that failed to start, may be stopped. */
void external_program_stop(struct external_program *program);

/* Sends one request, {"ask": question} with the members of `object` (may be NULL), which is freed,
   and reads the answer, an object, into `document`, which the caller releases after success. A
   program that says {"error": "why"}, exits, prints other lines, or has no answer within its limit
   is an error; after the last it is killed. */
int external_program_ask(struct external_program *program, const char *question, cJSON *object,
                         struct json_document *document, struct json *answer, struct error *error);

/* Returns whether it has printed something that no question asked for. */
bool external_program_is_ahead(struct external_program *program);

#endif
