#include "evaluate/inspect.h"

#include "base/memory.h"
#include "device/emulated.h"
#include "evaluate/c_reference.h"
#include "evaluate/evaluation.h"
#include "evaluate/prepare_call.h"
#include "evaluate/references.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* OPERATIONS_MAX: of a case of the goal's own, beyond which it is left out: an emulated device
   needs some 5 ns for one. SEEDS: sets of inputs on which results are compared. */
static const double operations_max = 2e7;
static const double run_deadline_s = 20;
enum { SEEDS = 2 };
#define ORDINARY_SEED UINT64_C(0x2545f4914f6cdd1d)
#define OTHER_SEED    UINT64_C(0x9e3779b97f4a7c15)

/* One case at a time, with the modules of the genome's variants. */
struct inspector {
    const struct inspection *it;
    const struct template *template; /* the goal's */
    struct template *references;     /* for its reference cases; NULL: none are looked at */
    struct device *device;
    struct device_module *modules[CASES_MAX];
    const struct template *of_case; /* whose case it is: the goal's, or its probes or references */
    int case_index;
    struct verify_case one;
    struct planned_buffers *run;
};

static int open_inspector(struct inspector *inspector, const struct inspection *it,
                          struct error *error) {
    struct evaluator *evaluator = it->evaluator;
    *inspector = (struct inspector){.it = it, .device = evaluator->device};
    inspector->template = compiler_template(evaluator->compiler, it->goal, error);
    if (inspector->template == NULL ||
        evaluator_load_probes(evaluator, it->goal, inspector->template, error) < 0 ||
        evaluator_load_default(evaluator, it->goal, error) < 0)
        return -1;
    for (int c = 0; c < inspector->template->case_count && it->images != NULL; c++)
        if (it->images[c].cubin != NULL &&
            inspector->device->backend->module_load(inspector->device, &it->images[c],
                                                    &inspector->modules[c], error) < 0)
            return -1;
    return 0;
}

static void close_case(struct inspector *inspector) {
    if (inspector->run != NULL)
        planned_buffers_release(inspector->run);
    free(inspector->run);
    inspector->run = NULL;
}

static void close_inspector(struct inspector *inspector) {
    close_case(inspector);
    for (int c = 0; c < CASES_MAX; c++)
        if (inspector->modules[c] != NULL)
            inspector->device->backend->module_unload(inspector->device, inspector->modules[c]);
    template_free(inspector->references);
}

static int open_reference_cases(struct inspector *inspector, struct error *error) {
    const struct evaluator *evaluator = inspector->it->evaluator;
    const struct template_setting setting = evaluation_setting(
        &evaluator->settings->goals[inspector->it->goal], &evaluator->device->info);
    struct error why = {0};
    inspector->references = template_load_reference_cases(inspector->template, &setting, &why);
    if (why.kind == ERROR_NONE)
        return 0;
    *error = why;
    return -1;
}

/* The template whose cases follow; NULL after the last one. */
static const struct template *next_template(const struct inspector *inspector) {
    const struct template *probes = inspector->it->evaluator->probes[inspector->it->goal];
    if (inspector->of_case == NULL && probes != NULL)
        return probes;
    if (inspector->of_case == inspector->references && inspector->of_case != NULL)
        return NULL;
    return inspector->of_case == inspector->template ? inspector->references : inspector->template;
}

