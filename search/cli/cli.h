/*
 * cli: the verbs of the command line and their options. One file per verb; each defines one
 * `struct verb`, and main.c dispatches over VERBS. Only this folder prints results and chooses exit
 * statuses.
 *
 * Data goes to stdout, progress and warnings to stderr. A verb returns an exit status: 0 done, 1
 * failed, 2 bad usage or bad input, 3 a check failed.
 *
 *     bool json = false;
 *     const struct option_row rows[] = {
 *         OPTION("json", NULL, "print one JSON object", &json), {0}};
 *     if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
 *         return STATUS_USAGE;
 */
#ifndef EVOTILE_CLI_CLI_H
#define EVOTILE_CLI_CLI_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_GATE = 3 };

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_INTEGER,  /* int64_t, not negative */
    OPTION_NUMBER,   /* double */
    OPTION_DURATION, /* double, seconds: 90s, 15m, 8h, hh:mm:ss */
    OPTION_REMOVED,  /* of earlier versions: accepted with a warning, and not listed; the last rows
                      */
};

/* One option of a verb. A table of options ends with a row of zeros. Help, shell completion and the
 * manual page print these rows. */
struct option_row {
    const char *name;     /* without the dashes: "trials" */
    const char *argument; /* placeholder of the value in help: "N"; NULL for a flag */
    const char *about;
    enum option_kind kind;
    void *value; /* of the kind's type; keeps its default if the option is not given */
};

/* A row whose kind follows from the type of the value. */
#define OPTION(name, argument, about, value)                                                         \
    {                                                                                                \
        name, argument, about,                                                                     \
            _Generic(*(value),                                                                     \
            bool: OPTION_FLAG,                                                                     \
            const char *: OPTION_TEXT,                                                             \
            int64_t: OPTION_INTEGER,                                                               \
            double: OPTION_NUMBER),                                                                \
            value \
    }

/* The options of a verb whose workers may be on a queue: of a struct connection_settings
   (remote/connection.h) and the seconds after which a worker is lost. */
#define QUEUE_OPTIONS(connection, redeliver_s)                                                     \
    OPTION("queue", "URL", "use the workers of this NATS server: nats://HOST:4222",                \
           &(connection).url),                                                                     \
        OPTION("credentials", "FILE",                                                              \
               "file with a token, USER:PASSWORD, an NKey pair or NATS credentials",               \
               &(connection).credentials),                                                         \
        OPTION("ca", "FILE",                                                                       \
               "CA certificate that the server's TLS certificate is checked against",              \
               &(connection).authority),                                                           \
        OPTION("insecure", NULL, "allow a server on another host without credentials",             \
               &(connection).insecure),                                                            \
    {                                                                                              \
        "redeliver", "T", "treat a worker as lost after T without a heartbeat (default 30s)",      \
            OPTION_DURATION, &(redeliver_s)                                                        \
    }

/* The options of a verb that starts from one kernel of a run: of a struct replay_choice
   (run/replay_targets.h). */
#define REPLAY_OPTIONS(choice)                                                                     \
    OPTION("rank", "K", "rank on the board, from 1 (default: the champion)", &(choice).rank),      \
        OPTION("goal", "K",                                                                        \
               "case of a per_case run or of an exported kernel, from 0 (default: the first; "     \
               "`replay` and `sanitize` take all of an exported kernel)",                          \
               &(choice).goal),                                                                    \
        OPTION("solution", "NAME", "of a run of several solutions, the board of this one alone",   \
               &(choice).solution)

/* With a queue the options of this host's workers are an error: `queue` and `device` NULL and
   `compile_workers` -1 if they were not given. */
int queue_options_check(const char *queue, const char *device, int64_t compile_workers,
                        struct error *error);

