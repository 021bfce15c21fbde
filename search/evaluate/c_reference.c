#include "evaluate/c_reference.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "evaluate/references.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* c_reference.cu, embedded by the Makefile */
extern const char _binary_search_evaluate_c_reference_cu_start[];
extern const char _binary_search_evaluate_c_reference_cu_end[];

/* COST_MAX: of all cases, in operations; one thread of an emulated device needs some 100 ns for
   one. SMALLEST_COST_MAX: of the smallest case, which is compared beyond COST_MAX, too. HEAP_BYTES
   and HEAP_FACTOR: what the reference may allocate, and that in sizes of all its tensors. */
enum { COST_MAX = 1500000, SMALLEST_COST_MAX = 6000000 };
enum { DEADLINE_S = 60, HEAP_BYTES = 1 << 16, HEAP_FACTOR = 16 };
enum { THIN_COST_EMULATED_MAX = 4000000, THIN_COST_GPU_MAX = 20000000 };

/* Seed of the inputs. */
#define COMPARED_SEED UINT64_C(2)

/* Relative to the largest element of a row: so much of half a unit in the last place of the output
   would not change a verdict; and the roundings of double-precision sums. */
static const double of_a_rounding = 1.0 / 64, double_roundings = 1e-11;

/* What the kernel gets in one block of memory. */
struct c_arguments {
    int64_t dimensions[DIMENSIONS_MAX];
    uint64_t tensors[TENSORS_MAX + SCALARS_MAX]; /* inputs and outputs, in order, then where the
                                                    scalars are; 0: absent */
    uint64_t heap, heap_end;
    int64_t scalars[SCALARS_MAX];
};

struct c_reference {
    const struct verify_case *one;
    struct device_module *module;
    struct reference_runs *runs; /* of the case that is compared */
    struct planned_buffers *inputs;
    struct c_arguments arguments;
    uint64_t argument_block;
    uint64_t outputs[TENSORS_MAX]; /* of the C reference; 0: none */
};

/* ---- compiling ---- */

/* Appends C as C++: without includes, whose contents c_reference.cu has, and with tensors that
   convert to any pointer. */
static void append_as_cpp(struct strbuf *text, const char *c) {
    static const char tensors[] = "void *const *";
    for (const char *line = c; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *found = strstr(line, tensors);
        if (strncmp(line, "#include", strlen("#include")) != 0) {
            if (found != NULL && found < line + length) {
                strbuf_add(text, line, (size_t)(found - line));
                strbuf_print(text, "const evotile_pointer *");
                length -= (size_t)(found - line) + strlen(tensors);
                line = found + strlen(tensors);
            }
            strbuf_add(text, line, length);
        }
        strbuf_add(text, "\n", 1);
        line += length + (line[length] == '\n');
    }
}

static char *write_source(const struct template *template, struct error *error) {
    struct strbuf text = {0};
    char *c = template_c_reference_source(template, error);
    if (c == NULL)
        return NULL;
    strbuf_add(&text, _binary_search_evaluate_c_reference_cu_start,
               (size_t)(_binary_search_evaluate_c_reference_cu_end -
                        _binary_search_evaluate_c_reference_cu_start));
    append_as_cpp(&text, c);
    free(c);
    strbuf_print(&text,
                 "\nstruct evotile_arguments {\n"
                 "    int64_t dimensions[%d];\n    evotile_pointer tensors[%d];\n"
                 "    char *heap, *heap_end;\n    int64_t scalars[%d];\n};\n"
                 "extern \"C\" __global__ void evotile_c_reference(const evotile_arguments *it) {\n"
                 "    evotile_heap = it->heap, evotile_heap_end = it->heap_end;\n"
                 "    %s(it->dimensions, it->tensors);\n}\n",
                 DIMENSIONS_MAX, TENSORS_MAX + SCALARS_MAX, SCALARS_MAX,
                 template->cpu_reference_function);
    return text.bytes;
}

