/*
 * long_cases: what an emulated device can say of the cases that take too long there. Two blocks of
 * the candidate run, or clusters, one somewhere in the grid and the last one; then the blocks of
 * the reference and of the plain kernel that write the same elements; and what all three wrote is
 * compared.
 *
 * A candidate cannot know where the first of them lies. The references' blocks are found by
 * position: that of an element in its tensor's dimensions, as a share, is taken for that of its
 * block in the grid. An output that many blocks at random leave out is wrong, too. Where this
 * fails, as for a reference whose grid is in another order, where a block takes too long, or where
 * blocks depend on each other (several launches, workspaces, atomics on outputs), a case is not
 * compared, and the gate says so: what shows in one size alone is found by thin shapes
 * (final_checks.c).
 */
#include "evaluate/long_blocks.h"

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/prepare_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_CASES_MAX = 4,
    BLOCKS = 2, /* of a case */
    ELEMENTS_MAX = 4096
};
static const double tensor_bytes_max = 400 << 20;

/* The position of the last block of a grid of fewer than 2^31. */
static const double last_block = 1 - 1e-10;

/* On fewer elements a plain kernel may be right by luck (few_elements.h), whose draws would take
   too long here: the bound is so much wider. */
enum { FEW_ELEMENTS_HERE = 64, FEW_ELEMENTS_FACTOR = 16 };

static const char gate[] = "long cases";

/* ---- comparing ---- */

static bool is_written_by_all(const struct long_case *it, int t, int64_t element) {
    return long_is_written(it, CANDIDATE, t, element) &&
           long_is_written(it, REFERENCE, t, element) && long_is_written(it, PLAIN, t, element);
}

/* Lists what all three wrote of an output: whole rows, or single elements, which make one row, if
   there are none. Returns their number. */
static int64_t list_elements(const struct long_case *it, int t, int64_t listed[ELEMENTS_MAX],
                             int64_t *row) {
    const struct planned_tensor *tensor = &it->candidate->plan.tensors[t];
    int64_t count = 0, length = tensor->row <= ELEMENTS_MAX ? tensor->row : 1;
    for (*row = length;; *row = length = 1) {
        for (int64_t first = 0; first + length <= tensor->elements; first += length) {
            int64_t written = 0;
            while (written < length && is_written_by_all(it, t, first + written))
                written++;
            for (int64_t i = 0; written == length && i < length && count < ELEMENTS_MAX; i++)
                listed[count++] = first + i;
            if (count + length > ELEMENTS_MAX)
                break;
        }
        if (count > 0 || length == 1)
            break;
    }
    if (length == 1)
        *row = count;
    return count;
}

/* Copies elements of an output of a run to new memory of the device. */
static int gather(const struct long_case *it, enum run run, int t, const int64_t *listed,
                  int64_t count, uint64_t *address, struct error *error) {
    struct device *device = it->one.device;
    size_t bytes = (size_t)dtype_bytes(long_buffers(it, run)->plan.tensors[t].dtype);
    unsigned char *host = xmalloc((size_t)count * bytes);
    for (int64_t i = 0; i < count; i++)
        memcpy(host + (size_t)i * bytes, it->outputs[run][t] + (size_t)listed[i] * bytes, bytes);
    int status = device->backend->memory_new(device, it->one.template->tensors[t].name,
                                             (size_t)count * bytes, address, error);
    if (status == 0)
        status = device->backend->write(device, *address, host, (size_t)count * bytes, error);
    free(host);
    return status;
}

static struct errors scaled_bound(const struct comparison *plain, const struct long_case *it,
                                  const struct planned_tensor *tensor) {
    struct errors bound = error_bound(plain, tensor, &it->candidate->plan);
    if (!tensor->tolerance.given && tensor->elements < FEW_ELEMENTS_HERE) {
        bound.relative_l2 *= FEW_ELEMENTS_FACTOR;
        bound.row_relative_l2 *= FEW_ELEMENTS_FACTOR;
        bound.max_absolute *= FEW_ELEMENTS_FACTOR;
    }
    return bound;
}

