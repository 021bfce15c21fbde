#include "evaluate/references.h"
#include "base/memory.h"
#include "evaluate/prepare_call.h"
#include "evaluate/recorded_answers.h"
#include "evaluate/reference_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_DEADLINE_S = 120, MANY_ELEMENTS = 64 };

/* The largest relative L2 error of a plain kernel on ordinary inputs: so many roundings of its
   output, and so many times sqrt(n) roundings of its float sums of at most n terms. Roundings are
   independent enough that their sum grows with sqrt(n) rather than n (Higham, Accuracy and
   Stability of Numerical Algorithms, 2nd ed., section 2.8). The plain kernels of this repository
   reach 0.6 and 0.1 of these. */
static const double plain_output_roundings = 4;
static const double plain_sum_roundings = 16;

/* The terms of a few sums may cancel to a 64th of their size; those of many do not all. */
static const double few_cancellation = 64;

/* Runs the launches so far, and leaves none. */
static int run_launches(const struct verify_case *one, struct device_sequence *both,
                        struct error *error) {
    char reason[REASON_SIZE];
    enum verdict verdict =
        one->device->backend->run(one->device, both, REFERENCE_DEADLINE_S, reason);
    both->count = 0;
    return verdict == VERDICT_OK
               ? 0
               : error_set(error, "the reference or the plain kernel of %s failed: %s",
                           one->template->name, reason);
}

/* Allocates what launches write in another dtype than their outputs have. */
static int written_new(const struct verify_case *one, struct planned_buffers *run,
                       struct error *error) {
    for (int t = 0; t < one->template->tensor_count; t++) {
        const struct planned_tensor *tensor = &run->plan.tensors[t];
        enum dtype written = run->plan.tensors[t].written;
        if (run->buffers.tensors[0][t] == 0 || written == tensor->dtype)
            continue;
        size_t bytes = (size_t)tensor->elements * (size_t)dtype_bytes(written);
        if (one->device->backend->memory_new(one->device, one->template->tensors[t].name, bytes,
                                             &run->written[t], error) < 0)
            return -1;
    }
    return 0;
}

/* Whether launches write the tensor; of the workspaces only the template's own have any. */
static bool is_written(const struct template *template, const struct launch_plan *plan, int t) {
    const enum role role = template->tensors[t].role;
    return role == ROLE_OUTPUT || role == ROLE_MAGNITUDE ||
           (role == ROLE_WORKSPACE && plan->list == &template->launches);
}

/* Poisons what a default genome writes: what it leaves out is not finite, and shows. */
static int poison_run(const struct verify_case *one, struct planned_buffers *run, uint64_t seed,
                      struct error *error) {
    for (int t = 0; t < one->template->tensor_count; t++) {
        struct planned_tensor tensor = run->plan.tensors[t];
        uint64_t address = run->written[t] != 0 ? run->written[t] : run->buffers.tensors[0][t];
        tensor.dtype = tensor.written;
        tensor.bytes = tensor.elements * dtype_bytes(tensor.dtype);
        if (address != 0 && comparator_poison(one->comparator, address, &tensor, POISON_NAN,
                                              seed + (uint64_t)t, error) < 0)
            return -1;
    }
    return comparator_finish(one->comparator, error);
}

void planned_buffers_release(struct planned_buffers *run) {
    struct device *device = run->buffers.device;
    for (int t = 0; t < TENSORS_MAX; t++)
        if (run->written[t] != 0)
            device->backend->memory_free(device, run->written[t]);
    memset(run->written, 0, sizeof run->written);
    buffers_release(&run->buffers);
}

int convert_written(const struct verify_case *one, struct planned_buffers *run,
                    struct error *error) {
    for (int t = 0; t < one->template->tensor_count; t++) {
        const struct planned_tensor *tensor = &run->plan.tensors[t];
        if (run->written[t] != 0 &&
            comparator_convert(one->comparator, run->written[t], run->plan.tensors[t].written,
                               run->buffers.tensors[0][t], tensor->dtype, tensor->elements,
                               error) < 0)
            return -1;
    }
    return 0;
}

/* Does what comes before its call. */
static int prepare_reference(const struct verify_case *one, const struct buffers *buffers,
                             struct device_module *module, struct error *error) {
    const struct template *template = one->template;
    char reason[REASON_SIZE];
    int status = buffers_prepare_call(buffers, 0, module, reason, error);
    return status == 1
               ? error_input(
                     error, "%s/%s: no launch takes it as an argument, and %s", template->folder,
                     module == one->reference ? template->reference_source : template->plain_source,
                     reason)
               : status;
}

