/*
 * long_cases: what an emulated device can say of the cases that take too long there. Two blocks of
 * the candidate run, or clusters, one somewhere in the grid and the last one; then the blocks of
 * the reference and of the plain kernel that write the same elements; and what all three wrote is
 * compared.
 *
 * A candidate cannot know where the first of them lies. The references' blocks are found by
 * position: that of an element in its tensor, as a share, is taken for that of its block in the
 * grid. Where this fails, as for a reference whose grid is in another order, where a block takes
 * too long, or where blocks depend on each other (several launches, workspaces, atomics on
 * outputs), a case is not compared, and the gate says so.
 */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "device/emulated.h"
#include "evaluate/references.h"
#include "ptx/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Warp instructions of a block, 100,000 of which take a tenth of a second
   (docs/measurements/emulator.md). EMPTY_BLOCKS_MAX: so many blocks in a row that write nothing
   condemn a candidate; if half of an honest one's blocks have no work, 1 in 65,000 is.
   LONG_SEEDS: see the ranges of input seeds in correctness.c. */
enum {
    LONG_CASES_MAX = 4,
    BLOCKS = 2, /* of a case */
    INSTRUCTIONS_MAX = 1000000,
    EMPTY_BLOCKS_MAX = 16,
    ELEMENTS_MAX = 4096,
    LONG_SEEDS = 900
};
static const double tensor_bytes_max = 400 << 20;

/* The position of the last block of a grid of fewer than 2^31. */
static const double last_block = 1 - 1e-10;

/* On fewer elements a plain kernel may be right by luck (lucky.h), whose draws would take too long
   here: the bound is so much wider. */
enum { FEW_ELEMENTS_HERE = 64, FEW_ELEMENTS_FACTOR = 16 };

static const char gate[] = "long cases";

/* ---- one case ---- */

enum run { CANDIDATE, REFERENCE, PLAIN, RUNS };

struct long_case {
    struct evaluation *evaluation;
    struct verify_case one; /* its module is loaded for this case alone: a block that is cut short
                               may leave a ticket in a global variable */
    struct planned_buffers *candidate;
    struct reference_runs *references;
    struct device_sequence *sequences[RUNS];
    struct random random;
    uint16_t poison;                           /* every half of a word of the outputs: a NaN */
    unsigned char *outputs[RUNS][TENSORS_MAX]; /* on the host, after a run */
    int64_t compared;                          /* elements */
    int blocks;                                /* of which some were */
    char reason[REASON_SIZE];                  /* why there are none */
};

static struct planned_buffers *buffers_of(const struct long_case *it, enum run run) {
    return run == CANDIDATE   ? it->candidate
           : run == REFERENCE ? &it->references->reference
                              : &it->references->plain;
}

/* Nearly N(0, 1): the sum of four uniform numbers. The comparator's kernel, which fills the inputs
   of shorter cases, would be interpreted: for a tensor of this size that takes too long. */
static float random_normal(struct random *random) {
    uint64_t bits = random_next(random);
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(bits >> 16 * i & 0xffff) / 65536;
    return (float)((sum - 2) * sqrt(3));
}

static void fill_randomly(struct random *random, const struct planned_tensor *tensor, void *to) {
    uint16_t *halves = to;
    float *floats = to;
    double *doubles = to;
    uint32_t *integers = to;
    for (int64_t i = 0; i < tensor->elements; i++)
        switch (tensor->dtype) {
        case DTYPE_F16:
            halves[i] = float_to_half(random_normal(random));
            break;
        case DTYPE_BF16:
            halves[i] = float_to_bfloat(random_normal(random));
            break;
        case DTYPE_F32:
            floats[i] = random_normal(random);
            break;
        case DTYPE_F64:
            doubles[i] = random_normal(random);
            break;
        default:
            integers[i] = (uint32_t)random_next(random);
        }
}

