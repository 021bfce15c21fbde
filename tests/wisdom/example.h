/*
 * example: wisdom stores and files for tests, without a search: a template's kernel with some
 * genome, machine code that is none, and figures that the test gives.
 *
 *     struct example example;
 *     example_open(&example, "templates/softmax_rows", "{ \"ROWS\": 4, \"COLS\": 40 }");
 *     example_put(&example, &genome, 3.0);
 *     example_pack(&example, "/tmp/app.wisdom");
 *     example_close(&example);
 */
#ifndef EVOTILE_TESTS_WISDOM_EXAMPLE_H
#define EVOTILE_TESTS_WISDOM_EXAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/signature.h"
#include "config/config.h"
#include "device/kernel_names.h"
#include "wisdom/program.h"
#include "wisdom/wisdom.h"

static char example_folder[] = "/tmp/evotile-wisdom-XXXXXX";

static inline const char *example_path(const char *name) {
    static char paths[4][PATH_SIZE];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_SIZE, "%s/%s", example_folder, name);
    return path;
}

static inline struct wisdom_store *example_store(const char *name, enum store_mode mode) {
    struct error error = {0};
    struct wisdom_store *store = wisdom_store_open(example_path(name), mode, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

/* What NVRTC would say that machine code calls the kernels which are C++ name expressions: their
   number among the launches. The caller frees it. */
static inline char *example_names(const struct template *template) {
    struct strbuf names = {0};
    strbuf_add(&names, "", 0);
    for (int l = 0; l < template->launches.count; l++)
        if (kernel_is_expression(template->launches.launches[l].kernel))
            strbuf_print(&names, "%s\nkernel_%d\n", template->launches.launches[l].kernel, l);
    char *copy = kernel_names_copy(names.bytes);
    strbuf_release(&names);
    return copy;
}

/* Puts a kernel's figure at one of the template's cases. The verified range is the case, unless
   `widest`: then every shape. Returns what the store did. */
static inline enum wisdom_put example_put(struct wisdom_store *store,
                                          const struct template *template,
                                          const struct genome *genome, int case_index, bool widest,
                                          struct wisdom_figure figure) {
    char machine_code[64]; /* the real one differs between architectures, too */
    struct error error = {0};
    struct strbuf code = {0}, interface = {0};
    char *names = example_names(template);
    char digest[DIGEST_TEXT_SIZE], hash[HASH_TEXT_SIZE], name[CASE_NAME_SIZE];
    char text[GENOME_TEXT_SIZE];
    int64_t values[3 * DIMENSIONS_MAX];
    const struct program_source source = {.template = template,
                                          .genome = genome,
                                          .case_index = case_index,
                                          .kernels = names,
                                          .cubin = machine_code,
                                          .cubin_bytes = sizeof machine_code};
    enum wisdom_put outcome;
    snprintf(machine_code, sizeof machine_code, "no machine code of %s",
             figure.architecture != NULL ? figure.architecture : "sm_90");
    if (program_write(&source, &code, &error) < 0 ||
        program_write_template(template, &interface, &error) < 0)
        fail_msg("%s", error.text);
    digest_print(code.bytes, code.used, digest);
    hash_print(template->hash, hash);
    template_print_shape(template, &template->cases[case_index], name);
    genome_print(genome, template->space, text);
    for (int d = 0; d < template->dimension_count; d++) {
        values[d] = template->cases[case_index].values[d];
        values[template->dimension_count + d] = widest ? INT64_MIN : values[d];
        values[2 * template->dimension_count + d] = widest ? INT64_MAX : values[d];
    }
    cJSON *object = template_shape_json(template, &template->cases[case_index]);
    char *shape = cJSON_PrintUnformatted(object);
    figure.template_name = template->name;
    figure.template_hash = hash;
    figure.device = figure.device != NULL ? figure.device : "NVIDIA H200";
    figure.case_name = name;
    figure.code = digest;
    figure.driver = figure.driver != NULL ? figure.driver : "580.1";
    figure.toolkit = "13.0";
    figure.compute_capability = figure.compute_capability > 0 ? figure.compute_capability : 90;
    figure.sm_count = figure.sm_count > 0 ? figure.sm_count : 132;
    figure.solution = template->solution;
    figure.shape = shape;
    figure.genome = text;
    figure.architecture = figure.architecture != NULL ? figure.architecture : "sm_90";
    figure.options = "-arch=sm_90";
    figure.checks = figure.conditions = figure.stale = figure.checked_driver = "";
    figure.smem_limit = 49152;
    figure.low_us = figure.low_us > 0 ? figure.low_us : figure.p50_us;
    figure.high_us = figure.high_us > 0 ? figure.high_us : figure.p50_us;
    figure.values = values;
    figure.values_bytes = 24 * template->dimension_count;
    if (wisdom_store_begin(store, &error) < 0 ||
        wisdom_store_put_code(store, WISDOM_CODES_TABLE, digest, "", code.bytes, code.used,
                              &error) < 0 ||
        wisdom_store_put_code(store, WISDOM_TEMPLATES_TABLE, hash, template->name, interface.bytes,
                              interface.used, &error) < 0 ||
        wisdom_store_put(store, &figure, &outcome, &error) < 0 ||
        wisdom_store_end(store, 0, &error) < 0)
        fail_msg("%s", error.text);
    free(names);
    cJSON_free(shape);
    cJSON_Delete(object);
    strbuf_release(&code);
    strbuf_release(&interface);
    return outcome;
}

/* Packs the store to a file of the folder. */
static inline struct wisdom_counts example_pack(struct wisdom_store *store, const char *file) {
    struct wisdom_counts counts = {0};
    struct strbuf bytes = {0};
    struct error error = {0};
    if (wisdom_pack(store, &counts, &bytes, &error) < 0 ||
        path_write_unsynced(example_path(file), bytes.bytes, bytes.used, &error) < 0)
        fail_msg("%s", error.text);
    strbuf_release(&bytes);
    return counts;
}

static inline int example_setup(void **state) {
    (void)state;
    return mkdtemp(example_folder) != NULL ? 0 : -1;
}

static inline int example_teardown(void **state) {
    struct error ignored;
    (void)state;
    return path_remove_tree(example_folder, &ignored);
}

#endif
