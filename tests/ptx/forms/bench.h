/*
 * bench: runs all forms (forms.h) on two devices and compares what they give.
 *
 *     struct form_plan plan = {.one = "emulated:sm_90", .other = "cuda:0", .threads = 1 << 14,
 *                              .jobs = 8};
 *     struct form_result *results = forms_judge(&list, &plan);    // one for each form
 *     forms_release(results, &list);
 *
 * Child processes do it, each with its own devices and a share of the forms: a form that costs a
 * GPU its context costs the process, and the next one goes on behind it.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_BENCH_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_BENCH_H

#include "device/device.h"
#include "device/processes.h"
#include "ptx/forms/forms.h"

enum { FORMS_A_MODULE = 32, FORM_DEADLINE_S = 20 };

struct form_plan {
    const char *one, *other;
    int threads; /* a multiple of 128 */
    int jobs;
    uint64_t seed; /* selects other operands */
    /* Modifies the other device's results; NULL: no modification. */
    void (*tamper)(const struct form *form, uint64_t *results, int threads);
};

struct form_bench {
    struct device *device;
    struct device_module *module;
    uint64_t inputs, outputs, scratch;
    int threads;
};

static inline size_t form_input_bytes(int threads) {
    return (size_t)threads * FORM_SLOTS * 8;
}

static inline int form_bench_open(struct form_bench *bench, const char *spec, int threads,
                                  struct error *error) {
    *bench = (struct form_bench){.device = device_open(spec, error), .threads = threads};
    if (!bench->device)
        return -1;
    const struct device_backend *backend = bench->device->backend;
    size_t scratch = (size_t)threads * FORM_SCRATCH_BYTES + 256;
    return backend->memory_new(bench->device, "operands", form_input_bytes(threads), &bench->inputs,
                               error) < 0 ||
                   backend->memory_new(bench->device, "results", form_input_bytes(threads),
                                       &bench->outputs, error) < 0 ||
                   backend->memory_new(bench->device, "scratch", scratch, &bench->scratch, error) <
                       0
               ? -1
               : 0;
}

static inline void form_bench_unload(struct form_bench *bench) {
    if (bench->module)
        bench->device->backend->module_unload(bench->device, bench->module);
    bench->module = NULL;
}

/* A driver accepts PTX as well as machine code. */
static inline int form_bench_load(struct form_bench *bench, const char *ptx, struct error *error) {
    struct device_image image = {
        .name = "forms", .cubin = ptx, .cubin_bytes = strlen(ptx) + 1, .ptx = ptx, .log = ""};
    form_bench_unload(bench);
    return bench->device->backend->module_load(bench->device, &image, &bench->module, error);
}

static inline enum verdict form_bench_run(struct form_bench *bench, const struct form *form,
                                          int number, const void *inputs, uint64_t *results,
                                          char reason[REASON_SIZE]) {
    const struct device_backend *backend = bench->device->backend;
    size_t in_bytes = (size_t)bench->threads * (size_t)form_stride(form);
    size_t out_bytes = (size_t)bench->threads * (size_t)form->result_slots * 8;
    uint64_t addresses[] = {bench->inputs, bench->outputs, bench->scratch};
    struct error error = {0};
    char name[16];
    snprintf(name, sizeof name, "f%d", number);
    struct device_sequence sequence = {.count = 1};
    sequence.launches[0] =
        (struct device_launch){.module = bench->module,
                               .kernel = name,
                               .grid = {(unsigned)(bench->threads / FORM_THREADS), 1, 1},
                               .block = {FORM_THREADS, 1, 1},
                               .argument_count = 3};
    for (int i = 0; i < 3; i++) {
        sequence.launches[0].arguments[i].size = 8;
        memcpy(sequence.launches[0].arguments[i].bytes, &addresses[i], 8);
    }
    enum verdict verdict = VERDICT_CRASHED;
    if (backend->write(bench->device, bench->inputs, inputs, in_bytes, &error) == 0 &&
        backend->fill32(bench->device, bench->outputs, 0xdeadbeef, out_bytes / 4, &error) == 0) {
        verdict = backend->run(bench->device, &sequence, FORM_DEADLINE_S, reason);
        if (verdict == VERDICT_OK &&
            backend->read(bench->device, bench->outputs, results, out_bytes, &error) < 0)
            verdict = VERDICT_CRASHED;
    }
    if (*error.text)
        snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
    return verdict;
}

/* ---- one process ---- */

struct form_desk {
    const struct form_list *list;
    const struct form_plan *plan;
    struct form_result *results;
    struct form_bench one, other;
    unsigned char *inputs;
    uint64_t *first, *second;
    int loaded_end; /* index after the last form whose module has been loaded or rejected */
    bool together;  /* loaded together with the previous forms */
};

