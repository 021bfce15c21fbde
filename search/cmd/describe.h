/*
 * describe: what there is to say of evotile's verbs and options beyond `evotile help`: completion
 * for shells, and the manual page. Both are made from the verbs' own tables, as help is.
 *
 *     describe_bash(stdout);     // or describe_zsh, describe_manual
 */
#ifndef EVOTILE_CMD_DESCRIBE_H
#define EVOTILE_CMD_DESCRIBE_H

#include "cmd/cmd.h"

#include <stdio.h>

/* What the exit statuses mean, and which environment variables are read: ended by a row of zeros.
 */
struct describe_row {
    const char *name, *about;
};
extern const struct describe_row describe_statuses[], describe_environment[];

void describe_bash(FILE *out);
void describe_zsh(FILE *out);
/* In roff, for man(1). */
void describe_manual(FILE *out);

/* "evotile VERSION", then what it was built with and what it finds: toolkit, NVRTC, driver. */
void describe_version(FILE *out);

#endif
