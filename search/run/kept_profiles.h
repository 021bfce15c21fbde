/*
 * kept_profiles: ncu's own reports of a run's trials, which Nsight Compute opens:
 * profiles/12.ncu-rep in the run's folder is of trial 12.
 *
 *     char path[PATH_SIZE];
 *     int64_t trials[KEPT_PROFILES_MAX];
 *     if (kept_profile_prepare("results/demo", 12, path, &error) < 0) // then write it
 *         return -1;
 *     int count = kept_profiles_list("results/demo", trials);
 *     for (int i = 0; i < count; i++)
 *         printf("%lld\n", (long long)trials[i]);
 */
#ifndef EVOTILE_RUN_KEPT_PROFILES_H
#define EVOTILE_RUN_KEPT_PROFILES_H

#include "base/path.h"

#include <stdbool.h>
#include <stdint.h>

enum { KEPT_PROFILES_MAX = 1024 };

/* Sets the path of a trial's report. -1: it is too long. */
int kept_profile_path(const char *run_dir, int64_t trial, char path[PATH_SIZE],
                      struct error *error);
/* The same, and makes the folder. */
int kept_profile_prepare(const char *run_dir, int64_t trial, char path[PATH_SIZE],
                         struct error *error);
bool kept_profile_exists(const char *run_dir, int64_t trial);

/* The trials that have a report, in ascending order, and their number; at most
   KEPT_PROFILES_MAX. */
int kept_profiles_list(const char *run_dir, int64_t trials[KEPT_PROFILES_MAX]);

#endif
