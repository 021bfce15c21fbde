/*
 * profile_process: a child process that profiles one candidate (pool/profile.h), for a caller that
 * must not wait. The candidate's source is compiled in a sandbox.
 *
 *     const struct profile_process_settings settings = {program, config_path, folder, &device};
 *     struct profile_process *it = profile_process_start(&settings, &request, &error);
 *     cJSON *counters = profile_process_read(it);  // NULL: poll() its descriptor, and ask again
 *     profile_process_free(it);
 *     return profile_process_main();               // the child's main()
 *
 * SIGPIPE must be ignored.
 */
#ifndef EVOTILE_POOL_PROFILE_PROCESS_H
#define EVOTILE_POOL_PROFILE_PROCESS_H

#include "evaluate/trial.h"

#define POOL_PROFILE "pool-profile"

struct profile_process_settings {
    const char *program, *config_path, *template_folder; /* as in local_pool_settings */
    const struct device_info *device;                    /* a GPU */
};

struct profile_process;

/* NULL: it does not start. */
struct profile_process *profile_process_start(const struct profile_process_settings *settings,
                                              const struct trial_request *request,
                                              struct error *error);
int profile_process_descriptor(const struct profile_process *it);
/* What was counted, once the child has ended: {"kernels": [{"kernel", "grid", "block", and each
   metric by its name}], "missing": why nothing, or not everything, was counted, else null}. The
   caller owns it. NULL: not yet. Never blocks. */
cJSON *profile_process_read(struct profile_process *it);
/* Kills the child if it runs. NULL is allowed. */
void profile_process_free(struct profile_process *it);

/* Returns the exit status. */
int profile_process_main(void);

#endif
