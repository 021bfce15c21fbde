#include "pool/profile_candidate.h"

#include "device/kernel_names.h"
#include "pool/profile_keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool profile_device_is_real(const struct device_info *device, char missing[PROFILE_MISSING_SIZE]) {
    missing[0] = '\0';
    if (device->predicts)
        snprintf(missing, PROFILE_MISSING_SIZE,
                 "%s is not a GPU, and ncu profiles only GPUs: use --device cuda:0", device->spec);
    return !device->predicts;
}

/* What ncu says, and a remedy where its message has none that is one line. */
static void describe_problem(const char *problem, char missing[PROFILE_MISSING_SIZE]) {
    const bool refused = strstr(problem, "ERR_NVGPUCTRPERM") != NULL;
    snprintf(missing, PROFILE_MISSING_SIZE, "ncu: %.260s%s", problem,
             refused ? "; run as root, or load the driver with "
                       "NVreg_RestrictProfilingToAdminUsers=0"
                     : "");
}

/* What profile.h needs to know of a candidate. */
struct profile_call {
    char tool[PATH_SIZE];
    char *names[LAUNCHES_MAX];
    struct profile_settings settings;
};

/* False, with `missing`, without ncu. */
static bool prepare_call(struct profile_call *call, const struct profile_candidate *candidate,
                         char missing[PROFILE_MISSING_SIZE]) {
    const struct launch_list *launches = &candidate->template->launches;
    struct error not_found = {0};
    missing[0] = '\0';
    if (profile_find(call->tool, &not_found) < 0) {
        snprintf(missing, PROFILE_MISSING_SIZE, "%.400s", not_found.text);
        return false;
    }
    for (int l = 0; l < launches->count; l++)
        call->names[l] = kernel_function(launches->launches[l].kernel);
    call->settings =
        (struct profile_settings){.run = {.tool = call->tool,
                                          .program = candidate->program,
                                          .config_path = candidate->config_path,
                                          .template_folder = candidate->template_folder,
                                          .device = candidate->device->spec,
                                          .limit_s = candidate->limit_s,
                                          .compile_for = candidate->device},
                                  .kernels = (const char *const *)call->names,
                                  .kernel_count = launches->count,
                                  .report = candidate->report};
    return true;
}

static void release_call(struct profile_call *call) {
    for (int l = 0; l < call->settings.kernel_count; l++)
        free(call->names[l]);
}

int profile_candidate_run(const struct profile_candidate *settings,
                          const struct trial_request *request, struct profile *profile,
                          char missing[PROFILE_MISSING_SIZE], struct error *error) {
    struct profile_call call;
    if (!prepare_call(&call, settings, missing))
        return 0;
    const int status = profile_run(&call.settings, request, profile, error);
    release_call(&call);
    if (status == 0 && profile->problem[0] != '\0')
        describe_problem(profile->problem, missing);
    return status;
}

int profile_candidate_keep(const struct profile_candidate *settings,
                           const struct trial_request *request, const char *path,
                           char missing[PROFILE_MISSING_SIZE], struct error *error) {
    struct profile_call call;
    char problem[TOOL_PROBLEM_SIZE];
    if (!prepare_call(&call, settings, missing))
        return 0;
    const int status = profile_keep(&call.settings, request, path, problem, error);
    release_call(&call);
    if (status == 0 && problem[0] != '\0')
        describe_problem(problem, missing);
    return status;
}

int profile_case_kernels(const struct profile *profile, const struct launch_plan *plan, int *next) {
    for (int l = 0; l < plan->launch_count; l++) {
        char grid[32];
        const struct planned_launch launch = planned_launch(plan, l);
        snprintf(grid, sizeof grid, "(%u, %u, %u)", launch.grid[0], launch.grid[1], launch.grid[2]);
        const struct profiled_kernel *kernel =
            *next + l < profile->count ? &profile->kernels[*next + l] : NULL;
        char *function = kernel_function(launch.kernel);
        const bool same = kernel != NULL && strcmp(kernel->name, function) == 0 &&
                          strcmp(kernel->grid, grid) == 0;
        free(function);
        if (!same) {
            *next = profile->count;
            return 0;
        }
    }
    *next += plan->launch_count;
    return plan->launch_count;
}
