/*
 * many: tries 16 different random genomes of a template, spread over its sets, each
 * compiled to PTX only and run once at each shape of its set and at the template's probe cases;
 * with EVOTILE_LONG=1, as `make check-long` sets it, 200. All genomes share a shape's inputs,
 * reference outputs and error bounds (from the plain kernel's errors, or the output's own), so a
 * genome costs little more than its compilation.
 *
 *     int main(void) { return try_many("templates/attention_fwd", 0, 2); }
 *
 * tries the first half of the sets; long tests are split into two that run concurrently. Compared
 * with a trial (genomes.h), it omits the machine code and its registers, second runs and hard
 * inputs. A genome that writes outside its tensors or to its inputs is a fault in both.
 */
#ifndef EVOTILE_TESTS_EMULATED_MANY_H
#define EVOTILE_TESTS_EMULATED_MANY_H

#include "emulated/genomes.h"

#include <math.h>

#include "evaluate/evaluation.h"
#include "evaluate/prepare_call.h"
#include "evaluate/references.h"

#ifdef __SANITIZE_ADDRESS__ /* ten times as slow; fewer genomes suffice for its purpose */
enum { MANY_GENOMES = 10, MANY_GENOMES_LONG = 20 };
#else
enum { MANY_GENOMES = 16, MANY_GENOMES_LONG = 200 };
#endif
enum { MANY_GENOMES_MAX = 500 };
enum { SHAPES_MAX = 16, MANY_OPTIONS_MAX = 16 };

/* The inputs of a shape, and the expected outputs. */
struct known_shape {
    const struct template *template;
    int index; /* among the template's cases */
    struct launch_plan given;
    struct buffers inputs;
    struct reference_runs *runs;
    struct comparison plain_kernel_errors[TENSORS_MAX]; /* the plain kernel's errors */
};

static inline void require_success(int status, const struct error *error) {
    if (status < 0)
        fail_msg("%s", error->text);
}

/* Runs a candidate's plan on the inputs, with tensors of its own. */
static inline void run_plan(struct sample *sample, const struct buffers *inputs,
                            const struct launch_plan *plan, struct device_module *module,
                            struct buffers *made, const char *who) {
    struct error error = {0};
    struct device_sequence sequence;
    char reason[REASON_SIZE];
    struct launch_plan own = *plan;
    uint64_t tensors[TENSORS_MAX];
    const struct template *template = inputs->template;
    for (int t = 0; t < template->tensor_count; t++)
        own.tensors[t].present =
            plan->tensors[t].present && template->tensors[t].role != ROLE_INPUT;
    require_success(buffers_init(made, sample->evaluator->comparator, sample->device, template,
                                 &own, 1, &error),
                    &error);
    made->plan = plan;
    memcpy(tensors, made->tensors[0], sizeof tensors);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_INPUT)
            made->tensors[0][t] = inputs->tensors[0][t];
    buffers_sequence(made, 0, module, &sequence);
    int status = buffers_prepare_call(made, 0, module, reason, &error);
    require_success(status, &error);
    memcpy(made->tensors[0], tensors, sizeof tensors);
    if (status == 1 ||
        sample->device->backend->run(sample->device, &sequence, 120, reason) != VERDICT_OK)
        fail_msg("%s: %s", who, reason);
}

static inline void compare_output(struct sample *sample, const struct known_shape *known, int t,
                                  const struct buffers *made, struct comparison *comparison) {
    struct error error = {0};
    const struct planned_tensor *tensor = &made->plan->tensors[t];
    const struct compared compared = {
        .output = made->tensors[0][t],
        .tensor = tensor,
        .reference = known->runs->reference.buffers.tensors[0][t],
        .magnitudes = reference_magnitudes(known->runs, tensor),
    };
    require_success(
        comparator_compare(sample->evaluator->comparator, &compared, 1, comparison, &error),
        &error);
}

static inline bool is_output(const struct sample *sample, const struct launch_plan *plan, int t) {
    return plan->tensors[t].present && sample->template->tensors[t].role == ROLE_OUTPUT;
}

