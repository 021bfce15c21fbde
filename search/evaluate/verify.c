#include "evaluate/verify.h"
#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/carry_over.h"
#include "evaluate/few_elements.h"
#include "evaluate/prepare_call.h"
#include "evaluate/references.h"
#include "evaluate/sampled_blocks.h"
#include "evaluate/structured.h"
#include "evaluate/wrong_elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* XORed with an input's seed, gives the seed of the new inputs. */
#define NEW_INPUTS_SEED UINT64_C(0x5851f42d4c957f2d)

/* The same for the changes after them. */
#define CHANGES_SEED UINT64_C(0xe7037ed1a0b428db)

/* Runs after changes: with workspaces of random bits, and with those of the call before. */
enum { CHANGED_RUNS = 2 };

/* The same for poison. */
#define POISON_SEED UINT64_C(0xa0761d6478bd642f)

/* Seed of the self-test's inputs. */
#define SELF_TEST_SEED UINT64_C(1)

/* Beyond this number of operations the references of all timed sets would dominate a trial's
   time. */
static const double all_sets_operations = 4e9;

static int fail(struct failure *failure, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct failure *failure, enum verdict verdict, const char *format, ...) {
    va_list arguments;
    failure->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(failure->reason, sizeof failure->reason, format, arguments);
    va_end(arguments);
    return 1;
}

/* ---- comparing ---- */

bool verify_judge(const char *name, const struct comparison *plain,
                  const struct comparison *candidate, const struct errors *bound,
                  const struct tolerance *tolerance, struct failure *failure) {
    char text[REASON_SIZE];
    if (candidate->not_finite > 0)
        return fail(failure, VERDICT_WRONG, "%s: %lld elements are NaN or infinite", name,
                    (long long)candidate->not_finite);
    if (candidate->not_zero == 0 && candidate->reference_l2 > 0 && plain->not_zero > 0)
        return fail(failure, VERDICT_WRONG, "%s is all zeros", name);
    if (tolerance->given ? error_outside_tolerance(candidate, tolerance, text)
                         : error_bound_exceeded(&candidate->errors, bound, text))
        return fail(failure, VERDICT_WRONG, "%s: %.400s", name, text);
    return false;
}

/* Judges one output of a set: computes the error bound from the plain kernel, then checks the
   candidate. */
static int judge_output(const struct verify_case *one, const struct buffers *buffers, int set,
                        int t, const struct comparison *plain, const struct comparison *candidate,
                        struct verify_result *found, struct error *error) {
    const struct planned_tensor *tensor = &buffers->plan->tensors[t];
    const char *name = one->template->tensors[t].name;
    char text[REASON_SIZE];
    int fit = check_references(one, buffers, set, t, plain, error);
    if (fit != 0)
        return fit < 0 ? -1 : 0;
    struct errors bound = error_bound(plain, tensor, buffers->plan);
    if (widen_bound_of_few(one, buffers, set, t, plain, &candidate->errors, &bound, error) < 0)
        return -1;
    errors_max(&found->errors, &candidate->errors);
    errors_max(&found->bound, &bound);
    found->excess = fmax(found->excess, candidate->worst_excess);
    if (verify_judge(name, plain, candidate, &bound, &tensor->tolerance, &found->failure))
        return 1;
    if (buffers->stress[set] == NULL &&
        error_is_biased(candidate, plain, tensor, buffers->plan, text))
        return fail(&found->failure, VERDICT_WRONG, "%s: %.400s", name, text);
    return 0;
}

static bool has_constant_input(const struct template *template, const struct stress *stress) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct declared_fill *own = &template->tensors[t].fill;
        if (template->tensors[t].role == ROLE_INPUT &&
            (own->fill == FILL_NORMAL
                 ? stress != NULL && stress->fills[t].fill == FILL_CONSTANT
                 : own->fill == FILL_ARANGE && own->numbers[1] == 0 && own->expressions[1] == NULL))
            return true;
    }
    return false;
}

/* Compares every output of a set, the plain kernel's and the candidate's, with the reference's, and
   judges the candidate's; without the elements whose reference has the bits `unwritten`. */