/* Returns 1, with why in `reason`, if it does not compile. */
static int compile(struct c_reference *it, struct nvrtc *nvrtc, char reason[REASON_SIZE],
                   struct error *error) {
    const struct template *template = it->one->template;
    struct device *device = it->one->device;
    char architecture[32];
    struct device_image image;
    const char *options[] = {architecture, "--std=c++20", "--ptxas-options=-v", "-default-device"};
    char *source = write_source(template, error);
    if (source == NULL)
        return -1;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             device->info.compute_capability);
    int status =
        nvrtc_compile(nvrtc, template->cpu_reference, source, options, 4, &image, reason, error);
    free(source);
    if (status != 0)
        return status;
    status = device->backend->module_load(device, &image, &it->module, error);
    nvrtc_image_release(&image);
    return status;
}

/* ---- one case ---- */

/* Allocates the C reference's outputs and heap, and writes its arguments. */
static int place_arguments(struct c_reference *it, struct error *error) {
    const struct template *template = it->one->template;
    struct device *device = it->one->device;
    const struct launch_plan *plan = &it->runs->reference.plan;
    size_t heap_bytes = HEAP_BYTES;
    int count = 0;
    memcpy(it->arguments.dimensions, template->cases[it->one->case_index].values,
           sizeof it->arguments.dimensions);
    for (int t = 0; t < template->tensor_count; t++) {
        size_t bytes = (size_t)plan->tensors[t].bytes;
        uint64_t *address = &it->arguments.tensors[count];
        if (template->tensors[t].role == ROLE_WORKSPACE || template->tensors[t].role == ROLE_SETUP)
            continue;
        count++;
        heap_bytes += HEAP_FACTOR * bytes;
        if (template->tensors[t].role == ROLE_INPUT)
            *address = it->inputs->buffers.tensors[0][t];
        else if (plan->tensors[t].present) {
            if (device->backend->memory_new(device, template->tensors[t].name, bytes,
                                            &it->outputs[t], error) < 0)
                return -1;
            *address = it->outputs[t];
            if (template->tensors[t].before == BEFORE_ZEROS &&
                device->backend->fill32(device, it->outputs[t], 0, bytes / 4, error) < 0)
                return -1;
        }
    }
    if (device->backend->memory_new(device, "heap", heap_bytes, &it->arguments.heap, error) < 0 ||
        device->backend->memory_new(device, "arguments", sizeof it->arguments, &it->argument_block,
                                    error) < 0)
        return -1;
    it->arguments.heap_end = it->arguments.heap + heap_bytes;
    memcpy(it->arguments.scalars, it->inputs->buffers.scalars[0], sizeof it->arguments.scalars);
    for (int s = 0; s < template->scalar_count; s++)
        it->arguments.tensors[count++] = it->argument_block +
                                         offsetof(struct c_arguments, scalars) +
                                         (uint64_t)s * sizeof *it->arguments.scalars;
    return device->backend->write(device, it->argument_block, &it->arguments, sizeof it->arguments,
                                  error);
}

static void release_case(struct c_reference *it) {
    struct device *device = it->one->device;
    uint64_t *addresses[] = {&it->arguments.heap, &it->argument_block};
    for (int i = 0; i < 2; i++)
        if (*addresses[i] != 0)
            device->backend->memory_free(device, *addresses[i]);
    for (int t = 0; t < TENSORS_MAX; t++)
        if (it->outputs[t] != 0)
            device->backend->memory_free(device, it->outputs[t]);
    memset(it->outputs, 0, sizeof it->outputs);
    it->arguments = (struct c_arguments){0};
    it->argument_block = 0;
    reference_inputs_free(it->inputs);
    if (it->runs != NULL)
        reference_runs_free(it->runs);
    it->inputs = NULL;
    it->runs = NULL;
}

static int run(struct c_reference *it, struct error *error) {
    const struct template *template = it->one->template;
    struct device *device = it->one->device;
    struct device_sequence *sequence = xcalloc(1, sizeof *sequence);
    char reason[REASON_SIZE];
    sequence->count = 1;
    sequence->launches[0] = (struct device_launch){.module = it->module,
                                                   .kernel = "evotile_c_reference",
                                                   .grid = {1, 1, 1},
                                                   .block = {1, 1, 1}};
    launch_add_argument(&sequence->launches[0], &it->argument_block, 8);
    enum verdict verdict = device->backend->run(device, sequence, DEADLINE_S, reason);
    free(sequence);
    if (verdict == VERDICT_OK && device->backend->check_red_zones != NULL)
        verdict = device->backend->check_red_zones(device, false, reason);
    return verdict == VERDICT_OK ? 0
                                 : error_input(error, "%s/%s failed: %s", template->folder,
                                               template->cpu_reference, reason);
}

