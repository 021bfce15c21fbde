/*
 * unsupported: what a kernel's source cannot have, because evotile launches kernels alone and
 * passes them tensors and numbers. docs/templates.md lists it.
 *
 *     const char *why = unsupported_word("tex2D", 5);
 */
#ifndef EVOTILE_TEMPLATE_UNSUPPORTED_H
#define EVOTILE_TEMPLATE_UNSUPPORTED_H

#include <stddef.h>

/* Why the source cannot have an identifier, and what to write instead; NULL: it can. */
const char *unsupported_word(const char *word, size_t length);

#endif
