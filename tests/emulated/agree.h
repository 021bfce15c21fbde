/*
 * agree: compares random genomes of the templates on two devices, compiled from the same source,
 * with the same inputs and launches: the distance between their outputs, element by element.
 *
 *     struct agree_plan plan = {"emulated:sm_90", "cuda:0", .share = 1, .jobs = 16};
 *     int bad = agree_all(&plan, stdout);
 *
 * Distances are in units of the last place of the output's format (or of the coarser format that
 * the template's error bound uses), at the larger of the two numbers and the tensor's root mean
 * square: values that are nearly zero because their summands cancel are not measured relative to
 * themselves. Known differences between devices: ex2.approx and similar instructions, and the order
 * of float atomics.
 */
#ifndef EVOTILE_TESTS_EMULATED_AGREE_H
#define EVOTILE_TESTS_EMULATED_AGREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "device/nvrtc.h"
#include "device/processes.h"
#include "evaluate/buffers.h"
#include "ptx/half.h"

enum {
    AGREE_CASES = 6,
    AGREE_DEADLINE_S = 60,
    AGREE_UNITS = 4, /* the bound; an H200 differed by at most 2 (tests/gpu/README.md) */
};

struct agree_set {
    const char *name, *folder;
    int smem_limit, genomes;
    const char *cases[AGREE_CASES];
};