/* The largest difference that both references may have in a row of an output. */
static double row_tolerance(const struct planned_tensor *tensor, const double *row) {
    double largest = dtype_smallest_normal(tensor->precision);
    for (int64_t i = 0; i < tensor->row; i++)
        if (isfinite(row[i]))
            largest = fmax(largest, fabs(row[i]));
    return largest * fmax(of_a_rounding * dtype_rounding(tensor->precision), double_roundings);
}

/* A double does not hold every i64, so that both references' outputs are int64_t. */
static int compare_whole_elements(const struct c_reference *it, int t, const int64_t *of_c,
                                  const int64_t *of_cuda, struct error *error) {
    const struct template *template = it->one->template;
    char shape[CASE_NAME_SIZE];
    int64_t i = 0;
    while (i < it->runs->plain.plan.tensors[t].elements && of_c[i] == of_cuda[i])
        i++;
    if (i == it->runs->plain.plan.tensors[t].elements)
        return 0;
    template_print_shape(template, &template->cases[it->one->case_index], shape);
    return error_input(error,
                       "%s: the references differ: at %s, element %lld of %s is %lld by %s and "
                       "%lld by %s: correct the wrong one",
                       template->folder, shape, (long long)i, template->tensors[t].name,
                       (long long)of_c[i], template->cpu_reference, (long long)of_cuda[i],
                       template->reference_source);
}

static int compare_elements(const struct c_reference *it, int t, const double *of_c,
                            const double *of_cuda, struct error *error) {
    const struct template *template = it->one->template;
    const struct planned_tensor *tensor = &it->runs->plain.plan.tensors[t];
    double tolerance = 0;
    if (tensor->dtype == DTYPE_I64)
        return compare_whole_elements(it, t, (const int64_t *)of_c, (const int64_t *)of_cuda,
                                      error);
    for (int64_t i = 0; i < tensor->elements; i++) {
        if (i % tensor->row == 0)
            tolerance = row_tolerance(tensor, of_cuda + i);
        char shape[CASE_NAME_SIZE];
        if (fabs(of_c[i] - of_cuda[i]) <= tolerance || of_c[i] == of_cuda[i] ||
            (isnan(of_c[i]) && isnan(of_cuda[i])))
            continue;
        template_print_shape(template, &template->cases[it->one->case_index], shape);
        return error_input(error,
                           "%s: the references differ: at %s, element %lld of %s is %.9g by %s and "
                           "%.9g by %s: correct the wrong one",
                           template->folder, shape, (long long)i, template->tensors[t].name,
                           of_c[i], template->cpu_reference, of_cuda[i],
                           template->reference_source);
    }
    return 0;
}

static int compare_output(const struct c_reference *it, int t, struct error *error) {
    struct device *device = it->one->device;
    size_t bytes = (size_t)it->runs->reference.plan.tensors[t].bytes;
    double *of_c = xmalloc(bytes), *of_cuda = xmalloc(bytes);
    int status = device->backend->read(device, it->outputs[t], of_c, bytes, error);
    if (status == 0)
        status = device->backend->read(device, it->runs->reference.buffers.tensors[0][t], of_cuda,
                                       bytes, error);
    if (status == 0)
        status = compare_elements(it, t, of_c, of_cuda, error);
    free(of_c);
    free(of_cuda);
    return status;
}

static int compare_case(struct c_reference *it, struct error *error) {
    it->runs = reference_runs_new(it->one, error);
    if (it->runs != NULL)
        it->inputs = reference_inputs_new(it->one, it->runs, error);
    if (it->inputs == NULL || buffers_fill(&it->inputs->buffers, 0, COMPARED_SEED, error) < 0 ||
        run_references(it->one, &it->inputs->buffers, 0, it->runs, error) < 0 ||
        comparator_finish(it->one->comparator, error) < 0 || place_arguments(it, error) < 0 ||
        run(it, error) < 0)
        return -1;
    for (int t = 0; t < it->one->template->tensor_count; t++)
        if (it->outputs[t] != 0 && compare_output(it, t, error) < 0)
            return -1;
    return 0;
}

