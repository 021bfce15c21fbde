/* The gate of what a candidate uses: shared memory, registers, workspaces. */
#include "base/clock.h"
#include "evaluate/evaluation.h"

#include <stdio.h>

/* A duel has two kernels on the device, each with all its sets, beside the inputs and references.
 */
enum { WORKSPACES_FRACTION = 4 };

/* What a kernel keeps in local memory is found in whichever launch does so. */
static void record_local_memory(struct resources *most, const struct resources *one) {
    if (one->local_bytes > most->local_bytes)
        most->local_bytes = one->local_bytes;
    if (one->spill_bytes > most->spill_bytes)
        most->spill_bytes = one->spill_bytes;
}

/* Refuses workspaces that take too much of the device's memory; otherwise a genome that splits its
   work much ends the run at a large case. */
static bool refuse_workspaces(struct evaluation *evaluation, int case_index,
                              const struct launch_plan *plan) {
    const struct template *template = evaluation->template;
    const struct device_info *device = &evaluation->evaluator->device->info;
    const int sets = device->predicts ? 1 : evaluation->evaluator->settings->timing.input_sets;
    struct failure failure = {.verdict = VERDICT_OVER_LIMIT};
    double bytes = 0;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_WORKSPACE && plan->tensors[t].present)
            bytes += (double)plan->tensors[t].bytes;
    if (bytes * sets <= (double)device->memory_bytes / WORKSPACES_FRACTION)
        return false;
    snprintf(failure.reason, sizeof failure.reason,
             "its workspaces have %.1f GB for each of %d sets of inputs; together they may have a "
             "quarter of the device's %.1f GB",
             bytes / 1e9, sets, (double)device->memory_bytes / 1e9);
    evaluation_fail(evaluation, "resources", template, case_index, clock_seconds(), &failure);
    return true;
}

int evaluation_check_resources(struct evaluation *evaluation) {
    struct device *device = evaluation->evaluator->device;
    struct outcome *outcome = &evaluation->result->outcome;
    struct resources local = {.spill_bytes = outcome->resources.spill_bytes};
    struct launch_plan plan;
    char reason[REASON_SIZE];
    for (int c = 0; c < evaluation->template->case_count; c++) {
        struct device_module *module =
            evaluation->modules[template_variant(evaluation->template, c)];
        if (template_launch_plan(evaluation->template, &evaluation->request->genome, c, &plan,
                                 evaluation->error) < 0)
            return -1;
        if (refuse_workspaces(evaluation, c, &plan))
            return 1;
        for (int i = 0; i < plan.launch_count; i++) {
            const struct planned_launch launch = planned_launch(&plan, i);
            int threads = (int)(launch.block[0] * launch.block[1] * launch.block[2]);
            int ctas = (int)(launch.grid[0] * launch.grid[1] * launch.grid[2]);
            struct resources resources = {0};
            struct error missing = {0};
            if (device->backend->resources(device, module, launch.kernel, threads,
                                           launch.smem_bytes, &resources, &missing) < 0) {
                if (missing.kind != ERROR_INPUT) {
                    *evaluation->error = missing;
                    return -1;
                }
                /* The source has no such kernel: what a client sends must not end a server. */
                trial_add_gate(evaluation->result, "resources", false, 0, "%.150s", missing.text);
                trial_set_verdict(evaluation->result, VERDICT_LAUNCH_FAILED, missing.text);
                return 1;
            }
            if ((c == 0 && i == 0) || resources.smem_bytes > outcome->resources.smem_bytes)
                outcome->resources = resources;
            record_local_memory(&local, &resources);
            record_local_memory(&outcome->resources, &local);
            if (i == 0 || ctas > outcome->cases[c].ctas)
                outcome->cases[c].ctas = ctas;
            int limit = device_smem_limit(
                &device->info,
                evaluation->evaluator->settings->goals[evaluation->request->goal].smem_limit);
            if (resources.smem_bytes > limit || resources.ctas_per_sm == 0) {
                snprintf(reason, sizeof reason,
                         "%s uses %d bytes of shared memory and %d registers per thread for %d "
                         "threads; the limit is %d bytes%s",
                         launch.kernel, resources.smem_bytes, resources.registers, threads, limit,
                         resources.ctas_per_sm == 0 ? ", and no block fits on a multiprocessor"
                                                    : "");
                trial_add_gate(evaluation->result, "resources", false, 0, "%.150s", reason);
                trial_set_verdict(evaluation->result, VERDICT_OVER_LIMIT, reason);
                return 1;
            }
        }
    }
    trial_add_gate(evaluation->result, "resources", true, 0,
                   "%d bytes shared, %d registers, %d CTAs/SM", outcome->resources.smem_bytes,
                   outcome->resources.registers, outcome->resources.ctas_per_sm);
    return 0;
}
