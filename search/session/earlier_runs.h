/*
 * earlier_runs: reads earlier runs of a template, one after the other, for what starts from them
 * (warm_start.h, learn_from.h).
 *
 *     int status = earlier_runs_read("--warm-start", "results", "demo", read_run, context, &error);
 */
#ifndef EVOTILE_SESSION_EARLIER_RUNS_H
#define EVOTILE_SESSION_EARLIER_RUNS_H

#include "config/config.h"
#include "store/store.h"

/* Gets an open run of the template. Takes over its config, in any case. */
typedef int earlier_run_reader(void *context, struct store *store, struct config *config,
                               const struct device_info *device, struct error *error);

/* `path`: a run folder, or a folder of run folders. Runs of another template are skipped; in a
   folder also, with a warning, those that cannot be read. Fails if there is no such folder;
   `option` names the user's option in the message. */
int earlier_runs_read(const char *option, const char *path, const char *template_name,
                      earlier_run_reader *read, void *context, struct error *error);

#endif
