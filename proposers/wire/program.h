/*
 * program: what the proposers' main functions share: options, and the loop over requests.
 *
 *     int64_t most = 0;
 *     const struct program_option options[] = {
 *         {"max-tokens", "N", "stop after N tokens", PROGRAM_INTEGER, &most}, {0}};
 *     const struct program program = {.name = "llm", .about = "...", .options = options};
 *     int status = program_options(&program, argc, argv);
 *     if (status >= 0)
 *         return status;
 *     return program_run(&program, stdin, stdout, propose, context);
 *
 * Exit statuses: 0 the input ended; 1 the answer could not be written; 2 an option is wrong.
 */
#ifndef EVOTILE_PROPOSERS_WIRE_PROGRAM_H
#define EVOTILE_PROPOSERS_WIRE_PROGRAM_H

#include "proposers/wire/request.h"

#include <stdio.h>

enum program_option_kind { PROGRAM_FLAG, PROGRAM_TEXT, PROGRAM_INTEGER, PROGRAM_NUMBER };

struct program_option {
    const char *name, *argument, *about; /* a name of NULL ends a table; a flag's argument is "" */
    enum program_option_kind kind;
    void *value; /* bool, const char *, int64_t or double, by its kind; no number is negative */
};

struct program {
    const char *name;
    const char *about; /* the paragraphs of --help before the options, each line ended */
    const struct program_option *options;
};

/* Sets the options' values. Returns -1 to go on, else the exit status: after --help, and after an
   error, which is printed. */
int program_options(const struct program *program, int argc, char **argv);

/* Answers one request: an answer of proposal_new, or NULL with an error, which is then answered. */
typedef cJSON *program_propose(void *context, const struct request *request, struct error *error);

/* Answers each line of `in` by one of `out` until it ends. Returns the exit status. */
int program_run(const struct program *program, FILE *in, FILE *out, program_propose *propose,
                void *context);

#endif
