/*
 * loaded_solutions: the templates of the solutions that a server judges, each loaded for one goal
 * of its config; the last ones stay in memory.
 *
 *     struct loaded_solutions *solutions = loaded_solutions_new(config, &device->info);
 *     const struct template *template =
 *         loaded_solutions_find(solutions, "serve/templates/0f.../mine", 0, &error);
 *     loaded_solutions_free(solutions);
 */
#ifndef EVOTILE_SERVE_LOADED_SOLUTIONS_H
#define EVOTILE_SERVE_LOADED_SOLUTIONS_H

#include "config/config.h"

struct loaded_solutions;

/* Both arguments must outlive it. */
struct loaded_solutions *loaded_solutions_new(const struct config *config,
                                              const struct device_info *device);
void loaded_solutions_free(struct loaded_solutions *solutions);

/* The template; NULL with `error` if it is wrong. Valid until LOADED_SOLUTIONS_MAX others were
   found. `folder` is that of a solution.json. */
enum { LOADED_SOLUTIONS_MAX = 256 };
const struct template *loaded_solutions_find(struct loaded_solutions *solutions, const char *folder,
                                             int goal, struct error *error);

/* Loads one that stays: the caller frees it. */
struct template *loaded_solutions_load(const struct loaded_solutions *solutions, const char *folder,
                                       int goal, struct error *error);

#endif