/* Prepares the next case, probe cases first: 1; 0 after the last one. */
static int next_case(struct inspector *inspector, struct error *error) {
    struct evaluator *evaluator = inspector->it->evaluator;
    const struct template *probes = evaluator->probes[inspector->it->goal];
    const struct genome *genome = inspector->it->genome;
    close_case(inspector);
    for (;;) {
        inspector->case_index++;
        if (inspector->of_case == NULL || inspector->case_index >= inspector->of_case->case_count) {
            inspector->of_case = next_template(inspector);
            inspector->case_index = -1;
            if (inspector->of_case == NULL)
                return 0;
            continue;
        }
        const struct template *template = inspector->of_case;
        const int c = inspector->case_index;
        const bool candidates =
            template != inspector->references; /* else nothing of a genome runs */
        const int variant =
            candidates ? evaluation_matching_variant(inspector->template, template, c) : -1;
        if (candidates && (variant < 0 || !template_genome_is_valid(template, genome, c)))
            continue;
        struct planned_buffers *run = xcalloc(1, sizeof *run);
        inspector->run = run;
        if ((candidates ? template_launch_plan : template_case_plan)(template, genome, c,
                                                                     &run->plan, error) < 0)
            return -1;
        if (template == inspector->template && (double)run->plan.operations > operations_max &&
            probes != NULL) {
            close_case(inspector);
            continue;
        }
        if (buffers_init(&run->buffers, evaluator->comparator, evaluator->device, template,
                         &run->plan, 1, error) < 0)
            return -1;
        inspector->one =
            (struct verify_case){.device = evaluator->device,
                                 .comparator = evaluator->comparator,
                                 .reference = evaluator_reference(evaluator, inspector->it->goal,
                                                                  inspector->template, template, c),
                                 .plain = evaluator->plain,
                                 .program = evaluator->program,
                                 .template = template,
                                 .genome = genome,
                                 .case_index = c,
                                 .module = candidates ? inspector->modules[variant] : NULL,
                                 .deadline_s = run_deadline_s};
        return 1;
    }
}

/* ---- references ---- */

static void name_comparison(struct inspected_reference *found, const char *one, const char *other) {
    snprintf(found->what, sizeof found->what, "%.*s and %.*s", NAME_SIZE, one, NAME_SIZE, other);
}

/* What says what is correct, in words. */
static const char *reference_name(const struct template *template) {
    switch (template->reference_kind) {
    case REFERENCE_KERNEL:
        return template->reference_source;
    case REFERENCE_PROGRAM:
        return template->reference_python != NULL ? template->reference_python
                                                  : "the reference's program";
    case REFERENCE_ANSWERS:
        return "the recorded answers";
    default:
        return "the default genome";
    }
}

/* Compares the plain kernel's outputs of one case with the reference's. */
static int compare_plain(struct inspector *inspector, struct inspected_reference *found,
                         struct error *error) {
    const struct verify_case *one = &inspector->one;
    const struct buffers *buffers = &inspector->run->buffers;
    struct reference_runs *runs = reference_runs_new(one, error);
    int status = runs == NULL ||
                         buffers_fill(&inspector->run->buffers, 0, ORDINARY_SEED, error) < 0 ||
                         run_references(one, buffers, 0, runs, error) < 0
                     ? -1
                     : 0;
    for (int t = 0; t < one->template->tensor_count && status == 0; t++) {
        const struct planned_tensor *tensor = &inspector->run->plan.tensors[t];
        struct comparison comparison;
        if (!tensor->present || one->template->tensors[t].role != ROLE_OUTPUT)
            continue;
        const struct compared compared = {.output = runs->plain.buffers.tensors[0][t],
                                          .tensor = tensor,
                                          .reference = runs->reference.buffers.tensors[0][t],
                                          .magnitudes = reference_magnitudes(runs, tensor)};
        struct error differs = {0};
        status = comparator_compare(one->comparator, &compared, 1, &comparison, error);
        if (status == 0 && comparison.errors.relative_l2 > found->worst)
            found->worst = comparison.errors.relative_l2;
        if (status == 0 && check_references(one, buffers, 0, t, &comparison, &differs) < 0 &&
            found->agrees) {
            found->agrees = false;
            snprintf(found->reason, sizeof found->reason, "%.*s", REASON_SIZE - 1, differs.text);
        }
    }
    found->cases += status == 0;
    if (runs != NULL)
        reference_runs_free(runs);
    return status;
}

