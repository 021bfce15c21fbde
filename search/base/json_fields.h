/*
 * json_fields: reads the plain members of a JSON object (numbers and booleans) into the members of
 * a struct, as a table lists them.
 *
 *     struct settings { int samples; } settings = {.samples = 50};
 *     static const struct json_field fields[] = {
 *         JSON_FIELD(struct settings, samples, "samples", INT, 3, 256),
 *         {0},
 *     };
 *     static const char *const other_keys[] = {"about", NULL};
 *     if (json_fields_check_keys(&object, fields, other_keys, &error) < 0 ||
 *         json_fields_read(&object, fields, &settings, &error) < 0)
 *         return -1;
 *
 * A member that the object lacks keeps its value, unless its row is JSON_FIELD_REQUIRED.
 */
#ifndef EVOTILE_BASE_JSON_FIELDS_H
#define EVOTILE_BASE_JSON_FIELDS_H

#include "base/field.h"
#include "base/json.h"

#include <stddef.h>

struct json_field {
    const char *key;         /* NULL: the end of the table */
    enum field_kind kind;    /* all but FIELD_TEXT */
    size_t offset;           /* of the member in its struct */
    double minimum, maximum; /* of a number, both allowed */
    bool required;
};

#define JSON_FIELD(type, member, key, kind, minimum, maximum)                                      \
    { key, FIELD_##kind, offsetof(type, member), minimum, maximum, false }
#define JSON_FIELD_REQUIRED(type, member, key, kind, minimum, maximum)                             \
    { key, FIELD_##kind, offsetof(type, member), minimum, maximum, true }

/* Refuses a key that is in neither list. `other_keys` ends with NULL. */
int json_fields_check_keys(const struct json *object, const struct json_field *fields,
                           const char *const *other_keys, struct error *error);

/* Fills the members of `record`; errors name file, line and path. */
int json_fields_read(const struct json *object, const struct json_field *fields, void *record,
                     struct error *error);

#endif
