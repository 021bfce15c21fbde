#include "evaluate/sampled_blocks.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "evaluate/compile.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

/* sampled_blocks.cu, embedded by the Makefile */
extern const char _binary_search_evaluate_sampled_blocks_cu_start[];
extern const char _binary_search_evaluate_sampled_blocks_cu_end[];

enum { SAMPLED_DEADLINE_S = 120, TRIED_SELECTIONS = 4 };

/* ---- loading ---- */

static int load(struct device *device, struct nvrtc *nvrtc, const char *folder, const char *file,
                char *source, const struct launch_list *launches, struct device_module **module,
                struct error *error) {
    char reason[REASON_SIZE];
    struct strbuf text = {0};
    if (source == NULL)
        return -1;
    strbuf_add(&text, _binary_search_evaluate_sampled_blocks_cu_start,
               (size_t)(_binary_search_evaluate_sampled_blocks_cu_end -
                        _binary_search_evaluate_sampled_blocks_cu_start));
    strbuf_print(&text, "\n#line 1 \"%s\"\n%s", file, source);
    int status = load_kernels(device, nvrtc, file, text.bytes, launches, module, reason, error);
    strbuf_release(&text);
    free(source);
    return status == 1 ? error_input(error,
                                     "%s/%s does not compile where blockIdx and gridDim are "
                                     "macros: use them as variables only: %s",
                                     folder, file, reason)
                       : status;
}

int sampled_blocks_load(struct sampled_blocks *sampled, struct device *device, struct nvrtc *nvrtc,
                        const struct template *template, struct error *error) {
    if (sampled->reference != NULL)
        return 0;
    if (sampled->operations == 0)
        sampled->operations = SAMPLED_OPERATIONS;
    if (sampled->blocks_min == 0)
        sampled->blocks_min = SAMPLED_BLOCKS_MIN;
    return load(device, nvrtc, template->folder, template->reference_source,
                template_reference_source(template, error), &template->reference,
                &sampled->reference, error) < 0
               ? -1
               : load(device, nvrtc, template->folder, template->plain_source,
                      template_plain_source(template, error), &template->plain, &sampled->plain,
                      error);
}

void sampled_blocks_unload(struct sampled_blocks *sampled, struct device *device) {
    if (sampled->reference != NULL)
        device->backend->module_unload(device, sampled->reference);
    if (sampled->plain != NULL)
        device->backend->module_unload(device, sampled->plain);
    sampled->reference = sampled->plain = NULL;
}

/* ---- running ---- */