static inline void know_shape(struct sample *sample, const struct template *template, int index,
                              struct known_shape *known) {
    struct error error = {0};
    struct genome genome = genome_default(sample->template->space);
    const struct verify_case one = {
        .device = sample->device,
        .comparator = sample->evaluator->comparator,
        .reference = sample->evaluator->reference,
        .plain = sample->evaluator->plain,
        .template = template,
        .genome = &genome,
        .case_index = index,
        .deadline_s = 120,
    };
    *known = (struct known_shape){.template = template, .index = index};
    assert_int_equal(template_variant(template, index), 0); /* one compilation serves all */
    known->runs = reference_runs_new(&one, &error);
    require_success(known->runs != NULL ? 0 : -1, &error);
    known->given = known->runs->reference.plan;
    for (int t = 0; t < template->tensor_count; t++)
        known->given.tensors[t].present &= template->tensors[t].role == ROLE_INPUT;
    require_success(buffers_init(&known->inputs, one.comparator, sample->device, template,
                                 &known->given, 1, &error),
                    &error);
    require_success(buffers_fill(&known->inputs, 0, (uint64_t)index + 1, &error), &error);
    require_success(run_references(&one, &known->inputs, 0, known->runs, &error), &error);
    require_success(comparator_finish(one.comparator, &error), &error);
    const struct planned_buffers *plain = &known->runs->plain;
    for (int t = 0; t < template->tensor_count; t++)
        if (is_output(sample, &plain->plan, t))
            compare_output(sample, known, t, &plain->buffers, &known->plain_kernel_errors[t]);
    require_success(buffers_protect(&known->inputs, 0, true, &error), &error);
}

/* The same PTX as with the genome's own options, which also request machine code. */
static inline void compile_to_ptx(struct sample *sample, const struct genome *genome,
                                  const char *name, struct device_module **module) {
    static const char real[] = "--gpu-architecture=sm_", virtual[] = "--gpu-architecture=compute_";
    struct error error = {0};
    struct compile_options options;
    struct device_image image;
    char architecture[64], reason[REASON_SIZE];
    const char *items[MANY_OPTIONS_MAX] = {architecture};
    int count = 1;
    require_success(template_options(sample->template, genome, true, &options, &error), &error);
    assert_true(options.count <= MANY_OPTIONS_MAX);
    assert_memory_equal(options.items[0], real, sizeof real - 1);
    snprintf(architecture, sizeof architecture, "%s%s", virtual,
             options.items[0] + sizeof real - 1);
    for (int i = 1; i < options.count; i++)
        if (strncmp(options.items[i], "--ptxas", strlen("--ptxas")) != 0)
            items[count++] = options.items[i];
    char *source = template_source(sample->template, genome, 0, &error);
    require_success(source != NULL ? 0 : -1, &error);
    struct kernel_list kernels;
    require_success(template_kernels(sample->template, genome, 0, &kernels, &error), &error);
    const struct nvrtc_program program = {.name = sample->template->source,
                                          .source = source,
                                          .options = items,
                                          .option_count = count,
                                          .kernels = kernels.items,
                                          .kernel_count = kernels.count};
    int status = nvrtc_compile_program(compiler_nvrtc(sample->compiler), &program, true, &image,
                                       reason, &error);
    free(source);
    if (status != 0)
        fail_msg("%s: %s", name, status == 1 ? reason : error.text);
    require_success(sample->device->backend->module_load(sample->device, &image, module, &error),
                    &error);
    nvrtc_image_release(&image);
}

static inline void try_at(struct sample *sample, const struct known_shape *known,
                          const struct genome *genome, struct device_module *module,
                          const char *name) {
    struct error error = {0};
    struct launch_plan plan;
    struct buffers made;
    struct failure failure = {0};
    char shape[GENOME_TEXT_SIZE];
    require_success(template_launch_plan(known->template, genome, known->index, &plan, &error),
                    &error);
    run_plan(sample, &known->inputs, &plan, module, &made, name);
    for (int t = 0; t < sample->template->tensor_count; t++) {
        struct comparison found;
        if (!is_output(sample, &plan, t))
            continue;
        compare_output(sample, known, t, &made, &found);
        const struct comparison *plain = &known->plain_kernel_errors[t];
        const struct errors bound = error_bound(plain, &plan.tensors[t], &plan);
        if (!verify_judge(sample->template->tensors[t].name, plain, &found, &bound,
                          &plan.tensors[t].tolerance, &failure))
            continue;
        template_print_shape(known->template, &known->template->cases[known->index], shape);
        fail_msg("%s\nis wrong at %s, %s", name, shape, failure.reason);
    }
    buffers_release(&made);
}

