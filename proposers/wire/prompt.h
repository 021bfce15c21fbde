/*
 * prompt: the text in which a model or a person is asked, from a file that a user may edit.
 *
 *     struct prompt prompt;
 *     if (prompt_make(&prompt, folder, &request, &error) < 0)
 *         return -1;
 *     puts(prompt.user);
 *     prompt_release(&prompt);
 *
 * The folder has system.txt and, for each strategy, free.txt, insight.txt and full.txt. In them
 * {{name}} stands for a part of the request; prompts/README.md lists the names. A line of one name
 * alone that stands for nothing is left out. An unknown name is an error, ERROR_INPUT, that lists
 * the known ones.
 */
#ifndef EVOTILE_PROPOSERS_WIRE_PROMPT_H
#define EVOTILE_PROPOSERS_WIRE_PROMPT_H

#include "base/path.h"
#include "proposers/wire/request.h"

enum { PROMPT_FILE_BYTES_MAX = 1 << 20 };

struct prompt {
    char *system, *user;
};

/* The folder that comes with the program, if `chosen` is NULL. */
int prompt_folder(char folder[PATH_SIZE], const char *chosen, struct error *error);
int prompt_make(struct prompt *prompt, const char *folder, const struct request *request,
                struct error *error);
void prompt_release(struct prompt *prompt);

#endif
