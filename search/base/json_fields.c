#include "base/json_fields.h"

enum { KEYS_MAX = 64 };

int json_fields_check_keys(const struct json *object, const struct json_field *fields,
                           const char *const *other_keys, struct error *error) {
    const char *keys[KEYS_MAX + 1] = {NULL};
    int count = 0;
    for (const struct json_field *field = fields; field->key != NULL && count < KEYS_MAX; field++)
        keys[count++] = field->key;
    for (; *other_keys != NULL && count < KEYS_MAX; other_keys++)
        keys[count++] = *other_keys;
    if (count == KEYS_MAX)
        BUG("a JSON object of %d keys or more", KEYS_MAX);
    return json_check_keys(object, keys, error);
}

static int read_field(const struct json *object, const struct json_field *field, void *member,
                      struct error *error) {
    struct json value;
    double number = 0;
    int64_t integer = 0;
    if (!json_find(object, field->key, &value))
        return field->required ? json_require(object, field->key, &value, error) : 0;
    if (field->kind == FIELD_BOOL)
        return json_bool(&value, member, error);
    if (field->kind == FIELD_DOUBLE ? json_number(&value, &number, error) < 0
                                    : json_integer(&value, &integer, error) < 0)
        return -1;
    if (field->kind != FIELD_DOUBLE)
        number = (double)integer;
    if (!(number >= field->minimum && number <= field->maximum))
        return json_error(&value, error, "must lie between %.15g and %.15g", field->minimum,
                          field->maximum);
    if (field->kind == FIELD_DOUBLE)
        *(double *)member = number;
    else if (field->kind == FIELD_INT)
        *(int *)member = (int)integer;
    else
        *(int64_t *)member = integer;
    return 0;
}

int json_fields_read(const struct json *object, const struct json_field *fields, void *record,
                     struct error *error) {
    for (const struct json_field *field = fields; field->key != NULL; field++)
        if (read_field(object, field, (char *)record + field->offset, error) < 0)
            return -1;
    return 0;
}
