/*
 * describe: shell completion, the manual page and the version. The first two are generated from the
 * verbs' option tables and help texts.
 *
 *     describe_bash(verb->all, stdout);
 *     describe_zsh(verb->all, stdout);
 *     describe_manual(verb->all, stdout);
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

/* `verbs`: every verb, NULL last. */
void describe_bash(const struct verb *const *verbs, FILE *out);
void describe_zsh(const struct verb *const *verbs, FILE *out);
/* The manual page in roff format, for man(1). */
void describe_manual(const struct verb *const *verbs, FILE *out);

/* "evotile VERSION", then the toolkit it was built with and the NVRTC and driver it finds. */
void describe_version(FILE *out);

#endif