int reference_sequence(const struct verify_case *one, const struct buffers *buffers, int set,
                       struct device_module *module, struct planned_buffers *reference_run,
                       struct device_sequence *sequence, struct error *error) {
    struct launch_plan outputs = reference_run->plan;
    uint64_t own[TENSORS_MAX];
    for (int t = 0; t < one->template->tensor_count; t++)
        outputs.tensors[t].present = reference_run->plan.tensors[t].present &&
                                     is_written(one->template, &reference_run->plan, t);
    if (buffers_init(&reference_run->buffers, one->comparator, one->device, one->template, &outputs,
                     1, error) < 0)
        return -1;
    reference_run->buffers.plan = &reference_run->plan;
    uint64_t *tensors = reference_run->buffers.tensors[0];
    memcpy(own, tensors, sizeof own);
    if (written_new(one, reference_run, error) < 0 ||
        (reference_run->plan.list == &one->template->launches &&
         poison_run(one, reference_run, buffers->seeds[set], error) < 0))
        return -1;
    for (int t = 0; t < one->template->tensor_count; t++)
        if (one->template->tensors[t].role == ROLE_INPUT)
            tensors[t] = buffers->tensors[set][t];
        else if (reference_run->written[t] != 0)
            tensors[t] = reference_run->written[t];
    memcpy(reference_run->buffers.scalars[0], buffers->scalars[set], sizeof buffers->scalars[set]);
    buffers_sequence(&reference_run->buffers, 0, module, sequence);
    int status = prepare_reference(one, &reference_run->buffers, module, error);
    memcpy(tensors, own, sizeof own);
    return status;
}

/* Adds the launches of one of them on the inputs of a set. */
static int add_reference(const struct verify_case *one, const struct buffers *buffers, int set,
                         struct device_module *module, struct planned_buffers *reference_run,
                         struct device_sequence *both, struct error *error) {
    struct device_sequence sequence;
    if (reference_sequence(one, buffers, set, module, reference_run, &sequence, error) < 0)
        return -1;
    if (both->count + sequence.count > DEVICE_LAUNCHES_MAX && run_launches(one, both, error) < 0)
        return -1;
    if (sequence.count > DEVICE_LAUNCHES_MAX)
        return run_launches(one, &sequence, error);
    memcpy(both->launches + both->count, sequence.launches,
           (size_t)sequence.count * sizeof *sequence.launches);
    both->count += sequence.count;
    return 0;
}

struct reference_runs *reference_runs_new(const struct verify_case *one, struct error *error) {
    struct reference_runs *runs = xcalloc(1, sizeof *runs);
    if (template_reference_launch_plan(one->template, one->case_index, &runs->reference.plan,
                                       error) == 0 &&
        template_plain_launch_plan(one->template, one->genome, one->case_index, &runs->plain.plan,
                                   error) == 0)
        return runs;
    free(runs);
    return NULL;
}

void reference_runs_free(struct reference_runs *runs) {
    planned_buffers_release(&runs->reference);
    planned_buffers_release(&runs->plain);
    free(runs);
}

/* Without a plain kernel, the reference's outputs stand in for its: rounded to their dtypes. */
static int stand_in_for_plain(const struct verify_case *one, struct reference_runs *runs,
                              struct error *error) {
    for (int t = 0; t < one->template->tensor_count; t++) {
        const struct planned_tensor *from = &runs->reference.plan.tensors[t];
        const struct planned_tensor *to = &runs->plain.plan.tensors[t];
        if (one->template->plain_kind != PLAIN_NONE || runs->plain.buffers.tensors[0][t] == 0)
            continue;
        if (comparator_convert(one->comparator, runs->reference.buffers.tensors[0][t], from->dtype,
                               runs->plain.buffers.tensors[0][t], to->dtype, to->elements,
                               error) < 0)
            return -1;
    }
    return 0;
}

int run_references(const struct verify_case *one, const struct buffers *buffers, int set,
                   struct reference_runs *runs, struct error *error) {
    struct device_sequence both = {0};
    return add_reference(one, buffers, set, one->reference, &runs->reference, &both, error) < 0 ||
                   add_reference(one, buffers, set, one->plain, &runs->plain, &both, error) < 0 ||
                   run_launches(one, &both, error) < 0 ||
                   (one->template->reference_kind == REFERENCE_ANSWERS &&
                    recorded_answers_run(one, buffers, set, &runs->reference, error) < 0) ||
                   (one->program != NULL && reference_program_run(one->program, one, buffers, set,
                                                                  &runs->reference, error) < 0) ||
                   convert_written(one, &runs->reference, error) < 0 ||
                   convert_written(one, &runs->plain, error) < 0 ||
                   stand_in_for_plain(one, runs, error) < 0
               ? -1
               : 0;
}

uint64_t reference_magnitudes(const struct reference_runs *runs,
                              const struct planned_tensor *output) {
    const struct tolerance *tolerance = &output->tolerance;
    return tolerance->given && tolerance->magnitude >= 0
               ? runs->reference.buffers.tensors[0][tolerance->magnitude]
               : 0;
}

struct planned_buffers *reference_inputs_new(const struct verify_case *one,
                                             const struct reference_runs *runs,
                                             struct error *error) {
    struct planned_buffers *inputs = xcalloc(1, sizeof *inputs);
    inputs->plan = runs->reference.plan;
    for (int t = 0; t < one->template->tensor_count; t++)
        inputs->plan.tensors[t].present =
            inputs->plan.tensors[t].present && one->template->tensors[t].role == ROLE_INPUT;
    if (buffers_init(&inputs->buffers, one->comparator, one->device, one->template, &inputs->plan,
                     1, error) == 0)
        return inputs;
    free(inputs);
    return NULL;
}

