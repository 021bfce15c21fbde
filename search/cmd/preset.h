/* preset: the trial of the default genome, over which the board and an export give their ratios. */
#ifndef EVOTILE_CMD_PRESET_H
#define EVOTILE_CMD_PRESET_H

#include "store/store.h"

/* The goal's trial of its default genome, freed with store_trial_free; `*trial` is NULL where there
   was none: a search asks for the default genome first, unless that one is not valid. */
int preset_trial(struct store *store, int goal, struct store_trial **trial, struct error *error);

/* The genes in which a genome differs from the default's (NULL: all of them), as a genome's text;
   "(the default)" where there is none. What does not fit is left out. */
void preset_differences(const char *preset, const char *genome, char *text, size_t size);

#endif
