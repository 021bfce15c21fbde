#include "base/json.h"

#include "base/file_kind.h"
#include "base/memory.h"
#include "base/spelling.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { FILE_BYTES_MAX = 64 << 20 };

/* Returns the end of the string literal that starts at `at`: just after its closing quote, or the
   final NUL. */
static const char *skip_string(const char *at) {
    for (at++; *at != '\0' && *at != '"'; at++)
        if (*at == '\\' && at[1] != '\0')
            at++;
    return *at == '"' ? at + 1 : at;
}

/* Replaces comments with blanks and keeps line ends, so that lines and columns stay valid. */
static int blank_comments(const char *file, char *text, struct error *error) {
    int line = 1;
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '\n')
            line++;
        if (*at == '"') {
            char *end = (char *)skip_string(at);
            for (; at < end; at++)
                if (at[0] == '\\' &&
                    strncmp(++at, "u0000", 5) == 0) /* cJSON would end the string there */
                    return error_input(error, "%s:%d: a string cannot hold \\u0000: remove it",
                                       file, line);
            at = end - 1;
        } else if (at[0] == '/' && at[1] == '/') {
            for (; *at != '\0' && *at != '\n'; at++)
                *at = ' ';
            at--;
        } else if (at[0] == '/' && at[1] == '*') {
            int opened = line;
            char *end = strstr(at + 2, "*/");
            if (end == NULL)
                return error_input(error, "%s:%d: this comment is never closed: add */", file,
                                   opened);
            for (; at < end + 2; at++) {
                if (*at == '\n')
                    line++;
                else
                    *at = ' ';
            }
            at--;
        }
    }
    return 0;
}

/* cJSON keeps no positions. Its tree lists values in the order of the text, so the n-th value of
   the tree is the n-th value of the text; the two walks below count in the same way. */
static bool count_until(const cJSON *value, const cJSON *target, int *count) {
    if (value == target)
        return true;
    ++*count;
    for (const cJSON *child = value->child; child != NULL; child = child->next)
        if (count_until(child, target, count))
            return true;
    return false;
}

static const char *skip_token(const char *at) {
    if (*at == '"')
        return skip_string(at);
    return strchr("{[]}", *at) != NULL ? at + 1 : at + strcspn(at, " \t\r\n,]}");
}

static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        at += strspn(at, " \t\r\n,:");
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at = skip_token(at);
    } while (depth > 0);
    return at;
}

struct json_place json_locate(const struct json *value) {
    const char *text = value->document->text;
    const char *key = text;
    int remaining = 0;
    count_until(value->document->root, value->value, &remaining);
    for (const char *at = text, *next;; at = next) {
        at += strspn(at, "\xef\xbb\xbf \t\r\n\v\f,:]}"); /* a byte order mark may start the text */
        if (*at == '\0')
            return (struct json_place){0};
        next = skip_token(at);
        if (*at == '"' && next[strspn(next, " \t\r\n")] == ':')
            key = at;
        else if (remaining-- == 0)
            return (struct json_place){(size_t)(key - text), (size_t)(at - text),
                                       (size_t)(skip_value(at) - text)};
    }
}

static int find_line(const struct json *value) {
    int line = 1;
    for (size_t i = json_locate(value).start; i > 0; i--)
        line += value->document->text[i - 1] == '\n';
    return line;
}

static struct json child_value(const struct json *parent, const cJSON *value, int index) {
    struct json child = {.document = parent->document, .value = value};
    size_t used = strlen(parent->path);
    memcpy(child.path, parent->path, used);
    if (cJSON_IsArray(parent->value))
        snprintf(child.path + used, sizeof child.path - used, "[%d]", index);
    else
        snprintf(child.path + used, sizeof child.path - used, "%s%s", used > 0 ? "." : "",
                 value->string);
    for (char *at = child.path + used; *at != '\0'; at++) /* an error must stay on one line */
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return child;
}

static int reject_duplicate_keys(const struct json *value, struct error *error) {
    const cJSON *first = value->value->child;
    int index = 0;
    for (const cJSON *child = first; child != NULL; child = child->next) {
        struct json member = child_value(value, child, index++);
        for (const cJSON *other = first; child->string != NULL && other != child;
             other = other->next)
            if (strcmp(other->string, child->string) == 0)
                return json_error(&member, error, "duplicate key: remove one");
        if (reject_duplicate_keys(&member, error) < 0)
            return -1;
    }
    return 0;
}

