#include "pool/message_values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add_int64(cJSON *object, const char *name, int64_t value) {
    char digits[24]; /* a JSON number (a double) does not hold all 64 bits */
    snprintf(digits, sizeof digits, "%" PRId64, value);
    cJSON_AddStringToObject(object, name, digits);
}

/* cJSON may round a number when it prints it. */
cJSON *message_number(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", value);
    return isfinite(value) ? cJSON_CreateRaw(digits) : cJSON_CreateNull();
}

cJSON *message_print_fields(const struct field *fields, const void *from) {
    cJSON *object = cJSON_CreateObject();
    for (const struct field *field = fields; field->name != NULL; field++) {
        const void *at = field_member(field, from);
        switch (field->kind) {
        case FIELD_INT:
            cJSON_AddNumberToObject(object, field->name, *(const int *)at);
            break;
        case FIELD_INT64:
            add_int64(object, field->name, *(const int64_t *)at);
            break;
        case FIELD_DOUBLE:
            cJSON_AddItemToObject(object, field->name, message_number(*(const double *)at));
            break;
        case FIELD_BOOL:
            cJSON_AddBoolToObject(object, field->name, *(const bool *)at);
            break;
        case FIELD_TEXT:
            cJSON_AddStringToObject(object, field->name, at);
            break;
        }
    }
    return object;
}

const cJSON *message_member(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    *ok = *ok && found != NULL;
    return found;
}

const cJSON *message_array(const cJSON *object, const char *name, int minimum, int maximum,
                           bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    int count = cJSON_GetArraySize(found);
    *ok = *ok && cJSON_IsArray(found) && count >= minimum && count <= maximum;
    return *ok ? found : NULL;
}

static int64_t read_int64(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    const char *digits = cJSON_IsString(found) ? found->valuestring : "";
    char *end;
    errno = 0;
    int64_t value = strtoll(digits, &end, 10);
    *ok = *ok && end != digits && *end == '\0' && errno == 0;
    return *ok ? value : 0;
}

static int read_int(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    *ok = *ok && cJSON_IsNumber(found) && found->valuedouble == found->valueint;
    return *ok ? found->valueint : 0;
}

double message_read_double(const cJSON *value, bool *ok) {
    *ok = *ok && (cJSON_IsNull(value) || (cJSON_IsNumber(value) && isfinite(value->valuedouble)));
    return *ok && cJSON_IsNumber(value) ? value->valuedouble : 0.0;
}

bool message_read_bool(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    *ok = *ok && cJSON_IsBool(found);
    return cJSON_IsTrue(found);
}

void message_read_text(const cJSON *object, const char *name, char *to, size_t size, bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    *ok = *ok && cJSON_IsString(found);
    snprintf(to, size, "%s", *ok ? found->valuestring : "");
}

void message_read_fields(const struct field *fields, const cJSON *object, void *to, bool *ok) {
    for (const struct field *field = fields; field->name != NULL; field++) {
        void *at = field_member(field, to);
        switch (field->kind) {
        case FIELD_INT:
            *(int *)at = read_int(object, field->name, ok);
            break;
        case FIELD_INT64:
            *(int64_t *)at = read_int64(object, field->name, ok);
            break;
        case FIELD_DOUBLE:
            *(double *)at = message_read_double(message_member(object, field->name, ok), ok);
            break;
        case FIELD_BOOL:
            *(bool *)at = message_read_bool(object, field->name, ok);
            break;
        case FIELD_TEXT:
            message_read_text(object, field->name, at, field->size, ok);
            break;
        }
    }
}

void message_add_key(cJSON *object, const char *name, const struct key *key) {
    cJSON *parts = cJSON_AddObjectToObject(object, name);
    for (int part = 0; part < KEY_PART_COUNT; part++)
        cJSON_AddStringToObject(parts, key_part_name(part), key->parts[part]);
}

void message_read_key(const cJSON *object, struct key *key, bool *ok) {
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        const cJSON *text = message_member(object, key_part_name(part), ok);
        *ok = *ok && cJSON_IsString(text);
        if (*ok)
            key_set(key, part, text->valuestring);
    }
}
