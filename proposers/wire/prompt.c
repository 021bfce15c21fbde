/* prompt: fills the names of a prompt's file with parts of the request. */
#include "proposers/wire/prompt.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <string.h>

/* ---- the parts of a request ---- */

static const cJSON *member(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void add_text(struct strbuf *out, const char *text) {
    strbuf_add(out, text, strlen(text));
}

static void add_value(struct strbuf *out, const cJSON *value) {
    if (value == NULL || cJSON_IsNull(value))
        return;
    if (cJSON_IsString(value)) {
        add_text(out, value->valuestring);
        return;
    }
    char *printed = cJSON_PrintUnformatted(value);
    add_text(out, printed);
    cJSON_free(printed);
}

/* "key: value" for each member. */
static void add_members(struct strbuf *out, const cJSON *object) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        if (cJSON_IsNull(item))
            continue;
        strbuf_print(out, "- %s: ", item->string);
        add_value(out, item);
        add_text(out, "\n");
    }
}

static void add_elements(struct strbuf *out, const cJSON *array) {
    const cJSON *item;
    cJSON_ArrayForEach(item, array) {
        add_text(out, "- ");
        add_value(out, item);
        add_text(out, "\n");
    }
}

/* A fence that is longer than any in the text. */
static void add_fenced(struct strbuf *out, const char *text) {
    size_t longest = 2, run = 0;
    for (const char *at = text; *at != '\0'; at++) {
        run = *at == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i <= longest; i++)
            add_text(out, "`");
        add_text(out, "\n");
        if (side == 0) {
            add_text(out, text);
            if (*text != '\0' && text[strlen(text) - 1] != '\n')
                add_text(out, "\n");
        }
    }
}

static void add_parent(struct strbuf *out, const struct request *request, int number) {
    static const char *const shown[] = {"solution",  "genome",     "verdict", "score_us",
                                        "resources", "hypothesis", NULL};
    const cJSON *parent = cJSON_GetArrayItem(request->parents, number), *file;
    if (parent == NULL)
        return;
    for (int i = 0; shown[i] != NULL; i++) {
        const cJSON *value = member(parent, shown[i]);
        if (value == NULL || cJSON_IsNull(value))
            continue;
        strbuf_print(out, "- %s: ", shown[i]);
        add_value(out, value);
        add_text(out, "\n");
    }
    cJSON_ArrayForEach(file, request_files(request, number)) {
        strbuf_print(out, "\nFILE: %s\n", file->string);
        add_fenced(out, file->valuestring);
    }
}

static void add_task_text(struct strbuf *out, const struct request *request, const char *key) {
    add_value(out, member(request->task, key));
}

static void add_problem(struct strbuf *out, const struct request *request) {
    add_task_text(out, request, "problem");
}

static void add_about(struct strbuf *out, const struct request *request) {
    add_task_text(out, request, "about");
}

static void add_device(struct strbuf *out, const struct request *request) {
    add_members(out, member(request->task, "device"));
}

static void add_limits(struct strbuf *out, const struct request *request) {
    add_members(out, member(request->task, "limits"));
}

static void add_bounds(struct strbuf *out, const struct request *request) {
    add_members(out, member(request->task, "bounds"));
}

static void add_cases(struct strbuf *out, const struct request *request) {
    add_elements(out, member(request->task, "cases"));
}

static void add_problem_json(struct strbuf *out, const struct request *request) {
    const char *text = cJSON_GetStringValue(member(request->task, "problem_json"));
    if (text != NULL)
        add_fenced(out, text);
}

static void add_reference(struct strbuf *out, const struct request *request) {
    const cJSON *reference = member(request->task, "reference");
    const char *file = cJSON_GetStringValue(member(reference, "file"));
    const char *text = cJSON_GetStringValue(member(reference, "text"));
    if (text == NULL)
        return;
    strbuf_print(out, "%s\n", file != NULL ? file : "reference");
    add_fenced(out, text);
}

static void add_first_parent(struct strbuf *out, const struct request *request) {
    add_parent(out, request, 0);
}

