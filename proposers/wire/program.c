/* program: options, and the loop over requests. */
#include "proposers/wire/program.h"

#include "base/json.h"
#include "base/spelling.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { OPTIONS_MAX = 32, NAME_COLUMNS = 22 };

static void print_help(const struct program *program) {
    fputs(program->about, stdout);
    printf("\nOptions:\n");
    for (const struct program_option *option = program->options; option->name != NULL; option++) {
        char name[64];
        snprintf(name, sizeof name, "--%s %s", option->name, option->argument);
        printf("  %-*s %s\n", NAME_COLUMNS, name, option->about);
    }
    printf("  %-*s %s\n", NAME_COLUMNS, "--help", "print this help and exit");
    printf("\nExit status:\n  0  the input ended\n  1  an answer could not be written\n"
           "  2  bad usage\n");
}

static int read_value(const struct program *program, const struct program_option *option,
                      const char *text) {
    char *end = NULL;
    errno = 0;
    if (option->kind == PROGRAM_TEXT) {
        *(const char **)option->value = text;
        return -1;
    }
    if (option->kind == PROGRAM_FLAG) {
        fprintf(stderr, "%s: --%s takes no value\n", program->name, option->name);
        return 2;
    }
    bool digits = *text >= '0' && *text <= '9';
    if (option->kind == PROGRAM_INTEGER)
        *(int64_t *)option->value = strtoll(text, &end, 10);
    else
        *(double *)option->value = strtod(text, &end);
    if (digits && *end == '\0' && errno == 0)
        return -1;
    fprintf(stderr, "%s: --%s needs a %snumber that is not negative, not \"%s\"\n", program->name,
            option->name, option->kind == PROGRAM_INTEGER ? "whole " : "", text);
    return 2;
}

static int unknown_option(const struct program *program, const char *argument) {
    const char *names[OPTIONS_MAX] = {"help"};
    int count = 1;
    for (const struct program_option *option = program->options;
         option->name != NULL && count < OPTIONS_MAX; option++)
        names[count++] = option->name;
    if (argument[0] != '-')
        fprintf(stderr, "%s: \"%s\" is no option: requests come on standard input; try --help\n",
                program->name, argument);
    else
        fprintf(stderr, "%s: unknown option %s; did you mean --%s?\n", program->name, argument,
                spelling_nearest(argument + strspn(argument, "-"), names, count));
    return 2;
}

int program_options(const struct program *program, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        const struct program_option *option = program->options;
        size_t length = strcspn(argument, "=");
        if (strcmp(argument, "--help") == 0) {
            print_help(program);
            return 0;
        }
        for (; option->name != NULL; option++)
            if (strncmp(argument, "--", 2) == 0 && strlen(option->name) == length - 2 &&
                memcmp(option->name, argument + 2, length - 2) == 0)
                break;
        if (option->name == NULL)
            return unknown_option(program, argument);
        if (option->kind == PROGRAM_FLAG && argument[length] == '\0') {
            *(bool *)option->value = true;
            continue;
        }
        value = argument[length] == '=' ? argument + length + 1 : argv[++i];
        if (value == NULL) {
            fprintf(stderr, "%s: --%s needs a value: --%s %s\n", program->name, option->name,
                    option->name, option->argument);
            return 2;
        }
        int status = read_value(program, option, value);
        if (status >= 0)
            return status;
    }
    return -1;
}

static bool write_answer(FILE *out, cJSON *answer) {
    char *text = json_print_line(answer);
    bool written = fputs(text, out) >= 0 && fputc('\n', out) != EOF && fflush(out) == 0;
    free(text);
    return written;
}

int program_run(const struct program *program, FILE *in, FILE *out, program_propose *propose,
                void *context) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool written = true;
    while (written && (length = getline(&line, &capacity, in)) >= 0) {
        struct request request;
        struct error error = {0};
        cJSON *answer = NULL;
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (length == 0)
            continue;
        if (request_read(&request, line, (size_t)length, &error) == 0)
            answer = propose(context, &request, &error);
        written = write_answer(out, answer != NULL ? answer : proposal_error(&request, error.text));
        request_release(&request);
    }
    free(line);
    if (written)
        return 0;
    fprintf(stderr, "%s: cannot write the answer: %s\n", program->name, strerror(errno));
    return 1;
}