/* What is true of a whole output: so few elements may have a larger share of those that disagree.
 */
static struct tolerance scaled_tolerance(const struct planned_tensor *tensor) {
    struct tolerance tolerance = tensor->tolerance;
    tolerance.matched = fmax(0, 1 - FEW_ELEMENTS_FACTOR * (1 - tolerance.matched));
    return tolerance;
}

static int compare_elements(struct long_case *it, int t, const int64_t *listed,
                            const struct planned_tensor *tensor, struct failure *failure,
                            struct error *error) {
    const int magnitude = tensor->tolerance.given ? tensor->tolerance.magnitude : -1;
    const struct tolerance tolerance = scaled_tolerance(tensor);
    uint64_t addresses[RUNS + 1] = {0}; /* the last is of the magnitudes */
    struct comparison comparisons[2];
    char text[REASON_SIZE];
    int status = 0;
    for (enum run run = CANDIDATE; run < RUNS && status == 0; run++)
        status = gather(it, run, t, listed, tensor->elements, &addresses[run], error);
    if (magnitude >= 0 && status == 0)
        status =
            gather(it, REFERENCE, magnitude, listed, tensor->elements, &addresses[RUNS], error);
    const struct compared compared[] = {
        {addresses[PLAIN], tensor, addresses[REFERENCE], 0, 0, addresses[RUNS]},
        {addresses[CANDIDATE], tensor, addresses[REFERENCE], addresses[PLAIN], 0, addresses[RUNS]}};
    if (status == 0)
        status = comparator_compare(it->one.comparator, compared, 2, comparisons, error);
    for (int i = 0; i <= RUNS; i++)
        if (addresses[i] != 0)
            it->one.device->backend->memory_free(it->one.device, addresses[i]);
    if (status < 0)
        return -1;
    if (comparisons[0].not_finite + comparisons[0].reference_not_finite > 0 ||
        (tolerance.given && error_outside_tolerance(&comparisons[0], &tolerance, text)))
        return 0; /* says nothing about a candidate */
    struct errors bound = scaled_bound(&comparisons[0], it, tensor);
    it->compared += tensor->elements;
    return verify_judge(it->one.template->tensors[t].name, &comparisons[0], &comparisons[1], &bound,
                        &tolerance, failure);
}

static int compare_outputs(struct long_case *it, struct failure *failure, struct error *error) {
    int64_t *listed = xmalloc(ELEMENTS_MAX * sizeof *listed);
    int status = 0;
    for (int t = 0; t < it->one.template->tensor_count && status == 0; t++) {
        if (!long_is_output(it, t))
            continue;
        struct planned_tensor part = it->candidate->plan.tensors[t];
        part.elements = list_elements(it, t, listed, &part.row);
        if (part.elements > 0)
            status = compare_elements(it, t, listed, &part, failure, error);
    }
    free(listed);
    if (status == 0 && it->compared == 0)
        snprintf(it->reason, sizeof it->reason,
                 "the reference's block at the same place writes other elements");
    return status;
}

/* ---- the gate ---- */

/* Blocks depend on each other, or on what runs before them. */
static bool needs_other_blocks(const struct template *template, const struct launch_plan *plan) {
    bool needs =
        plan->launch_count != 1 || planned_launch(plan, 0).cooperative || template->float_atomics;
    for (int t = 0; t < template->tensor_count; t++)
        needs =
            needs || (plan->tensors[t].present &&
                      (template->tensors[t].role == ROLE_WORKSPACE || template->tensors[t].clear));
    return needs;
}

/* Of the candidate's tensors and the reference's outputs. */
static double tensor_bytes(const struct long_case *it) {
    double bytes = 0;
    for (int t = 0; t < it->one.template->tensor_count; t++)
        if (it->candidate->plan.tensors[t].present)
            bytes += (double)it->candidate->plan.tensors[t].bytes +
                     (double)it->references->reference.plan.tensors[t].bytes *
                         (it->one.template->tensors[t].role == ROLE_OUTPUT);
    return bytes;
}

