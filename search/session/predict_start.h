/* predict_start: predicts the latency of random genomes before a search starts (`run --predict`).
 *
 * For a search without earlier runs to start from. Draws random genomes, traces what each would
 * execute (traces.h), and sorts them by predicted latency (device/predict.h). evolution.h describes
 * how a strategy uses the predictions; every genome that it proposes is still verified and timed.
 *
 *     struct predicted *predicted;
 *     int count = predict_start(config, goal, template, &device, draws, &predicted, &error);
 *     char *text = predict_start_print(predicted, count, template->space);    // for the store
 *     free(predicted);
 *     count = predict_start_parse(text, template->space, &predicted, &error); // on resume
 *
 * Uses all cores and no GPU; a draw takes some tenths of a second of one core for each case.
 */
#ifndef EVOTILE_SESSION_PREDICT_START_H
#define EVOTILE_SESSION_PREDICT_START_H

#include "config/config.h"
#include "strategy/low_fidelity_model.h"

enum { PREDICT_START_MAX = 10000 };

/* Makes `draws` draws from the config's seed. Returns how many could be predicted, in an array that
   the caller frees, the fastest first; or -1. */
int predict_start(const struct config *config, int goal, const struct template *template,
                  const struct device_info *device, int draws, struct predicted **predicted,
                  struct error *error);

/* Printing and parsing preserve every bit. The caller frees the text, and the array. */
char *predict_start_print(const struct predicted *predicted, int count, const struct space *space);
int predict_start_parse(const char *text, const struct space *space, struct predicted **predicted,
                        struct error *error);

#endif
