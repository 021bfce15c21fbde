/*
 * profile_candidate: the metrics (pool/profile.h) of all kernels that a candidate's template
 * launches, and which of them are of which case.
 *
 *     struct template *template = config_load_template(config, 0, &info, &error);
 *     const struct profile_candidate settings = {program, config_path, folder, &info, template};
 *     char missing[PROFILE_MISSING_SIZE];
 *     int next = 0;
 *     if (!profile_device_is_real(&info, missing))
 *         return 0; // `missing` says why
 *     if (profile_candidate_run(&settings, &request, profile, missing, &error) < 0)
 *         return -1;
 *     count = profile_case_kernels(profile, &plan, &next); // of the first case
 *
 * A sandboxed worker compiles the candidate: the worker under ncu only runs machine code. No other
 * process of the caller may use the GPU meanwhile.
 */
#ifndef EVOTILE_POOL_PROFILE_CANDIDATE_H
#define EVOTILE_POOL_PROFILE_CANDIDATE_H

#include "pool/profile.h"
#include "template/template.h"

enum { PROFILE_MISSING_SIZE = 512 };

struct profile_candidate {
    const char *program, *config_path, *template_folder; /* as in local_pool_settings */
    const struct device_info *device;
    const struct template *template; /* of the request's goal, on that device */
    double limit_s;                  /* 0: the default of profile.h */
    const char *report;              /* as in profile_settings; NULL: not kept */
};

/* False, with `missing`, for a device that is no GPU. */
bool profile_device_is_real(const struct device_info *device, char missing[PROFILE_MISSING_SIZE]);

/* Returns 0 with `missing` empty, or, if nothing or not everything was counted, why, with a remedy;
   -1 if nothing could be started. */
int profile_candidate_run(const struct profile_candidate *settings,
                          const struct trial_request *request, struct profile *profile,
                          char missing[PROFILE_MISSING_SIZE], struct error *error);

/* Keeps ncu's own report of the candidate (profile_keep.h). `missing` and the result as above; the
   settings' `report` is not used, and a limit of 0 is the default of profile_keep.h. */
int profile_candidate_keep(const struct profile_candidate *settings,
                           const struct trial_request *request, const char *path,
                           char missing[PROFILE_MISSING_SIZE], struct error *error);

/* Returns the number of kernels, from `*next` on, that are those of this plan, and advances
   `*next`. ncu lists kernels in launch order, which is the order of the cases. After a kernel that
   differs from the plan the rest of the list counts for no case. */
int profile_case_kernels(const struct profile *profile, const struct launch_plan *plan, int *next);

#endif
