/*
 * verify_fixture: verifies genomes of real templates on one input at a time, on any device: shared
 * by the tests of the error bound. `drop_tile` plants the mutation that the bound is designed to
 * catch: a kernel that skips one tile of keys.
 *
 *     struct verify_fixture fixture;
 *     verify_fixture_open(&fixture, "emulated:sm_89");
 *     verify_fixture_load(&fixture, "templates/attention_fwd", "{\"S\": 100}");    // a case
 *     verify_fixture_build(&fixture, &genome, NULL, NULL);
 *     verdict = verify_fixture_run(&fixture, &input, &found, reason);
 */
#ifndef EVOTILE_TESTS_TRIAL_VERIFY_FIXTURE_H
#define EVOTILE_TESTS_TRIAL_VERIFY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "device/nvrtc.h"
#include "evaluate/reference_program.h"
#include "evaluate/verify.h"
#include "session/image_cache.h"

/* NVRTC leaks memory when it is unloaded. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

struct verify_fixture {
    struct device *device;
    struct cache *cache; /* reuses the template's reference between shapes */
    struct nvrtc *nvrtc;
    struct comparator *comparator;
    struct template *template;
    struct device_module *reference, *plain, *candidate; /* NULL where there are no kernels */
    struct reference_program *program;                   /* NULL: the reference is none */
    struct genome genome;
};

static inline void must(int status, const struct error *error) {
    if (status != 0)
        fail_msg("%s", error->text);
}

static inline void verify_fixture_open(struct verify_fixture *verify_fixture, const char *spec) {
    struct error error = {0};
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    *verify_fixture = (struct verify_fixture){.device = device_open(spec, &error)};
    must(verify_fixture->device != NULL ? 0 : -1, &error);
    verify_fixture->nvrtc = nvrtc_open(&error);
    must(verify_fixture->nvrtc != NULL ? 0 : -1, &error);
    verify_fixture->cache = cache_new(NULL, 0);
    const struct image_cache images = image_cache_on_disk(verify_fixture->cache);
    nvrtc_use_cache(verify_fixture->nvrtc, &images);
    verify_fixture->comparator =
        comparator_new(verify_fixture->device, verify_fixture->nvrtc, &error);
    must(verify_fixture->comparator != NULL ? 0 : -1, &error);
}

static inline void verify_fixture_unload(struct verify_fixture *verify_fixture,
                                         struct device_module **module) {
    if (*module != NULL)
        verify_fixture->device->backend->module_unload(verify_fixture->device, *module);
    *module = NULL;
}

/* Compiles and loads a module; takes ownership of `source`. `kernels`: of those that it names by
   expressions; NULL: none. */
static inline void verify_fixture_compile_kernels(struct verify_fixture *verify_fixture,
                                                  char *source,
                                                  const struct compile_options *options,
                                                  const struct kernel_list *kernels,
                                                  struct device_module **module) {
    struct error error = {0};
    char reason[REASON_SIZE];
    char architecture[32];
    struct device_image image;
    const char *plain[] = {architecture, "--std=c++17", "--ptxas-options=-v"};
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             verify_fixture->device->info.compute_capability);
    assert_non_null(source);
    const struct nvrtc_program program = {
        .name = "test.cu",
        .source = source,
        .options = options != NULL ? options->items : plain,
        .option_count = options != NULL ? options->count : 3,
        .kernels = kernels != NULL ? kernels->items : NULL,
        .kernel_count = kernels != NULL ? kernels->count : 0,
    };
    int status =
        nvrtc_compile_program(verify_fixture->nvrtc, &program, false, &image, reason, &error);
    free(source);
    if (status == 1)
        fail_msg("%s", reason);
    must(status, &error);
    verify_fixture_unload(verify_fixture, module);
    must(verify_fixture->device->backend->module_load(verify_fixture->device, &image, module,
                                                      &error),
         &error);
    nvrtc_image_release(&image);
}

static inline void verify_fixture_compile(struct verify_fixture *verify_fixture, char *source,
                                          const struct compile_options *options,
                                          struct device_module **module) {
    verify_fixture_compile_kernels(verify_fixture, source, options, NULL, module);
}

/* Compiles and loads a genome of the template. */
static inline void verify_fixture_compile_genome(struct verify_fixture *verify_fixture,
                                                 const struct genome *genome,
                                                 char *(*mutate)(char *source, void *context),
                                                 void *context, struct device_module **module) {
    const struct template *template = verify_fixture->template;
    struct error error = {0};
    struct compile_options options;
    struct kernel_list kernels;
    char *source = template_source(template, genome, 0, &error);
    must(source != NULL ? 0 : -1, &error);
    if (mutate != NULL)
        source = mutate(source, context);
    must(
        template_options(template, genome, verify_fixture->device->info.predicts, &options, &error),
        &error);
    must(template_kernels(template, genome, 0, &kernels, &error), &error);
    verify_fixture_compile_kernels(verify_fixture, source, &options, &kernels, module);
}

