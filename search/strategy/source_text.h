/*
 * source_text: sources as text, for a run to store what it learns from. Printing and parsing
 * preserve every bit, so that a resumed run asks the same genomes.
 *
 *     char *text = sources_print(sources, count, space);
 *     struct source *again;
 *     int read = sources_parse(text, space, &again, &error);
 *     sources_free(again, read);
 *     free(text);
 */
#ifndef EVOTILE_STRATEGY_SOURCE_TEXT_H
#define EVOTILE_STRATEGY_SOURCE_TEXT_H

#include "base/error.h"
#include "strategy/source.h"

/* The caller frees the text. The sources must be sealed. */
char *sources_print(const struct source *sources, int count, const struct space *space);

/* Returns how many sources, sealed, in an array for sources_free; or -1. A text that starts with a
   row is one source, as runs of earlier versions stored their predictions. */
int sources_parse(const char *text, const struct space *space, struct source **sources,
                  struct error *error);

void sources_free(struct source *sources, int count);

#endif