static int parse_document(struct json_document *document, struct error *error) {
    const char *end = NULL;
    if (blank_comments(document->file, document->text, error) < 0)
        return -1;
    document->root = cJSON_ParseWithOpts(document->text, &end, 1);
    if (document->root == NULL) {
        int line = 1;
        int column = 1;
        for (const char *at = document->text; at < end && *at != '\0'; at++) {
            column = *at == '\n' ? 1 : column + 1;
            line += *at == '\n';
        }
        return error_input(
            error, "%s:%d: not valid JSON at column %d: look for a missing comma, quote or bracket",
            document->file, line, column);
    }
    struct json root = json_root(document);
    return reject_duplicate_keys(&root, error);
}

int json_read_text(struct json_document *document, const char *name, const char *text,
                   struct error *error) {
    *document = (struct json_document){.file = xstrdup(name), .text = xstrdup(text)};
    if (parse_document(document, error) < 0) {
        json_release(document);
        return -1;
    }
    return 0;
}

int json_read(struct json_document *document, const char *path, struct error *error) {
    if (file_is_special(path))
        return error_input(error, FILE_IS_SPECIAL, path);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_input(error, "cannot read %s: %s", path, strerror(errno));
    size_t bytes = 0;
    size_t capacity = 1 << 16;
    char *text = xmalloc(capacity + 1);
    size_t got;
    while ((got = fread(text + bytes, 1, capacity - bytes, file)) > 0) {
        bytes += got;
        if (bytes > FILE_BYTES_MAX)
            break;
        if (bytes == capacity)
            text = xrealloc(text, (capacity *= 2) + 1);
    }
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    int result = -1;
    text[bytes < capacity ? bytes : capacity] = '\0';
    if (failed)
        error_input(error, "cannot read %s: %s", path, strerror(reason));
    else if (bytes > FILE_BYTES_MAX)
        error_input(error, "%s is larger than 64 MiB: this is not an evotile file", path);
    else if (strlen(text) != bytes)
        error_input(error, "%s holds a NUL byte: it must be JSON text", path);
    else
        result = json_read_text(document, path, text, error);
    free(text);
    return result;
}

void json_release(struct json_document *document) {
    cJSON_Delete(document->root);
    free(document->file);
    free(document->text);
    *document = (struct json_document){0};
}

struct json json_root(const struct json_document *document) {
    return (struct json){.document = document, .value = document->root};
}

int json_count(const struct json *value) {
    return cJSON_GetArraySize(value->value);
}

struct json json_at(const struct json *value, int index) {
    const cJSON *child = cJSON_GetArrayItem(value->value, index);
    if (child == NULL)
        BUG("%s has no element %d", value->path, index);
    return child_value(value, child, index);
}

const char *json_key(const struct json *value) {
    return value->value->string;
}

bool json_find(const struct json *object, const char *key, struct json *found) {
    const cJSON *child = cJSON_GetObjectItemCaseSensitive(object->value, key);
    if (child == NULL)
        return false;
    *found = child_value(object, child, 0);
    return true;
}

int json_require(const struct json *object, const char *key, struct json *found,
                 struct error *error) {
    if (json_is_object(object, error) < 0)
        return -1;
    if (!json_find(object, key, found))
        return json_error(object, error, "the key \"%s\" is missing", key);
    return 0;
}

int json_check_keys(const struct json *object, const char *const *keys, struct error *error) {
    int known = 0;
    while (keys[known] != NULL)
        known++;
    if (json_is_object(object, error) < 0)
        return -1;
    for (int i = 0; i < json_count(object); i++) {
        struct json member = json_at(object, i);
        int k = 0;
        while (k < known && strcmp(keys[k], json_key(&member)) != 0)
            k++;
        if (k == known)
            return json_error(&member, error, "unknown key; did you mean \"%s\"?",
                              spelling_nearest(json_key(&member), keys, known));
    }
    return 0;
}

int json_is_array(const struct json *value, struct error *error) {
    return cJSON_IsArray(value->value) ? 0 : json_error(value, error, "must be a list: [ ... ]");
}

int json_is_object(const struct json *value, struct error *error) {
    return cJSON_IsObject(value->value) ? 0
                                        : json_error(value, error, "must be an object: { ... }");
}

int json_string(const struct json *value, const char **string, struct error *error) {
    if (!cJSON_IsString(value->value))
        return json_error(value, error, "must be a string in double quotes");
    *string = value->value->valuestring;
    return 0;
}