static int judge_outputs(const struct verify_case *one, const struct buffers *buffers, int set,
                         const struct reference_runs *runs, uint64_t unwritten,
                         struct verify_result *found, struct error *error) {
    struct compared compared[COMPARED_MAX] = {0};
    struct comparison comparisons[COMPARED_MAX];
    struct planned_tensor judged[TENSORS_MAX];
    bool constant = has_constant_input(one->template, buffers->stress[set]);
    int outputs[TENSORS_MAX], count = 0;
    for (int t = 0; t < one->template->tensor_count; t++) {
        struct planned_tensor *tensor = &judged[count];
        *tensor = buffers->plan->tensors[t];
        if (constant)
            tensor->tolerance.relative = tensor->tolerance.of_equal;
        uint64_t reference = runs->reference.buffers.tensors[0][t];
        uint64_t plain = runs->plain.buffers.tensors[0][t];
        uint64_t magnitudes = reference_magnitudes(runs, tensor);
        if (!tensor->present || one->template->tensors[t].role != ROLE_OUTPUT)
            continue;
        compared[2 * count] = (struct compared){plain, tensor, reference, 0, unwritten, magnitudes};
        compared[2 * count + 1] = (struct compared){
            buffers->tensors[set][t], tensor, reference, plain, unwritten, magnitudes};
        outputs[count++] = t;
    }
    int status = comparator_compare(one->comparator, compared, 2 * count, comparisons, error);
    for (int i = 0; i < count && status == 0; i++) {
        status = judge_output(one, buffers, set, outputs[i], &comparisons[2 * i],
                              &comparisons[2 * i + 1], found, error);
        if (status == 1)
            list_wrong_elements(one, &compared[2 * i + 1], one->template->tensors[outputs[i]].name,
                                &found->bound);
    }
    return status;
}

/* The same. The candidate has run; the data that it is compared with is computed only now. */
static int compare_outputs(const struct verify_case *one, const struct buffers *buffers, int set,
                           struct verify_result *found, struct error *error) {
    uint64_t unwritten = 0;
    int sampled = sampled_blocks_apply(one, buffers, set, error);
    struct reference_runs *runs = sampled < 0 ? NULL : reference_runs_new(one, error);
    if (runs == NULL)
        return -1;
    int status = sampled ? sampled_blocks_run(one, buffers, set, runs, &unwritten, error)
                         : run_references(one, buffers, set, runs, error);
    if (status == 0)
        status = judge_outputs(one, buffers, set, runs, unwritten, found, error);
    reference_runs_free(runs);
    return status;
}

/* ---- one input ---- */

static int check_red_zones(const struct verify_case *one, struct failure *failure) {
    const struct device_backend *backend = one->device->backend;
    if (backend->check_red_zones != NULL)
        failure->verdict = backend->check_red_zones(one->device, false, failure->reason);
    return failure->verdict != VERDICT_OK;
}

/* Checks that a set's inputs are unchanged, also where the kernel has them as variables. */
static int check_inputs(const struct verify_case *one, struct buffers *buffers, int set,
                        struct failure *failure, struct error *error) {
    int changed = buffers_changed(buffers, set, error);
    if (changed == 1)
        return fail(failure, VERDICT_CHANGED_INPUT, "an input tensor was written to");
    if (changed == 0)
        changed = variables_changed(buffers, one->module, error);
    return changed == 1 ? fail(failure, VERDICT_CHANGED_INPUT,
                               "a variable that holds an input was written to")
                        : changed;
}

/* Does what comes before a call. */
static int prepare_call(const struct verify_case *one, struct buffers *buffers, int set,
                        struct failure *failure, struct error *error) {
    int status = buffers_prepare_call(buffers, set, one->module, failure->reason, error);
    if (status == 1)
        failure->verdict = VERDICT_LAUNCH_FAILED;
    return status;
}

/* Runs one call on a set, then checks for accesses that are not allowed. */
static int run_guarded(const struct verify_case *one, struct buffers *buffers, int set,
                       struct verify_result *found, struct error *error) {
    struct failure *failure = &found->failure;
    struct device_sequence sequence;
    int prepared = prepare_call(one, buffers, set, failure, error);
    if (prepared != 0)
        return prepared;
    buffers_sequence(buffers, set, one->module, &sequence);
    int protected = buffers_protect(buffers, set, true, error);
    if (protected < 0)
        return -1;
    double start = clock_seconds();
    failure->verdict =
        one->device->backend->run(one->device, &sequence, one->deadline_s, failure->reason);
    double call_us = 1e6 * (clock_seconds() - start);
    found->call_us = found->call_us > 0 ? fmin(found->call_us, call_us) : call_us;
    if (failure->verdict == VERDICT_CRASHED && protected && !one->device->info.predicts) {
        size_t used = strlen(failure->reason);
        snprintf(failure->reason + used, REASON_SIZE - used,
                 ", with read-only inputs and unmapped memory beside the tensors");
    }
    if (failure->verdict == VERDICT_CRASHED)
        describe_integers(buffers, set, one->device->info.predicts, failure->reason, REASON_SIZE);
    if (failure->verdict != VERDICT_OK) /* the device may be lost */
        return 1;
    if (buffers_protect(buffers, set, false, error) < 0)
        return -1;
    int status = check_red_zones(one, failure);
    return status == 0 ? check_inputs(one, buffers, set, failure, error) : status;
}