struct verb {
    const char *name;
    const char *arguments; /* in the usage line: "CONFIG [options]" */
    const char *summary;   /* one line, for the list of verbs: "show the leaderboard of a run" */
    const char *help;      /* the embedded help text; not NUL-terminated: it ends at help_end */
    const char *help_end;
    int (*run)(const struct verb *verb, int argc, char **argv); /* argv[0] is the verb */
    bool hidden; /* left out of the list of verbs, of completion and of the manual page */
    /* Used by describe.c to read a verb's options: if it is not NULL, options_parse passes the
       option rows to it and returns -1. */
    void (*describe)(const struct verb *verb, const struct option_row *rows, void *context);
    void *describe_context;
    const struct verb *const *all; /* every verb, NULL last; main.c sets it before it calls `run` */
};

/* The help text of a verb is help/NAME.txt.in in this folder, which the Makefile embeds. The lines
   {{usage}} and {{options}} stand for the usage line and the table of options. */
#define HELP_SYMBOL(name, edge) _binary_search_cli_help_##name##_txt_in_##edge

/* Initialises the help of a verb: const struct verb verb_board = {..., VERB_HELP(board), ...}; */
#define VERB_HELP(name) .help = HELP_SYMBOL(name, start), .help_end = HELP_SYMBOL(name, end)

/* A line of a help text. The lines {{usage}} and {{options}} have their own kinds. */
enum help_line_kind { HELP_TEXT, HELP_USAGE, HELP_OPTIONS };

struct help_line {
    enum help_line_kind kind;
    const char *text; /* `length` characters, without the newline */
    size_t length;
};

/* Reads the line at *at, which starts as verb->help, and advances *at. False at the end. */
bool help_read_line(const struct verb *verb, const char **at, struct help_line *line);

/* False for the row of zeros that ends a table, and for the removed options before it. */
bool option_is_listed(const struct option_row *row);

/* Parses options into the rows' values. Options may stand anywhere among the arguments, as --name
   value or --name=value; -- ends them; -o means --out if the verb has that option. Moves the
   positional arguments to argv[0..n) and returns n, which lies between `least` and `most`. On a
   usage error prints one line with the nearest option or the usage to stderr and returns -1; the
   verb then returns STATUS_USAGE. --help prints the verb's help to stdout and exits with status 0.
 */
int options_parse(const struct verb *verb, const struct option_row *rows, int argc, char **argv,
                  int minimum, int maximum);

/* Prints "evotile: TEXT" to stderr and returns the exit status for the error's kind. */
int error_report(const struct error *error);

/* Every verb, in the order in which help lists them. */
#define VERBS(X)                                                                                   \
    X(doctor)                                                                                      \
    X(new)                                                                                         \
    X(import)                                                                                      \
    X(cases)                                                                                       \
    X(suggest)                                                                                     \
    X(space)                                                                                       \
    X(run)                                                                                         \
    X(resume)                                                                                      \
    X(evolve)                                                                                      \
    X(watch)                                                                                       \
    X(board)                                                                                       \
    X(summary)                                                                                     \
    X(report)                                                                                      \
    X(try)                                                                                         \
    X(lint)                                                                                        \
    X(replay)                                                                                      \
    X(duel)                                                                                        \
    X(gate)                                                                                        \
    X(baseline)                                                                                    \
    X(ablate)                                                                                      \
    X(profile)                                                                                     \
    X(export)                                                                                      \
    X(wisdom)                                                                                      \
    X(regret)                                                                                      \
    X(serve)                                                                                       \
    X(sanitize)                                                                                    \
    X(simulate)                                                                                    \
    X(record)                                                                                      \
    X(fsck)                                                                                        \
    X(model)                                                                                       \
    X(completion)                                                                                  \
    X(manual)                                                                                      \
    X(worker)

#define DECLARE_VERB(name)                                                                         \
    extern const struct verb verb_##name;                                                          \
    extern const char HELP_SYMBOL(name, start)[], HELP_SYMBOL(name, end)[];
VERBS(DECLARE_VERB)
#undef DECLARE_VERB

#endif
