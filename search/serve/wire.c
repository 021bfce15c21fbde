#include "serve/wire.h"

#include "base/json_message.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/spelling.h"
#include "base/strbuf.h"

#include <math.h>
#include <string.h>

enum { KEYS_MAX = 12, SHORT_SIZE = 80, ID_BYTES = 128, TEXT_BYTES = 256, GENOME_BYTES = 64 << 10 };

static const char *const type_names[WIRE_TYPE_COUNT + 1] = {
    "evaluate", "ask", "tell", "cancel", "definitions", "health", "metrics", NULL};
static const char *const level_names[] = {"static", "emulated", "device", "champion"};
enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

const char *wire_type_name(enum wire_type type) {
    return type_names[type];
}

bool wire_type_is_task(enum wire_type type) {
    return type <= WIRE_TELL;
}

/* ---- text of clients ---- */

/* A client's word within an error: escaped, and cut between two characters. */
static const char *shorten(const char *words, char text[SHORT_SIZE]) {
    size_t used = 0;
    for (size_t length; words[used] != '\0' && used < SHORT_SIZE / 2; used += length) {
        length = utf8_length(words + used, strlen(words + used));
        if (length == 0)
            break;
    }
    snprintf(text, SHORT_SIZE, "%.*s", (int)used, words);
    char *escaped = text_escaped(text, false);
    snprintf(text, SHORT_SIZE, "%.*s", (int)strlen(escaped), escaped);
    free(escaped);
    return text;
}

static bool has_control(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        if (*at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0))
            return true;
    return false;
}

/* ---- keys ---- */

/* Refuses what is no object, an unknown key and a repeated one. */
static int check_keys(const cJSON *object, const char *where, const char *const *keys, int count,
                      struct error *error) {
    char word[SHORT_SIZE];
    bool seen[KEYS_MAX] = {false};
    if (!cJSON_IsObject(object))
        return error_input(error, "%s must be an object: { ... }", where);
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        int k = 0;
        while (k < count && strcmp(keys[k], member->string) != 0)
            k++;
        shorten(member->string, word);
        if (k == count)
            return error_input(error, "%s has no key \"%s\"; did you mean \"%s\"?", where, word,
                               spelling_nearest(word, keys, count));
        if (seen[k])
            return error_input(error, "%s has the key \"%s\" twice: remove one", where, keys[k]);
        seen[k] = true;
    }
    return 0;
}