static int poison_before(struct buffers *buffers, const struct verify_input *input,
                         enum poison poison, struct error *error) {
    const uint64_t seed = input->seed ^ POISON_SEED;
    switch (input->poisoned) {
    case POISONED_WRITTEN:
        return buffers_poison(buffers, 0, poison, seed, error);
    case POISONED_OUTPUTS:
        return buffers_poison_role(buffers, 0, ROLE_OUTPUT, poison, seed, error);
    case POISONED_NOTHING:
        break;
    }
    return 0;
}

static int repeat_run(const struct verify_case *one, struct buffers *buffers,
                      const struct verify_input *input, struct verify_result *found,
                      struct error *error) {
    uint64_t first, second;
    if (buffers_checksum(buffers, 0, ROLE_OUTPUT, &first, error) < 0 ||
        poison_before(buffers, input, POISON_RANDOM, error) < 0)
        return -1;
    /* An emulated device runs blocks and warps one after the other: results that depend on their
       order would repeat. */
    one->device->order_seed = input->seed | 1;
    int status = run_guarded(one, buffers, 0, found, error);
    one->device->order_seed = 0;
    if (status != 0)
        return status;
    if (one->template->float_atomics)
        return compare_outputs(one, buffers, 0, found, error);
    if (buffers_checksum(buffers, 0, ROLE_OUTPUT, &second, error) < 0)
        return -1;
    if (first != second)
        return fail(&found->failure, VERDICT_RACY,
                    "two runs on the same input differ: a race, or a read of uninitialised memory");
    return 0;
}

/* Runs on a set and compares its outputs. */
static int run_and_compare(const struct verify_case *one, struct buffers *buffers, int set,
                           struct verify_result *found, struct error *error) {
    int status = run_guarded(one, buffers, set, found, error);
    return status == 0 ? compare_outputs(one, buffers, set, found, error) : status;
}

/* Runs on new inputs in the same buffers, over the old outputs: catches a kernel that caches
   results by address or that works only on poison. */
static int run_on_new_inputs(const struct verify_case *one, struct buffers *buffers, int set,
                             uint64_t seed, struct verify_result *found, struct error *error) {
    return buffers_fill(buffers, set, seed, error) < 0
               ? -1
               : run_and_compare(one, buffers, set, found, error);
}

void failure_explain_kept(struct failure *failure) {
    char reason[REASON_SIZE];
    if (failure->verdict != VERDICT_WRONG)
        return;
    memcpy(reason, failure->reason, sizeof reason);
    snprintf(failure->reason, sizeof failure->reason,
             "keeps results between calls: wrong after a part of its inputs changed: %.400s",
             reason);
}

/* Runs after changes that leave most of the inputs, and some of what it wrote itself. */
static int run_after_changes(const struct verify_case *one, struct buffers *buffers, uint64_t seed,
                             struct verify_result *found, struct error *error) {
    struct carry_over *carry_over = carry_over_new(buffers, seed, error);
    int status = carry_over != NULL ? 0 : -1;
    for (int i = 0; i < CHANGED_RUNS && status == 0; i++) {
        status = carry_over_change(carry_over, error);
        if (status == 0)
            status = run_and_compare(one, buffers, 0, found, error);
    }
    if (status == 1)
        failure_explain_kept(&found->failure);
    carry_over_free(carry_over);
    return status;
}

static int verify_filled_input(const struct verify_case *one, struct buffers *buffers,
                               const struct verify_input *input, struct verify_result *found,
                               struct error *error) {
    int status = input->stress != NULL
                     ? buffers_fill_stress(buffers, 0, input->stress, input->seed, error)
                     : buffers_fill(buffers, 0, input->seed, error);
    if (status < 0 || poison_before(buffers, input, POISON_NAN, error) < 0)
        return -1;
    status = run_and_compare(one, buffers, 0, found, error);
    if (status != 0 || !input->twice)
        return status;
    status = repeat_run(one, buffers, input, found, error);
    if (status == 0)
        status = run_on_new_inputs(one, buffers, 0, input->seed ^ NEW_INPUTS_SEED, found, error);
    return status == 0 && input->carried_over
               ? run_after_changes(one, buffers, input->seed ^ CHANGES_SEED, found, error)
               : status;
}

