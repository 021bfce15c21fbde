/* predict_start: predicts the latency of random genomes before a search starts (`run --predict`).
 *
 * For a search without earlier runs to start from. Draws random genomes, traces what each would
 * execute (traces.h), and sorts them by predicted latency (device/predict.h). The search
 * learns from them as from any source (strategy/source.h); every genome that it proposes is still
 * verified and timed.
 *
 *     struct source source = {0};
 *     int status = predict_start(config, goal, template, &device, draws, &source, &error);
 *     source_release(&source);
 *
 * Uses all cores and no GPU; a draw takes some tenths of a second of one core for each case.
 */
#ifndef EVOTILE_SESSION_PREDICT_START_H
#define EVOTILE_SESSION_PREDICT_START_H

#include "config/config.h"
#include "strategy/source.h"

enum { PREDICT_START_MAX = 10000 };

/* Makes `draws` draws from the config's seed, and adds those that could be predicted to a source,
   which the caller releases. Returns -1 on an error. */
int predict_start(const struct config *config, int goal, const struct template *template,
                  const struct device_info *device, int draws, struct source *source,
                  struct error *error);

#endif