static const cJSON *find(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* A text of 1 to `most` bytes without control characters, if the object has the key. */
static int check_text(const cJSON *object, const char *key, size_t most, struct error *error) {
    const cJSON *value = find(object, key);
    if (value == NULL)
        return 0;
    if (!cJSON_IsString(value))
        return error_input(error, "\"%s\" must be a text in double quotes", key);
    if (*value->valuestring == '\0' || strlen(value->valuestring) > most)
        return error_input(error, "\"%s\" must have 1 to %zu bytes", key, most);
    if (has_control(value->valuestring))
        return error_input(error, "\"%s\" holds a control character: remove it", key);
    return 0;
}

static int check_integer(const cJSON *object, const char *key, double least, double most,
                         struct error *error) {
    const cJSON *value = find(object, key);
    if (value != NULL &&
        !(cJSON_IsNumber(value) && value->valuedouble >= least && value->valuedouble <= most &&
          value->valuedouble == floor(value->valuedouble)))
        return error_input(error, "\"%s\" must be a whole number from %.0f to %.0f", key, least,
                           most);
    return 0;
}

static int require(const cJSON *object, const char *key, const char *type, struct error *error) {
    if (find(object, key) == NULL)
        return error_input(error, "a request of type \"%s\" needs the key \"%s\"", type, key);
    return 0;
}

/* ---- solutions ---- */

/* A relative path that stays in its folder, each component with a name. */
static bool is_file_name(const char *name) {
    if (*name == '\0' || strlen(name) > TEXT_BYTES - 1 || has_control(name))
        return false;
    for (const char *at = name;; at++) {
        size_t length = strcspn(at, "/");
        if (length == 0 || (length <= 2 && strspn(at, ".") >= length))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

static int check_files(const cJSON *files, struct error *error) {
    char word[SHORT_SIZE];
    size_t bytes = 0;
    int count = 0;
    if (!cJSON_IsObject(files) || files->child == NULL)
        return error_input(error, "\"files\" must be an object of texts: {\"kernel.cu\": \"...\"}");
    for (const cJSON *file = files->child; file != NULL; file = file->next) {
        if (++count > WIRE_FILES)
            return error_input(error, "\"files\" has more than %d files: send fewer", WIRE_FILES);
        if (!is_file_name(file->string))
            return error_input(error,
                               "\"files\": \"%s\" is no name of a file: it must be relative, "
                               "without . and .. and control characters",
                               shorten(file->string, word));
        if (!cJSON_IsString(file))
            return error_input(error, "\"files\": \"%s\" must be a text in double quotes",
                               shorten(file->string, word));
        for (const cJSON *other = files->child; other != file; other = other->next)
            if (strcmp(other->string, file->string) == 0)
                return error_input(error, "\"files\" has \"%s\" twice: remove one",
                                   shorten(file->string, word));
        bytes += strlen(file->string) + strlen(file->valuestring);
        if (bytes > WIRE_FILE_BYTES)
            return error_input(error, "\"files\" has more than %d MB: send less",
                               WIRE_FILE_BYTES >> 20);
    }
    return 0;
}

static int check_solution(const cJSON *request, const struct wire_rules *rules,
                          struct error *error) {
    static const char *const keys[] = {"files", "name", "folder"};
    const cJSON *solution = find(request, "solution");
    if (check_keys(solution, "\"solution\"", keys, 3, error) < 0 ||
        check_text(solution, "name", TEXT_BYTES, error) < 0 ||
        check_text(solution, "folder", PATH_SIZE - 1, error) < 0)
        return -1;
    const cJSON *files = find(solution, "files");
    const cJSON *folder = find(solution, "folder");
    if (files != NULL ? folder != NULL : (folder != NULL) == (find(solution, "name") != NULL))
        return error_input(error,
                           "\"solution\" needs one of: \"files\", with a \"name\" or without; "
                           "\"name\" of a solution that the problem has; or \"folder\"");
    if (folder != NULL && !rules->takes_folders)
        return error_input(error, "a client on another host cannot name a \"folder\" of the "
                                  "server: send \"files\"");
    return files != NULL ? check_files(files, error) : 0;
}

enum wire_level wire_level(const cJSON *request) {
    const char *name = cJSON_GetStringValue(find(request, "level"));
    for (int level = 0; name != NULL && level < LEVEL_COUNT; level++)
        if (strcmp(name, level_names[level]) == 0)
            return (enum wire_level)level;
    return WIRE_DEVICE;
}

static int check_level(const cJSON *request, struct error *error) {
    const cJSON *value = find(request, "level");
    const char *name = cJSON_GetStringValue(value);
    for (int level = 0; name != NULL && level < LEVEL_COUNT; level++)
        if (strcmp(name, level_names[level]) == 0)
            return 0;
    if (value == NULL)
        return 0;
    return error_input(error, "\"level\" must be \"static\", \"emulated\", \"device\" or "
                              "\"champion\"");
}

/* ---- requests ---- */

static int check_evaluate(const cJSON *request, const struct wire_rules *rules,
                          struct error *error) {
    static const char *const switches[] = {"baseline", "counters"};
    if (require(request, "solution", "evaluate", error) < 0 ||
        check_solution(request, rules, error) < 0 || check_level(request, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        const cJSON *found = find(request, switches[i]);
        if (found != NULL && !cJSON_IsBool(found))
            return error_input(error, "\"%s\" must be true or false", switches[i]);
    }
    return 0;
}

/* Which of the client's searches a request is of. */
static int check_search(const cJSON *request, const struct wire_rules *rules, struct error *error) {
    if (find(request, "solution") != NULL && check_solution(request, rules, error) < 0)
        return -1;
    return check_text(request, "strategy", TEXT_BYTES, error) < 0
               ? -1
               : check_integer(request, "seed", 0, INT32_MAX, error);
}

static int check_ask(const cJSON *request, const struct wire_rules *rules, struct error *error) {
    return check_search(request, rules, error) < 0 ? -1
                                                   : check_integer(request, "count", 1, 256, error);
}

static int check_tell(const cJSON *request, const struct wire_rules *rules, struct error *error) {
    const cJSON *value = find(request, "value");
    if (check_search(request, rules, error) < 0 || require(request, "genome", "tell", error) < 0 ||
        require(request, "value", "tell", error) < 0)
        return -1;
    if (!cJSON_IsNull(value) && !(cJSON_IsNumber(value) && isfinite(value->valuedouble)))
        return error_input(error, "\"value\" must be a number, or null for a genome that failed");
    return 0;
}

/* What a client calls a request: a text, or a number that is printed as it was sent. */
static bool is_id(const cJSON *id) {
    if (cJSON_IsNumber(id))
        return fabs(id->valuedouble) < 9007199254740992.0 &&
               id->valuedouble == floor(id->valuedouble);
    return cJSON_IsString(id) && *id->valuestring != '\0' && strlen(id->valuestring) <= ID_BYTES;
}

static int check_cancel(const cJSON *request, const struct wire_rules *rules, struct error *error) {
    (void)rules;
    if (!is_id(find(request, "task")))
        return error_input(error, "a request of type \"cancel\" needs \"task\": the \"id\" of the "
                                  "request to cancel");
    return 0;
}

struct kind {
    const char *keys[KEYS_MAX];
    int (*check)(const cJSON *request, const struct wire_rules *rules, struct error *error);
};

static const struct kind kinds[WIRE_TYPE_COUNT] = {
    [WIRE_EVALUATE] = {{"type", "protocol", "id", "problem", "solution", "genome", "goal", "level",
                        "baseline", "counters"},
                       check_evaluate},
    [WIRE_ASK] = {{"type", "protocol", "id", "problem", "solution", "goal", "strategy", "seed",
                   "count"},
                  check_ask},
    [WIRE_TELL] = {{"type", "protocol", "id", "problem", "solution", "goal", "strategy", "seed",
                    "genome", "value"},
                   check_tell},
    [WIRE_CANCEL] = {{"type", "protocol", "id", "task"}, check_cancel},
    [WIRE_DEFINITIONS] = {{"type", "protocol", "id"}, NULL},
    [WIRE_HEALTH] = {{"type", "protocol", "id"}, NULL},
    [WIRE_METRICS] = {{"type", "protocol", "id"}, NULL},
};

static int read_id(struct wire_request *request, const cJSON *object, struct error *error) {
    const cJSON *id = find(object, "id");
    if (id != NULL && !is_id(id))
        return error_input(
            error, "\"id\" must be a text of 1 to %d bytes or a whole number below 2^53", ID_BYTES);
    request->id = cJSON_Duplicate(id, false);
    return 0;
}

static int read_type(struct wire_request *request, const cJSON *object,
                     const struct wire_rules *rules, struct error *error) {
    char word[SHORT_SIZE];
    const cJSON *value = find(object, "type");
    const char *name = value != NULL ? cJSON_GetStringValue(value) : rules->type;
    int type = 0;
    if (name == NULL)
        return error_input(error, "a request needs \"type\": \"evaluate\", \"ask\", \"tell\", "
                                  "\"cancel\", \"definitions\", \"health\" or \"metrics\"");
    if (rules->type != NULL && strcmp(name, rules->type) != 0)
        return error_input(error, "\"type\" must be \"%s\" here, or be left out", rules->type);
    while (type < WIRE_TYPE_COUNT && strcmp(type_names[type], name) != 0)
        type++;
    shorten(name, word);
    if (type == WIRE_TYPE_COUNT)
        return error_input(error, "there is no request of type \"%s\"; did you mean \"%s\"?", word,
                           spelling_nearest(word, type_names, WIRE_TYPE_COUNT));
    request->type = (enum wire_type)type;
    return 0;
}

static int check_protocol(const cJSON *object, struct error *error) {
    const cJSON *value = find(object, "protocol");
    if (value != NULL && !(cJSON_IsNumber(value) && value->valuedouble == WIRE_PROTOCOL))
        return error_input(error,
                           "this server speaks protocol %d: send \"protocol\": %d, or use a client "
                           "of the server's version",
                           WIRE_PROTOCOL, WIRE_PROTOCOL);
    return 0;
}

static int check_request(struct wire_request *request, const cJSON *object,
                         const struct wire_rules *rules, struct error *error) {
    char where[64];
    int count = 0;
    if (!cJSON_IsObject(object))
        return error_input(error, "a request must be a JSON object: { ... }");
    if (read_id(request, object, error) < 0 || check_protocol(object, error) < 0 ||
        read_type(request, object, rules, error) < 0)
        return -1;
    const struct kind *kind = &kinds[request->type];
    while (count < KEYS_MAX && kind->keys[count] != NULL)
        count++;
    snprintf(where, sizeof where, "a request of type \"%s\"", type_names[request->type]);
    if (check_keys(object, where, kind->keys, count, error) < 0 ||
        check_text(object, "problem", TEXT_BYTES, error) < 0 ||
        check_text(object, "genome", GENOME_BYTES, error) < 0 ||
        check_integer(object, "goal", 0, 1e6, error) < 0)
        return -1;
    return kind->check != NULL ? kind->check(object, rules, error) : 0;
}

cJSON *wire_parse_object(const char *text, size_t size, struct error *error) {
    return json_parse_message(text, size, WIRE_MESSAGE_BYTES, error);
}

int wire_check(struct wire_request *request, cJSON *object, size_t bytes,
               const struct wire_rules *rules, struct error *error) {
    *request = (struct wire_request){.bytes = bytes};
    if (check_request(request, object, rules, error) < 0) {
        cJSON_Delete(object);
        return -1;
    }
    if (find(object, "type") == NULL)
        cJSON_AddStringToObject(object, "type", type_names[request->type]);
    request->object = object;
    return 0;
}

int wire_parse(struct wire_request *request, const char *text, size_t size,
               const struct wire_rules *rules, struct error *error) {
    *request = (struct wire_request){0};
    cJSON *object = wire_parse_object(text, size, error);
    return object != NULL ? wire_check(request, object, size, rules, error) : -1;
}

void wire_request_release(struct wire_request *request) {
    cJSON_Delete(request->object);
    cJSON_Delete(request->id);
    *request = (struct wire_request){0};
}

/* ---- the server's messages ---- */

cJSON *wire_message(const char *type, const cJSON *id) {
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", type);
    cJSON_AddNumberToObject(message, "protocol", WIRE_PROTOCOL);
    if (id != NULL)
        cJSON_AddItemToObject(message, "id", cJSON_Duplicate(id, false));
    return message;
}

cJSON *wire_error(const cJSON *id, const char *text) {
    cJSON *message = wire_message("error", id);
    cJSON_AddStringToObject(message, "error", text);
    return message;
}

bool wire_is_refused(const struct task *task) {
    return task->state == TASK_DONE && cJSON_IsString(find(task->answer, "error"));
}

cJSON *wire_answer(const struct task *task, bool key) {
    static const char *const states[] = {"waiting", "running"};
    char text[TASK_KEY_SIZE];
    const cJSON *id = find(task->request, "id");
    cJSON *message;
    if (wire_is_refused(task))
        message = wire_error(id, find(task->answer, "error")->valuestring);
    else
        message = wire_message(task->state == TASK_DONE ? "answer" : "task", id);
    if (key)
        cJSON_AddStringToObject(message, "task", task_print_key(task, text));
    if (task->state != TASK_DONE)
        cJSON_AddStringToObject(message, "state", states[task->state]);
    else if (!wire_is_refused(task))
        cJSON_AddItemToObject(message, "answer", cJSON_Duplicate(task->answer, true));
    return message;
}