int verify_input(const struct verify_case *one, const struct verify_input *input,
                 struct verify_result *found, struct error *error) {
    struct planned_buffers *run = xcalloc(1, sizeof *run);
    struct buffers *buffers = &run->buffers;
    *found = (struct verify_result){0};
    int status =
        template_launch_plan(one->template, one->genome, one->case_index, &run->plan, error);
    if (status == 0)
        status = buffers_init_placed(buffers, one->comparator, one->device, one->template,
                                     &run->plan, 1, input->placement, error);
    if (status == 0) {
        status = verify_filled_input(one, buffers, input, found, error);
        found->inputs_read_only = buffers->read_only;
    }
    buffers_release(buffers);
    free(run);
    return status;
}

bool verify_applies_to(const struct launch_plan *plan, const struct template *template,
                       const struct stress *stress) {
    if (!plan->stressed[stress - template->stresses])
        return false;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_INPUT && plan->tensors[t].present &&
            template->tensors[t].fill.fill == FILL_NORMAL &&
            template_fill_maximum(&stress->fills[t], plan->tensors[t].dtype) > plan->input_range)
            return false;
    return true;
}

/* ---- after timing ---- */

int verify_pick_set(const struct buffers *buffers, uint64_t seed) {
    /* A trial's seeds are multiples of 4: their upper bits differ. */
    return (int)((seed * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (uint64_t)buffers->set_count);
}

int verify_timed(const struct verify_case *one, struct buffers *buffers, uint64_t seed, int set,
                 struct failure *failure, struct error *error) {
    struct verify_result found = {0};
    int sets = buffers->set_count;
    int picked = set == ALL_SETS ? verify_pick_set(buffers, seed) : set;
    bool all = set == ALL_SETS && (double)buffers->plan->operations * sets <= all_sets_operations;
    int status = check_red_zones(one, &found.failure);
    for (int s = 0; s < sets && status == 0; s++) {
        status = check_inputs(one, buffers, s, &found.failure, error);
        if (status == 0 && (all || s == picked))
            status = compare_outputs(one, buffers, s, &found, error);
    }
    *failure = found.failure;
    return status;
}

/* ---- self-test ---- */

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Hashes the outputs of both programs and everything in their comparison that is exact. */
static int hash_results(const struct verify_case *one, struct buffers *inputs,
                        struct reference_runs *runs, uint64_t *self_test_hash,
                        struct error *error) {
    const struct planned_buffers *plain = &runs->plain;
    struct buffers *const buffer_sets[] = {inputs, &runs->reference.buffers, &runs->plain.buffers};
    static const enum role roles[] = {ROLE_INPUT, ROLE_OUTPUT, ROLE_OUTPUT};
    *self_test_hash = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t sum;
        if (buffers_checksum(buffer_sets[i], 0, roles[i], &sum, error) < 0)
            return -1;
        *self_test_hash = *self_test_hash * 31 + sum;
    }
    for (int t = 0; t < one->template->tensor_count; t++) {
        struct comparison it;
        if (plain->buffers.tensors[0][t] == 0)
            continue;
        const struct compared compared = {plain->buffers.tensors[0][t],
                                          &plain->plan.tensors[t],
                                          runs->reference.buffers.tensors[0][t],
                                          0,
                                          0,
                                          0};
        if (comparator_compare(one->comparator, &compared, 1, &it, error) < 0)
            return -1;
        const uint64_t words[] = {(uint64_t)it.not_finite, (uint64_t)it.not_zero,
                                  bits_of(it.errors.max_absolute), bits_of(it.largest_reference)};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            *self_test_hash = *self_test_hash * 31 + words[i];
    }
    return 0;
}

int verify_self_test(const struct verify_case *one, uint64_t *self_test_hash, struct error *error) {
    struct planned_buffers *inputs;
    struct reference_runs *runs = reference_runs_on_seed(one, NULL, SELF_TEST_SEED, &inputs, error);
    if (runs == NULL)
        return -1;
    const int status = hash_results(one, &inputs->buffers, runs, self_test_hash, error);
    reference_inputs_free(inputs);
    reference_runs_free(runs);
    return status;
}
