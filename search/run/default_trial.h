/* default_trial: the trial of a goal's default genome, the reference of the speedups that the board
 * and an export show.
 *
 *     struct store_trial *trial;
 *     if (default_trial_read(store, goal, &trial, &error) == 0 && trial != NULL)
 *         printf("%s\n", trial->genome);
 *     store_trial_free(trial);
 */
#ifndef EVOTILE_RUN_DEFAULT_TRIAL_H
#define EVOTILE_RUN_DEFAULT_TRIAL_H

#include "store/store.h"

/* Reads the trial, which the caller frees with store_trial_free. `*trial` is NULL if the goal has
   none: a search tries the default genome first, unless it is not valid. Returns 0 or -1. */
int default_trial_read(struct store *store, int goal, struct store_trial **trial,
                       struct error *error);

/* Prints the genes in which a genome differs from the default genome (NULL: all genes), in the form
   of a genome; "(the default)" if they are equal. Genes that do not fit are left out. */
void default_trial_differences(const char *default_genome, const char *genome, char *text,
                               size_t size);

#endif
