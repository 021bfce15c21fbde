/*
 * json_stream: reading JSON that machines write, hundreds of megabytes of it, plain or gzip. A pull
 * reader: the caller asks for the members and elements that it expects, and skips the rest, of
 * which nothing is kept. For what people write, with comments and paths in errors, see base/json.h.
 *
 *     struct json_stream *stream = json_stream_open("space.json.gz", error);
 *     int more;
 *     json_stream_enter(stream, '{');
 *     for (bool first = true; (more = json_stream_member(stream, &first)) == JSON_MORE;)
 *         if (strcmp(json_stream_token(stream), "time") == 0) json_stream_scalar(stream, &kind);
 *         else json_stream_skip(stream);
 *     json_stream_close(stream);
 *
 * Errors name file, line and column; the first is kept in the `error` given at the start, and
 * from then on every call fails. NaN, Infinity and -Infinity are numbers here, as Python writes
 * them.
 */
#ifndef EVOTILE_BASE_JSON_STREAM_H
#define EVOTILE_BASE_JSON_STREAM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct json_stream;

enum json_scalar { JSON_STRING, JSON_NUMBER, JSON_LITERAL };

/* What follows in an object or array. */
enum {
    JSON_FAULT = -1,
    JSON_DONE = 0, /* it was closed */
    JSON_MORE = 1,
    JSON_CUT = 2, /* the text ends between two members, or after a comma: up to the caller */
};

/* A file, or bytes at hand that outlive the stream (`name` stands for the file). NULL if the file
   cannot be read. */
struct json_stream *json_stream_open(const char *path, struct error *error);
struct json_stream *json_stream_bytes(const char *name, const void *bytes, size_t size,
                                      struct error *error);
void json_stream_close(struct json_stream *stream);

/* The first character of the next value: { [ " digit t f n..., or -1 at the end of the text (or
   after an error). */
int json_stream_peek(struct json_stream *stream);

/* Begins an object ('{') or an array ('['). */
int json_stream_enter(struct json_stream *stream, char bracket);

/* The next member, whose key becomes the token, or element. `first` is true at the first call. */
int json_stream_member(struct json_stream *stream, bool *first);
int json_stream_element(struct json_stream *stream, bool *first);

/* Reads a string, number, true, false or null into the token. */
int json_stream_scalar(struct json_stream *stream, enum json_scalar *kind);

/* Passes over a value of any kind, checking its syntax alone. */
int json_stream_skip(struct json_stream *stream);

/* Nothing but spaces may follow. */
int json_stream_end(struct json_stream *stream);

/* The last key or scalar as text, until the next is read. Of a string: unescaped, UTF-8. */
const char *json_stream_token(const struct json_stream *stream);

/* The caller's own complaint, with file, line and column of where the reader stands; returns -1. */
int json_stream_error(struct json_stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