static void add_second_parent(struct strbuf *out, const struct request *request) {
    if (cJSON_GetArraySize(request->parents) < 2)
        return;
    add_text(out,
             "A second parent, whose ideas may be combined with those of the first one. Edits are "
             "of the first parent's files.\n");
    add_parent(out, request, 1);
}

static void add_history(struct strbuf *out, const struct request *request) {
    add_elements(out, request->history);
}

static void add_insights(struct strbuf *out, const struct request *request) {
    add_members(out, request->insights);
}

static void add_number(struct strbuf *out, const struct request *request) {
    strbuf_print(out, "%lld", (long long)request->number);
}

static const struct part {
    const char *name;
    void (*add)(struct strbuf *out, const struct request *request);
} parts[] = {
    {"problem", add_problem},     {"about", add_about},
    {"device", add_device},       {"limits", add_limits},
    {"cases", add_cases},         {"problem_json", add_problem_json},
    {"reference", add_reference}, {"bounds", add_bounds},
    {"parent", add_first_parent}, {"second_parent", add_second_parent},
    {"history", add_history},     {"insights", add_insights},
    {"number", add_number},       {NULL, NULL},
};

/* ---- rendering ---- */

static const struct part *find_part(const char *name, size_t length) {
    const struct part *part = parts;
    while (part->name != NULL &&
           (strlen(part->name) != length || memcmp(part->name, name, length) != 0))
        part++;
    return part->name != NULL ? part : NULL;
}

static int unknown_name(const char *file, const char *name, size_t length, struct error *error) {
    error_input(error, "%s: {{%.*s}} is no part of a request; those are", file,
                length < 40 ? (int)length : 40, name);
    for (const struct part *part = parts; part->name != NULL; part++)
        text_append(error->text, sizeof error->text, "%s %s", part == parts ? "" : ",", part->name);
    return -1;
}

static int render(struct strbuf *out, const char *file, const char *text,
                  const struct request *request, struct error *error) {
    while (*text != '\0') {
        const char *open = strstr(text, "{{");
        const char *close = open != NULL ? strstr(open, "}}") : NULL;
        if (close == NULL) {
            add_text(out, text);
            return 0;
        }
        const struct part *part = find_part(open + 2, (size_t)(close - open - 2));
        if (part == NULL)
            return unknown_name(file, open + 2, (size_t)(close - open - 2), error);
        bool starts_line =
            open == text ? out->used == 0 || out->bytes[out->used - 1] == '\n' : open[-1] == '\n';
        strbuf_add(out, text, (size_t)(open - text));
        size_t before = out->used;
        part->add(out, request);
        text = close + 2;
        bool alone = starts_line && (*text == '\n' || *text == '\0');
        if (alone && *text == '\n' && (out->used == before || out->bytes[out->used - 1] == '\n'))
            text++; /* nothing, or lines that are ended already */
    }
    return 0;
}

static char *render_file(const char *folder, const char *name, const struct request *request,
                         struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, folder, name, error) < 0)
        return NULL;
    char *text = path_read_file(path, PROMPT_FILE_BYTES_MAX, NULL, error);
    struct strbuf out = {0};
    if (text == NULL)
        return NULL;
    strbuf_add(&out, "", 0);
    int status = render(&out, path, text, request, error);
    free(text);
    if (status == 0)
        return out.bytes;
    strbuf_release(&out);
    return NULL;
}

int prompt_folder(char folder[PATH_SIZE], const char *chosen, struct error *error) {
    if (chosen != NULL)
        return path_join(folder, "", chosen, error);
    return path_program_folder(folder, error) < 0 ? -1
                                                  : path_join(folder, folder, "prompts", error);
}

int prompt_make(struct prompt *prompt, const char *folder, const struct request *request,
                struct error *error) {
    char name[64];
    snprintf(name, sizeof name, "%s.txt", request->strategy);
    prompt->system = render_file(folder, "system.txt", request, error);
    if (prompt->system == NULL)
        return -1;
    prompt->user = render_file(folder, name, request, error);
    if (prompt->user != NULL)
        return 0;
    free(prompt->system);
    return -1;
}

void prompt_release(struct prompt *prompt) {
    free(prompt->system);
    free(prompt->user);
}
