#include "evaluate/compare.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "evaluate/compile.h"

#include <math.h>
#include <string.h>

extern const char
    _binary_search_evaluate_compare_cu_start[]; /* compare.cu, embedded by the Makefile */
extern const char _binary_search_evaluate_compare_cu_end[];
extern const char _binary_search_template_fills_h_in_start[]; /* before it */
extern const char _binary_search_template_fills_h_in_end[];

/* A warp of evotile_compare has some rows, because merging what it found costs as much as a row. */
enum { THREADS = 256, RUN_DEADLINE_S = 60, ROWS_PER_WARP = 4 };

/* A long row, as a tensor of one dimension is, has a warp for each PART_MIN elements, or for more
   of them so that all rows have PARTS_MAX parts: as many warps as the grid has on 128
   multiprocessors. */
enum { PART_MIN = 1024, PARTS_MAX = 8192 };

/* POISON_NAN of an 8-bit float, whose bytes are all NaN; as in compare.cu. */
enum { POISON_NAN_F8 = 2 };

/* Mirrors struct row_sums of compare.cu. */
struct row_sums {
    double error_squares, reference_squares, products, limit_squares;
};

/* Mirrors struct comparison of compare.cu. */
struct raw_comparison {
    double error_squares, reference_squares;
    double worst_row, worst_element, largest_reference;
    uint64_t not_finite, reference_not_finite, not_zero, false_zeros, elements;
    double products, row_fourths;
    double limit_squares, worst_row_limit, worst_limit, worst_excess;
    uint64_t outside, small_magnitudes;
};

struct comparator {
    struct device *device;
    struct device_module *module;
    struct device_module *setup; /* the kernels of a template's setup; NULL: none */
    uint64_t results;  /* device memory for what the kernels find: COMPARED_MAX of raw_comparison */
    uint64_t of_parts; /* PARTS_MAX of row_sums, of one comparison at a time */
    struct device_sequence enqueued; /* run together, because each run is waited for */
};

struct comparator *comparator_new(struct device *device, struct nvrtc *nvrtc, struct error *error) {
    struct comparator *comparator = xcalloc(1, sizeof *comparator);
    comparator->device = device;
    char reason[REASON_SIZE];
    struct strbuf source = {0};
    strbuf_add(&source, _binary_search_template_fills_h_in_start,
               (size_t)(_binary_search_template_fills_h_in_end -
                        _binary_search_template_fills_h_in_start));
    strbuf_print(&source, "#line 1 \"compare.cu\"\n");
    strbuf_add(&source, _binary_search_evaluate_compare_cu_start,
               (size_t)(_binary_search_evaluate_compare_cu_end -
                        _binary_search_evaluate_compare_cu_start));
    int status = load_kernels(device, nvrtc, "compare.cu", source.bytes, NULL, &comparator->module,
                              reason, error);
    strbuf_release(&source);
    if (status == 1)
        BUG("compare.cu does not compile: %s", reason);
    if (status == 0)
        status = device->backend->memory_new(device, "the comparator's results",
                                             COMPARED_MAX * sizeof(struct raw_comparison),
                                             &comparator->results, error);
    if (status == 0)
        status = device->backend->memory_new(device, "the comparator's sums",
                                             PARTS_MAX * sizeof(struct row_sums),
                                             &comparator->of_parts, error);
    if (status == 0)
        return comparator;
    comparator_free(comparator);
    return NULL;
}

void comparator_free(struct comparator *comparator) {
    if (comparator == NULL)
        return;
    if (comparator->results != 0)
        comparator->device->backend->memory_free(comparator->device, comparator->results);
    if (comparator->of_parts != 0)
        comparator->device->backend->memory_free(comparator->device, comparator->of_parts);
    if (comparator->module != NULL)
        comparator->device->backend->module_unload(comparator->device, comparator->module);
    if (comparator->setup != NULL)
        comparator->device->backend->module_unload(comparator->device, comparator->setup);
    free(comparator);
}

