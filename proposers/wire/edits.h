/*
 * edits: changes of a text, as search and replace blocks of which each matches exactly once.
 *
 *     struct edit_list list = {0};
 *     edit_list_add(&list, start, end, "#pragma unroll 4\n");
 *     cJSON *edits = cJSON_CreateArray();
 *     int status = edit_list_blocks(edits, "kernel.cu", text, &list, &error);
 *     edit_list_release(&list);
 *
 * The list owns copies of the replacements.
 */
#ifndef EVOTILE_PROPOSERS_WIRE_EDITS_H
#define EVOTILE_PROPOSERS_WIRE_EDITS_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

struct edit {
    size_t start, end; /* bytes start to before end are replaced */
    char *text;
};

struct edit_list {
    struct edit *edits;
    size_t count;
};

void edit_list_add(struct edit_list *list, size_t start, size_t end, const char *text);
void edit_list_release(struct edit_list *list);

/* The text with all edits applied, which the caller frees; NULL if two of them overlap or one ends
   behind the text. Insertions at one place are applied in the order of edit_list_add. */
char *edit_list_apply(const char *text, const struct edit_list *list);

/* Adds {"file", "search", "replace"} for each changed group of lines to the array `edits`: each
   search text matches exactly once, in `text` and also when the blocks are applied one after the
   other. Fails where no such blocks exist (an empty text), or the edits overlap. */
int edit_list_blocks(cJSON *edits, const char *file, const char *text, const struct edit_list *list,
                     struct error *error);

/* How often `search` occurs in `text`, occurrences that overlap included; 0 for an empty one. */
int search_count(const char *text, const char *search);

/* Finds the one place where a block of lines stands that a person or model wrote: exactly, or else
   without regard to the blanks at the ends of its lines, or else also to their indentation. Sets
   the range; an error says that it occurs nowhere, or how often. */
int search_find(const char *text, const char *search, size_t *start, size_t *end,
                struct error *error);

#endif
