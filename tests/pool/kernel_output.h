/*
 * kernel_output: a trial of a kernel that prints, and what that wrote to standard error. Shared by
 * the tests of the emulated device and of a GPU.
 */
#ifndef EVOTILE_TESTS_POOL_KERNEL_OUTPUT_H
#define EVOTILE_TESTS_POOL_KERNEL_OUTPUT_H

#include "evaluate/tiny.h"

#include "pool/local_pool.h"

enum { OUTPUT_LIMIT_S = 100 };

/* The kernel of tests/templates/scaled_add, which also runs PRINT. */
#define KERNEL(print)                                                                              \
    "extern \"C\" __global__ void scaled_add(const float *a, const float *b, float *c, int ROWS, " \
    "int COLS) {\n"                                                                                \
    "    for (int i = blockIdx.x * THREADS + threadIdx.x; i < ROWS * COLS; i += gridDim.x * "      \
    "THREADS)\n"                                                                                   \
    "        c[i] = 2.0f * a[i] + b[i] + BIAS;\n"                                                  \
    "    if (blockIdx.x == 0 && threadIdx.x == 0) {\n"                                             \
    "        " print "\n"                                                                          \
    "    }\n"                                                                                      \
    "}\n"

struct printed {
    struct trial_result result;
    char *text;
    size_t length;
};

/* The source of the template's default genome, with `kernel` in place of the template's. */
static inline void write_source(const struct tiny *tiny, const char *kernel, char path[PATH_SIZE],
                                struct genome *genome) {
    struct error error = {0};
    struct device_info device;
    struct config *config = config_from_text("config.json", TINY_CONFIG "}", TINY_TEMPLATE, &error);
    assert_non_null(config);
    assert_int_equal(device_describe(TINY_DEVICE, &device, &error), 0);
    struct template *template = config_load_template(config, 0, &device, &error);
    assert_non_null(template);
    assert_int_equal(genome_parse(genome, template->space, "", &error), 0);
    char *source = template_source(template, genome, 0, &error);
    assert_non_null(source);
    char *start = strstr(source, "// c = 2 a + b");
    assert_non_null(start);
    *start = '\0';
    size_t size = strlen(source) + strlen(kernel) + 1;
    char *whole = malloc(size);
    snprintf(whole, size, "%s%s", source, kernel);
    assert_int_equal(path_join(path, tiny->folder, "candidate.cu", &error), 0);
    assert_int_equal(path_write_file(path, whole, strlen(whole), &error), 0);
    free(whole);
    free(source);
    template_free(template);
    config_free(config);
}

static inline struct trial_result run_in_pool(const struct tiny *tiny, const char *device,
                                              const char *source, const struct genome *genome) {
    struct error error = {0};
    struct trial_result result = {0};
    const struct local_pool_settings settings = {.program = tiny->program,
                                                 .config_path = tiny->config,
                                                 .template_folder = TINY_TEMPLATE,
                                                 .devices = device,
                                                 .compile_workers = 1,
                                                 .device_workers = 1};
    struct pool *pool = local_pool_new(&settings, &error);
    if (pool == NULL)
        fail_msg("%s", error.text);
    struct trial_request request = {.genome = *genome, .seed = 1};
    request.sources[0] = strdup(source);
    pool_submit(pool, &request);
    if (pool_wait(pool, OUTPUT_LIMIT_S, &result, &error) != 1)
        fail_msg("no result: %s", error.text);
    pool_free(pool);
    return result;
}

/* A trial of `kernel`, and what it wrote to standard error: a file, which never blocks. */
static inline void print_and_capture(const char *device, const char *kernel,
                                     struct printed *printed) {
    struct tiny tiny;
    struct genome genome;
    char path[PATH_SIZE];
    struct stat status;
    tiny_make(&tiny, TINY_CONFIG "}");
    write_source(&tiny, kernel, path, &genome);
    FILE *file = tmpfile();
    assert_non_null(file);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    printed->result = run_in_pool(&tiny, device, path, &genome);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(fstat(fileno(file), &status), 0);
    printed->length = (size_t)status.st_size;
    printed->text = calloc(1, printed->length + 1);
    rewind(file);
    assert_int_equal(fread(printed->text, 1, printed->length, file), printed->length);
    fclose(file);
    tiny_remove(&tiny);
}

static inline void release_printed(struct printed *printed) {
    trial_result_release(&printed->result);
    free(printed->text);
}

#endif