/* Whether an output of either is not what its launches write. */
static bool is_converted(const struct long_case *it) {
    const struct launch_plan *plain = &it->references->plain.plan;
    const struct launch_plan *reference = &it->references->reference.plan;
    bool converted = it->one.template->plain_kind == PLAIN_NONE;
    for (int t = 0; t < it->one.template->tensor_count; t++)
        converted = converted || plain->tensors[t].written != plain->tensors[t].dtype ||
                    reference->tensors[t].written != reference->tensors[t].dtype;
    return converted;
}

/* Whether setup writes an input that the case has. */
static bool needs_setup(const struct template *template, const struct launch_plan *plan) {
    bool needs = false;
    for (int t = 0; t < template->tensor_count; t++)
        needs = needs || (plan->tensors[t].present && template->of_setup[t]);
    return needs;
}

/* Returns whether blocks of the case can be run by themselves, else why not in the reason. */
static bool fits(struct long_case *it) {
    const struct template *template = it->one.template;
    if (needs_other_blocks(template, &it->candidate->plan))
        snprintf(it->reason, sizeof it->reason, "blocks depend on each other");
    else if (is_converted(it))
        snprintf(it->reason, sizeof it->reason,
                 "the template has no plain kernel of its own, which could run one block");
    else if (needs_other_blocks(template, &it->references->reference.plan) ||
             needs_other_blocks(template, &it->references->plain.plan))
        snprintf(it->reason, sizeof it->reason, "blocks of the reference depend on each other");
    else if (needs_setup(template, &it->candidate->plan))
        snprintf(it->reason, sizeof it->reason, "their inputs need the whole setup");
    else if (template_prepares_calls(template)) /* what a block writes must stand out */
        snprintf(it->reason, sizeof it->reason, "an output holds something before a call");
    else if (tensor_bytes(it) > tensor_bytes_max)
        snprintf(it->reason, sizeof it->reason, "its tensors have more than %.0f MB",
                 tensor_bytes_max / (1 << 20));
    return it->reason[0] == '\0';
}

/* Loads the module, allocates and fills the tensors, and prepares the launches. */
static int prepare_case(struct long_case *it, struct failure *failure, struct error *error) {
    struct verify_case *one = &it->one;
    struct buffers *buffers = &it->candidate->buffers;
    const int variant = template_variant(one->template, one->case_index);
    struct device_module *const modules[] = {[REFERENCE] = one->reference, [PLAIN] = one->plain};
    if (buffers_init(buffers, one->comparator, one->device, one->template, &it->candidate->plan, 1,
                     error) < 0 ||
        one->device->backend->module_load(one->device, &it->evaluation->images[variant],
                                          &one->module, error) < 0 ||
        long_fill_inputs(it, error) < 0 || buffers_protect(buffers, 0, true, error) < 0)
        return -1;
    int status = buffers_prepare_call(buffers, 0, one->module, failure->reason, error);
    if (status != 0) {
        failure->verdict = VERDICT_LAUNCH_FAILED;
        return status;
    }
    buffers_sequence(buffers, 0, one->module, it->sequences[CANDIDATE]);
    for (enum run run = REFERENCE; run < RUNS; run++)
        if (reference_sequence(one, buffers, 0, modules[run], long_buffers(it, run),
                               it->sequences[run], error) < 0)
            return -1;
    return 0;
}

static int check_block(struct long_case *it, double position, struct failure *failure,
                       struct error *error) {
    int status = long_run_candidate(it, &position, failure, error);
    for (enum run run = REFERENCE; run < RUNS && status == 0; run++)
        status = long_run_block(it, run, position, failure, error);
    return status == 0 ? compare_outputs(it, failure, error) : status;
}

static int check_case(struct long_case *it, struct failure *failure, struct error *error) {
    if (!fits(it))
        return 0;
    int status = prepare_case(it, failure, error);
    for (int b = 0; b < BLOCKS && (status == 0 || status == LONG_UNKNOWN); b++) {
        int64_t before = it->compared;
        status = check_block(it, b == 0 ? random_uniform(&it->random) : last_block, failure, error);
        it->blocks += it->compared > before;
    }
    if (status == 0)
        status = long_check_outputs(it, failure, error);
    return status == LONG_UNKNOWN ? 0 : status;
}

