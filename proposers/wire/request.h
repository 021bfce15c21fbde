/*
 * request: what a proposer is asked on its standard input, and what it answers: one JSON object a
 * line each. docs/proposers.md describes them.
 *
 *     struct request request;
 *     if (request_read(&request, line, length, &error) < 0)
 *         puts(json_print_line(proposal_error(&request, error.text)));
 *     const char *kernel = request_file(&request, 0, "kernel.cu");
 *     request_release(&request);
 *
 * The request owns its texts. An error is ERROR_INPUT and says which key is wrong.
 */
#ifndef EVOTILE_PROPOSERS_WIRE_REQUEST_H
#define EVOTILE_PROPOSERS_WIRE_REQUEST_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REQUEST_PROTOCOL = 1,
    REQUEST_BYTES_MAX = 64 << 20,
    REQUEST_FILE_NAME_MAX = 200,
};

struct request {
    cJSON *root;
    int64_t number;
    uint64_t seed;
    const char *strategy;            /* "free", "insight" or "full" */
    const cJSON *task;               /* an object; what it lacks is NULL to cJSON's look-ups */
    const cJSON *parents;            /* one or two objects with "hash" and "files" */
    const cJSON *history, *insights; /* an array and an object; NULL: none */
};

/* Parses `length` bytes, which a NUL follows. After an error `number` is set if it could be read, 0
   otherwise, and nothing is to release. */
int request_read(struct request *request, const char *line, size_t length, struct error *error);
void request_release(struct request *request);

/* The hash of a parent, its files, and the text of one of them; NULL without such a file. */
const char *request_hash(const struct request *request, int parent);
const cJSON *request_files(const struct request *request, int parent);
const char *request_file(const struct request *request, int parent, const char *name);

/* Whether a file's name is relative, of letters, digits and `._-/`, and stays in its folder. */
int file_name_check(const char *name, struct error *error);

/* Whether bytes are UTF-8 without NUL, which JSON can carry. */
bool text_is_utf8(const char *bytes, size_t size);

/* {"number": N, "error": "one line"}; control characters become spaces. */
cJSON *proposal_error(const struct request *request, const char *text);
/* {"number": N, "parent": HASH, "hypothesis": TEXT}, to which one of "genome", "edits" and "files"
   is added. The hypothesis becomes one line. */
cJSON *proposal_new(const struct request *request, const char *hypothesis);

#endif
