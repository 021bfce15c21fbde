/* options: parses a verb's options and prints its help. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/spelling.h"
#include "base/strbuf.h"
#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { HELP_WIDTH = 80, OPTIONS_SHOWN_MAX = 64 };

int error_report(const struct error *error) {
    char *text = text_escaped(error->text, true);
    fprintf(stderr, "evotile: %s\n", text);
    free(text);
    return error->kind == ERROR_REFUSED ? STATUS_GATE
           : error->kind == ERROR_INPUT ? STATUS_USAGE
                                        : STATUS_FAILED;
}

/* ---- help ---- */

/* Prints `text` wrapped at HELP_WIDTH columns and indented by `indent`. The cursor is already at
   column `indent`. */
static void print_wrapped(const char *text, int indent) {
    int column = indent;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length + strspn(text + length, " ");
    }
    putchar('\n');
}

bool option_is_listed(const struct option_row *row) {
    return row->name != NULL && row->kind != OPTION_REMOVED;
}

static int option_width(const struct option_row *row) {
    return (int)strlen(row->name) + (row->argument != NULL ? 1 + (int)strlen(row->argument) : 0);
}

static void print_options(const struct option_row *rows) {
    static const struct option_row help = {.name = "help", .about = "print this help and exit"};
    int width = option_width(&help);
    for (const struct option_row *row = rows; option_is_listed(row); row++)
        width = option_width(row) > width ? option_width(row) : width;
    for (const struct option_row *row = rows;; row++) {
        bool last = !option_is_listed(row);
        const struct option_row *shown = last ? &help : row;
        printf("  --%s%s%s%*s", shown->name, shown->argument != NULL ? " " : "",
               shown->argument != NULL ? shown->argument : "", width - option_width(shown) + 2, "");
        print_wrapped(shown->about, width + 6);
        if (last)
            return;
    }
}

static bool line_is(const struct help_line *line, const char *text) {
    return strlen(text) == line->length && memcmp(line->text, text, line->length) == 0;
}

bool help_read_line(const struct verb *verb, const char **at, struct help_line *line) {
    if (*at >= verb->help_end)
        return false;
    const char *end = memchr(*at, '\n', (size_t)(verb->help_end - *at));
    line->text = *at;
    line->length = (size_t)((end != NULL ? end : verb->help_end) - *at);
    line->kind = line_is(line, "{{usage}}")     ? HELP_USAGE
                 : line_is(line, "{{options}}") ? HELP_OPTIONS
                                                : HELP_TEXT;
    *at += line->length + 1;
    return true;
}

static void print_help(const struct verb *verb, const struct option_row *rows) {
    struct help_line line;
    for (const char *at = verb->help; help_read_line(verb, &at, &line);)
        if (line.kind == HELP_USAGE)
            printf("Usage: evotile %s%s%s\n", verb->name, *verb->arguments != '\0' ? " " : "",
                   verb->arguments);
        else if (line.kind == HELP_OPTIONS)
            print_options(rows);
        else
            printf("%.*s\n", (int)line.length, line.text);
}

/* ---- parsing ---- */

static const struct option_row *find_row(const struct option_row *rows, const char *name,
                                         size_t length) {
    for (; rows->name != NULL; rows++)
        if (strlen(rows->name) == length && memcmp(rows->name, name, length) == 0)
            return rows;
    return NULL;
}

static int unknown_option(const struct option_row *rows, const char *argument, size_t length,
                          struct error *error) {
    const char *names[OPTIONS_SHOWN_MAX] = {"help"};
    char word[64];
    int count = 1;
    for (; option_is_listed(rows) && count < OPTIONS_SHOWN_MAX; rows++)
        names[count++] = rows->name;
    snprintf(word, sizeof word, "%.*s", (int)length, argument + strspn(argument, "-"));
    return error_input(error, "unknown option %.*s; did you mean --%s?",
                       (int)(strspn(argument, "-") + length), argument,
                       spelling_nearest(word, names, count));
}

