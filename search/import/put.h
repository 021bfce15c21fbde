/*
 * put: writes a tree of Python in the language of templates, where it has a counterpart. Private to
 * import/.
 *
 *     struct import_space space = {0};
 *     struct put put = {.space = &space};
 *     struct strbuf text = {0};
 *     if (!put_node(&put, root, NULL, true, &text))
 *         puts(put.why);
 */
#ifndef EVOTILE_IMPORT_PUT_H
#define EVOTILE_IMPORT_PUT_H

#include "base/strbuf.h"
#include "import/translate.h"

struct put {
    const struct import_space *space;
    struct python_heap heap;
    bool rounds;     /* quotients are rounded: the caller compares all values with Python's */
    const char *why; /* it has no counterpart */
};

/* `truth`: only whether the value is true matters. */
bool put_node(struct put *put, const struct python_node *node, const struct python_scope *scope,
              bool truth, struct strbuf *text);

/* Texts joined by an operator, as a tree of little depth. */
void put_joined(const struct import_texts *texts, const char *op, const char *of_none,
                struct strbuf *text);

#endif
