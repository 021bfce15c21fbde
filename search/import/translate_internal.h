/*
 * translate_internal: translates one tree of Python into the language of templates, where it has a
 * counterpart. translate_node.c has the nodes, translate_compare.c comparisons and lists,
 * translate.c what replaces a tree without a counterpart. Private to import/.
 *
 *     struct import_space space = {0};
 *     struct translation translation = {.space = &space};
 *     struct strbuf text = {0};
 *     if (!translate_node(&translation, root, NULL, true, &text))
 *         puts(translation.why);
 *     strbuf_release(&text);
 *     python_heap_clear(&translation.heap);
 *
 * Functions that return bool append to `text`; false: there is no counterpart, `why` says why, and
 * `text` is incomplete.
 */
#ifndef EVOTILE_IMPORT_TRANSLATE_INTERNAL_H
#define EVOTILE_IMPORT_TRANSLATE_INTERNAL_H

#include "base/strbuf.h"
#include "import/translate.h"

struct translation {
    const struct import_space *space;
    struct python_heap heap; /* of constants */
    bool rounds;     /* quotients are rounded: the caller compares all values with Python's */
    const char *why; /* it has no counterpart; a constant text */
};

/* Keeps the first reason; returns false. */
bool translation_refuse(struct translation *translation, const char *why);

/* The parameter of a name; NULL if the scope hides it or there is none. */
const struct import_parameter *translation_parameter(const struct translation *translation,
                                                     const char *name,
                                                     const struct python_scope *scope);
/* Whether a node's value is the same for all genomes; and that value, which the heap owns. */
bool translation_is_constant(const struct translation *translation, const struct python_node *node,
                             const struct python_scope *scope);
bool translation_constant(struct translation *translation, const struct python_node *node,
                          const struct python_scope *scope, struct python_value *value);

/* `truth`: only whether the value is true matters. */
bool translate_node(struct translation *translation, const struct python_node *node,
                    const struct python_scope *scope, bool truth, struct strbuf *text);
/* a < b == c ... */
bool translate_chain(struct translation *translation, const struct python_node *node,
                     const struct python_scope *scope, struct strbuf *text);

/* The translated elements of a list, or of a comprehension over constants. */
struct elements {
    struct translation *translation;
    const struct python_node *item; /* for `in`: each element is compared with it */
    bool truth;
    struct import_texts texts; /* the caller releases it, also after false */
};
bool translate_elements(struct elements *elements, const struct python_node *list,
                        const struct python_scope *scope);

#endif
