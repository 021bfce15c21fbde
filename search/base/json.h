/*
 * json: reads JSON that people write, with errors that name the place, and builds objects.
 *
 * A thin layer over cJSON. It allows comments (// and slash-star), which are blanked in place so
 * that lines and columns stay valid; rejects duplicate keys; looks keys up case-sensitively; and
 * names file, line and path (`cases[2].S`) in every error. JSON is built with cJSON and printed
 * here.
 *
 *     struct json_document document;
 *     if (json_read(&document, "configs/demo.json", &error) < 0)
 *         return -1;
 *     struct json root = json_root(&document), seed;
 *     if (json_check_keys(&root, known_keys, &error) < 0 ||
 *         (json_find(&root, "seed", &seed) && json_integer(&seed, &value, &error) < 0))
 *         return -1;
 *     json_release(&document);
 *
 * Ownership: returned strings live as long as the document. A `struct json` is a plain value.
 * Errors are ERROR_INPUT, also for a file that cannot be read.
 */
#ifndef EVOTILE_BASE_JSON_H
#define EVOTILE_BASE_JSON_H

#include "base/error.h"
#include "base/field.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct json_document {
    char *file; /* name used in errors */
    char *text; /* with comments blanked */
    cJSON *root;
};

enum { JSON_PATH_SIZE = 160 };

struct json {
    const struct json_document *document;
    const cJSON *value;
    char path[JSON_PATH_SIZE]; /* cases[2].S; empty for the root */
};

int json_read(struct json_document *document, const char *path, struct error *error);
/* Reads from memory; `name` replaces the file name in errors. */
int json_read_text(struct json_document *document, const char *name, const char *text,
                   struct error *error);
void json_release(struct json_document *document);

struct json json_root(const struct json_document *document);
/* The number of members of an object or elements of an array, and one of them by position. */
int json_count(const struct json *value);
struct json json_at(const struct json *value, int index);
/* The key of an object's member. */
const char *json_key(const struct json *value);

/* Returns false if the object has no such key. json_require reports an error instead. */
bool json_find(const struct json *object, const char *key, struct json *found);
int json_require(const struct json *object, const char *key, struct json *found,
                 struct error *error);
/* Rejects a value that is not an object, and a key that is not in `keys` (which ends with NULL);
   the error suggests the closest known key. */
int json_check_keys(const struct json *object, const char *const *keys, struct error *error);

int json_is_array(const struct json *value, struct error *error);
int json_is_object(const struct json *value, struct error *error);
int json_string(const struct json *value, const char **string, struct error *error);
/* Copies the string under `key`, which must have 1 to `size` - 1 bytes. */
int json_copy_text(const struct json *object, const char *key, char *to, size_t size,
                   struct error *error);
int json_bool(const struct json *value, bool *flag, struct error *error);
int json_number(const struct json *value, double *number, struct error *error);
/* A whole number. Beyond 2^53, where cJSON's doubles lose precision, it must be a string of digits.
 */
int json_integer(const struct json *value, int64_t *number, struct error *error);

/* Where a value is in the text of its document, in bytes: from `start` to before `end`, and where
   the key of an object's member starts. */
struct json_place {
    size_t key, start, end;
};
struct json_place json_locate(const struct json *value);

/* Prints the position of a value, "FILE:LINE: PATH", cut to `size` bytes; for errors that are
   detected later. */
void json_location(const struct json *value, char *text, size_t size);
/* Fills `error` with "FILE:LINE: PATH: ..."; returns -1. */
int json_error(const struct json *value, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a tree and deletes it: indented, or on one line. The caller frees the text. */
char *json_print(cJSON *root);
char *json_print_line(cJSON *root);

/* Adds members: json_add(object, "name=%s trials=%d", name, trials). The conversions are %s, %d,
   %ld, %g for a double and %hhd for a bool. A text that is NULL is left out. */
void json_add(cJSON *object, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a member for each field of a record. A number that is not finite is null. */
void json_add_fields(cJSON *object, const struct field *fields, const void *record);

#endif