/* Small and ragged; one variant per set, so that a genome is compiled once. */
static const struct agree_set agree_sets[] = {
    {"attention",
     "templates/attention_fwd",
     96 << 10,
     70,
     {"{\"B\":1,\"H\":2,\"S\":17,\"S_KV\":33,\"D\":64}",
      "{\"B\":2,\"H\":3,\"H_KV\":1,\"S\":1,\"S_KV\":70,\"D\":64,\"LSE\":1}",
      "{\"B\":2,\"H\":2,\"S\":130,\"S_KV\":65,\"D\":64,\"BSHD\":1,\"SCALE\":0.3,\"GAP\":128}",
      "{\"B\":1,\"H\":4,\"H_KV\":2,\"S\":100,\"S_KV\":100,\"D\":64,\"BSHD\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":1,\"S\":64,\"S_KV\":256,\"D\":64}",
      "{\"B\":1,\"H\":1,\"S\":35,\"S_KV\":300,\"D\":64,\"LSE\":1}"}},
    {"causal attention",
     "templates/attention_fwd",
     96 << 10,
     40,
     {"{\"B\":1,\"H\":1,\"S\":77,\"D\":128,\"CAUSAL\":1,\"SCALE\":0.4}",
      "{\"B\":2,\"H\":1,\"S\":70,\"S_KV\":45,\"D\":128,\"CAUSAL\":1}",
      "{\"B\":1,\"H\":2,\"H_KV\":1,\"S\":1,\"S_KV\":90,\"D\":128,\"CAUSAL\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":1,\"S\":128,\"D\":128,\"CAUSAL\":1}",
      "{\"B\":1,\"H\":2,\"S\":33,\"S_KV\":17,\"D\":128,\"CAUSAL\":1,\"BSHD\":1}",
      "{\"B\":1,\"H\":1,\"S\":50,\"S_KV\":200,\"D\":128,\"CAUSAL\":1,\"BSHD\":1,\"GAP\":72}"}},
    {"attention of bf16",
     "templates/attention_fwd",
     96 << 10,
     40,
     {"{\"B\":1,\"H\":2,\"H_KV\":1,\"S\":50,\"S_KV\":37,\"D\":64,\"BF16\":1,\"BSHD\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":2,\"S\":17,\"S_KV\":33,\"D\":64,\"BF16\":1}",
      "{\"B\":2,\"H\":1,\"S\":1,\"S_KV\":130,\"D\":64,\"BF16\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":1,\"S\":128,\"D\":64,\"BF16\":1,\"SCALE\":0.3}",
      "{\"B\":1,\"H\":1,\"S\":65,\"S_KV\":200,\"D\":64,\"BF16\":1,\"BSHD\":1,\"GAP\":72}",
      "{\"B\":1,\"H\":1,\"S\":40,\"S_KV\":300,\"D\":64,\"BF16\":1}"}},
    {"Hopper attention",
     "templates/attention_fwd/hopper",
     200 << 10,
     60,
     {"{\"B\":1,\"H\":2,\"S\":17,\"S_KV\":33,\"D\":64}", "{\"B\":1,\"H\":1,\"S\":77,\"D\":64}",
      "{\"B\":2,\"H\":3,\"H_KV\":1,\"S\":1,\"S_KV\":70,\"D\":64,\"LSE\":1}",
      "{\"B\":1,\"H\":2,\"S\":130,\"S_KV\":65,\"D\":64,\"BSHD\":1,\"SCALE\":0.3,\"GAP\":128}",
      "{\"B\":1,\"H\":1,\"S\":64,\"S_KV\":256,\"D\":64}",
      "{\"B\":1,\"H\":2,\"H_KV\":1,\"S\":35,\"S_KV\":350,\"D\":64,\"BSHD\":1,\"GAP\":72,\"LSE\":"
      "1}"}},
    {"causal Hopper attention of bf16",
     "templates/attention_fwd/hopper",
     200 << 10,
     40,
     {"{\"B\":1,\"H\":1,\"S\":150,\"D\":128,\"CAUSAL\":1,\"BF16\":1,\"SCALE\":0.2}",
      "{\"B\":2,\"H\":1,\"S\":70,\"S_KV\":45,\"D\":128,\"CAUSAL\":1,\"BF16\":1}",
      "{\"B\":1,\"H\":1,\"S\":17,\"S_KV\":33,\"D\":128,\"CAUSAL\":1,\"BF16\":1}",
      "{\"B\":1,\"H\":2,\"H_KV\":1,\"S\":1,\"S_KV\":70,\"D\":128,\"CAUSAL\":1,\"BF16\":1}",
      "{\"B\":1,\"H\":1,\"S\":64,\"D\":128,\"CAUSAL\":1,\"BF16\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":1,\"S\":40,\"S_KV\":200,\"D\":128,\"CAUSAL\":1,\"BF16\":1,\"BSHD\":1}"}},
    {"attention of few queries",
     "templates/attention_fwd/decode",
     100 << 10,
     40,
     {"{\"B\":1,\"H\":8,\"H_KV\":2,\"S\":1,\"S_KV\":333,\"D\":64,\"CAUSAL\":1,\"LSE\":1}",
      "{\"B\":2,\"H\":3,\"H_KV\":1,\"S\":7,\"S_KV\":70,\"D\":64,\"CAUSAL\":1}",
      "{\"B\":1,\"H\":2,\"S\":20,\"S_KV\":17,\"D\":64,\"CAUSAL\":1,\"BSHD\":1,\"LSE\":1}",
      "{\"B\":1,\"H\":16,\"H_KV\":1,\"S\":2,\"S_KV\":64,\"D\":64,\"CAUSAL\":1,\"SCALE\":0.3}",
      "{\"B\":3,\"H\":5,\"H_KV\":1,\"S\":4,\"S_KV\":129,\"D\":64,\"CAUSAL\":1,\"GAP\":72}",
      "{\"B\":1,\"H\":1,\"S\":1,\"S_KV\":1,\"D\":64,\"CAUSAL\":1}"}},
    {"rows of softmax",
     "templates/softmax_rows",
     48 << 10,
     50,
     {"{\"ROWS\":5,\"COLS\":33}", "{\"ROWS\":1,\"COLS\":1}", "{\"ROWS\":3,\"COLS\":1000}",
      "{\"ROWS\":130,\"COLS\":64}", "{\"ROWS\":7,\"COLS\":333}", "{\"ROWS\":130,\"COLS\":65}"}},
};
enum { AGREE_SETS = sizeof agree_sets / sizeof *agree_sets };

struct agree_plan {
    const char *one, *other;
    int share, jobs;  /* one of `share` genomes of each set is tried */
    uint64_t seed;    /* selects other genomes */
    const char *only; /* name of the only set to run; NULL: all */
    /* Modifies the other device's output; NULL: no change. */
    void (*tamper)(void *output, size_t bytes);
};

/* Result of a genome. */
struct agree_result {
    bool tried, limited, refused; /* refused: the device has too few registers for it */
    double units[AGREE_CASES], worst;
    long elements, unequal;
    char genome[GENOME_TEXT_SIZE], where[200], failure[400];
};

/* A genome: its set, and its index there. */
struct agree_item {
    int set, number;
};

struct agree_seat {
    struct device *device;
    struct device_module *module;
    struct buffers buffers;
};

struct agree_desk {
    const struct agree_plan *plan;
    const struct agree_item *items;
    struct agree_result *results;
    struct agree_seat one, other;
    struct nvrtc *nvrtc;
    struct template *templates[AGREE_SETS]; /* loaded at the first genome */
};

static inline void agree_must(bool good, const struct error *error) {
    if (good)
        return;
    fprintf(stderr, "%s\n", error->text);
    _exit(1);
}

