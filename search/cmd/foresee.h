/*
 * foresee: what is predicted of genomes before a search begins, where nothing like it was searched
 * before. Some are drawn by chance, looked at (cmd/surveys.h) and put in the order of what they are
 * predicted to take (device/predict.h). What a search makes of them is said in evolve/evolution.h;
 * whatever it proposes is judged and timed.
 *
 *     struct predicted *predicted;
 *     int count = foresee(config, goal, template, &device, draws, &predicted, &error);
 *     char *text = foresee_print(predicted, count, template->space);     // for the store
 *     free(predicted);
 *     count = foresee_parse(text, template->space, &predicted, &error);  // when the run is resumed
 *
 * It takes some tenths of a second of one core a draw and case, and all cores; no GPU.
 */
#ifndef EVOTILE_CMD_FORESEE_H
#define EVOTILE_CMD_FORESEE_H

#include "config/config.h"
#include "evolve/forecast.h"

enum { FORESEE_USUALLY = 200, FORESEE_MOST = 10000 };

/* So many draws from the config's seed, the best first; returns how many of them could be looked
   at, in an array that the caller frees, or -1. */
int foresee(const struct config *config, int goal, const struct template *template,
            const struct device_info *device, int draws, struct predicted **predicted,
            struct error *error);

/* Read again they are the same to the bit. The caller frees the text. */
char *foresee_print(const struct predicted *predicted, int count, const struct space *space);
int foresee_parse(const char *text, const struct space *space, struct predicted **predicted,
                  struct error *error);

#endif
