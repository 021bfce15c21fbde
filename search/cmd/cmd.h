/*
 * cmd: the verbs. One file a verb; each exports one `struct verb`, and main.c lists them in a
 * table. Only this floor prints results and chooses exit statuses.
 *
 * Data goes to stdout, progress and warnings to stderr. A verb returns an exit status: 0 done, 1
 * failed, 2 bad usage or bad input, 3 a gate was not met.
 */
#ifndef EVOTILE_CMD_CMD_H
#define EVOTILE_CMD_CMD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_GATE = 3 };

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_INTEGER,  /* int64_t, not negative */
    OPTION_NUMBER,   /* double */
    OPTION_DURATION, /* double, seconds: 90s, 15m, 8h, hh:mm:ss */
};

/* One row of a verb's table of options; the table ends with a row of zeros. The help text is made
 * from it. */
struct option_row {
    const char *name;     /* without the dashes: "trials" */
    const char *argument; /* as help shows it: "N"; NULL for a flag */
    const char *about;
    enum option_kind kind;
    void *value; /* filled when the option is given, else left at its default */
};

struct verb {
    const char *name;
    const char *arguments; /* as help shows them: "CONFIG [options]" */
    const char *summary;   /* one line */
    const char *help;      /* paragraphs and examples: what `evotile help VERB` teaches */
    int (*run)(const struct verb *verb, int argc, char **argv); /* argv[0] is the verb */
    bool hidden;                                                /* not listed: worker */
    /* describe.c's way to a verb's options: where it is there, options_parse hands them over and
       returns -1. */
    void (*describe)(const struct verb *verb, const struct option_row *rows, void *context);
    void *describe_context;
};

/* Parses options (anywhere among the arguments; --name value or --name=value; -- ends them) into
   the rows' values (-o is --out, where there is one) and leaves the positional arguments in
   argv[0..n), where n is returned. Their number must lie between `least` and `most`. On a mistake
   prints one line with the nearest option or the usage to stderr and returns -1: return
   STATUS_USAGE then.
   --help prints the verb's help to stdout and exits with status 0. */
int options_parse(const struct verb *verb, const struct option_row *rows, int argc, char **argv,
                  int least, int most);

/* Prints "evotile: TEXT" to stderr and returns the exit status of the error's kind. */
int error_report(const struct error *error);

/* Every verb, in the order of help. */
#define VERBS(X)                                                                                   \
    X(doctor)                                                                                      \
    X(space)                                                                                       \
    X(run)                                                                                         \
    X(resume)                                                                                      \
    X(watch)                                                                                       \
    X(board)                                                                                       \
    X(summary)                                                                                     \
    X(report)                                                                                      \
    X(try)                                                                                         \
    X(replay)                                                                                      \
    X(duel)                                                                                        \
    X(gate)                                                                                        \
    X(baseline)                                                                                    \
    X(ablate)                                                                                      \
    X(profile)                                                                                     \
    X(export)                                                                                      \
    X(sanitize)                                                                                    \
    X(simulate)                                                                                    \
    X(record)                                                                                      \
    X(model)                                                                                       \
    X(completion)                                                                                  \
    X(manual)                                                                                      \
    X(worker)

#define DECLARE_VERB(name) extern const struct verb verb_##name;
VERBS(DECLARE_VERB)
#undef DECLARE_VERB

#endif