static int inspect_plain(struct inspector *inspector, struct inspected_reference *found,
                         struct error *error) {
    const struct template *template = inspector->template;
    name_comparison(
        found, template->plain_kind == PLAIN_REAL ? "the same in float" : template->plain_source,
        reference_name(template));
    int status;
    while ((status = next_case(inspector, error)) == 1)
        if (template_reference_applies(inspector->of_case, inspector->case_index) &&
            compare_plain(inspector, found, error) < 0)
            return -1;
    return status;
}

/* The C reference, which c_reference_compare runs on the smallest cases. */
static int inspect_c(struct inspector *inspector, struct inspected_reference *found,
                     struct error *error) {
    const struct template *template = inspector->template;
    struct evaluator *evaluator = inspector->it->evaluator;
    struct error differs = {0};
    name_comparison(found, template->cpu_reference, reference_name(template));
    found->worst = NAN;
    found->agrees = true;
    inspector->of_case = NULL;
    int first = next_case(inspector, error);
    if (first != 1)
        return first;
    struct verify_case one = inspector->one;
    one.template = inspector->of_case;
    int status =
        c_reference_compare(&one, compiler_nvrtc(evaluator->compiler), &found->cases, &differs);
    if (status >= 0 && inspector->references != NULL && one.template != inspector->references) {
        int compared;
        one.template = inspector->references;
        status =
            c_reference_compare(&one, compiler_nvrtc(evaluator->compiler), &compared, &differs);
        found->cases += compared;
        found->left_out = status == 0 ? one.template->case_count - compared : 0;
    }
    found->agrees = status >= 0;
    if (status < 0)
        snprintf(found->reason, sizeof found->reason, "%.*s", REASON_SIZE - 1, differs.text);
    return 0;
}

int inspect_references(const struct inspection *it,
                       struct inspected_reference list[INSPECTED_REFERENCES_MAX],
                       struct error *error) {
    struct inspector *inspector = xcalloc(1, sizeof *inspector);
    int count = 0, status = open_inspector(inspector, it, error);
    if (status == 0)
        status = open_reference_cases(inspector, error);
    memset(list, 0, INSPECTED_REFERENCES_MAX * sizeof *list);
    if (status == 0 && inspector->template->plain_kind != PLAIN_NONE) {
        list[count].agrees = true;
        status = inspect_plain(inspector, &list[count++], error);
    }
    if (status == 0 && inspector->template->cpu_reference != NULL &&
        inspector->template->reference_kind == REFERENCE_KERNEL)
        status = inspect_c(inspector, &list[count++], error);
    close_inspector(inspector);
    free(inspector);
    return status < 0 ? -1 : count;
}

/* ---- tensors ---- */

/* Runs one call on the inputs as they are: 0; 1 with `reason` if it fails. */
static int run_call(struct inspector *inspector, enum poison poison, uint64_t seed,
                    char reason[REASON_SIZE], struct error *error) {
    struct buffers *buffers = &inspector->run->buffers;
    struct device_sequence sequence;
    if (buffers_poison(buffers, 0, poison, seed, error) < 0)
        return -1;
    int prepared = buffers_prepare_call(buffers, 0, inspector->one.module, reason, error);
    if (prepared != 0)
        return prepared;
    buffers_sequence(buffers, 0, inspector->one.module, &sequence);
    return inspector->device->backend->run(inspector->device, &sequence, run_deadline_s, reason) !=
           VERDICT_OK;
}

static unsigned char *read_tensor(struct inspector *inspector, int t, struct error *error) {
    const size_t bytes = (size_t)inspector->run->plan.tensors[t].bytes;
    unsigned char *copy = xmalloc(bytes);
    if (inspector->device->backend->read(inspector->device, inspector->run->buffers.tensors[0][t],
                                         copy, bytes, error) == 0)
        return copy;
    free(copy);
    return NULL;
}

/* The share of an output's elements that differ between two calls. */
static double share_of_differences(const unsigned char *a, const unsigned char *b,
                                   const struct planned_tensor *tensor) {
    const int size = dtype_bytes(tensor->dtype);
    int64_t differ = 0;
    for (int64_t i = 0; i < tensor->elements; i++)
        differ += memcmp(a + i * size, b + i * size, (size_t)size) != 0;
    return (double)differ / (double)tensor->elements;
}

