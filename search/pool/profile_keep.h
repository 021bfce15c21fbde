/*
 * profile_keep: keeps ncu's own report of a candidate, with all of its sections, for Nsight
 * Compute's window: it has what the small set of profile.h leaves out, and takes longer.
 *
 *     char problem[TOOL_PROBLEM_SIZE];
 *     if (profile_keep(&settings, &request, "profiles/12.ncu-rep", problem, &error) < 0)
 *         return -1;
 *     if (problem[0] != '\0')
 *         log_warn("no report: %s", problem);
 *
 * Blocks as tool_runner does, by default for at most 300 s.
 */
#ifndef EVOTILE_POOL_PROFILE_KEEP_H
#define EVOTILE_POOL_PROFILE_KEEP_H

#include "pool/profile.h"

/* Writes or replaces the file, whose name ends in ".ncu-rep", as a whole: after -1, or with a
   problem, a file that was there still is. The settings' `report` is not used. `problem` is as in
   struct profile. */
int profile_keep(const struct profile_settings *settings, const struct trial_request *request,
                 const char *path, char problem[TOOL_PROBLEM_SIZE], struct error *error);

#endif