int comparator_load_setup(struct comparator *comparator, struct nvrtc *nvrtc,
                          const struct template *template, struct error *error) {
    char reason[REASON_SIZE];
    if (comparator->setup != NULL) /* of another template */
        comparator->device->backend->module_unload(comparator->device, comparator->setup);
    comparator->setup = NULL;
    if (template->setup.count == 0)
        return 0;
    char *source = template_setup_source(template, error);
    int status = source == NULL
                     ? -1
                     : load_kernels(comparator->device, nvrtc, template->setup_source, source,
                                    &template->setup, &comparator->setup, reason, error);
    free(source);
    return status == 1 ? error_input(error, "%s/%s does not compile: %s", template->folder,
                                     template->setup_source, reason)
                       : status;
}

struct device_module *comparator_setup(const struct comparator *comparator) {
    return comparator->setup;
}

void launch_add_argument(struct device_launch *launch, const void *bytes, int size) {
    struct device_argument *argument = &launch->arguments[launch->argument_count++];
    argument->size = size;
    memcpy(argument->bytes, bytes, (size_t)size);
}

static int run_enqueued(struct comparator *comparator, struct error *error) {
    char reason[REASON_SIZE];
    struct device_sequence *enqueued = &comparator->enqueued;
    enum verdict verdict = VERDICT_OK;
    if (enqueued->count > 0)
        verdict =
            comparator->device->backend->run(comparator->device, enqueued, RUN_DEADLINE_S, reason);
    enqueued->count = 0;
    if (verdict == VERDICT_OK)
        return 0;
    return error_set(error, "evotile's own kernels failed, %s first: %s",
                     enqueued->launches[0].kernel, reason);
}

struct device_launch comparator_launch(const struct comparator *comparator, const char *kernel,
                                       int64_t blocks) {
    return (struct device_launch){.module = comparator->module,
                                  .kernel = kernel,
                                  .grid = {(unsigned)blocks, 1, 1},
                                  .block = {THREADS, 1, 1}};
}