static void release_case(struct long_case *it) {
    for (enum run run = CANDIDATE; run < RUNS; run++) {
        for (int t = 0; t < TENSORS_MAX; t++)
            free(it->outputs[run][t]);
        free(it->sequences[run]);
    }
    if (it->one.module != NULL)
        it->one.device->backend->module_unload(it->one.device, it->one.module);
    if (it->candidate->buffers.device != NULL)
        buffers_release(&it->candidate->buffers);
    if (it->references != NULL)
        reference_runs_free(it->references);
    free(it->candidate);
}

/* What the gate has compared so far, or why it compared nothing. */
struct long_cases {
    double start;
    int cases, blocks;
    int64_t elements;
    char reason[REASON_SIZE];
};

/* The same for a case by its index. */
static int check_case_at(struct evaluation *evaluation, int c, struct long_cases *sum) {
    struct long_case it = {.evaluation = evaluation,
                           .one = evaluation_verify_case(evaluation, evaluation->template, c, NULL),
                           .candidate = xcalloc(1, sizeof *it.candidate)};
    struct failure failure = {.verdict = VERDICT_OK};
    for (enum run run = CANDIDATE; run < RUNS; run++)
        it.sequences[run] = xmalloc(sizeof *it.sequences[run]);
    random_seed(&it.random, evaluation_seed(evaluation, LONG_SEEDS + c, 0), 0);
    it.poison = (uint16_t)(0x7fc0 | random_below(&it.random, 64));
    it.references = reference_runs_new(&it.one, evaluation->error);
    int status = it.references != NULL ? 0 : -1;
    if (status == 0)
        status = template_launch_plan(evaluation->template, &evaluation->request->genome, c,
                                      &it.candidate->plan, evaluation->error);
    if (status == 0)
        status = check_case(&it, &failure, evaluation->error);
    if (status == 1)
        status = evaluation_fail(evaluation, gate, evaluation->template, c, sum->start, &failure);
    sum->cases += it.blocks > 0;
    sum->blocks += it.blocks;
    sum->elements += it.compared;
    if (it.blocks == 0)
        memcpy(sum->reason, it.reason, REASON_SIZE);
    release_case(&it);
    return status;
}

/* Lists the long cases in random order; returns their number, or -1. */
static int list_long_cases(struct evaluation *evaluation, int listed[CASES_MAX]) {
    const struct template *template = evaluation->template;
    const struct genome *genome = &evaluation->request->genome;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct random random;
    int count = 0, status = 0;
    random_seed(&random, evaluation_seed(evaluation, LONG_SEEDS, 1), 0);
    for (int c = 0; c < template->case_count && status == 0; c++) {
        if (!template_genome_is_valid(template, genome, c))
            continue;
        status = template_launch_plan(template, genome, c, plan, evaluation->error);
        if (status < 0 || !evaluation_case_is_long(evaluation, plan))
            continue;
        int at = (int)random_below(&random, (uint64_t)++count);
        listed[count - 1] = listed[at];
        listed[at] = c;
    }
    free(plan);
    return status < 0 ? -1 : count;
}

int evaluation_check_long_cases(struct evaluation *evaluation) {
    int listed[CASES_MAX];
    struct long_cases sum = {.start = clock_seconds()};
    int count = list_long_cases(evaluation, listed);
    for (int i = 0; i < count && sum.cases < LONG_CASES_MAX; i++) {
        int status = check_case_at(evaluation, listed[i], &sum);
        if (status != 0)
            return status;
    }
    evaluation->inputs += sum.cases;
    if (sum.cases > 0)
        trial_add_gate(evaluation->result, gate, true, clock_seconds() - sum.start,
                       "%d of %d correct where compared: %lld elements of %d blocks", sum.cases,
                       count, (long long)sum.elements, sum.blocks);
    else if (count > 0)
        trial_add_gate(evaluation->result, gate, true, clock_seconds() - sum.start,
                       "not checked: %.120s", sum.reason);
    return count < 0 ? -1 : 0;
}