static inline void agree_open(void *context) {
    struct agree_desk *desk = context;
    struct error error = {0};
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    agree_must((desk->one.device = device_open(desk->plan->one, &error)) != NULL, &error);
    agree_must((desk->other.device = device_open(desk->plan->other, &error)) != NULL, &error);
    agree_must((desk->nvrtc = nvrtc_open(&error)) != NULL, &error);
}

/* Geometry may depend on the device: both runs use the geometry computed for the other device. */
static inline void agree_load(struct agree_desk *desk, int index) {
    const struct agree_set *set = &agree_sets[index];
    struct error error = {0};
    struct shape shapes[AGREE_CASES];
    struct template *bare = template_load(set->folder, NULL, &error);
    agree_must(bare != NULL, &error);
    for (int i = 0; i < AGREE_CASES; i++) {
        struct json_document document;
        agree_must(json_read_text(&document, "case", set->cases[i], &error) == 0, &error);
        struct json root = json_root(&document);
        agree_must(template_read_shape(bare, &root, NULL, &shapes[i], &error) == 0, &error);
        json_release(&document);
    }
    template_free(bare);
    const struct template_setting setting = {.device = &desk->other.device->info,
                                             .smem_limit = set->smem_limit,
                                             .cases = shapes,
                                             .case_count = AGREE_CASES};
    desk->templates[index] = template_load(set->folder, &setting, &error);
    agree_must(desk->templates[index] != NULL, &error);
}

static inline int agree_compile(struct agree_desk *desk, const struct template *template,
                                const struct genome *genome, int variant,
                                struct agree_result *result) {
    struct error error = {0};
    struct compile_options options;
    struct device_image image;
    char reason[REASON_SIZE] = "";
    char *source = template_source(template, genome, variant, &error);
    agree_must(source != NULL, &error);
    agree_must(template_options(template, genome, true, &options, &error) == 0, &error);
    int status = nvrtc_compile(desk->nvrtc, "kernel.cu", source, options.items, options.count,
                               &image, reason, &error);
    free(source);
    if (status == 0) {
        struct agree_seat *seats[] = {&desk->one, &desk->other};
        for (int i = 0; i < 2 && status == 0; i++) {
            const struct device_backend *backend = seats[i]->device->backend;
            if (seats[i]->module != NULL)
                backend->module_unload(seats[i]->device, seats[i]->module);
            seats[i]->module = NULL;
            status = backend->module_load(seats[i]->device, &image, &seats[i]->module, &error);
        }
        nvrtc_image_release(&image);
    }
    if (status != 0)
        snprintf(result->failure, sizeof result->failure, "%.390s", *reason ? reason : error.text);
    return status;
}

static inline double agree_random(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(random) >> 11) * 0x1p-53;
    return sum;
}

static inline void agree_fill(void *data, const struct planned_tensor *tensor, double range,
                              struct random *random) {
    for (int64_t i = 0; i < tensor->elements; i++) {
        float value = (float)fmax(-range, fmin(range, agree_random(random)));
        switch (tensor->dtype) {
        case DTYPE_F16:
            ((uint16_t *)data)[i] = float_to_half(value);
            break;
        case DTYPE_BF16:
            ((uint16_t *)data)[i] = float_to_bfloat(value);
            break;
        case DTYPE_F32:
            ((float *)data)[i] = value;
            break;
        default:
            fprintf(stderr, "no inputs of this type are known\n");
            _exit(1);
        }
    }
}

static inline double agree_number(const void *data, enum dtype dtype, int64_t index) {
    switch (dtype) {
    case DTYPE_F16:
        return half_to_float(((const uint16_t *)data)[index]);
    case DTYPE_BF16:
        return bfloat_to_float(((const uint16_t *)data)[index]);
    case DTYPE_F32:
        return ((const float *)data)[index];
    default:
        return ((const uint32_t *)data)[index];
    }
}