/* ---- the cases ---- */

/* Returns the smallest case that was not compared and that costs at most `*budget`, and subtracts
   its cost; -1 if there is none. */
static int next_case(const struct verify_case *one, const bool *compared, int64_t *budget) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    int64_t least = *budget + 1;
    int smallest = -1;
    for (int c = 0; c < one->template->case_count; c++) {
        struct error ignored;
        if (compared[c] || template_case_plan(one->template, one->genome, c, plan, &ignored) < 0)
            continue;
        int64_t cost = plan->operations + 16 * plan->bytes; /* as in gate_run.c */
        if (cost < least) {
            least = cost;
            smallest = c;
        }
    }
    free(plan);
    *budget -= smallest < 0 ? 0 : least;
    return smallest;
}

/* Whether all cases that the genome is valid for are within the budget of an emulated device, or of
   a GPU, and there are any. */
static bool thin_cases_fit(const struct verify_case *one) {
    int64_t budget = one->device->info.predicts ? THIN_COST_EMULATED_MAX : THIN_COST_GPU_MAX;
    int fitting = 0;
    struct launch_plan *plan = xmalloc(sizeof *plan);
    for (int c = 0; c < one->template->case_count && budget >= 0; c++) {
        struct error ignored;
        if (!template_genome_is_valid(one->template, one->genome, c) ||
            template_launch_plan(one->template, one->genome, c, plan, &ignored) < 0)
            continue;
        budget -= plan->operations + 16 * plan->bytes;
        fitting++;
    }
    free(plan);
    return budget >= 0 && fitting > 0;
}

/* Returns 1, with why in `reason`, if there is nothing to compare. */
static int compare_cases(struct c_reference *it, struct verify_case *one, int *count,
                         char reason[REASON_SIZE], struct error *error) {
    bool compared[CASES_MAX] = {false};
    int64_t budget = SMALLEST_COST_MAX;
    int status = 1;
    snprintf(reason, REASON_SIZE, "every case is too large: add small \"probe_cases\"");
    while (status >= 0 && (one->case_index = next_case(one, compared, &budget)) >= 0) {
        if (status == 1)
            budget -= SMALLEST_COST_MAX - COST_MAX;
        compared[one->case_index] = true;
        status = compare_case(it, error);
        *count += status == 0;
        release_case(it);
    }
    return status;
}

static void unload(struct c_reference *it) {
    if (it->module != NULL)
        it->one->device->backend->module_unload(it->one->device, it->module);
}

int c_reference_compare(const struct verify_case *given, struct nvrtc *nvrtc, int *count,
                        struct error *error) {
    const struct template *template = given->template;
    struct verify_case one = *given;
    struct c_reference it = {.one = &one};
    char reason[REASON_SIZE];
    *count = 0;
    if (template->cpu_reference == NULL)
        return 1;
    int status = compile(&it, nvrtc, reason, error);
    if (status == 0)
        status = compare_cases(&it, &one, count, reason, error);
    if (status == 1)
        log_warn("%s/%s was not compared with %s: %s", template->folder, template->cpu_reference,
                 template->reference_source, reason);
    unload(&it);
    return status;
}

int c_reference_compare_thin(const struct verify_case *given, struct nvrtc *nvrtc,
                             struct error *error) {
    struct verify_case one = *given;
    struct c_reference it = {.one = &one};
    char reason[REASON_SIZE];
    if (given->template->cpu_reference == NULL)
        return 2;
    if (!thin_cases_fit(given))
        return 1;
    int status = compile(&it, nvrtc, reason, error);
    for (one.case_index = 0; status == 0 && one.case_index < one.template->case_count;
         one.case_index++) {
        if (!template_genome_is_valid(one.template, one.genome, one.case_index))
            continue;
        status = compare_case(&it, error);
        release_case(&it);
    }
    unload(&it);
    return status == 1 ? 2 : status;
}