int json_copy_text(const struct json *object, const char *key, char *to, size_t size,
                   struct error *error) {
    struct json value;
    const char *text = "";
    if (json_require(object, key, &value, error) < 0 || json_string(&value, &text, error) < 0)
        return -1;
    if (*text == '\0' || strlen(text) >= size)
        return json_error(&value, error, "must have 1 to %zu characters", size - 1);
    strcpy(to, text);
    return 0;
}

int json_bool(const struct json *value, bool *flag, struct error *error) {
    if (!cJSON_IsBool(value->value))
        return json_error(value, error, "must be true or false");
    *flag = cJSON_IsTrue(value->value);
    return 0;
}

int json_number(const struct json *value, double *number, struct error *error) {
    if (!cJSON_IsNumber(value->value) || !isfinite(value->value->valuedouble))
        return json_error(value, error, "must be a number");
    *number = value->value->valuedouble;
    return 0;
}

int json_integer(const struct json *value, int64_t *number, struct error *error) {
    if (cJSON_IsString(value->value)) {
        const char *digits = value->value->valuestring;
        char *end;
        errno = 0;
        long long parsed = strtoll(digits, &end, 10);
        if ((isdigit((unsigned char)*digits) || *digits == '-') && end != digits && *end == '\0' &&
            errno == 0) {
            *number = parsed;
            return 0;
        }
    }
    double parsed = value->value->valuedouble;
    if (!cJSON_IsNumber(value->value) || parsed != floor(parsed) ||
        fabs(parsed) >= 9007199254740992.0)
        return json_error(value, error,
                          fabs(parsed) >= 9007199254740992.0
                              ? "must be a whole number; beyond 2^53 write it as a string"
                              : "must be a whole number");
    *number = (int64_t)parsed;
    return 0;
}

void json_location(const struct json *value, char *text, size_t size) {
    snprintf(text, size, "%s:%d%s%s", value->document->file, find_line(value),
             value->path[0] != '\0' ? ": " : "", value->path);
}

int json_error(const struct json *value, struct error *error, const char *format, ...) {
    char where[512];
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_location(value, where, sizeof where);
    return error_input(error, "%s: %s", where, text);
}

static char *delete_printed(cJSON *root, char *text) {
    if (text == NULL)
        BUG("out of memory");
    cJSON_Delete(root);
    return text;
}

char *json_print(cJSON *root) {
    return delete_printed(root, cJSON_Print(root));
}

char *json_print_line(cJSON *root) {
    return delete_printed(root, cJSON_PrintUnformatted(root));
}

void json_add(cJSON *object, const char *format, ...) {
    char *members = xstrdup(format), *rest = members;
    va_list arguments;
    va_start(arguments, format);
    for (char *key; (key = strsep(&rest, " ")) != NULL;) {
        char *conversion = strchr(key, '=');
        if (conversion == NULL)
            BUG("\"%s\" is not KEY=CONVERSION", key);
        *conversion++ = '\0';
        if (strcmp(conversion, "%s") == 0)
            cJSON_AddStringToObject(object, key, va_arg(arguments, const char *));
        else if (strcmp(conversion, "%d") == 0)
            cJSON_AddNumberToObject(object, key, va_arg(arguments, int));
        else if (strcmp(conversion, "%ld") == 0)
            cJSON_AddNumberToObject(object, key, (double)va_arg(arguments, long));
        else if (strcmp(conversion, "%hhd") == 0)
            cJSON_AddBoolToObject(object, key, va_arg(arguments, int));
        else
            cJSON_AddNumberToObject(object, key, va_arg(arguments, double));
    }
    va_end(arguments);
    free(members);
}

void json_add_fields(cJSON *object, const struct field *fields, const void *record) {
    for (const struct field *field = fields; field->name != NULL; field++) {
        const void *member = field_member(field, record);
        switch (field->kind) {
        case FIELD_INT:
            cJSON_AddNumberToObject(object, field->name, *(const int *)member);
            break;
        case FIELD_INT64:
            cJSON_AddNumberToObject(object, field->name, (double)*(const int64_t *)member);
            break;
        case FIELD_DOUBLE:
            cJSON_AddNumberToObject(object, field->name, *(const double *)member);
            break;
        case FIELD_BOOL:
            cJSON_AddBoolToObject(object, field->name, *(const bool *)member);
            break;
        case FIELD_TEXT:
            cJSON_AddStringToObject(object, field->name, member);
            break;
        }
    }
}
