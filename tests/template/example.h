/* A small template in a temporary folder, which tests modify in one place at a time. */
#ifndef EVOTILE_TESTS_TEMPLATE_EXAMPLE_H
#define EVOTILE_TESTS_TEMPLATE_EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "device/device.h"
#include "template/template.h"

/* The text of tests/template/example.json, read by example_new. Tests run in the top folder. */
static char example_json[8192];

static const char example_kernel[] = "#include \"lib/a.cuh\"\n"
                                     "#include \"lib/b.cuh\"\n"
                                     "// kernel\n"
                                     "#include <cuda_fp16.h>\n";

/* A temporary folder that contains NAME/ and lib/. */
struct example {
    char top[64];
    char folder[PATH_SIZE];
};

static inline void example_put(const struct example *example, const char *name, const char *text) {
    struct error error = {0};
    char path[PATH_SIZE];
    if (path_join(path, example->top, name, &error) < 0 ||
        path_write_file(path, text, strlen(text), &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
}

static inline void example_new(struct example *example) {
    struct error error = {0};
    char path[PATH_SIZE];
    strcpy(example->top, "/tmp/evotile-template-XXXXXX");
    if (mkdtemp(example->top) == NULL ||
        path_join(example->folder, example->top, "example", &error) < 0 ||
        path_join(path, example->top, "lib", &error) < 0 || path_make_folder(path, &error) < 0 ||
        path_make_folder(example->folder, &error) < 0)
        abort();
    char *json =
        path_read_file("tests/template/example.json", sizeof example_json - 1, NULL, &error);
    if (json == NULL)
        abort();
    strcpy(example_json, json);
    free(json);
    example_put(example, "example/template.json", example_json);
    example_put(example, "example/kernel.cu", example_kernel);
    example_put(example, "example/reference.cu", "#include \"lib/b.cuh\"\n// reference\n");
    example_put(example, "example/plain.cu", "// plain\n");
    example_put(example, "lib/a.cuh", "#pragma once\n#include \"lib/b.cuh\"\n// a\n");
    example_put(example, "lib/b.cuh", "// b");
}

static inline void example_free(const struct example *example) {
    struct error error = {0};
    if (path_remove_tree(example->top, &error) < 0)
        abort();
}

static const struct device_info example_device = {
    .compute_capability = 90,
    .sm_count = 132,
    .registers_per_sm = 65536,
    .threads_per_sm = 2048,
};

/* The example of a test file, with one case. */
static struct example example;
static const struct shape example_shape = {{1000, 4, 0}};
static const struct template_setting example_setting = {
    .device = &example_device, .smem_limit = 49152, .cases = &example_shape, .case_count = 1};

static inline int example_setup(void **state) {
    (void)state;
    example_new(&example);
    return 0;
}

static inline int example_teardown(void **state) {
    (void)state;
    example_free(&example);
    return 0;
}

/* Writes its template.json with one piece replaced. */
static inline void example_replace(const char *piece, const char *other) {
    char json[2 * sizeof example_json];
    const char *at = strstr(example_json, piece);
    if (at == NULL) {
        fprintf(stderr, "the example does not hold: %s\n", piece);
        abort();
    }
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - example_json), example_json, other,
             at + strlen(piece));
    example_put(&example, "example/template.json", json);
}

#endif