static bool is_inspected(const struct inspector *inspector, int t, enum role role) {
    return inspector->run->plan.tensors[t].present && inspector->of_case->tensors[t].role == role &&
           inspector->run->buffers.tensors[0][t] != 0;
}

/* Calls twice over different contents of the outputs: what no call writes differs. */
static int inspect_outputs(struct inspector *inspector,
                           struct inspected_tensor tensors[TENSORS_MAX], struct error *error) {
    unsigned char *before[TENSORS_MAX] = {NULL};
    char reason[REASON_SIZE];
    int status = run_call(inspector, POISON_NAN, ORDINARY_SEED, reason, error);
    for (int t = 0; t < inspector->of_case->tensor_count && status == 0; t++)
        if (is_inspected(inspector, t, ROLE_OUTPUT) &&
            (before[t] = read_tensor(inspector, t, error)) == NULL)
            status = -1;
    if (status == 0)
        status = run_call(inspector, POISON_RANDOM, OTHER_SEED, reason, error);
    for (int t = 0; t < inspector->of_case->tensor_count && status == 0; t++) {
        unsigned char *after = before[t] != NULL ? read_tensor(inspector, t, error) : NULL;
        if (before[t] != NULL && after == NULL)
            status = -1;
        if (after == NULL)
            continue;
        double share = share_of_differences(before[t], after, &inspector->run->plan.tensors[t]);
        tensors[t].unwritten = fmax(tensors[t].unwritten, share);
        tensors[t].used = tensors[t].unwritten > 0 ? INSPECTED_NO : INSPECTED_YES;
        free(after);
    }
    for (int t = 0; t < TENSORS_MAX; t++)
        free(before[t]);
    return status == 1 ? error_input(error, "the kernel fails on ordinary inputs: %.400s", reason)
                       : status;
}

static int checksum_outputs(struct inspector *inspector, uint64_t *checksum, struct error *error) {
    return buffers_checksum(&inspector->run->buffers, 0, ROLE_OUTPUT, checksum, error);
}

/* Replaces one input by another draw of it. */
static int replace_input(struct inspector *inspector, int t, unsigned char *other,
                         struct inspected_tensor *found, struct error *error) {
    const uint64_t address = inspector->run->buffers.tensors[0][t];
    const size_t bytes = (size_t)inspector->run->plan.tensors[t].bytes;
    const struct device_backend *backend = inspector->device->backend;
    uint64_t expected, changed;
    char reason[REASON_SIZE];
    unsigned char *own = read_tensor(inspector, t, error);
    int status = own == NULL ? -1 : 0;
    if (status == 0 && memcmp(own, other, bytes) != 0) {
        if (found->used == INSPECTED_NOT)
            found->used = INSPECTED_NO;
        status = run_call(inspector, POISON_NAN, ORDINARY_SEED, reason, error);
        if (status == 0 && (checksum_outputs(inspector, &expected, error) < 0 ||
                            backend->write(inspector->device, address, other, bytes, error) < 0))
            status = -1;
        if (status == 0)
            status = run_call(inspector, POISON_NAN, ORDINARY_SEED, reason, error);
        if (status == 0 && checksum_outputs(inspector, &changed, error) < 0)
            status = -1;
        /* A kernel that fails on other indices has read them. */
        if (status == 1 || (status == 0 && changed != expected))
            found->used = INSPECTED_YES;
        if (status >= 0)
            status = backend->write(inspector->device, address, own, bytes, error);
    }
    free(own);
    return status;
}