/* Compares two outputs; unwritten elements hold the same poison in both. */
static inline void agree_compare(const struct planned_tensor *tensor, const char *name,
                                 const void *one, const void *other, int index,
                                 struct agree_result *result) {
    double squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < tensor->elements; i++) {
        double value = agree_number(one, tensor->dtype, i);
        squares += isfinite(value) ? value * value : 0;
        count += isfinite(value);
    }
    double least = fmax(count > 0 ? sqrt(squares / (double)count) : 0,
                        dtype_smallest_normal(tensor->precision));
    for (int64_t i = 0; i < tensor->elements; i++) {
        double a = agree_number(one, tensor->dtype, i), b = agree_number(other, tensor->dtype, i);
        result->elements++;
        if ((isnan(a) && isnan(b)) || a == b)
            continue;
        double unit = ldexp(2 * dtype_rounding(tensor->precision),
                            ilogb(fmax(least, fmax(fabs(a), fabs(b)))));
        double distance = isfinite(a) && isfinite(b) ? fabs(a - b) / unit : INFINITY;
        result->unequal++;
        result->units[index] = fmax(result->units[index], distance);
        if (distance <= result->worst)
            continue;
        result->worst = distance;
        snprintf(result->where, sizeof result->where, "case %d, %s[%lld]: %.9g and %.9g", index,
                 name, (long long)i, a, b);
    }
}

static inline bool agree_run(struct agree_seat *seat, struct agree_result *result) {
    struct device_sequence sequence;
    char reason[REASON_SIZE] = "";
    buffers_sequence(&seat->buffers, 0, seat->module, &sequence);
    enum verdict verdict =
        seat->device->backend->run(seat->device, &sequence, AGREE_DEADLINE_S, reason);
    result->refused = verdict == VERDICT_LAUNCH_FAILED;
    if (verdict != VERDICT_OK && !result->refused)
        snprintf(result->failure, sizeof result->failure, "%s: %s: %.300s", seat->device->info.spec,
                 verdict_name(verdict), reason);
    return verdict == VERDICT_OK;
}

/* NaN in every floating dtype, and the same for both. */
static inline void agree_poison(struct agree_seat *seat, const struct template *template,
                                const struct launch_plan *plan) {
    struct error error = {0};
    for (int t = 0; t < template->tensor_count; t++) {
        size_t bytes = (size_t)plan->tensors[t].bytes;
        if (!plan->tensors[t].present || template->tensors[t].role == ROLE_INPUT)
            continue;
        void *poison = malloc(bytes);
        memset(poison, 0xff, bytes);
        agree_must(seat->device->backend->write(seat->device, seat->buffers.tensors[0][t], poison,
                                                bytes, &error) == 0,
                   &error);
        free(poison);
    }
}

/* The same inputs for both; outputs and workspaces are poison. */
static inline void agree_prepare(struct agree_desk *desk, const struct template *template,
                                 const struct launch_plan *plan, struct random *random) {
    struct agree_seat *seats[] = {&desk->one, &desk->other};
    struct error error = {0};
    for (int i = 0; i < 2; i++) {
        agree_must(buffers_init(&seats[i]->buffers, NULL, seats[i]->device, template, plan, 1,
                                &error) == 0,
                   &error);
        agree_poison(seats[i], template, plan);
    }
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &plan->tensors[t];
        if (!tensor->present || template->tensors[t].role != ROLE_INPUT)
            continue;
        void *data = malloc((size_t)tensor->bytes);
        agree_fill(data, tensor, plan->input_range, random);
        for (int i = 0; i < 2; i++)
            agree_must(seats[i]->device->backend->write(seats[i]->device,
                                                        seats[i]->buffers.tensors[0][t], data,
                                                        (size_t)tensor->bytes, &error) == 0,
                       &error);
        free(data);
    }
}

static inline void agree_outputs(struct agree_desk *desk, const struct template *template,
                                 const struct launch_plan *plan, int index,
                                 struct agree_result *result) {
    struct error error = {0};
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &plan->tensors[t];
        if (!tensor->present || template->tensors[t].role != ROLE_OUTPUT)
            continue;
        size_t bytes = (size_t)tensor->bytes;
        void *one = malloc(bytes), *other = malloc(bytes);
        agree_must(desk->one.device->backend->read(desk->one.device,
                                                   desk->one.buffers.tensors[0][t], one, bytes,
                                                   &error) == 0 &&
                       desk->other.device->backend->read(desk->other.device,
                                                         desk->other.buffers.tensors[0][t], other,
                                                         bytes, &error) == 0,
                   &error);
        if (desk->plan->tamper)
            desk->plan->tamper(other, bytes);
        agree_compare(tensor, template->tensors[t].name, one, other, index, result);
        free(one);
        free(other);
    }
}

static inline void agree_case(struct agree_desk *desk, const struct template *template,
                              const struct genome *genome, int index, struct random *random,
                              struct agree_result *result) {
    struct error error = {0};
    struct launch_plan plan;
    agree_must(template_launch_plan(template, genome, index, &plan, &error) == 0, &error);
    result->limited = plan.limited_range;
    agree_prepare(desk, template, &plan, random);
    if (agree_run(&desk->one, result) && agree_run(&desk->other, result))
        agree_outputs(desk, template, &plan, index, result);
    buffers_release(&desk->one.buffers);
    buffers_release(&desk->other.buffers);
}

