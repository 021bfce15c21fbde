/*
 * foresee: genomes that are predicted to be fast, for a search to begin with where nothing like it
 * was searched before. Some are drawn by chance, looked at (cmd/surveys.h) and put in the order of
 * what they are predicted to take (device/predict.h). They are proposals like any other, and timed.
 *
 *     struct genome genomes[FORESEEN];
 *     int count = foresee(config, goal, template, &device, draws, genomes, &error);
 *
 * It takes some tenths of a second of one core a draw and case, and all cores; no GPU.
 */
#ifndef EVOTILE_CMD_FORESEE_H
#define EVOTILE_CMD_FORESEE_H

#include "config/config.h"

/* Four: on the space of an H200 in tests/spaces, predicted by a fit to another run, `auto` came
   within 5 % of the best after 16.6 trials with the best four of 200 draws, 20.6 with twelve, 20.3
   with two and 24.5 without (means over 11 or 12 seeds). */
enum { FORESEEN = 4, FORESEE_MOST = 10000 };

/* The best of so many draws, from the config's seed, the best first; returns how many, or -1. */
int foresee(const struct config *config, int goal, const struct template *template,
            const struct device_info *device, int draws, struct genome genomes[FORESEEN],
            struct error *error);

#endif
