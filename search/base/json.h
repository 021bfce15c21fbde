/*
 * json: reading JSON that people write, with errors that say where.
 *
 * A thin layer over cJSON: it adds comments (// and slash-star), which are blanked in place so that
 * lines and columns survive; refuses duplicate keys; looks keys up case-sensitively; and names
 * file, line and path (`cases[2].S`) in every error. It does not write JSON: cJSON_Print does.
 *
 *     struct json_document document;
 *     if (json_read(&document, "configs/demo.json", &error) < 0) return -1;
 *     struct json root = json_root(&document), seed;
 *     if (json_only(&root, known_keys, &error) < 0 || (json_find(&root, "seed", &seed) &&
 *         json_integer(&seed, &value, &error) < 0)) ...
 *     json_release(&document);
 *
 * Ownership: strings handed out live as long as the document. A `struct json` is a plain value.
 * Errors are ERROR_INPUT, except a file that cannot be read.
 */
#ifndef EVOTILE_BASE_JSON_H
#define EVOTILE_BASE_JSON_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct json_document {
    char *file; /* as named in errors */
    char *text; /* comments blanked */
    cJSON *root;
};

enum { JSON_PATH_SIZE = 160 };

struct json {
    const struct json_document *document;
    const cJSON *value;
    char path[JSON_PATH_SIZE]; /* cases[2].S; empty for the root */
};

int json_read(struct json_document *document, const char *path, struct error *error);
/* The same for text at hand; `name` stands for the file in errors. */
int json_read_text(struct json_document *document, const char *name, const char *text,
                   struct error *error);
void json_release(struct json_document *document);

struct json json_root(const struct json_document *document);
/* The members of an object or the elements of an array, by position. */
int json_count(const struct json *value);
struct json json_at(const struct json *value, int index);
/* The key of an object's member. */
const char *json_key(const struct json *value);

/* False when the object has no such key. */
bool json_find(const struct json *object, const char *key, struct json *found);
int json_need(const struct json *object, const char *key, struct json *found, struct error *error);
/* Refuses a value that is not an object, or a key that is not in `keys` (ended by NULL), naming the
   nearest one. */
int json_only(const struct json *object, const char *const *keys, struct error *error);

int json_is_array(const struct json *value, struct error *error);
int json_is_object(const struct json *value, struct error *error);
int json_string(const struct json *value, const char **string, struct error *error);
/* Copies the string under a key, of 1 to `size` - 1 bytes. */
int json_copy_text(const struct json *object, const char *key, char *to, size_t size,
                   struct error *error);
int json_bool(const struct json *value, bool *flag, struct error *error);
int json_number(const struct json *value, double *number, struct error *error);
/* A whole number; beyond 2^53, where cJSON's doubles end, only as a string of digits. */
int json_integer(const struct json *value, int64_t *number, struct error *error);

/* Where a value stands: "FILE:LINE: PATH", cut to `size` bytes; for errors that come to light
 * later. */
void json_where(const struct json *value, char *text, size_t size);
/* Fills `error` with "FILE:LINE: PATH: ..."; returns -1. */
int json_error(const struct json *value, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