static inline void agree_work(void *context, int item, int end) {
    struct agree_desk *desk = context;
    const struct agree_item *is = &desk->items[item];
    struct agree_result *result = &desk->results[item];
    struct random random;
    struct genome genome;
    (void)end;
    if (desk->templates[is->set] == NULL)
        agree_load(desk, is->set);
    const struct template *template = desk->templates[is->set];
    random_seed(&random, (uint64_t)is->number * AGREE_SETS + (uint64_t)is->set + 1,
                desk->plan->seed + 1);
    agree_must(space_sample(template->space, &random, &genome),
               &(struct error){.text = "no genome is valid"});
    genome_print(&genome, template->space, result->genome);
    int variant = -1;
    for (int i = 0; i < AGREE_CASES && !*result->failure && !result->refused; i++) {
        if (template_variant(template, i) != variant) {
            variant = template_variant(template, i);
            if (agree_compile(desk, template, &genome, variant, result) != 0)
                break;
        }
        agree_case(desk, template, &genome, i, &random, result);
    }
    result->tried = true;
    if (*result->failure && !desk->other.device->info.predicts)
        _exit(2); /* the context may be lost */
}

static inline void agree_lost(void *context, int item, int status) {
    struct agree_result *result = &((struct agree_desk *)context)->results[item];
    result->tried = true;
    if (!*result->failure)
        snprintf(result->failure, sizeof result->failure, "its process ended with status 0x%x",
                 (unsigned)status);
}

/* Prints one line per set and kind, and one for each genome that exceeded its bound or failed;
   returns the number of those. */
static inline int agree_report(const struct agree_desk *desk, int count, FILE *out) {
    int bad = 0;
    for (int i = 0; i < count; i++) {
        const struct agree_result *result = &desk->results[i];
        const struct agree_set *set = &agree_sets[desk->items[i].set];
        if (!*result->failure && result->worst <= AGREE_UNITS)
            continue;
        bad++;
        if (*result->failure)
            fprintf(out, "%s: %s\n  %s\n", set->name, result->failure, result->genome);
        else
            fprintf(out, "%s: %.3g units apart (%d are allowed), %s\n  %s\n", set->name,
                    result->worst, AGREE_UNITS, result->where, result->genome);
    }
    for (int set = 0; set < AGREE_SETS; set++)
        for (int limited = 0; limited < 2; limited++) {
            int tried = 0, refused = 0;
            long elements = 0, unequal = 0;
            double worst = 0;
            for (int i = 0; i < count; i++) {
                const struct agree_result *result = &desk->results[i];
                if (desk->items[i].set != set || result->limited != limited)
                    continue;
                tried++;
                refused += result->refused;
                elements += result->elements;
                unequal += result->unequal;
                worst = fmax(worst, result->worst);
            }
            if (tried > 0)
                fprintf(out,
                        "%s%s: %d genomes (%d not launched), %ld elements, %.2f %% unequal, worst "
                        "%.3g units\n",
                        agree_sets[set].name, limited ? ", coarser genomes" : "", tried, refused,
                        elements, elements ? 100.0 * (double)unequal / (double)elements : 0.0,
                        worst);
        }
    return bad;
}

/* Runs every genome of every set; returns how many exceeded their bounds. */
static inline int agree_all(const struct agree_plan *plan, FILE *out) {
    enum { ITEMS_MAX = 1024 };
    struct agree_item items[ITEMS_MAX];
    int count = 0;
    /* Consecutive items are of different sets, so that every process gets some of each. */
    for (int number = 0; number < ITEMS_MAX; number++)
        for (int set = 0; set < AGREE_SETS; set++)
            if (number < (agree_sets[set].genomes + plan->share - 1) / plan->share &&
                (!plan->only || !strcmp(plan->only, agree_sets[set].name)) && count < ITEMS_MAX)
                items[count++] = (struct agree_item){set, number};
    struct agree_desk desk = {
        .plan = plan,
        .items = items,
        .results = processes_shared((size_t)count * sizeof *desk.results),
    };
    const struct processes processes = {.count = count,
                                        .jobs = plan->jobs,
                                        .context = &desk,
                                        .open = agree_open,
                                        .work = agree_work,
                                        .lost = agree_lost};
    processes_run(&processes);
    int bad = agree_report(&desk, count, out);
    munmap(desk.results, (size_t)count * sizeof *desk.results);
    return bad;
}

#endif
