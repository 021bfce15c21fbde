/*
 * json_stream: reads machine-written JSON of hundreds of megabytes, plain or gzip. A pull parser:
 * the caller reads the members and elements that it expects and skips the rest, which is not
 * stored. For JSON that people write, with comments and paths in errors, see base/json.h.
 *
 *     enum json_scalar kind;
 *     struct json_stream *stream = json_stream_open("space.json.gz", error);
 *     json_stream_enter(stream, '{');
 *     for (bool first = true; json_stream_member(stream, &first) == JSON_MORE;)
 *         if (strcmp(json_stream_token(stream), "time") == 0)
 *             json_stream_scalar(stream, &kind);
 *         else
 *             json_stream_skip(stream);
 *     json_stream_close(stream);
 *
 * Errors name file, line and column. The first error is stored in the `error` given to
 * json_stream_open; every later call fails. NaN, Infinity and -Infinity are accepted as numbers, as
 * Python writes them.
 */
#ifndef EVOTILE_BASE_JSON_STREAM_H
#define EVOTILE_BASE_JSON_STREAM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct json_stream;

enum json_scalar { JSON_STRING, JSON_NUMBER, JSON_LITERAL };

/* The result of json_stream_member and json_stream_element. */
enum {
    JSON_FAILED = -1,
    JSON_CLOSED = 0, /* the object or array is closed */
    JSON_MORE = 1,
    JSON_TRUNCATED = 2, /* the text ends between two members, or after a comma; the caller decides
                     if that is an error */
};

/* Opens a file, or bytes in memory that outlive the stream (`name` replaces the file name in
   errors). Returns NULL if the file cannot be read. */
struct json_stream *json_stream_open(const char *path, struct error *error);
struct json_stream *json_stream_bytes(const char *name, const void *bytes, size_t size,
                                      struct error *error);
void json_stream_close(struct json_stream *stream);

/* Returns the first character of the next value ({ [ " digit t f n ...), or -1 at the end of the
   text and after an error. */
int json_stream_peek(struct json_stream *stream);

/* Consumes the opening '{' of an object or '[' of an array. */
int json_stream_enter(struct json_stream *stream, char bracket);

/* Moves to the next member, whose key becomes the token, or to the next element. `first` is true
   before the first call. */
int json_stream_member(struct json_stream *stream, bool *first);
int json_stream_element(struct json_stream *stream, bool *first);

/* Reads a string, number, true, false or null into the token. */
int json_stream_scalar(struct json_stream *stream, enum json_scalar *kind);

/* Skips a value of any kind; checks only its syntax. */
int json_stream_skip(struct json_stream *stream);

/* Checks that only white space follows. */
int json_stream_end(struct json_stream *stream);

/* The last key or scalar as text, valid until the next one is read. A string is unescaped UTF-8. */
const char *json_stream_token(const struct json_stream *stream);

/* Reports an error of the caller with file, line and column of the current position; returns -1. */
int json_stream_error(struct json_stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
