/*
 * message_values: the values of a message (pool/protocol.h) as JSON. Numbers are printed so that
 * they read back bit for bit; non-finite ones become null, which reads as 0.
 *
 *     cJSON *object = message_print_fields(fields, &point);
 *     bool ok = true;
 *     message_read_fields(fields, object, &point, &ok);
 *     cJSON_Delete(object);
 *
 * Readers clear `ok` if a member is missing or has the wrong type, and never set it.
 */
#ifndef EVOTILE_POOL_MESSAGE_VALUES_H
#define EVOTILE_POOL_MESSAGE_VALUES_H

#include "base/field.h"
#include "outcome/key.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

cJSON *message_number(double value);
/* A new object with a member for each field. */
cJSON *message_print_fields(const struct field *fields, const void *from);

const cJSON *message_member(const cJSON *object, const char *name, bool *ok);
/* An array of `minimum` to `maximum` elements; NULL if the message is not ok. */
const cJSON *message_array(const cJSON *object, const char *name, int minimum, int maximum,
                           bool *ok);
double message_read_double(const cJSON *value, bool *ok);
bool message_read_bool(const cJSON *object, const char *name, bool *ok);
void message_read_text(const cJSON *object, const char *name, char *to, size_t size, bool *ok);
void message_read_fields(const struct field *fields, const cJSON *object, void *to, bool *ok);

/* An object with a member for each part of a key. */
void message_add_key(cJSON *object, const char *name, const struct key *key);
/* Adds the parts to `key`, which owns them. */
void message_read_key(const cJSON *object, struct key *key, bool *ok);

#endif