/* Writes the inputs, or poisons the outputs, of buffers. */
static int write_tensors(struct long_case *it, struct planned_buffers *run, enum role role,
                         struct error *error) {
    const struct template *template = it->one.template;
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &run->plan.tensors[t];
        if (run->buffers.tensors[0][t] == 0 || template->tensors[t].role != role)
            continue;
        uint16_t *host = xmalloc((size_t)tensor->bytes);
        if (role == ROLE_INPUT)
            fill_randomly(&it->random, tensor, host);
        for (int64_t i = 0; role == ROLE_OUTPUT && i < tensor->bytes / 2; i++)
            host[i] = it->poison;
        int status = it->one.device->backend->write(it->one.device, run->buffers.tensors[0][t],
                                                    host, (size_t)tensor->bytes, error);
        free(host);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int read_outputs(struct long_case *it, enum run run, struct error *error) {
    const struct template *template = it->one.template;
    const struct planned_buffers *from = buffers_of(it, run);
    for (int t = 0; t < template->tensor_count; t++) {
        size_t bytes = (size_t)from->plan.tensors[t].bytes;
        if (from->buffers.tensors[0][t] == 0 || template->tensors[t].role != ROLE_OUTPUT)
            continue;
        if (it->outputs[run][t] == NULL)
            it->outputs[run][t] = xmalloc(bytes);
        if (it->one.device->backend->read(it->one.device, from->buffers.tensors[0][t],
                                          it->outputs[run][t], bytes, error) < 0)
            return -1;
    }
    return 0;
}

/* Whether a run wrote an element: whether it holds something else than poison. */
static bool is_written(const struct long_case *it, enum run run, int t, int64_t element) {
    size_t bytes = (size_t)dtype_bytes(buffers_of(it, run)->plan.tensors[t].dtype);
    const unsigned char *from = it->outputs[run][t] + (size_t)element * bytes;
    for (size_t i = 0; i < bytes; i += sizeof it->poison)
        if (memcmp(from + i, &it->poison, sizeof it->poison) != 0)
            return true;
    return false;
}

static bool is_output(const struct long_case *it, int t) {
    return it->outputs[CANDIDATE][t] != NULL;
}

/* Finds an element that the candidate wrote, at random; its position is its share of the tensor.
 */
static bool find_written(struct long_case *it, double *position) {
    for (int t = 0; t < it->one.template->tensor_count; t++) {
        const struct planned_tensor *tensor = &it->candidate->plan.tensors[t];
        if (!is_output(it, t))
            continue;
        int64_t start = (int64_t)random_below(&it->random, (uint64_t)tensor->elements);
        for (int64_t i = 0; i < tensor->elements; i++) {
            int64_t element = (start + i) % tensor->elements;
            if (!is_written(it, CANDIDATE, t, element))
                continue;
            *position = ((double)element + 0.5) / (double)tensor->elements;
            return true;
        }
    }
    return false;
}

/* Runs a block at a position, and reads the outputs. Returns 0; 1 if it fails, with the verdict;
   -1. A timeout is no failure of the block: it may wait for one that does not run. */
static int run_block(struct long_case *it, enum run run, double position, struct failure *failure,
                     struct error *error) {
    if (write_tensors(it, buffers_of(it, run), ROLE_OUTPUT, error) < 0)
        return -1;
    failure->verdict = emulated_run_cluster(it->one.device, it->sequences[run], position,
                                            INSTRUCTIONS_MAX, failure->reason);
    if (failure->verdict == VERDICT_TIMEOUT || (failure->verdict != VERDICT_OK && run != CANDIDATE))
        snprintf(it->reason, sizeof it->reason, "%s: %.400s",
                 run == CANDIDATE ? "a block" : "the reference's block", failure->reason);
    else if (failure->verdict != VERDICT_OK)
        return 1;
    return read_outputs(it, run, error);
}

/* Runs the candidate's block at a position, then others until one writes something. */
static int run_candidate(struct long_case *it, double *position, struct failure *failure,
                         struct error *error) {
    for (int i = 0; i < EMPTY_BLOCKS_MAX; i++) {
        int status = run_block(it, CANDIDATE, *position, failure, error);
        if (status != 0 || it->reason[0] != '\0' || find_written(it, position))
            return status;
        *position = random_uniform(&it->random);
    }
    failure->verdict = VERDICT_WRONG;
    snprintf(failure->reason, sizeof failure->reason, "%d blocks at random write no output",
             EMPTY_BLOCKS_MAX);
    return 1;
}

/* ---- comparing ---- */

static bool is_written_by_all(const struct long_case *it, int t, int64_t element) {
    return is_written(it, CANDIDATE, t, element) && is_written(it, REFERENCE, t, element) &&
           is_written(it, PLAIN, t, element);
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
    size_t bytes = (size_t)dtype_bytes(buffers_of(it, run)->plan.tensors[t].dtype);
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
    struct errors bound = error_bound_from_plain(plain, tensor->precision, &it->candidate->plan);
    if (tensor->elements < FEW_ELEMENTS_HERE) {
        bound.relative_l2 *= FEW_ELEMENTS_FACTOR;
        bound.row_relative_l2 *= FEW_ELEMENTS_FACTOR;
        bound.max_absolute *= FEW_ELEMENTS_FACTOR;
    }
    return bound;
}

static int compare_elements(struct long_case *it, int t, const int64_t *listed,
                            const struct planned_tensor *tensor, struct failure *failure,
                            struct error *error) {
    uint64_t addresses[RUNS] = {0};
    struct comparison comparisons[2];
    int status = 0;
    for (enum run run = CANDIDATE; run < RUNS && status == 0; run++)
        status = gather(it, run, t, listed, tensor->elements, &addresses[run], error);
    const struct compared compared[] = {
        {addresses[PLAIN], tensor, addresses[REFERENCE], 0},
        {addresses[CANDIDATE], tensor, addresses[REFERENCE], addresses[PLAIN]}};
    if (status == 0)
        status = comparator_compare(it->one.comparator, compared, 2, comparisons, error);
    for (enum run run = CANDIDATE; run < RUNS; run++)
        if (addresses[run] != 0)
            it->one.device->backend->memory_free(it->one.device, addresses[run]);
    if (status < 0)
        return -1;
    if (comparisons[0].not_finite + comparisons[0].reference_not_finite > 0)
        return 0; /* says nothing about a candidate */
    struct errors bound = scaled_bound(&comparisons[0], it, tensor);
    it->compared += tensor->elements;
    return verify_judge(it->one.template->tensors[t].name, &comparisons[0], &comparisons[1], &bound,
                        failure);
}

static int compare_outputs(struct long_case *it, struct failure *failure, struct error *error) {
    int64_t *listed = xmalloc(ELEMENTS_MAX * sizeof *listed);
    int status = 0;
    for (int t = 0; t < it->one.template->tensor_count && status == 0; t++) {
        if (!is_output(it, t))
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
        plan->launch_count != 1 || plan->launches[0].cooperative || template->float_atomics;
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

/* Returns whether blocks of the case can be run by themselves, else why not in the reason. */
static bool fits(struct long_case *it) {
    const struct template *template = it->one.template;
    if (needs_other_blocks(template, &it->candidate->plan))
        snprintf(it->reason, sizeof it->reason, "blocks depend on each other");
    else if (needs_other_blocks(template, &it->references->reference.plan) ||
             needs_other_blocks(template, &it->references->plain.plan))
        snprintf(it->reason, sizeof it->reason, "blocks of the reference depend on each other");
    else if (tensor_bytes(it) > tensor_bytes_max)
        snprintf(it->reason, sizeof it->reason, "its tensors have more than %.0f MB",
                 tensor_bytes_max / (1 << 20));
    return it->reason[0] == '\0';
}

/* Loads the module, allocates and fills the tensors, and prepares the launches. */
static int prepare_case(struct long_case *it, struct error *error) {
    struct verify_case *one = &it->one;
    struct buffers *buffers = &it->candidate->buffers;
    const int variant = template_variant(one->template, one->case_index);
    struct device_module *const modules[] = {[REFERENCE] = one->reference, [PLAIN] = one->plain};
    if (buffers_init(buffers, one->comparator, one->device, one->template, &it->candidate->plan, 1,
                     error) < 0 ||
        one->device->backend->module_load(one->device, &it->evaluation->images[variant],
                                          &one->module, error) < 0 ||
        write_tensors(it, it->candidate, ROLE_INPUT, error) < 0 ||
        buffers_protect(buffers, 0, true, error) < 0)
        return -1;
    buffers_sequence(buffers, 0, one->module, it->sequences[CANDIDATE]);
    for (enum run run = REFERENCE; run < RUNS; run++)
        if (reference_sequence(one, buffers, 0, modules[run], buffers_of(it, run),
                               it->sequences[run], error) < 0)
            return -1;
    return 0;
}

static int check_block(struct long_case *it, double position, struct failure *failure,
                       struct error *error) {
    int status = run_candidate(it, &position, failure, error);
    for (enum run run = REFERENCE; run < RUNS && status == 0 && it->reason[0] == '\0'; run++)
        status = run_block(it, run, position, failure, error);
    return status == 0 && it->reason[0] == '\0' ? compare_outputs(it, failure, error) : status;
}

static int check_case(struct long_case *it, struct failure *failure, struct error *error) {
    if (!fits(it))
        return 0;
    int status = prepare_case(it, error);
    for (int b = 0; b < BLOCKS && status == 0; b++) {
        it->reason[0] = '\0';
        int64_t before = it->compared;
        status = check_block(it, b == 0 ? random_uniform(&it->random) : last_block, failure, error);
        it->blocks += it->compared > before;
    }
    return status;
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
