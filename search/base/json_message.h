/*
 * json_message: reads a JSON value that another program sent: valid UTF-8, without NUL, not too
 * long. For JSON that people write see base/json.h.
 *
 *     cJSON *message = json_parse_message(line, strlen(line), 8 << 20, &error);
 *     if (message == NULL)
 *         return -1;
 *     cJSON_Delete(message);
 */
#ifndef EVOTILE_BASE_JSON_MESSAGE_H
#define EVOTILE_BASE_JSON_MESSAGE_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* Parses `size` bytes, which a NUL follows; at most `limit`. The caller owns the value; NULL with
   an error of kind ERROR_INPUT, which is text whatever was sent. */
cJSON *json_parse_message(const char *text, size_t size, size_t limit, struct error *error);

/* The length of the UTF-8 sequence at `text`, which has `left` bytes; 0: it is none. */
size_t utf8_length(const char *text, size_t left);

#endif