static inline void form_desk_open(void *context) {
    struct form_desk *desk = context;
    int threads = desk->plan->threads;
    struct error error = {0};
    if (form_bench_open(&desk->one, desk->plan->one, threads, &error) < 0 ||
        form_bench_open(&desk->other, desk->plan->other, threads, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    desk->inputs = malloc(form_input_bytes(threads));
    desk->first = malloc(form_input_bytes(threads));
    desk->second = malloc(form_input_bytes(threads));
}

static inline bool form_is_run(struct form_bench *bench, const struct form *form, int number,
                               const void *inputs, uint64_t *results, struct form_result *result) {
    char reason[REASON_SIZE] = "";
    enum verdict verdict = form_bench_run(bench, form, number, inputs, results, reason);
    if (verdict != VERDICT_OK)
        snprintf(result->failure, sizeof result->failure, "%s: %s: %.250s",
                 bench->device->info.spec, verdict_name(verdict), reason);
    return verdict == VERDICT_OK;
}

/* Runs one form alone; false with the reason in result->failure. */
static inline bool form_bench_alone(struct form_bench *bench, const struct form_list *list,
                                    int number, const void *inputs, uint64_t *results,
                                    struct form_result *result) {
    struct error error = {0};
    char *ptx = forms_ptx(list, number, 1);
    bool loaded = form_bench_load(bench, ptx, &error) == 0;
    free(ptx);
    if (!loaded)
        snprintf(result->failure, sizeof result->failure, "%.300s", error.text);
    return loaded && form_is_run(bench, &list->forms[number], number, inputs, results, result);
}

static inline void form_desk_judge(struct form_desk *desk, int number) {
    const struct form *form = &desk->list->forms[number];
    const struct form_plan *plan = desk->plan;
    struct form_result *result = &desk->results[number];
    forms_fill(form, desk->inputs, plan->threads, form_seed(form, plan->seed));
    if (!form_is_run(&desk->one, form, number, desk->inputs, desk->first, result) ||
        !form_is_run(&desk->other, form, number, desk->inputs, desk->second, result))
        return;
    if (plan->tamper)
        plan->tamper(form, desk->second, plan->threads);
    forms_compare(form, desk->inputs, desk->first, desk->second, plan->threads, result);
}

/* Loads the module of some forms on both devices; for a single form, records why it does not load.
 */
static inline bool form_desk_load(struct form_desk *desk, int first, int count) {
    struct error error = {0};
    struct form_result *result = &desk->results[first];
    char *ptx = forms_ptx(desk->list, first, count);
    bool loaded = form_bench_load(&desk->one, ptx, &error) == 0 &&
                  form_bench_load(&desk->other, ptx, &error) == 0;
    if (!loaded && count == 1)
        snprintf(result->failure, sizeof result->failure, "%.300s", error.text);
    free(ptx);
    return loaded;
}

static inline void form_desk_work(void *context, int item, int end) {
    struct form_desk *desk = context;
    if (item >= desk->loaded_end) {
        int count = end - item < FORMS_A_MODULE ? end - item : FORMS_A_MODULE;
        desk->together = form_desk_load(desk, item, count);
        desk->loaded_end = item + count;
    }
    if (desk->together || form_desk_load(desk, item, 1))
        form_desk_judge(desk, item);
    if (*desk->results[item].failure && !desk->other.device->info.predicts)
        _exit(2); /* the context may be lost */
}

static inline void form_desk_lost(void *context, int item, int status) {
    struct form_result *result = &((struct form_desk *)context)->results[item];
    if (!*result->failure)
        snprintf(result->failure, sizeof result->failure, "the process ended with status 0x%x",
                 (unsigned)status);
}

/* ---- all of them ---- */

static inline void forms_release(struct form_result *results, const struct form_list *list) {
    munmap(results, (size_t)list->count * sizeof *results);
}

static inline struct form_result *forms_judge(const struct form_list *list,
                                              const struct form_plan *plan) {
    struct form_desk desk = {.list = list,
                             .plan = plan,
                             .results =
                                 processes_shared((size_t)list->count * sizeof *desk.results)};
    const struct processes processes = {.count = list->count,
                                        .jobs = plan->jobs,
                                        .context = &desk,
                                        .open = form_desk_open,
                                        .work = form_desk_work,
                                        .lost = form_desk_lost};
    processes_run(&processes);
    return desk.results;
}

/* Prints a line for every form that exceeds its bound or did not run; returns their number. */
static inline int forms_report(const struct form_list *list, const struct form_result *results,
                               FILE *out) {
    int bad = 0;
    for (int i = 0; i < list->count; i++) {
        const struct form_result *result = &results[i];
        char name[2 * FORM_TEXT];
        form_name(&list->forms[i], name);
        if (!*result->failure && !result->mismatches)
            continue;
        bad++;
        if (*result->failure)
            fprintf(out, "%s: %s\n", name, result->failure);
        else
            fprintf(out, "%s: %ld of %ld results differ, by %g units (%g are allowed); %s\n", name,
                    result->mismatches, result->compared, result->worst_ulps,
                    list->forms[i].row->ulps, result->worst);
    }
    return bad;
}

#endif