static int inspect_inputs(struct inspector *inspector, struct inspected_tensor tensors[TENSORS_MAX],
                          struct error *error) {
    unsigned char *others[TENSORS_MAX] = {NULL};
    struct buffers *buffers = &inspector->run->buffers;
    int status = buffers_fill(buffers, 0, OTHER_SEED, error);
    for (int t = 0; t < inspector->of_case->tensor_count && status == 0; t++)
        if (is_inspected(inspector, t, ROLE_INPUT) &&
            (others[t] = read_tensor(inspector, t, error)) == NULL)
            status = -1;
    if (status == 0)
        status = buffers_fill(buffers, 0, ORDINARY_SEED, error);
    for (int t = 0; t < inspector->of_case->tensor_count && status == 0; t++)
        if (others[t] != NULL && tensors[t].used != INSPECTED_YES)
            status = replace_input(inspector, t, others[t], &tensors[t], error);
    for (int t = 0; t < TENSORS_MAX; t++)
        free(others[t]);
    return status;
}

int inspect_tensors(const struct inspection *it, struct inspected_tensor tensors[TENSORS_MAX],
                    struct error *error) {
    struct inspector *inspector = xcalloc(1, sizeof *inspector);
    int status = open_inspector(inspector, it, error);
    memset(tensors, 0, TENSORS_MAX * sizeof *tensors);
    while (status == 0 && (status = next_case(inspector, error)) == 1)
        status = inspect_inputs(inspector, tensors, error) < 0 ||
                         inspect_outputs(inspector, tensors, error) < 0
                     ? -1
                     : 0;
    close_inspector(inspector);
    free(inspector);
    return status;
}

/* ---- results ---- */

/* Adds what a call computed, and how much it read and wrote in some of its blocks. */
static int add_results(struct inspector *inspector, uint64_t seed,
                       struct inspected_results *results, struct hasher *outputs,
                       struct hasher *accessed, struct error *error) {
    struct buffers *buffers = &inspector->run->buffers;
    struct prediction_call *call;
    struct prediction_work work;
    char reason[REASON_SIZE];
    uint64_t checksums[2] = {0, 0};
    struct device_sequence sequence;
    if (buffers_fill(buffers, 0, seed, error) < 0)
        return -1;
    int status = run_call(inspector, POISON_NAN, seed, reason, error);
    results->inputs++;
    results->failed = results->failed || status == 1;
    if (status != 0)
        return status < 0 ? -1 : 0;
    if (buffers_checksum(buffers, 0, ROLE_OUTPUT, &checksums[0], error) < 0 ||
        buffers_checksum(buffers, 0, ROLE_WORKSPACE, &checksums[1], error) < 0)
        return -1;
    hasher_add(outputs, checksums, sizeof checksums);
    if (!inspector->device->info.predicts)
        return 0;
    call = xcalloc(1, sizeof *call);
    buffers_sequence(buffers, 0, inspector->one.module, &sequence);
    work = (struct prediction_work){.operations = inspector->run->plan.operations,
                                    .bytes = inspector->run->plan.bytes};
    if (emulated_trace(inspector->device, &sequence, &work, call, reason) == VERDICT_OK)
        for (int i = 0; i < call->count; i++) {
            const struct prediction_input *input = &call->launches[i];
            const double accesses[] = {input->load_bytes, input->store_bytes, input->async_bytes,
                                       input->remote_bytes, input->shared_wavefronts};
            hasher_add(accessed, accesses, sizeof accesses);
        }
    free(call);
    return 0;
}

int inspect_results(const struct inspection *it, struct inspected_results *results,
                    struct error *error) {
    struct inspector *inspector = xcalloc(1, sizeof *inspector);
    struct hasher *outputs = hasher_new(), *accessed = hasher_new();
    int status = open_inspector(inspector, it, error);
    *results = (struct inspected_results){0};
    while (status == 0 && !results->failed && (status = next_case(inspector, error)) == 1) {
        status = 0;
        for (int seed = 0; seed < SEEDS && status == 0; seed++)
            status = add_results(inspector, ORDINARY_SEED + (uint64_t)seed, results, outputs,
                                 accessed, error);
    }
    results->outputs = hasher_finish(outputs);
    results->accesses = hasher_finish(accessed);
    close_inspector(inspector);
    free(inspector);
    return status;
}
