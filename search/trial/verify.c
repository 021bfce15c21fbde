#include "trial/verify.h"

#include <math.h>
#include <string.h>

enum { REFERENCE_DEADLINE_S = 120 };

/* Outputs that have an fp64 twin, which the reference writes. */
struct references {
    struct buffers buffers;
    struct plan plan;
};

/* The reference reads the candidate's own inputs (set `set`) and writes fp64 outputs of its own. */
static int run_reference(const struct verify_case *one, const struct buffers *buffers, int set,
                         struct references *references, struct error *error) {
    struct device_sequence sequence;
    char reason[REASON_SIZE];
    struct plan *plan = &references->plan;
    struct plan needed;
    if (template_reference_plan(one->template, one->case_index, plan, error) < 0)
        return -1;
    needed = *plan;
    for (int t = 0; t < one->template->tensor_count; t++)
        needed.tensors[t].present =
            plan->tensors[t].present && one->template->tensors[t].role == ROLE_OUTPUT;
    if (buffers_make(&references->buffers, one->judge, one->device, one->template, &needed, 1,
                     error) < 0)
        return -1;
    references->buffers.plan = plan;
    uint64_t *tensors = references->buffers.tensors[0];
    uint64_t own[TENSORS_MAX];
    memcpy(own, tensors, sizeof own);
    for (int t = 0; t < one->template->tensor_count; t++)
        if (one->template->tensors[t].role == ROLE_INPUT)
            tensors[t] = buffers->tensors[set][t];
    buffers_sequence(&references->buffers, 0, one->reference, &sequence);
    memcpy(tensors, own, sizeof own);
    if (one->device->backend->run(one->device, &sequence, REFERENCE_DEADLINE_S, reason) ==
        VERDICT_OK)
        return 0;
    buffers_release(&references->buffers);
    return error_set(error, "the reference of %s failed: %s", one->template->name, reason);
}