/* Queues one of compare.cu's kernels over `items`; each thread processes one or more. */
static int enqueue_launch(struct comparator *comparator, struct device_launch *launch,
                          int64_t items, struct error *error) {
    int64_t blocks = (items + THREADS - 1) / THREADS;
    int64_t most = 8 * comparator->device->info.sm_count;
    launch->module = comparator->module;
    launch->grid[0] = (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->block[0] = THREADS;
    if (comparator->enqueued.count == DEVICE_LAUNCHES_MAX && run_enqueued(comparator, error) < 0)
        return -1;
    comparator->enqueued.launches[comparator->enqueued.count++] = *launch;
    return 0;
}

int comparator_fill(struct comparator *comparator, uint64_t address,
                    const struct planned_tensor *tensor, const struct tensor_fill *fill,
                    uint64_t seed, uint64_t pattern, struct error *error) {
    struct device_launch launch = {.kernel = "evotile_fill"};
    int32_t dtype = (int32_t)tensor->dtype;
    int32_t kind = (int32_t)fill->fill;
    float largest = (float)dtype_largest(tensor->dtype);
    launch_add_argument(&launch, &address, 8);
    launch_add_argument(&launch, &dtype, 4);
    launch_add_argument(&launch, &tensor->elements, 8);
    launch_add_argument(&launch, &tensor->row, 8);
    launch_add_argument(&launch, &kind, 4);
    launch_add_argument(&launch, &fill->value, 8);
    launch_add_argument(&launch, &fill->most, 8);
    launch_add_argument(&launch, &largest, 4);
    launch_add_argument(&launch, &seed, 8);
    launch_add_argument(&launch, &pattern, 8);
    return enqueue_launch(comparator, &launch, tensor->elements, error);
}

int comparator_poison(struct comparator *comparator, uint64_t address,
                      const struct planned_tensor *tensor, enum poison poison, uint64_t seed,
                      struct error *error) {
    struct device_launch launch = {.kernel = "evotile_poison"};
    bool narrow = tensor->dtype == DTYPE_E4M3 || tensor->dtype == DTYPE_E5M2;
    int32_t kind = poison == POISON_NAN && narrow ? POISON_NAN_F8 : (int32_t)poison;
    launch_add_argument(&launch, &address, 8);
    launch_add_argument(&launch, &tensor->bytes, 8);
    launch_add_argument(&launch, &kind, 4);
    launch_add_argument(&launch, &seed, 8);
    return enqueue_launch(comparator, &launch, (tensor->bytes + 3) / 4, error);
}

int comparator_convert(struct comparator *comparator, uint64_t from, enum dtype from_dtype,
                       uint64_t to, enum dtype to_dtype, int64_t elements, struct error *error) {
    struct device_launch launch = {.kernel = "evotile_convert"};
    const int32_t dtypes[] = {(int32_t)from_dtype, (int32_t)to_dtype};
    launch_add_argument(&launch, &from, 8);
    launch_add_argument(&launch, &dtypes[0], 4);
    launch_add_argument(&launch, &to, 8);
    launch_add_argument(&launch, &dtypes[1], 4);
    launch_add_argument(&launch, &elements, 8);
    return enqueue_launch(comparator, &launch, elements, error);
}

int comparator_finish(struct comparator *comparator, struct error *error) {
    return run_enqueued(comparator, error);
}

static int clear_results(struct comparator *comparator, size_t bytes, struct error *error) {
    return comparator->device->backend->fill32(comparator->device, comparator->results, 0,
                                               bytes / 4, error);
}

static int64_t parts_of_row(int64_t rows, int64_t row) {
    const int64_t most = PARTS_MAX / rows, parts = row / PART_MIN < most ? row / PART_MIN : most;
    return parts > 1 ? parts : 1;
}

/* Queues the sum of the rows whose parts were compared. */
static int enqueue_rows(struct comparator *comparator, const struct planned_tensor *tensor,
                        int64_t parts, uint64_t result, struct error *error) {
    struct device_launch launch = {.kernel = "evotile_compare_rows"};
    int64_t rows = tensor->elements / tensor->row;
    double smallest = dtype_smallest_normal(tensor->dtype);
    int32_t given = tensor->tolerance.given;
    launch_add_argument(&launch, &comparator->of_parts, 8);
    launch_add_argument(&launch, &rows, 8);
    launch_add_argument(&launch, &tensor->row, 8);
    launch_add_argument(&launch, &parts, 8);
    launch_add_argument(&launch, &smallest, 8);
    launch_add_argument(&launch, &given, 4);
    launch_add_argument(&launch, &result, 8);
    return enqueue_launch(comparator, &launch, 32 * rows, error);
}

static int enqueue_compare(struct comparator *comparator, const struct compared *compared,
                           uint64_t result, struct error *error) {
    struct device_launch launch = {.kernel = "evotile_compare"};
    const struct planned_tensor *tensor = compared->tensor;
    int32_t dtype = (int32_t)tensor->dtype;
    int64_t rows = tensor->elements / tensor->row, parts = parts_of_row(rows, tensor->row);
    double smallest = dtype_smallest_normal(tensor->dtype);
    int32_t given = tensor->tolerance.given;
    launch_add_argument(&launch, &compared->output, 8);
    launch_add_argument(&launch, &dtype, 4);
    launch_add_argument(&launch, &compared->reference, 8);
    launch_add_argument(&launch, &compared->plain, 8);
    launch_add_argument(&launch, &rows, 8);
    launch_add_argument(&launch, &tensor->row, 8);
    launch_add_argument(&launch, &parts, 8);
    launch_add_argument(&launch, &smallest, 8);
    launch_add_argument(&launch, &compared->unwritten, 8);
    launch_add_argument(&launch, &given, 4);
    launch_add_argument(&launch, &tensor->tolerance.relative, 8);
    launch_add_argument(&launch, &tensor->tolerance.absolute, 8);
    launch_add_argument(&launch, &tensor->tolerance.of_magnitude, 8);
    launch_add_argument(&launch, &compared->magnitudes, 8);
    launch_add_argument(&launch, &comparator->of_parts, 8);
    launch_add_argument(&launch, &result, 8);
    if (parts == 1)
        return enqueue_launch(comparator, &launch, 32 * rows / ROWS_PER_WARP, error);
    return enqueue_launch(comparator, &launch, 32 * rows * parts, error) < 0
               ? -1
               : enqueue_rows(comparator, tensor, parts, result, error);
}

static struct comparison comparison_of(const struct raw_comparison *raw,
                                       const struct planned_tensor *tensor) {
    double smallest = dtype_smallest_normal(tensor->dtype);
    double reference_squares =
        fmax(raw->reference_squares, (double)raw->elements * smallest * smallest);
    return (struct comparison){
        .errors = {.relative_l2 = sqrt(raw->error_squares / reference_squares),
                   .row_relative_l2 = raw->worst_row,
                   .max_absolute = raw->worst_element},
        .elements = (int64_t)raw->elements,
        .not_finite = (int64_t)raw->not_finite,
        .reference_not_finite = (int64_t)raw->reference_not_finite,
        .not_zero = (int64_t)raw->not_zero,
        .false_zeros = (int64_t)raw->false_zeros,
        .systematic = raw->products / reference_squares,
        .effective_rows = raw->row_fourths > 0
                              ? raw->reference_squares * raw->reference_squares / raw->row_fourths
                              : 0,
        .reference_l2 = sqrt(raw->reference_squares),
        .largest_reference = raw->largest_reference,
        .limits = {.relative_l2 = sqrt(raw->limit_squares / reference_squares),
                   .row_relative_l2 = raw->worst_row_limit,
                   .max_absolute = raw->worst_limit},
        .outside = (int64_t)raw->outside,
        .worst_excess = raw->worst_excess,
        .small_magnitudes = (int64_t)raw->small_magnitudes,
    };
}

int comparator_compare(struct comparator *comparator, const struct compared *compared, int count,
                       struct comparison *comparisons, struct error *error) {
    struct raw_comparison raw[COMPARED_MAX];
    size_t bytes = (size_t)count * sizeof *raw;
    if (count > COMPARED_MAX)
        BUG("more than %d outputs to compare", COMPARED_MAX);
    int status = clear_results(comparator, bytes, error);
    for (int i = 0; i < count && status == 0; i++)
        status = enqueue_compare(comparator, &compared[i],
                                 comparator->results + (uint64_t)i * sizeof *raw, error);
    if (status < 0 || run_enqueued(comparator, error) < 0 ||
        comparator->device->backend->read(comparator->device, comparator->results, raw, bytes,
                                          error) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        comparisons[i] = comparison_of(&raw[i], compared[i].tensor);
    return 0;
}

int comparator_checksum(struct comparator *comparator, const struct span *spans, int count,
                        uint64_t *checksum, struct error *error) {
    if (clear_results(comparator, sizeof *checksum, error) < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        struct device_launch launch = {.kernel = "evotile_checksum"};
        uint64_t salt = (uint64_t)i * UINT64_C(0xd1342543de82ef95);
        launch_add_argument(&launch, &spans[i].address, 8);
        launch_add_argument(&launch, &spans[i].bytes, 8);
        launch_add_argument(&launch, &salt, 8);
        launch_add_argument(&launch, &comparator->results, 8);
        if (enqueue_launch(comparator, &launch, (spans[i].bytes + 7) / 8, error) < 0)
            return -1;
    }
    if (run_enqueued(comparator, error) < 0)
        return -1;
    return comparator->device->backend->read(comparator->device, comparator->results, checksum,
                                             sizeof *checksum, error);
}
