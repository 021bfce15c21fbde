/*
 * example: templates loaded for a fake device, and export requests with fake outcomes. For the
 * tests of export/.
 */
#ifndef EVOTILE_TESTS_FREEZE_EXAMPLE_H
#define EVOTILE_TESTS_FREEZE_EXAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "device/device.h"
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct device_info example_device = {
    .spec = "cuda:0",
    .name = "NVIDIA \"Test\"",
    .driver = "13.0",
    .compute_capability = 90,
    .sm_count = 132,
    .smem_per_block = 49152,
    .smem_per_block_optin = 232448,
    .smem_per_sm = 233472,
    .registers_per_sm = 65536,
    .threads_per_sm = 2048,
    .blocks_per_sm = 32,
    .memory_bytes = INT64_C(9007199254740993), /* not representable as a double */
};

static const char three_cases[] = "[{\"B\": 1, \"H\": 8, \"S\": 512, \"D\": 64},"
                                  " {\"B\": 2, \"H\": 8, \"S\": 512, \"D\": 64},"
                                  " {\"B\": 1, \"H\": 8, \"S\": 512, \"D\": 64, \"CAUSAL\": 1}]";
static const char one_case[] = "[{\"ROWS\": 64, \"COLS\": 512}]";

/* A request with everything that it points to. */
struct example {
    struct template_setting setting;
    struct shape shapes[CASES_MAX];
    struct template *template;
    struct template *other;   /* another solution, loaded for the same cases; NULL: none */
    bool of_other[CASES_MAX]; /* the case's genome is of that one */
    struct genome genomes[CASES_MAX];
    struct export_variant variants[CASES_MAX];
    struct export_case cases[CASES_MAX];
    struct case_outcome outcomes[CASES_MAX];
    double samples_us[CASES_MAX][50];
    struct key keys[CASES_MAX];
    char cubins[CASES_MAX][32]; /* placeholders */
    struct export_request request;
};

static inline void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static inline void example_load(struct example *example, const char *name, const char *cases,
                                const struct device_info *device) {
    struct error error = {0};
    struct json_document document;
    char folder[PATH_SIZE];
    must(path_join(folder, "templates", name, &error), &error);
    struct template *bare = template_load(folder, NULL, &error);
    must(bare != NULL ? 0 : -1, &error);
    must(json_read_text(&document, "cases", cases, &error), &error);
    struct json list = json_root(&document);
    example->setting = (struct template_setting){.device = device,
                                                 .smem_limit = 49152,
                                                 .cases = example->shapes,
                                                 .case_count = json_count(&list)};
    for (int i = 0; i < json_count(&list); i++) {
        struct json shape = json_at(&list, i);
        must(template_read_shape(bare, &shape, NULL, &example->shapes[i], &error), &error);
    }
    json_release(&document);
    template_free(bare);
    example->template = template_load(folder, &example->setting, &error);
    must(example->template != NULL ? 0 : -1, &error);
}

/* Loads another solution of the problem for the same cases. */
static inline void example_load_other(struct example *example, const char *solution) {
    struct error error = {0};
    struct template_setting setting = example->setting;
    setting.solution = solution;
    example->other = template_load(example->template->folder, &setting, &error);
    must(example->other != NULL ? 0 : -1, &error);
}

/* The template of a case's genome. */
static inline struct template *example_template(const struct example *example, int index) {
    return example->of_other[index] ? example->other : example->template;
}

static const struct conditions example_conditions = {
    .sm_mhz_low = 1560, .sm_mhz_high = 1980, .power_w = 698, .slowdowns = 4};

