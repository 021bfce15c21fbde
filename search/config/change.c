#include "config/change.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text with other bytes from `start` to before `end`. The line ends among them stay, so
   that every other key stays on its line. */
static char *replace_text(const char *text, size_t start, size_t end, const char *with) {
    struct strbuf changed = {0};
    strbuf_print(&changed, "%.*s%s", (int)start, text, with);
    for (size_t i = start; i < end; i++)
        if (text[i] == '\n')
            strbuf_add(&changed, "\n", 1);
    strbuf_print(&changed, "%s", text + end);
    return changed.bytes;
}

static char *insert_member(const struct json *object, const char *key, const char *value) {
    struct strbuf member = {0};
    int count = json_count(object);
    size_t at = json_locate(object).start + 1;
    if (count > 0) {
        struct json last = json_at(object, count - 1);
        at = json_locate(&last).end;
    }
    strbuf_print(&member, "%s\"%s\": %s", count > 0 ? ", " : "", key, value);
    char *changed = replace_text(object->document->text, at, at, member.bytes);
    strbuf_release(&member);
    return changed;
}

/* Removes a member with the comma after it; the last one with the comma before it. */
static char *remove_member(const struct json *member) {
    char *text = member->document->text;
    struct json_place place = json_locate(member);
    size_t comma = place.end + strspn(text + place.end, " \t\r\n");
    if (text[comma] != ',')
        for (comma = place.key - 1; isspace((unsigned char)text[comma]);)
            comma--;
    if (text[comma] == ',')
        text[comma] = ' ';
    return replace_text(text, place.key, place.end, "");
}

static char *change_member(const struct json *object, const char *key, const cJSON *change) {
    struct json member;
    if (!json_find(object, key, &member))
        member.value = NULL;
    if (cJSON_IsNull(change))
        return member.value != NULL ? remove_member(&member) : xstrdup(object->document->text);
    char *value = cJSON_PrintUnformatted(change), *changed;
    if (member.value != NULL) {
        struct json_place place = json_locate(&member);
        changed = replace_text(object->document->text, place.start, place.end, value);
    } else {
        changed = insert_member(object, key, value);
    }
    free(value);
    return changed;
}

/* Returns the text with one change; NULL: it is not JSON. */
static char *change_text(const char *text, const char *path, const cJSON *change,
                         struct error *error) {
    struct json_document document;
    char section[NAME_SIZE] = "";
    char *changed;
    const char *dot = strchr(change->string, '.');
    if (json_read_text(&document, path, text, error) < 0)
        return NULL;
    struct json root = json_root(&document), object = root;
    if (dot != NULL)
        snprintf(section, sizeof section, "%.*s", (int)(dot - change->string), change->string);
    if (dot == NULL || json_find(&root, section, &object)) {
        changed = change_member(&object, dot != NULL ? dot + 1 : change->string, change);
    } else if (cJSON_IsNull(change)) {
        changed = xstrdup(document.text);
    } else {
        char *extended = insert_member(&root, section, "{}");
        changed = change_text(extended, path, change, error);
        free(extended);
    }
    json_release(&document);
    return changed;
}

struct config *config_change(struct config *config, const cJSON *changes, struct error *error) {
    struct config *changed = NULL;
    if (changes->child == NULL)
        return config;
    char *text = xstrdup(config->text);
    for (const cJSON *change = changes->child; change != NULL && text != NULL;
         change = change->next) {
        char *next = change_text(text, config->path, change, error);
        free(text);
        text = next;
    }
    if (text != NULL)
        changed = config_from_text(config->path, text, config->template_folder, error);
    free(text);
    config_free(config);
    return changed;
}

/* A number of JSON is exact up to 2^53; a config has larger ones as text (json_integer). */
void config_change_integer(cJSON *changes, const char *key, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    if (value > -(1LL << 53) && value < 1LL << 53)
        cJSON_AddNumberToObject(changes, key, (double)value);
    else
        cJSON_AddStringToObject(changes, key, text);
}

/* A duration has no exponent; %g prints none from 0.1 ms on. */
void config_change_duration(cJSON *changes, const char *key, double seconds) {
    char text[40];
    snprintf(text, sizeof text, "%.15gs", fmax(seconds, 1e-4));
    cJSON_AddStringToObject(changes, key, text);
}