/* Returns the number of shapes tried. */
static inline int try_genome_once(struct sample *sample, const struct known_shape *known, int count,
                                  const struct genome *genome) {
    struct device_module *module;
    char name[GENOME_TEXT_SIZE];
    int tried = 0;
    genome_print(genome, sample->template->space, name);
    compile_to_ptx(sample, genome, name, &module);
    for (int i = 0; i < count; i++)
        if (template_genome_is_valid(known[i].template, genome, known[i].index)) {
            try_at(sample, &known[i], genome, module, name);
            tried++;
        }
    sample->device->backend->module_unload(sample->device, module);
    return tried;
}

static inline void draw_another(const struct sample *sample, struct random *random,
                                struct genome *genomes, int count) {
    bool known = true;
    for (int i = 0; known; i++) {
        assert_true(i < 1000 && space_sample(sample->template->space, random, &genomes[count]));
        known = false;
        for (int j = 0; j < count && !known; j++)
            known = genome_equal(&genomes[j], &genomes[count]);
    }
}

struct resource_limits {
    const struct genome_set *set;
    int genomes;
};

static inline void results_match(void **state) {
    static struct genome genomes[MANY_GENOMES_MAX];
    static struct known_shape known[SHAPES_MAX];
    const struct resource_limits *share = *state;
    struct error error = {0};
    struct sample sample;
    struct random random;
    int shapes = 0, tried = 0;
    open_sample(&sample, share->set, false);
    const struct template_setting setting = config_setting(sample.config, 0, &sample.device->info);
    struct template *probes = template_load_probes(sample.template, &setting, &error);
    require_success(probes != NULL ? 0 : -1, &error);
    assert_true(sample.template->case_count + probes->case_count <= SHAPES_MAX);
    for (int c = 0; c < sample.template->case_count; c++)
        know_shape(&sample, sample.template, c, &known[shapes++]);
    for (int c = 0; c < probes->case_count; c++)
        know_shape(&sample, probes, c, &known[shapes++]);
    random_seed(&random, (uint64_t)(share->set - genome_sets) + 1, 2);
    for (int i = 0; i < share->genomes; i++) {
        draw_another(&sample, &random, genomes, i);
        tried += try_genome_once(&sample, known, shapes, &genomes[i]);
    }
    print_message("%d genomes, %d runs at %d shapes\n", share->genomes, tried, shapes);
    assert_true(tried >= 3 * share->genomes);
    for (int i = 0; i < shapes; i++) {
        reference_runs_free(known[i].runs);
        buffers_release(&known[i].inputs);
    }
    template_free(probes);
    close_sample(&sample);
}

/* Tries `genomes` of a template, spread over its sets, and of these the part-th of `parts`. */
static inline int try_genomes(const char *folder, int part, int parts, int genomes) {
    struct resource_limits shares[GENOME_SETS];
    struct CMUnitTest tests[GENOME_SETS];
    int count = 0;
    assert_true(genomes <= MANY_GENOMES_MAX);
    for (int i = 0; i < GENOME_SETS; i++)
        if (strcmp(genome_sets[i].folder, folder) == 0)
            shares[count++].set = &genome_sets[i];
    int first = count * part / parts, end = count * (part + 1) / parts;
    for (int i = first; i < end; i++) {
        shares[i].genomes = genomes * (i + 1) / count - genomes * i / count;
        tests[i - first] = (struct CMUnitTest){
            .name = shares[i].set->name, .test_func = results_match, .initial_state = &shares[i]};
    }
    return _cmocka_run_group_tests(folder, tests, (size_t)(end - first), NULL, NULL);
}

static inline int try_many(const char *folder, int part, int parts) {
    return try_genomes(folder, part, parts,
                       getenv("EVOTILE_LONG") != NULL ? MANY_GENOMES_LONG : MANY_GENOMES);
}

#endif