static void refuse(enum verdict *verdict, enum verdict why, char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void refuse(enum verdict *verdict, enum verdict why, char *reason, const char *format, ...) {
    va_list arguments;
    *verdict = why;
    va_start(arguments, format);
    vsnprintf(reason, REASON_SIZE, format, arguments);
    va_end(arguments);
}

/* Every output against its reference. */
static int compare(const struct verify_case *one, const struct buffers *buffers, int set,
                   const struct references *references, enum verdict *verdict,
                   struct errors *errors, char *reason, struct error *error) {
    const struct tolerance *tolerance = &buffers->plan->tolerance;
    *verdict = VERDICT_OK;
    *errors = (struct errors){0};
    for (int t = 0; t < one->template->tensor_count && *verdict == VERDICT_OK; t++) {
        const struct planned_tensor *tensor = &buffers->plan->tensors[t];
        const char *name = one->template->tensors[t].name;
        struct comparison found;
        if (!tensor->present || one->template->tensors[t].role != ROLE_OUTPUT)
            continue;
        if (judge_compare(one->judge, buffers->tensors[set][t], tensor->dtype,
                          references->buffers.tensors[0][t], tensor->elements / tensor->row,
                          tensor->row, &found, error) < 0)
            return -1;
        errors->relative_l2 = fmax(errors->relative_l2, found.errors.relative_l2);
        errors->row_relative_l2 = fmax(errors->row_relative_l2, found.errors.row_relative_l2);
        errors->max_absolute = fmax(errors->max_absolute, found.errors.max_absolute);
        if (found.not_finite > 0)
            refuse(verdict, VERDICT_WRONG, reason, "%s: %lld elements are NaN or infinite", name,
                   (long long)found.not_finite);
        else if (found.not_zero == 0 && found.reference_l2 > 0)
            refuse(verdict, VERDICT_WRONG, reason, "%s is all zeros", name);
        else if (!(found.errors.relative_l2 <= tolerance->relative_l2))
            refuse(verdict, VERDICT_WRONG, reason, "%s: relative L2 error %.3e, above %.1e", name,
                   found.errors.relative_l2, tolerance->relative_l2);
        else if (!(found.errors.row_relative_l2 <= tolerance->row_relative_l2))
            refuse(verdict, VERDICT_WRONG, reason,
                   "%s: relative L2 error %.3e in the worst row, above %.1e", name,
                   found.errors.row_relative_l2, tolerance->row_relative_l2);
    }
    return 0;
}

/* One call on poisoned outputs, then everything that must not have happened. */
static int run_guarded(const struct verify_case *one, struct buffers *buffers, uint32_t poison,
                       uint64_t inputs, enum verdict *verdict, char *reason, struct error *error) {
    struct device_sequence sequence;
    uint64_t after;
    if (buffers_poison(buffers, 0, poison, error) < 0)
        return -1;
    buffers_sequence(buffers, 0, one->module, &sequence);
    *verdict = one->device->backend->run(one->device, &sequence, one->deadline_s, reason);
    if (*verdict == VERDICT_OK && one->device->backend->guards != NULL)
        *verdict = one->device->backend->guards(one->device, reason);
    if (*verdict != VERDICT_OK)
        return 0;
    if (buffers_checksum(buffers, 0, ROLE_INPUT, &after, error) < 0)
        return -1;
    if (after != inputs)
        refuse(verdict, VERDICT_CHANGED_INPUT, reason, "an input tensor was written to");
    return 0;
}

static int judge_input(const struct verify_case *one, struct buffers *buffers, bool twice,
                       const struct references *references, uint64_t inputs, enum verdict *verdict,
                       struct errors *errors, char *reason, struct error *error) {
    uint64_t first;
    uint64_t second;
    if (run_guarded(one, buffers, POISON, inputs, verdict, reason, error) < 0)
        return -1;
    if (*verdict != VERDICT_OK)
        return 0;
    if (compare(one, buffers, 0, references, verdict, errors, reason, error) < 0)
        return -1;
    if (*verdict != VERDICT_OK || !twice)
        return 0;
    if (buffers_checksum(buffers, 0, ROLE_OUTPUT, &first, error) < 0 ||
        run_guarded(one, buffers, OTHER_POISON, inputs, verdict, reason, error) < 0)
        return -1;
    if (*verdict != VERDICT_OK)
        return 0;
    if (buffers_checksum(buffers, 0, ROLE_OUTPUT, &second, error) < 0)
        return -1;
    if (first != second)
        refuse(verdict, VERDICT_RACY, reason,
               "two runs on the same input differ: a race, or a read of memory nobody wrote");
    return 0;
}

int verify_input(const struct verify_case *one, uint64_t seed, bool twice, enum verdict *verdict,
                 struct errors *errors, char reason[REASON_SIZE], struct error *error) {
    struct plan plan;
    struct buffers buffers;
    struct references references;
    uint64_t inputs;
    *errors = (struct errors){0};
    if (template_plan(one->template, one->genome, one->case_index, &plan, error) < 0 ||
        buffers_make(&buffers, one->judge, one->device, one->template, &plan, 1, error) < 0)
        return -1;
    int status = buffers_fill(&buffers, 0, seed, error);
    if (status == 0)
        status = buffers_checksum(&buffers, 0, ROLE_INPUT, &inputs, error);
    if (status == 0)
        status = run_reference(one, &buffers, 0, &references, error);
    if (status == 0) {
        status =
            judge_input(one, &buffers, twice, &references, inputs, verdict, errors, reason, error);
        buffers_release(&references.buffers);
    }
    buffers_release(&buffers);
    return status;
}

int verify_timed(const struct verify_case *one, const struct buffers *buffers,
                 enum verdict *verdict, char reason[REASON_SIZE], struct error *error) {
    struct references references;
    struct errors errors;
    if (one->device->backend->guards != NULL) {
        *verdict = one->device->backend->guards(one->device, reason);
        if (*verdict != VERDICT_OK)
            return 0;
    }
    if (run_reference(one, buffers, 0, &references, error) < 0)
        return -1;
    int status = compare(one, buffers, 0, &references, verdict, &errors, reason, error);
    buffers_release(&references.buffers);
    return status;
}
