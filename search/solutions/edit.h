/*
 * edit: makes the files of a solution of those of another, as a proposer writes a change: blocks of
 * text to search and to replace, or whole files.
 *
 *     [{"file": "kernel.cu", "search": "#pragma unroll 2", "replace": "#pragma unroll 4"}]
 *     {"kernel.cu": "...", "old.cuh": null}
 *
 *     cJSON *edited = edit_blocks(files, edits, &error);      // or edit_files
 *     struct hash hash = edit_hash(edited);
 *     cJSON_Delete(edited);
 *
 * Files are an object of texts by name. An error is of kind ERROR_INPUT and says what to change.
 */
#ifndef EVOTILE_SOLUTIONS_EDIT_H
#define EVOTILE_SOLUTIONS_EDIT_H

#include "base/error.h"
#include "base/hash.h"

#include <cjson/cJSON.h>

/* Applies the blocks in their order. Each search text occurs exactly once in its file. The caller
   owns the result; NULL with `error`. */
cJSON *edit_blocks(const cJSON *files, const cJSON *edits, struct error *error);
/* Replaces or adds whole files; null removes one. */
cJSON *edit_files(const cJSON *files, const cJSON *changed, struct error *error);

/* Of the names and texts, in whichever order they are. */
struct hash edit_hash(const cJSON *files);

/* What `diff -u` says of the two; the caller frees it. NULL if that program is not there. */
char *edit_diff(const cJSON *before, const cJSON *after);

#endif