static int read_integer(const struct option_row *row, const char *text, struct error *error) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || *text == ' ')
        return error_input(error, "--%s needs a whole number, not \"%s\"", row->name, text);
    if (errno != 0 || number < 0)
        return error_input(error, "--%s needs a number from 0 to 9223372036854775807, not %s",
                           row->name, text);
    *(int64_t *)row->value = number;
    return 0;
}

static int read_number(const struct option_row *row, const char *text, struct error *error) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || *text == ' ' || !isfinite(number))
        return error_input(error, "--%s needs a number such as 0.05, not \"%s\"", row->name, text);
    *(double *)row->value = number;
    return 0;
}

static int read_value(const struct option_row *row, const char *text, struct error *error) {
    switch (row->kind) {
    case OPTION_TEXT:
        *(const char **)row->value = text;
        return 0;
    case OPTION_INTEGER:
        return read_integer(row, text, error);
    case OPTION_NUMBER:
        return read_number(row, text, error);
    case OPTION_DURATION:
        if (config_parse_duration(text, row->value, error) < 0)
            return error_prefix(error, "--%s", row->name);
        return 0;
    case OPTION_REMOVED:
        log_warn("--%s has no effect any more", row->name);
        return 0;
    case OPTION_FLAG:
        break;
    }
    BUG("option --%s has no kind that takes a value", row->name);
}

/* Reads the option at argv[*at] and its value. Advances *at if the value is the next argument. */
static int read_option(const struct option_row *rows, int argc, char **argv, int *at,
                       struct error *error) {
    const char *argument = argv[*at];
    const char *name = argument + 2;
    bool is_long = argument[1] == '-';
    size_t length = strcspn(is_long ? name : argument + 1, "=");
    const struct option_row *row = is_long                       ? find_row(rows, name, length)
                                   : strcmp(argument, "-o") == 0 ? find_row(rows, "out", 3)
                                                                 : NULL;
    if (row == NULL)
        return unknown_option(rows, argument, length, error);
    const char *value = is_long && name[length] == '=' ? name + length + 1 : NULL;
    if (row->kind == OPTION_FLAG) {
        if (value != NULL)
            return error_input(error, "--%s takes no value: remove \"=%s\"", row->name, value);
        *(bool *)row->value = true;
        return 0;
    }
    if (value == NULL) {
        /* A next argument that looks like an option is almost never meant as the value. */
        if (*at + 1 >= argc || strncmp(argv[*at + 1], "--", 2) == 0)
            return error_input(error, "--%s needs a value: --%s %s", row->name, row->name,
                               row->argument);
        value = argv[++*at];
    }
    return read_value(row, value, error);
}

/* Moves the positional arguments to the front of argv. Returns their number, or -1. */
static int separate_arguments(const struct verb *verb, const struct option_row *rows, int argc,
                              char **argv, struct error *error) {
    int count = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (!options || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(verb, rows);
            exit(fflush(stdout) == 0 ? STATUS_DONE : STATUS_FAILED);
        } else if (read_option(rows, argc, argv, &i, error) < 0) {
            return -1;
        }
    }
    return count;
}

int options_parse(const struct verb *verb, const struct option_row *rows, int argc, char **argv,
                  int minimum, int maximum) {
    struct error error = {0};
    if (verb->describe != NULL) {
        verb->describe(verb, rows, verb->describe_context);
        return -1;
    }
    int count = separate_arguments(verb, rows, argc, argv, &error);
    if (count >= 0 && count < minimum)
        count = error_input(&error, "an argument is missing; usage: evotile %s %s", verb->name,
                            verb->arguments);
    if (count > maximum)
        count = error_input(&error, "unexpected argument \"%s\"; usage: evotile %s %s",
                            argv[maximum], verb->name, verb->arguments);
    if (count < 0) {
        error_prefix(&error, "%s", verb->name);
        error_report(&error);
    }
    return count;
}

int queue_options_check(const char *queue, const char *device, int64_t compile_workers,
                        struct error *error) {
    return queue != NULL && (device != NULL || compile_workers >= 0)
               ? error_input(error, "with --queue the workers run on other hosts: give --device "
                                    "and --compile-workers to `evotile worker`")
               : 0;
}