/* Of the plan's first launch. */
static uint64_t blocks_of(const struct launch_plan *plan) {
    const struct planned_launch launch = planned_launch(plan, 0);
    return (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
}

/* How many blocks are computed; all: the case is not sampled. */
static uint64_t sample_size(const struct verify_case *one, const struct buffers *buffers,
                            const struct launch_plan *plan) {
    uint64_t blocks = blocks_of(plan);
    double share = one->sampled->operations / fmax(1, (double)buffers->plan->operations);
    uint64_t count = share < 1 ? (uint64_t)ceil(share * (double)blocks) : blocks;
    if (count < one->sampled->blocks_min)
        count = one->sampled->blocks_min;
    return 2 * count < blocks ? count : blocks;
}

static bool is_large(const struct verify_case *one, const struct buffers *buffers,
                     const struct reference_runs *runs) {
    const struct launch_plan *reference = &runs->reference.plan, *plain = &runs->plain.plan;
    if (reference->launch_count != 1 || plain->launch_count != 1)
        return false;
    for (int t = 0; t < one->template->tensor_count; t++) /* what no block writes must stand out */
        if (one->template->tensors[t].before == BEFORE_ZEROS)
            return false;
    const struct planned_launch a = planned_launch(reference, 0), b = planned_launch(plain, 0);
    return !a.cooperative && !b.cooperative && memcmp(a.grid, b.grid, sizeof a.grid) == 0 &&
           sample_size(one, buffers, reference) < blocks_of(reference);
}

/* No kernel can know which blocks are computed, or what the elements hold that no block writes. */
static int draw(struct random *random, struct error *error) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return error_set(error, "no random numbers from the system");
    random_seed(random, seed, 0);
    return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Puts the selection before the launch of one of the references, which then has `count` blocks. */
static void select_blocks(struct device_sequence *sequence, const uint64_t *first_and_stride,
                          uint64_t count) {
    struct device_launch *launch = &sequence->launches[1];
    sequence->launches[1] = sequence->launches[0];
    sequence->launches[0] = (struct device_launch){.module = launch->module,
                                                   .kernel = "evotile_select_blocks",
                                                   .grid = {1, 1, 1},
                                                   .block = {1, 1, 1}};
    for (int i = 0; i < 3; i++)
        launch_add_argument(&sequence->launches[0], &launch->grid[i], sizeof launch->grid[i]);
    for (int i = 0; i < 2; i++)
        launch_add_argument(&sequence->launches[0], &first_and_stride[i], 8);
    launch->grid[0] = (unsigned)count;
    launch->grid[1] = launch->grid[2] = 1;
    sequence->count = 2;
}

/* Fills a tensor with a word, the bytes behind the last whole one, too. All bytes of the word are
   NaN of the 8-bit floats for these. */
static int fill_bytes(struct device *device, uint64_t address, const struct planned_tensor *tensor,
                      uint32_t word, struct error *error) {
    const size_t bytes = (size_t)tensor->bytes, rest = bytes % sizeof word;
    if (tensor->dtype == DTYPE_E4M3 || tensor->dtype == DTYPE_E5M2)
        word |= 0x7f7f7f7fu;
    if (device->backend->fill32(device, address, word, bytes / sizeof word, error) < 0)
        return -1;
    return rest == 0 ? 0
                     : device->backend->write(device, address + bytes - rest, &word, rest, error);
}

/* Fills what the launches write of an output. */
static int fill_output(const struct verify_case *one, const struct planned_buffers *run, int t,
                       uint32_t word, struct error *error) {
    struct planned_tensor written = run->plan.tensors[t];
    if (run->written[t] == 0)
        return fill_bytes(one->device, run->buffers.tensors[0][t], &written, word, error);
    written.dtype = run->plan.tensors[t].written;
    written.bytes = written.elements * dtype_bytes(written.dtype);
    return fill_bytes(one->device, run->written[t], &written, word, error);
}

static int run_selected(const struct verify_case *one, const struct buffers *buffers, int set,
                        struct device_module *module, struct planned_buffers *run, uint64_t count,
                        const uint64_t *first_and_stride, uint32_t word, struct error *error) {
    const struct device_backend *backend = one->device->backend;
    struct device_sequence sequence;
    char reason[REASON_SIZE];
    if (reference_sequence(one, buffers, set, module, run, &sequence, error) < 0)
        return -1;
    for (int t = 0; t < one->template->tensor_count; t++)
        if (run->buffers.tensors[0][t] != 0 && fill_output(one, run, t, word, error) < 0)
            return -1;
    select_blocks(&sequence, first_and_stride, count);
    return backend->run(one->device, &sequence, SAMPLED_DEADLINE_S, reason) == VERDICT_OK
               ? convert_written(one, run, error)
               : error_set(error, "some blocks of the references of %s failed: %s",
                           one->template->name, reason);
}

int sampled_blocks_run(const struct verify_case *one, const struct buffers *buffers, int set,
                       struct reference_runs *runs, uint64_t *unwritten, struct error *error) {
    struct random random;
    const struct launch_plan *plan = &runs->reference.plan;
    uint64_t blocks = blocks_of(plan), count = sample_size(one, buffers, plan);
    if (draw(&random, error) < 0)
        return -1;
    uint64_t first_and_stride[] = {random_below(&random, blocks), 0};
    do
        first_and_stride[1] = 1 + random_below(&random, blocks - 1);
    while (common_divisor(first_and_stride[1], blocks) != 1);
    /* NaN in every floating dtype, so that an element that the plain kernel leaves out shows. */
    uint32_t word = 0x7ff87ff8u | (uint32_t)(random_next(&random) & 0x80078007u);
    *unwritten = (uint64_t)word << 32 | word;
    return run_selected(one, buffers, set, one->sampled->reference, &runs->reference, count,
                        first_and_stride, word, error) < 0
               ? -1
               : run_selected(one, buffers, set, one->sampled->plain, &runs->plain, count,
                              first_and_stride, word, error);
}

/* ---- whether it is right ---- */

/* Whether two outputs differ from the same reference by the same: rows are summed in a fixed order.
 */
static bool same_errors(const struct comparison *a, const struct comparison *b) {
    return a->errors.max_absolute == b->errors.max_absolute &&
           a->errors.row_relative_l2 == b->errors.row_relative_l2 &&
           a->not_finite == b->not_finite && a->not_zero == b->not_zero;
}

/* Compares output `t` of the blocks that were selected, or magnitudes, with that of all: the
   reference's must be the same, and the plain kernel's have the same errors where the selected
   blocks of the reference write. Returns 1 if so. */
static int agrees(const struct verify_case *one, int t, const struct reference_runs *whole,
                  const struct reference_runs *some, uint64_t unwritten, struct error *error) {
    const struct planned_tensor *exact = &whole->reference.plan.tensors[t];
    const struct planned_tensor *plain = &whole->plain.plan.tensors[t];
    const uint64_t all = whole->reference.buffers.tensors[0][t];
    const uint64_t selected = some->reference.buffers.tensors[0][t];
    const struct compared compared[] = {
        {all, exact, selected, 0, unwritten, 0},
        {whole->plain.buffers.tensors[0][t], plain, selected, 0, unwritten, 0},
        {some->plain.buffers.tensors[0][t], plain, selected, 0, unwritten, 0}};
    struct comparison found[3] = {0};
    const int count = one->template->tensors[t].role == ROLE_OUTPUT ? 3 : 1;
    if (comparator_compare(one->comparator, compared, count, found, error) < 0)
        return -1;
    return found[0].elements > 0 && found[0].errors.max_absolute == 0 && found[0].not_finite == 0 &&
           same_errors(&found[1], &found[2]);
}

/* Whether a selection of blocks writes what all blocks write there. */
static int try_selection(const struct verify_case *one, const struct buffers *buffers, int set,
                         const struct reference_runs *whole, struct error *error) {
    uint64_t unwritten;
    struct reference_runs *some = reference_runs_new(one, error);
    int status = some != NULL && sampled_blocks_run(one, buffers, set, some, &unwritten, error) == 0
                     ? 1
                     : -1;
    for (int t = 0; t < one->template->tensor_count && status == 1; t++)
        if (some->reference.plan.tensors[t].present &&
            (one->template->tensors[t].role == ROLE_OUTPUT ||
             one->template->tensors[t].role == ROLE_MAGNITUDE))
            status = agrees(one, t, whole, some, unwritten, error);
    if (some != NULL)
        reference_runs_free(some);
    return status;
}

/* Several selections: where both kernels number their blocks differently, one in `blocks` may still
   have the same rows. */
static int try_blocks(const struct verify_case *one, const struct buffers *buffers, int set,
                      struct error *error) {
    struct reference_runs *whole = reference_runs_new(one, error);
    int status = whole != NULL && run_references(one, buffers, set, whole, error) == 0 ? 1 : -1;
    for (int i = 0; i < TRIED_SELECTIONS && status == 1; i++)
        status = try_selection(one, buffers, set, whole, error);
    if (whole != NULL)
        reference_runs_free(whole);
    return status;
}

int sampled_blocks_apply(const struct verify_case *one, const struct buffers *buffers, int set,
                         struct error *error) {
    if (one->sampled == NULL || one->sampled->reference == NULL || one->in_full)
        return 0;
    struct reference_runs *runs = reference_runs_new(one, error);
    if (runs == NULL)
        return -1;
    int status = is_large(one, buffers, runs);
    if (status == 1 && one->sampled->state[one->goal][one->case_index] == SAMPLED_UNKNOWN) {
        status = try_blocks(one, buffers, set, error);
        if (status >= 0)
            one->sampled->state[one->goal][one->case_index] =
                status == 1 ? SAMPLED_FIT : SAMPLED_UNFIT;
        if (status == 0)
            log_info("%s: the blocks of the reference and of the plain kernel cannot be computed "
                     "one at a time: large cases are compared in full, which takes longer",
                     one->template->name);
    }
    reference_runs_free(runs);
    return status == 1 ? one->sampled->state[one->goal][one->case_index] == SAMPLED_FIT : status;
}
