/*
 * describe: shell completion, the manual page and the version. The first two are generated from the
 * verbs' option tables and help texts.
 *
 *     describe_bash(stdout);
 *     describe_zsh(stdout);
 *     describe_manual(stdout);
 *     describe_version(stdout);
 */
#ifndef EVOTILE_CLI_DESCRIBE_H
#define EVOTILE_CLI_DESCRIBE_H

#include "cli/cli.h"

#include <stdio.h>

/* The exit statuses and the environment variables that are read. Each table ends with a row of
   zeros. */
struct name_description {
    const char *name, *about;
};
extern const struct name_description exit_statuses[], environment_variables[];

void describe_bash(FILE *out);
void describe_zsh(FILE *out);
/* The manual page in roff format, for man(1). */
void describe_manual(FILE *out);

/* "evotile VERSION", then the toolkit it was built with and the NVRTC and driver it finds. */
void describe_version(FILE *out);

#endif
