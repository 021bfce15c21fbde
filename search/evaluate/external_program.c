#include "evaluate/external_program.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

enum { EXCERPT_MAX = 120 };

/* Reports a failure of the program, with the kind of its role. */
static int fail(const struct external_program *program, struct error *error, const char *format,
                ...) __attribute__((format(printf, 3, 4)));
static int fail(const struct external_program *program, struct error *error, const char *format,
                ...) {
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return program->kind == ERROR_INPUT ? error_input(error, "%s", text)
                                        : error_set(error, "%s", text);
}

const char *external_program_name(const struct external_program *program) {
    const struct baseline_command *command = program->command;
    bool is_text = command->count > 3 && strcmp(command->words[1], "-c") == 0;
    return path_name(command->words[is_text ? 3 : command->count > 1 ? 1 : 0]);
}

int external_program_start(struct external_program *program, struct error *error) {
    char path[PATH_SIZE];
    const char *argv[COMMAND_WORDS_MAX + 1] = {path};
    const struct baseline_command *command = program->command;
    if (!process_find(command->words[0], path))
        return fail(program, error,
                    "the %s's program %s is not on PATH or not executable: install it%s",
                    program->role, command->words[0],
                    strcmp(program->role, "baseline") == 0
                        ? ", or select an interpreter with --python PROGRAM"
                        : "");
    for (int i = 1; i < command->count; i++)
        argv[i] = command->words[i];
    return process_start(&program->child, argv, error);
}

void external_program_stop(struct external_program *program) {
    if (program->child.pid != 0)
        process_stop(&program->child, 1, NULL);
    program->child = (struct process){0};
}

static int report_exit(struct external_program *program, struct error *error) {
    struct process_end end;
    process_stop(&program->child, 1, &end);
    return fail(program, error, "the %s's program %s %s before it answered: try it by hand",
                program->role, external_program_name(program), end.text);
}

/* Reads the next line of the program's standard output. */
static int read_answer(struct external_program *program, const char *question, char **line,
                       struct error *error) {
    double limit_s = program->command->limit_s;
    double deadline = clock_seconds() + limit_s;
    struct process *child = &program->child;
    while ((*line = child->buffer != NULL ? process_next_line(child) : NULL) == NULL) {
        struct pollfd polled = {.fd = child->from, .events = POLLIN};
        if (child->ended)
            return report_exit(program, error);
        double left_s = deadline - clock_seconds();
        if (left_s <= 0) {
            process_stop(child, 0, NULL);
            return fail(program, error,
                        "the %s's program %s had no answer to \"%s\" within %g s and was "
                        "killed; \"limit_s\" beside its \"command\" gives it longer",
                        program->role, external_program_name(program), question, limit_s);
        }
        poll(&polled, 1, (int)fmin(100, 1 + 1000 * left_s));
        process_read_output(child);
    }
    return 0;
}

/* An answer has the key "error" if the program cannot continue. */
static int check_answer(const struct external_program *program, const struct json *answer,
                        struct error *error) {
    struct json excerpt;
    const char *text;
    if (json_is_object(answer, error) < 0)
        return -1;
    if (!json_find(answer, "error", &excerpt))
        return 0;
    return json_string(&excerpt, &text, error) < 0
               ? -1
               : fail(program, error, "the %s cannot be %s: %s: %.600s", program->role,
                      program->kind == ERROR_INPUT ? "computed" : "timed",
                      external_program_name(program), text);
}

int external_program_ask(struct external_program *program, const char *question, cJSON *object,
                         struct json_document *document, struct json *answer, struct error *error) {
    char *answer_line;
    char excerpt[EXCERPT_MAX + 1];
    if (object == NULL)
        object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "ask", question);
    char *line = json_print_line(object);
    process_send(&program->child, line); /* a dead program shows as a missing answer */
    free(line);
    if (read_answer(program, question, &answer_line, error) < 0)
        return -1;
    snprintf(excerpt, sizeof excerpt, "%s", answer_line);
    struct error why = {0};
    if (json_read_text(document, external_program_name(program), answer_line, &why) < 0)
        return fail(program, error,
                    "the %s's program %s must answer each question with one line of "
                    "JSON, but printed \"%s\"",
                    program->role, external_program_name(program), excerpt);
    *answer = json_root(document);
    if (check_answer(program, answer, error) == 0)
        return 0;
    json_release(document);
    return -1;
}

bool external_program_is_ahead(struct external_program *program) {
    struct process *child = &program->child;
    struct pollfd polled = {.fd = child->from, .events = POLLIN};
    if (poll(&polled, 1, 0) > 0)
        process_read_output(child);
    return child->buffer != NULL && child->used > child->consumed;
}