/* Fills the request with fake outcomes for the genomes; equal genomes share a variant. */
static inline void example_request(struct example *example) {
    const struct genome *genomes[CASES_MAX];
    const struct template *templates[CASES_MAX];
    char text[GENOME_TEXT_SIZE];
    for (int c = 0; c < example->template->case_count; c++) {
        struct latency *warm = &example->outcomes[c].warm;
        genomes[c] = &example->genomes[c];
        templates[c] = example_template(example, c);
        *warm = (struct latency){50, 7.5 + c, 8.25 + c, 9.125 + c, example->samples_us[c]};
        for (int i = 0; i < warm->sample_count; i++)
            warm->samples_us[i] = 8 + c + i / 64.0;
        example->outcomes[c].errors = (struct errors){3e-4, 5e-4, 1e-3};
        example->outcomes[c].placements = (struct placements){5, 8.125, 8.5};
        example->outcomes[c].energy = (struct energy){31.5, 0.004, 512.25, 98.5};
        example->outcomes[c].ctas = 64;
        example->cases[c] = (struct export_case){
            .outcome = &example->outcomes[c], .ratio_to_default = 1.25, .ratio_to_baseline = 1.5};
    }
    int count = export_assign_variants(templates, genomes, example->template->case_count,
                                       example->variants, example->cases);
    for (int variant = 0; variant < count; variant++) {
        struct export_variant *exported = &example->variants[variant];
        genome_print(exported->genome, exported->template->space, text);
        for (int part = 0; part < KEY_PART_COUNT; part++)
            key_set(&example->keys[variant], (enum key_part)part,
                    part == KEY_GENOME ? text : key_part_name((enum key_part)part));
        exported->key = &example->keys[variant];
        exported->cubin = example->cubins[variant];
        exported->cubin_bytes =
            (size_t)sprintf(example->cubins[variant], "machine code %d\xff", variant);
        exported->resources = (struct resources){.registers = 128, .occupancy = 0.25};
        exported->conditions = &example_conditions;
    }
    example->request = (struct export_request){.template = example->variants[0].template,
                                               .setting = &example->setting,
                                               .variant_count = count,
                                               .variants = example->variants,
                                               .cases = example->cases,
                                               .score_us = 8.5,
                                               .baseline = "flash",
                                               .replay = "evotile replay kernels/example"};
}

/* An example whose cases all have the template's default genome. */
static inline struct example *example_new_on(const char *name, const char *cases,
                                             const struct device_info *device) {
    struct example *example = calloc(1, sizeof *example);
    example_load(example, name, cases, device);
    for (int c = 0; c < example->template->case_count; c++)
        example->genomes[c] = genome_default(example->template->space);
    example_request(example);
    return example;
}

static inline struct example *example_new(const char *name, const char *cases) {
    return example_new_on(name, cases, &example_device);
}

static inline void example_free(struct example *example) {
    for (int variant = 0; variant < CASES_MAX; variant++)
        key_release(&example->keys[variant]);
    template_free(example->template);
    template_free(example->other);
    free(example);
}

/* ---- a folder for a test ---- */

static inline int make_folder(void **state) {
    char *folder = strdup("/tmp/evotile-freeze-XXXXXX");
    *state = folder;
    return folder != NULL && mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state) {
    struct error error = {0};
    int result = path_remove_tree(*state, &error);
    free(*state);
    return result;
}

/* FOLDER/NAME, in one of four static buffers: valid for the next three calls. */
static inline const char *within(const char *folder, const char *name) {
    static char paths[4][PATH_SIZE];
    static int next;
    struct error error = {0};
    next = (next + 1) % 4;
    must(path_join(paths[next], folder, name, &error), &error);
    return paths[next];
}

static inline void assert_runs(const char *format, ...) {
    char command[3 * PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

static inline char *read_text(const char *path) {
    struct error error = {0};
    char *text = path_read_file(path, 16 << 20, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    return text;
}

static inline bool file_contains(const char *path, const char *words) {
    char *text = read_text(path);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

/* The folder of the CUDA Toolkit: CUDA_HOME, else that of nvcc on PATH, else the usual one. */
static inline const char *cuda_home(void) {
    static char folder[PATH_SIZE];
    const char *home = getenv("CUDA_HOME");
    if (home != NULL && *home != '\0')
        return home;
    FILE *pipe = popen("realpath \"$(command -v nvcc)\" 2>/dev/null", "r");
    size_t length = pipe != NULL ? fread(folder, 1, sizeof folder - 1, pipe) : 0;
    if (pipe != NULL)
        pclose(pipe);
    folder[length] = '\0';
    char *end = strstr(folder, "/bin/nvcc");
    if (end == NULL)
        return "/usr/local/cuda";
    *end = '\0';
    return folder;
}

#endif
