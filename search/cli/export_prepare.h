/*
 * export_prepare: makes one run ready to be written as an export. Its champions, or the variants
 * among which a measured decision tree chooses, have passed the final checks and are compiled.
 *
 *     struct export_run wanted = {.rank = REPLAY_CHAMPION, .trial = -1};
 *     struct prepared_export *prepared =
 *         prepared_export_new(&options, &wanted, "results/night", &error);
 *     if (prepared == NULL || export_write(&prepared->request, "kernels/night", &error) < 0)
 *         ...;
 *     prepared_export_free(prepared);
 */
#ifndef EVOTILE_CLI_EXPORT_PREPARE_H
#define EVOTILE_CLI_EXPORT_PREPARE_H

#include "cli/export_dispatch.h"
#include "cli/export_run.h"
#include "device/nvrtc.h"
#include "export/export.h"

/* What the options of `evotile export` say, for every run. */
struct export_options {
    const char *out, *sign_key;
    bool force, unchecked, wheel, quiet;
    unsigned with; /* EXPORT_WITH_* */
    struct dispatch_options dispatch;
};

struct prepared_export {
    const struct export_options *options;
    struct export_run run;
    struct measured_dispatch *dispatch; /* NULL: no tree chooses the variants */
    struct template
        *held_out[SOLUTIONS_MAX]; /* by rival; NULL: not exported, or none was checked */
    struct genome default_genome;
    struct device_image images[2 * CASES_MAX]; /* by variant */
    struct device_image reference, setup;      /* empty if their kernels are extern "C" */
    struct export_variant
        variants[2 * CASES_MAX]; /* the exported ones, then the default genome's */
    struct export_case cases[CASES_MAX];
    int variant_count, reference_count;
    char replay[PATH_SIZE + 32];
    struct export_request request; /* borrows all of the above */
};

/* Reads the run in `folder`; of `wanted` it takes the rank, the trial and the solution. Compiles
   with the NVRTC of this host, and needs the run's device if a final check or a dispatch has to be
   measured. `options` must outlive it. NULL after an error. */
struct prepared_export *prepared_export_new(const struct export_options *options,
                                            const struct export_run *wanted, const char *folder,
                                            struct error *error);
void prepared_export_free(struct prepared_export *prepared); /* NULL is allowed */

/* The variant and the time of each case, and the dispatch, on standard output. */
void prepared_export_print(const struct prepared_export *prepared);

#endif
