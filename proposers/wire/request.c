/* request: what a proposer is asked and answers. */
#include "proposers/wire/request.h"

#include "base/json.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* A whole number, or a string of digits for one beyond 2^53. */
static bool read_whole(const cJSON *value, uint64_t *number) {
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 &&
        value->valuedouble < 9007199254740993.0 &&
        floor(value->valuedouble) == value->valuedouble) {
        *number = (uint64_t)value->valuedouble;
        return true;
    }
    const char *text = cJSON_GetStringValue(value);
    if (text == NULL || *text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return errno == 0;
}

int file_name_check(const char *name, struct error *error) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    size_t length = strlen(name);
    if (length == 0 || length > REQUEST_FILE_NAME_MAX || strspn(name, allowed) != length)
        return error_input(error,
                           "the file name \"%.80s\" must have 1 to %d letters, digits and . _ - /",
                           name, REQUEST_FILE_NAME_MAX);
    for (const char *part = name;;) {
        size_t size = strcspn(part, "/");
        if (size == 0 || (size == 1 && part[0] == '.') || (size == 2 && memcmp(part, "..", 2) == 0))
            return error_input(error, "the file name \"%.80s\" must be relative, without . and ..",
                               name);
        if (part[size] == '\0')
            return 0;
        part += size + 1;
    }
}

bool text_is_utf8(const char *bytes, size_t size) {
    for (size_t i = 0; i < size;) {
        unsigned char first = (unsigned char)bytes[i];
        size_t more = first < 0x80 ? 0 : first < 0xc2 ? 9 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        if (first == 0 || first > 0xf4 || more > 3 || i + more >= size)
            return false;
        for (size_t k = 1; k <= more; k++)
            if (((unsigned char)bytes[i + k] & 0xc0) != 0x80)
                return false;
        i += more + 1;
    }
    return true;
}

static int check_parent(const cJSON *parent, int number, struct error *error) {
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(parent, "files"), *file;
    if (cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, "hash")) == NULL)
        return error_input(error, "parents[%d] needs a \"hash\", a text", number);
    if (!cJSON_IsObject(files) || files->child == NULL)
        return error_input(error, "parents[%d] needs \"files\", an object of texts by name",
                           number);
    cJSON_ArrayForEach(file, files) {
        if (!cJSON_IsString(file))
            return error_input(error, "parents[%d].files[\"%.80s\"] must be a text", number,
                               file->string);
        if (file_name_check(file->string, error) < 0)
            return error_prefix(error, "parents[%d]", number);
    }
    return 0;
}

static int check_request(struct request *request, struct error *error) {
    static const char *const strategies[] = {"free", "insight", "full", NULL};
    uint64_t number, protocol;
    const cJSON *root = request->root, *item;
    if (!cJSON_IsObject(root))
        return error_input(error, "a request must be one JSON object on a line");
    if (!read_whole(cJSON_GetObjectItemCaseSensitive(root, "number"), &number) ||
        number > INT64_MAX)
        return error_input(error, "a request needs a \"number\", a whole number");
    request->number = (int64_t)number;
    item = cJSON_GetObjectItemCaseSensitive(root, "type");
    if (cJSON_GetStringValue(item) == NULL || strcmp(item->valuestring, "propose") != 0)
        return error_input(error, "a request needs \"type\": \"propose\"");
    if (!read_whole(cJSON_GetObjectItemCaseSensitive(root, "protocol"), &protocol) ||
        protocol != REQUEST_PROTOCOL)
        return error_input(error,
                           "this proposer knows \"protocol\" %d: use one of evotile's version",
                           REQUEST_PROTOCOL);
    if (!read_whole(cJSON_GetObjectItemCaseSensitive(root, "seed"), &request->seed))
        return error_input(error, "a request needs a \"seed\", a whole number");
    request->strategy = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "strategy"));
    int strategy = 0;
    while (request->strategy != NULL && strategies[strategy] != NULL &&
           strcmp(strategies[strategy], request->strategy) != 0)
        strategy++;
    if (request->strategy == NULL || strategies[strategy] == NULL)
        return error_input(error, "\"strategy\" must be \"free\", \"insight\" or \"full\"");
    request->task = cJSON_GetObjectItemCaseSensitive(root, "task");
    if (!cJSON_IsObject(request->task))
        return error_input(error, "a request needs a \"task\", an object");
    request->parents = cJSON_GetObjectItemCaseSensitive(root, "parents");
    int count = cJSON_IsArray(request->parents) ? cJSON_GetArraySize(request->parents) : 0;
    if (count < 1 || count > 2)
        return error_input(error, "a request needs \"parents\", an array of one or two objects");
    for (int p = 0; p < count; p++)
        if (check_parent(cJSON_GetArrayItem(request->parents, p), p, error) < 0)
            return -1;
    item = cJSON_GetObjectItemCaseSensitive(root, "history");
    if (item != NULL && !cJSON_IsArray(item))
        return error_input(error, "\"history\" must be an array");
    request->history = item;
    item = cJSON_GetObjectItemCaseSensitive(root, "insights");
    request->insights = item != NULL && !cJSON_IsNull(item) ? item : NULL;
    return 0;
}

int request_read(struct request *request, const char *line, size_t length, struct error *error) {
    *request = (struct request){0};
    if (length > REQUEST_BYTES_MAX)
        return error_input(error, "a request has at most %d bytes", REQUEST_BYTES_MAX);
    if (strlen(line) != length)
        return error_input(error, "a request must not contain a NUL byte");
    request->root = cJSON_Parse(line);
    if (request->root == NULL)
        return error_input(error, "a request must be one JSON object on a line");
    if (check_request(request, error) == 0)
        return 0;
    request_release(request);
    return -1;
}

void request_release(struct request *request) {
    cJSON_Delete(request->root);
    *request = (struct request){.number = request->number};
}

const char *request_hash(const struct request *request, int parent) {
    return cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(request->parents, parent), "hash"));
}

const cJSON *request_files(const struct request *request, int parent) {
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(request->parents, parent), "files");
}

const char *request_file(const struct request *request, int parent, const char *name) {
    return cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(request_files(request, parent), name));
}

/* A copy on one line: runs of blanks and control characters are one space. */
static char *make_line(const char *text) {
    char *line = xmalloc(strlen(text) + 1), *to = line;
    for (; *text != '\0'; text++) {
        bool blank = (unsigned char)*text <= ' ' || *text == 127;
        if (!blank)
            *to++ = *text;
        else if (to > line && to[-1] != ' ')
            *to++ = ' ';
    }
    while (to > line && to[-1] == ' ')
        to--;
    *to = '\0';
    return line;
}

cJSON *proposal_error(const struct request *request, const char *text) {
    cJSON *answer = cJSON_CreateObject();
    char *line = make_line(text);
    cJSON_AddNumberToObject(answer, "number", (double)request->number);
    cJSON_AddStringToObject(answer, "error", line);
    free(line);
    return answer;
}

cJSON *proposal_new(const struct request *request, const char *hypothesis) {
    cJSON *answer = cJSON_CreateObject();
    char *line = make_line(hypothesis);
    cJSON_AddNumberToObject(answer, "number", (double)request->number);
    cJSON_AddStringToObject(answer, "parent", request_hash(request, 0));
    cJSON_AddStringToObject(answer, "hypothesis", line);
    free(line);
    return answer;
}
