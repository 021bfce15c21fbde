#include "cli/export_final_checks.h"
#include "base/log.h"
#include "base/memory.h"
#include "session/single_trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The run's device, or another one of the same model, on this host. */
static int find_device(const struct export_run *run, struct device_info *device,
                       struct error *error) {
    const char *const specs[] = {run->device.spec, "auto"};
    struct error ignored;
    for (int i = 0; i < 2; i++)
        if (device_describe(specs[i], device, &ignored) == 0 &&
            strcmp(device->name, run->device.name) == 0)
            return 0;
    return error_set(
        error,
        "the kernel has not passed the final checks of a champion, and %s, which would "
        "run them, is not here: export on a host that has one, or give --unchecked",
        run->device.name);
}

/* A trial that was never the best of its search has passed only a candidate's gates: it is judged
   as a champion before anything is written. */
static int check_trial(struct export_run *run, struct single_trial *single_trial, int goal,
                       struct error *error) {
    struct store_trial *trial = run->champions[goal];
    struct trial_result *result = xcalloc(1, sizeof *result);
    struct trial_request request = {.number = trial->number,
                                    .goal = goal,
                                    .genome = run->genomes[goal],
                                    .full = true,
                                    .promote = true,
                                    .seed = single_trial_fresh_seed()};
    log_info("trial %" PRId64 " has not passed the final checks of a champion: it runs them now",
             trial->number);
    int status = single_trial_run(single_trial, &request, result, error);
    if (status == 0 && result->outcome.verdict != VERDICT_OK)
        status = error_refuse(
            error,
            "trial %" PRId64 " fails the final checks of a champion and is not exported: %s: %s",
            trial->number, verdict_name(result->outcome.verdict), result->outcome.reason);
    if (status == 0) {
        struct outcome *outcome = (struct outcome *)trial->outcome; /* this reader's own copy */
        memcpy(outcome->checks, result->outcome.checks, sizeof outcome->checks);
        memcpy(outcome->uses, result->outcome.uses, sizeof outcome->uses);
    }
    trial_result_release(result);
    free(result);
    return status;
}

int export_check_champions(struct export_run *run, struct error *error) {
    struct single_trial *single_trial = NULL;
    struct device_info device;
    int status = 0;
    for (int i = 0; i < run->goal_count && status == 0; i++) {
        const int g = run->goals[i];
        if (run->champions[g]->outcome->checks[0] != '\0')
            continue;
        if (single_trial == NULL) {
            status = find_device(run, &device, error);
            if (status == 0)
                single_trial = single_trial_new(run->config->path, run->config->template_folder,
                                                device.spec, error);
            if (single_trial == NULL)
                return -1;
        }
        status = check_trial(run, single_trial, g, error);
    }
    single_trial_free(single_trial);
    return status;
}
