/*
 * profiled: what a run has kept of a trial that `profile` looked at, as far as the template's rules
 * read it (genome/rules.h). It stands beside the run's events, and is known to a search from the
 * next time that it is resumed.
 *
 *     struct measures measures = evolution_measures(&outcome.resources);
 *     profile_measure(kernels, count, &measures);
 *     profiled_add(object, &measures);
 *     status = profiled_keep("results/demo", trial, object, &error);   // cmd/profile.c
 *     if (profiled_read(store, trial, &measures, &error) == 1) ...      // cmd/session.c
 */
#ifndef EVOTILE_CMD_PROFILED_H
#define EVOTILE_CMD_PROFILED_H

#include "cmd/kept.h"
#include "genome/rules.h"

/* Adds "measures": what is known, by the names that rules have for it. */
void profiled_add(cJSON *object, const struct measures *measures);

/* Keeps the object, with the name of its "device", under the trial. `object` is freed. */
int profiled_keep(const char *run_dir, int64_t trial, cJSON *object, struct error *error);

/* 1; 0 where the trial was not profiled, or on another device than the run's; -1 where what was
   kept is no such object. */
int profiled_read(struct store *store, int64_t trial, struct measures *measures,
                  struct error *error);

#endif
