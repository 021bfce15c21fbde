/* Reads the key "baseline" of template.json or of a config: the baseline's program. */
#include "template/template.h"

#include "base/memory.h"

#include <string.h>

static const double default_limit_s =
    120; /* the first import of a framework from a cold disk is slow */

static const char *const keys[] = {"command", "limit_s", NULL};

/* Finds the file that a word names as an #include names its own: in the template's folder, or as
   "lib/NAME" in the library. 1 if there is one. */
static int find_file(char path[PATH_SIZE], const struct template *template, const char *word,
                     struct error *error) {
    static const char library[] = "lib/";
    size_t length = strlen(library);
    if (path_join(path, template->folder, word, error) < 0)
        return -1;
    if (path_exists(path))
        return 1;
    if (strncmp(word, library, length) != 0)
        return 0;
    return path_join(path, template->library, word + length, error) < 0 ? -1 : path_exists(path);
}

static int read_word(const struct json *value, const struct template *template, char **word,
                     struct error *error) {
    const char *text;
    char path[PATH_SIZE];
    if (json_string(value, &text, error) < 0)
        return -1;
    if (*text == '\0')
        return json_error(value, error, "must not be empty");
    int found = template != NULL ? find_file(path, template, text, error) : 0;
    if (found < 0)
        return -1;
    *word = xstrdup(found ? path : text);
    return 0;
}

int baseline_command_read_limit(struct baseline_command *command, const struct json *limit,
                                struct error *error) {
    if (json_number(limit, &command->limit_s, error) < 0)
        return -1;
    return command->limit_s > 0 && command->limit_s <= 3600
               ? 0
               : json_error(limit, error, "must lie between 0 and 3600 seconds");
}

int baseline_command_read(struct baseline_command *command, const struct json *value,
                          const struct template *template, struct error *error) {
    struct json words;
    struct json limit;
    *command = (struct baseline_command){.limit_s = default_limit_s};
    if (json_check_keys(value, keys, error) < 0 ||
        json_require(value, "command", &words, error) < 0 || json_is_array(&words, error) < 0)
        return -1;
    int count = json_count(&words);
    if (count < 1 || count > COMMAND_WORDS_MAX)
        return json_error(&words, error, "must have 1 to %d words: a program and its arguments",
                          COMMAND_WORDS_MAX);
    for (; command->count < count; command->count++) {
        struct json word = json_at(&words, command->count);
        if (read_word(&word, template, &command->words[command->count], error) < 0)
            return -1;
    }
    return json_find(value, "limit_s", &limit) ? baseline_command_read_limit(command, &limit, error)
                                               : 0;
}

int baseline_command_set_python(struct baseline_command *command, const char *python,
                                struct error *error) {
    if (command->count == 0)
        return 0; /* the caller that starts the baseline reports that there is none */
    if (strncmp(path_name(command->words[0]), "python", strlen("python")) != 0)
        return error_input(error,
                           "--python: the baseline's command begins with %s, not with Python",
                           command->words[0]);
    free(command->words[0]);
    command->words[0] = xstrdup(python);
    return 0;
}

void baseline_command_copy(struct baseline_command *copy, const struct baseline_command *command) {
    *copy = *command;
    for (int i = 0; i < copy->count; i++)
        copy->words[i] = xstrdup(command->words[i]);
}

void baseline_command_release(struct baseline_command *command) {
    for (int i = 0; i < command->count; i++)
        free(command->words[i]);
    *command = (struct baseline_command){0};
}
