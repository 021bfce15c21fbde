/*
 * patterns: which calls of a program are a problem's, and which case each is: calls.json in the
 * problem's folder. docs/templates.md#calls describes the file.
 *
 *     struct call_patterns *patterns = call_patterns_read(template, &error);
 *     struct shape shape;
 *     char reason[CALL_REASON_SIZE];
 *     if (patterns != NULL && call_patterns_match(patterns, &call, &shape, reason) == CALL_FITS)
 *         template_print_shape(template, &shape, text);
 *     call_patterns_free(patterns);
 *
 * A call is {"operator": "aten::mm", "arguments": {"self": {"shape": [4, 8], "strides": [8, 1],
 * "dtype": "f16"}, ...}}, as python/evotile/record.py writes it. Every argument of a call must be
 * described, so that no call fits whose result a case would not have.
 */
#ifndef EVOTILE_CALLS_PATTERNS_H
#define EVOTILE_CALLS_PATTERNS_H

#include "base/json.h"
#include "template/template.h"

enum { CALL_REASON_SIZE = 256 };

struct call_patterns;

/* NULL with an error if there is no such file or it is wrong. The template needs only its
   dimensions, and must outlive the patterns. */
struct call_patterns *call_patterns_read(const struct template *template, struct error *error);
void call_patterns_free(struct call_patterns *patterns);

enum call_match {
    CALL_OTHER,  /* no pattern has its operator */
    CALL_UNLIKE, /* one has, and `reason` says what differs from the last of these */
    CALL_FITS,
};
enum call_match call_patterns_match(const struct call_patterns *patterns, const struct json *call,
                                    struct shape *shape, char reason[CALL_REASON_SIZE]);

/* ---- private to calls/ ---- */

struct call_patterns {
    struct json_document document;
    const struct template *template;
};

/* The index of a dimension, or -1. */
int call_dimension(const struct template *template, const char *name);
/* Whether an item of a shape is "NAME..." or "...", and the length of the name. */
bool call_item_is_rest(const char *item, size_t *length);

#endif