/* Loads who says what is right. */
static inline void verify_fixture_load_reference(struct verify_fixture *verify_fixture) {
    const struct template *template = verify_fixture->template;
    const struct genome usual = genome_default(template->space);
    struct error error = {0};
    struct kernel_list kernels;
    verify_fixture_unload(verify_fixture, &verify_fixture->reference);
    verify_fixture_unload(verify_fixture, &verify_fixture->plain);
    launch_list_kernels(&template->reference, &kernels);
    if (template->reference_kind == REFERENCE_KERNEL)
        verify_fixture_compile_kernels(verify_fixture, template_reference_source(template, &error),
                                       NULL, &kernels, &verify_fixture->reference);
    if (template->reference_kind == REFERENCE_DEFAULT_GENOME)
        verify_fixture_compile_genome(verify_fixture, &usual, NULL, NULL,
                                      &verify_fixture->reference);
    if (template->reference_kind == REFERENCE_PROGRAM) {
        verify_fixture->program = reference_program_new(template, &error);
        must(verify_fixture->program != NULL ? 0 : -1, &error);
    }
    launch_list_kernels(&template->plain, &kernels);
    if (template->plain_kind != PLAIN_NONE)
        verify_fixture_compile_kernels(verify_fixture, template_plain_source(template, &error),
                                       NULL, &kernels, &verify_fixture->plain);
}

/* The template for cases of one variant, and its reference and plain kernels. */
static inline void verify_fixture_load_cases(struct verify_fixture *verify_fixture,
                                             const char *folder, char *const *shape_texts,
                                             int count, int smem_limit) {
    struct error error = {0};
    struct json_document document;
    struct shape shapes[CASES_MAX];
    struct template *bare = template_load(folder, NULL, &error);
    must(bare != NULL ? 0 : -1, &error);
    for (int i = 0; i < count; i++) {
        must(json_read_text(&document, "shape", shape_texts[i], &error), &error);
        struct json root = json_root(&document);
        must(template_read_shape(bare, &root, NULL, &shapes[i], &error), &error);
        json_release(&document);
    }
    template_free(bare);
    const struct template_setting setting = {.device = &verify_fixture->device->info,
                                             .smem_limit = smem_limit,
                                             .cases = shapes,
                                             .case_count = count};
    reference_program_free(verify_fixture->program);
    verify_fixture->program = NULL;
    template_free(verify_fixture->template);
    verify_fixture->template = template_load(folder, &setting, &error);
    must(verify_fixture->template != NULL ? 0 : -1, &error);
    verify_fixture_load_reference(verify_fixture);
    must(comparator_load_setup(verify_fixture->comparator, verify_fixture->nvrtc,
                               verify_fixture->template, &error),
         &error);
}

/* The same for one case. */
static inline void verify_fixture_load(struct verify_fixture *verify_fixture, const char *folder,
                                       const char *shape_text) {
    verify_fixture_load_cases(verify_fixture, folder, (char *[]){(char *)(uintptr_t)shape_text}, 1,
                              48 << 10);
}

/* Builds a genome. `mutate`, unless NULL, frees the source and returns a changed one. */
static inline void verify_fixture_build(struct verify_fixture *verify_fixture,
                                        const struct genome *genome,
                                        char *(*mutate)(char *source, void *context),
                                        void *context) {
    verify_fixture->genome = *genome;
    verify_fixture_compile_genome(verify_fixture, genome, mutate, context,
                                  &verify_fixture->candidate);
}

/* What verify_input needs to know of the genome at a case. */
static inline struct verify_case verify_fixture_case(const struct verify_fixture *verify_fixture,
                                                     int case_index) {
    return (struct verify_case){.device = verify_fixture->device,
                                .comparator = verify_fixture->comparator,
                                .reference = verify_fixture->reference,
                                .plain = verify_fixture->plain,
                                .program = verify_fixture->program,
                                .template = verify_fixture->template,
                                .genome = &verify_fixture->genome,
                                .case_index = case_index,
                                .module = verify_fixture->candidate,
                                .deadline_s = 60};
}

static inline enum verdict verify_fixture_run(struct verify_fixture *verify_fixture,
                                              const struct verify_input *input,
                                              struct verify_result *found,
                                              char reason[REASON_SIZE]) {
    struct error error = {0};
    const struct verify_case one = verify_fixture_case(verify_fixture, 0);
    must(verify_input(&one, input, found, &error) < 0 ? -1 : 0, &error);
    snprintf(reason, REASON_SIZE, "%s", found->failure.reason);
    return found->failure.verdict;
}

static inline void verify_fixture_close(struct verify_fixture *verify_fixture) {
    verify_fixture_unload(verify_fixture, &verify_fixture->candidate);
    verify_fixture_unload(verify_fixture, &verify_fixture->plain);
    verify_fixture_unload(verify_fixture, &verify_fixture->reference);
    reference_program_free(verify_fixture->program);
    template_free(verify_fixture->template);
    comparator_free(verify_fixture->comparator);
    nvrtc_close(verify_fixture->nvrtc);
    cache_free(verify_fixture->cache);
    device_close(verify_fixture->device);
}

/* ---- the mutation ---- */

struct dropped {
    int tile;
    bool one_unit; /* only for the first tile of queries of the first head */
};

/* Makes has_visible_keys return false for one tile, so that the kernel skips it. */
static inline char *drop_tile(char *source, void *context) {
    static const char answer[] = "    return !causal ||";
    const struct dropped *dropped = context;
    char *at = strstr(source, answer);
    assert_non_null(at);
    assert_null(strstr(at + 1, answer));
    size_t size = strlen(source) + 160;
    char *mutant = malloc(size);
    assert_non_null(mutant);
    snprintf(mutant, size, "%.*s    if (tile == %d && %s)\n        return false;\n%s",
             (int)(at - source), source, dropped->tile,
             dropped->one_unit ? "work.head == 0 && work.first_row == 0" : "true", at);
    free(source);
    return mutant;
}

/* A value of a genome's gene, by name. */
static inline int64_t gene_value(const struct template *template, const struct genome *genome,
                                 const char *gene) {
    int index = space_find_gene(template->space, gene);
    return template->space->genes[index].values[genome->value[index]];
}

#endif