void reference_inputs_free(struct planned_buffers *inputs) {
    if (inputs == NULL)
        return;
    buffers_release(&inputs->buffers);
    free(inputs);
}

struct reference_runs *reference_runs_on_seed(const struct verify_case *one,
                                              const struct stress *stress, uint64_t seed,
                                              struct planned_buffers **inputs,
                                              struct error *error) {
    struct reference_runs *runs = reference_runs_new(one, error);
    if (runs == NULL)
        return NULL;
    *inputs = reference_inputs_new(one, runs, error);
    int status = *inputs != NULL ? 0 : -1;
    if (status == 0)
        status = stress != NULL ? buffers_fill_stress(&(*inputs)->buffers, 0, stress, seed, error)
                                : buffers_fill(&(*inputs)->buffers, 0, seed, error);
    if (status == 0)
        status = run_references(one, &(*inputs)->buffers, 0, runs, error);
    if (status == 0)
        return runs;
    reference_inputs_free(*inputs);
    reference_runs_free(runs);
    return NULL;
}

/* ---- checks ---- */

/* The largest relative L2 error of a plain kernel's output that its types explain. */
static double plain_error_limit(const struct verify_case *one, const struct launch_plan *plan,
                                int t) {
    const struct planned_tensor *output = &plan->tensors[t];
    int64_t terms = 1;
    for (int i = 0; i < one->template->tensor_count; i++)
        if (plan->tensors[i].present && one->template->tensors[i].role == ROLE_INPUT &&
            plan->tensors[i].elements > terms)
            terms = plan->tensors[i].elements;
    double sums = plain_sum_roundings * sqrt((double)terms) * dtype_rounding(DTYPE_F32);
    if (output->elements < MANY_ELEMENTS)
        sums *= few_cancellation;
    return plain_output_roundings * dtype_rounding(output->precision) + sums;
}

/* Checks the plain kernel by the tolerance that it shares with candidates, and the magnitudes.
   A derived recipe may be beyond both: 1. */
static int check_tolerance(const struct verify_case *one, const struct launch_plan *plan, int t,
                           const struct stress *stress, const struct comparison *plain,
                           struct error *error) {
    const struct tolerance *tolerance = &plan->tensors[t].tolerance;
    const char *file = one->template->document.file, *name = one->template->tensors[t].name;
    const char *inputs = stress != NULL ? stress->name : "ordinary random";
    char text[REASON_SIZE];
    bool outside = error_outside_tolerance(plain, tolerance, text);
    if (stress != NULL && stress->derived && (outside || plain->small_magnitudes > 0))
        return 1;
    if (plain->small_magnitudes > 0)
        return error_input(error,
                           "%s: %lld elements of the reference's %s are larger than their "
                           "magnitudes in %s on %s inputs: correct the reference, whose %s is the "
                           "sum of the absolute values of the terms",
                           file, (long long)plain->small_magnitudes, name,
                           one->template->tensors[tolerance->magnitude].name, inputs,
                           one->template->tensors[tolerance->magnitude].name);
    return outside ? error_input(error,
                                 "%s: the plain kernel's %s is outside its own bound on %s inputs, "
                                 "%.300s: correct the plain kernel or the reference, or %s",
                                 file, name, inputs, text,
                                 tolerance->magnitude >= 0 ? "add what is missing in the magnitudes"
                                                           : "widen the \"tolerance\"")
                   : 0;
}

int check_references(const struct verify_case *one, const struct buffers *buffers, int set, int t,
                     const struct comparison *plain, struct error *error) {
    const char *file = one->template->document.file;
    const char *name = one->template->tensors[t].name;
    const struct stress *stress = buffers->stress[set];
    bool ordinary = stress == NULL;
    if (!ordinary && stress->derived && plain->not_finite + plain->reference_not_finite > 0)
        return 1;
    if (ordinary && plain->reference_not_finite > 0)
        return error_input(error,
                           "%s: the reference's %s has %lld elements that are NaN or infinite on "
                           "ordinary random inputs: correct the reference, or the shape of %s",
                           file, name, (long long)plain->reference_not_finite, name);
    if (plain->not_finite > 0)
        return error_input(error,
                           "%s: the plain kernel's %s has %lld elements that are NaN or infinite "
                           "where the reference's are not: reduce its \"stress\" values",
                           file, name, (long long)plain->not_finite);
    if (buffers->plan->tensors[t].tolerance.given)
        return check_tolerance(one, buffers->plan, t, stress, plain, error);
    double limit = plain_error_limit(one, buffers->plan, t);
    if (ordinary && plain->errors.relative_l2 > limit)
        return error_input(error,
                           "%s: the plain kernel's %s has a relative L2 error of %.2e on ordinary "
                           "random inputs, more than the %.2e that its types explain: correct the "
                           "plain kernel or the reference",
                           file, name, plain->errors.relative_l2, limit);
    return 0;
}
