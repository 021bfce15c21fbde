/*
 * wire: the messages between a server and its clients: one JSON object each, on a line or in an
 * HTTP body. docs/serve.md describes them, docs/schemas/serve-1.json is their schema.
 *
 *     struct wire_request request;
 *     if (wire_parse(&request, text, size, &rules, &error) < 0)
 *         reply = json_print_line(wire_error(request.id, error.text));
 *     wire_request_release(&request);
 *
 * A request is checked as far as its envelope goes: known keys, the types of their values, the
 * names and sizes of files. Whether a problem or a genome exists is the judge's to say. The text
 * of an error names the remedy, has no control characters and is valid UTF-8, whatever was sent.
 */
#ifndef EVOTILE_SERVE_WIRE_H
#define EVOTILE_SERVE_WIRE_H

#include "base/error.h"
#include "serve/tasks.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    WIRE_PROTOCOL = 1,
    WIRE_MESSAGE_BYTES = 8 << 20, /* of one message: JSON may double the size of a file */
    WIRE_FILES = 64,              /* of one solution */
    WIRE_FILE_BYTES = 4 << 20,    /* of all files of one solution, with their names */
};

enum wire_type {
    WIRE_EVALUATE,
    WIRE_ASK,
    WIRE_TELL,
    WIRE_CANCEL,
    WIRE_DEFINITIONS,
    WIRE_HEALTH,
    WIRE_METRICS,
};
enum { WIRE_TYPE_COUNT = 7 };
/* NULL for `WIRE_TYPE_COUNT`. */
const char *wire_type_name(enum wire_type type);
/* Whether such a request becomes a task, which the judge answers. */
bool wire_type_is_task(enum wire_type type);

/* How far a solution is judged; "level" in a request. */
enum wire_level { WIRE_STATIC, WIRE_EMULATED, WIRE_DEVICE, WIRE_CHAMPION };
/* The level of a request that was parsed; WIRE_DEVICE if it names none. */
enum wire_level wire_level(const cJSON *request);

struct wire_rules {
    bool takes_folders; /* the client shares the server's files: a solution may be a folder */
    const char *type;   /* that a request without "type" has, and the only one; NULL: any */
};

struct wire_request {
    enum wire_type type;
    cJSON *object; /* as the client sent it, with its "type"; NULL after an error */
    cJSON *id;     /* a copy of its "id", also after an error if it could be read; NULL: none */
    size_t bytes;  /* of its text */
};

/* Parses `size` bytes, which a NUL follows. */
int wire_parse(struct wire_request *request, const char *text, size_t size,
               const struct wire_rules *rules, struct error *error);
/* The same for an object that is a part of another message; takes ownership of it. */
int wire_check(struct wire_request *request, cJSON *object, size_t bytes,
               const struct wire_rules *rules, struct error *error);
void wire_request_release(struct wire_request *request);

/* Parses an object of any keys for wire_check: valid UTF-8, no NUL, not too long. */
cJSON *wire_parse_object(const char *text, size_t size, struct error *error);

/* ---- the server's messages; the caller owns them ---- */

/* {"type": ..., "protocol": 1, "id": ...}; `id`, which is copied, may be NULL. */
cJSON *wire_message(const char *type, const cJSON *id);
cJSON *wire_error(const cJSON *id, const char *text);
/* The answer of a task that is done, or its state. An answer {"error": "one line"} of the judge
   becomes an error. `key`: with its "task", for clients that name it so. */
cJSON *wire_answer(const struct task *task, bool key);
/* Whether the judge refused the task's request. */
bool wire_is_refused(const struct task *task);

#endif
