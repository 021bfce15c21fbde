#include "evaluate/compile.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/nvtx.h"

#include <string.h>

enum { SOURCE_BYTES_MAX = 4 << 20, CUBIN_BYTES_MAX = 64 << 20 };

struct compiler {
    const struct evaluation_settings *settings;
    struct device_info device;
    struct nvrtc *nvrtc;
    struct template *templates[GOALS_MAX]; /* by goal, loaded on first use */
};

struct compiler *compiler_new(const struct evaluation_settings *settings,
                              const struct device_info *device, const struct image_cache *cache,
                              struct error *error) {
    struct compiler *compiler = xcalloc(1, sizeof *compiler);
    compiler->settings = settings;
    compiler->device = *device;
    compiler->nvrtc = nvrtc_open(error);
    if (compiler->nvrtc == NULL)
        goto failed;
    nvrtc_use_cache(compiler->nvrtc, cache);
    if (!nvrtc_supports(compiler->nvrtc, device->compute_capability)) {
        error_set(error, "NVRTC %s does not compile for sm_%d: install a CUDA Toolkit that does",
                  nvrtc_version(compiler->nvrtc), device->compute_capability);
        goto failed;
    }
    return compiler;
failed:
    compiler_free(compiler);
    return NULL;
}

void compiler_free(struct compiler *compiler) {
    if (compiler == NULL)
        return;
    for (int g = 0; g < GOALS_MAX; g++)
        template_free(compiler->templates[g]);
    nvrtc_close(compiler->nvrtc);
    free(compiler);
}

int load_kernels(struct device *device, struct nvrtc *nvrtc, const char *name, const char *source,
                 const struct launch_list *launches, struct device_module **module,
                 char reason[REASON_SIZE], struct error *error) {
    struct kernel_list kernels = {0};
    char architecture[32];
    struct device_image image;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             device->info.compute_capability);
    const char *options[] = {architecture, "--std=c++17", "--ptxas-options=-v", "-lineinfo"};
    if (launches != NULL)
        launch_list_kernels(launches, &kernels);
    const struct nvrtc_program program = {.name = name,
                                          .source = source,
                                          .options = options,
                                          .option_count = 4,
                                          .kernels = kernels.items,
                                          .kernel_count = kernels.count};
    int status = nvrtc_compile_program(nvrtc, &program, false, &image, reason, error);
    if (status != 0)
        return status;
    status = device->backend->module_load(device, &image, module, error);
    nvrtc_image_release(&image);
    return status;
}

struct nvrtc *compiler_nvrtc(struct compiler *compiler) {
    return compiler->nvrtc;
}

const struct template *compiler_template(struct compiler *compiler, int goal, struct error *error) {
    if (compiler->templates[goal] == NULL)
        compiler->templates[goal] =
            evaluation_template(compiler->settings, goal, &compiler->device, error);
    return compiler->templates[goal];
}

static void join_options(const struct compile_options *options, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < options->count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", options->items[i]);
}

static void fill_key(struct compiler *compiler, const struct template *template,
                     const struct trial_request *request, const struct compile_options *options,
                     struct key *key) {
    char text[CASES_MAX * (CASE_NAME_SIZE + 32)];
    char name[GENOME_TEXT_SIZE];
    const double *weights = compiler->settings->weights;
    char hash[HASH_TEXT_SIZE];
    size_t used = 0;
    genome_print(&request->genome, template->space, name);
    key_set(key, KEY_GENOME, name);
    snprintf(text, sizeof text, "%s %s", template->name, hash_print(template->hash, hash));
    key_set(key, KEY_TEMPLATE, text);
    join_options(options, text, sizeof text);
    key_set(key, KEY_OPTIONS, text);
    for (int c = 0; c < template->case_count; c++) {
        template_print_shape(template, &template->cases[c], name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", c > 0 ? ";" : "", name);
        if (weights != NULL) /* the score depends on them */
            used += (size_t)snprintf(text + used, sizeof text - used, " x %.15g", weights[c]);
    }
    key_set(key, KEY_CASES, text);
    trial_key_set_environment(key, &compiler->device, nvrtc_version(compiler->nvrtc),
                              compiler->settings->timing.regime);
}

/* ptxas -v reports for each kernel: "8 bytes stack frame, 4 bytes spill stores, 4 bytes spill
   loads". */
static int spill_bytes(const char *log) {
    int most = 0;
    for (const char *at = log; (at = strstr(at, " bytes stack frame, ")) != NULL;) {
        int stores = 0;
        int loads = 0;
        at += strlen(" bytes stack frame, ");
        if (sscanf(at, "%d bytes spill stores, %d bytes spill loads", &stores, &loads) == 2 &&
            stores + loads > most)
            most = stores + loads;
    }
    return most;
}

static void record_report(const struct device_image *image, struct trial_result *result) {
    int spilled = spill_bytes(image->log);
    diagnostics_set_log(result->diagnostics, image->log);
    if (spilled > result->outcome.resources.spill_bytes)
        result->outcome.resources.spill_bytes = spilled;
}

/* Compiles one variant of a genome. */
static int compile_variant(struct compiler *compiler, const struct template *template,
                           const struct genome *genome, int variant, const char *source,
                           const struct compile_options *options, bool rebuild,
                           struct device_image *image, char reason[REASON_SIZE], char **log,
                           struct error *error) {
    struct kernel_list kernels;
    if (template_kernels(template, genome, variant, &kernels, error) < 0)
        return -1;
    const struct nvrtc_program program = {.name = template->source,
                                          .source = source,
                                          .options = options->items,
                                          .option_count = options->count,
                                          .kernels = kernels.items,
                                          .kernel_count = kernels.count,
                                          .log = log};
    return nvrtc_compile_program(compiler->nvrtc, &program, rebuild, image, reason, error);
}

static int build_variant(struct compiler *compiler, const struct template *template,
                         const struct genome *genome, int variant, const char *source,
                         const struct compile_options *options, bool rebuild,
                         struct device_image *image, struct trial_result *result,
                         struct error *error) {
    char reason[REASON_SIZE] = "";
    char *log = NULL;
    int status = compile_variant(compiler, template, genome, variant, source, options, rebuild,
                                 image, reason, &log, error);
    if (status == 1)
        trial_set_verdict(result, VERDICT_COMPILE_FAILED, reason);
    diagnostics_set_log(result->diagnostics, log);
    free(log);
    if (status != 0)
        return status;
    record_report(image, result);
    return 0;
}

/* Takes the machine code of an exported folder in place of the compiler's, so that what gets linked
   is judged. A device that runs PTX cannot run it: there it must be what this compiler makes of the
   source with the options of an export. */
static int use_cubin(struct compiler *compiler, const struct template *template,
                     const struct trial_request *request, int variant, const char *source,
                     struct device_image *image, struct trial_result *result, struct error *error) {
    struct compile_options options;
    struct device_image exported = {0};
    char reason[REASON_SIZE] = "";
    size_t size;
    char *cubin = path_read_file(request->cubins[variant], CUBIN_BYTES_MAX, &size, error);
    if (cubin == NULL)
        return -1;
    if (!compiler->device.predicts) {
        result->other_code |= image->cubin_bytes != size || memcmp(image->cubin, cubin, size) != 0;
        free((void *)image->cubin);
        image->cubin = cubin;
        image->cubin_bytes = size;
        return 0;
    }
    int status = template_options(template, &request->genome, false, &options, error);
    if (status == 0)
        status = compile_variant(compiler, template, &request->genome, variant, source, &options,
                                 false, &exported, reason, NULL, error);
    if (status == 0 && (exported.cubin_bytes != size || memcmp(exported.cubin, cubin, size) != 0)) {
        snprintf(reason, sizeof reason,
                 "the machine code differs from what NVRTC %s compiles from the source",
                 nvrtc_version(compiler->nvrtc));
        status = 1;
    }
    if (status == 1)
        trial_set_verdict(result, VERDICT_COMPILE_FAILED, reason);
    nvrtc_image_release(&exported);
    free(cubin);
    return status;
}

/* Replaces the position in NVRTC's message by the template's own file and line. */
static int name_template_line(const struct template *template, const struct genome *genome,
                              int variant, char reason[REASON_SIZE], struct error *error) {
    char name[NAME_SIZE], rest[REASON_SIZE];
    size_t length = strlen(template->source);
    int line, file_line, end = 0;
    if (strncmp(reason, template->source, length) != 0 ||
        sscanf(reason + length, "(%d)%n", &line, &end) != 1 || end == 0)
        return 0;
    int found = template_source_location(template, genome, variant, line, name, &file_line, error);
    strcpy(rest, reason + length + end);
    if (found == 1)
        snprintf(reason, REASON_SIZE, "%s(%d)%.400s", name, file_line, rest);
    return found < 0 ? -1 : 0;
}

/* Checks the genome's constraints and sets the key. */
static int check_and_fill_key(struct compiler *compiler, const struct trial_request *request,
                              struct compile_options *options, const struct template **template,
                              struct trial_result *result, struct error *error) {
    struct problem problem;
    double start = clock_seconds();
    *template = compiler_template(compiler, request->goal, error);
    if (*template == NULL)
        return -1;
    bool valid = space_check((*template)->space, &request->genome, &problem);
    trial_add_gate(result, "constraints", valid, clock_seconds() - start, "%.150s",
                   valid ? "all hold" : problem.text);
    if (!valid) {
        trial_set_verdict(result, VERDICT_INVALID, problem.text);
        return 1;
    }
    /* On a GPU line information would make loading a module half a millisecond slower: there it is
       for diagnostics alone, and no part of the key. */
    const bool predicts = compiler->device.predicts;
    if (template_options(*template, &request->genome, predicts, options, error) < 0)
        return -1;
    fill_key(compiler, *template, request, options, &result->key);
    result->has_key = true;
    return request->diagnosed && !predicts
               ? template_options(*template, &request->genome, true, options, error)
               : 0;
}

static void add_compile_gate(struct trial_result *result, int variants) {
    trial_add_gate(result, "compile", true, result->outcome.compile_s,
                   "%d variant%s, %d bytes spilled", variants, variants == 1 ? "" : "s",
                   result->outcome.resources.spill_bytes);
}

static void release_images(struct device_image images[CASES_MAX]) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
}

/* Whether the compiler's messages are to name the template's own files and lines. */
static bool names_lines(const struct trial_request *request) {
    return request->under_tool || request->diagnosed;
}

static int build_variants(struct compiler *compiler, const struct trial_request *request,
                          bool rebuild, struct device_image images[CASES_MAX],
                          struct trial_result *result, struct error *error) {
    const struct template *template;
    struct compile_options options;
    int variants = 0;
    memset(images, 0, CASES_MAX * sizeof *images);
    int status = check_and_fill_key(compiler, request, &options, &template, result, error);
    if (status != 0)
        return status;
    double start = clock_seconds();
    nvtx_begin("compile", request->number);
    for (int c = 0; c < template->case_count && status == 0; c++) {
        if (template_variant(template, c) != c)
            continue;
        char *source = request->sources[c] != NULL
                           ? path_read_file(request->sources[c], SOURCE_BYTES_MAX, NULL, error)
                           : (names_lines(request) ? template_source_with_lines : template_source)(
                                 template, &request->genome, c, error);
        status = source == NULL ? -1
                                : build_variant(compiler, template, &request->genome, c, source,
                                                &options, rebuild, &images[c], result, error);
        if (status == 0 && request->cubins[c] != NULL)
            status = use_cubin(compiler, template, request, c, source, &images[c], result, error);
        free(source);
        variants++;
        if (status == 1 && request->sources[c] == NULL && !names_lines(request) &&
            name_template_line(template, &request->genome, c, result->outcome.reason, error) < 0)
            status = -1;
    }
    nvtx_end();
    result->outcome.compile_s = clock_seconds() - start;
    if (status == 0)
        add_compile_gate(result, variants);
    else if (status == 1)
        trial_add_gate(result, "compile", false, result->outcome.compile_s, "%.150s",
                       result->outcome.reason);
    if (status != 0)
        release_images(images);
    return status;
}

int compiler_build(struct compiler *compiler, const struct trial_request *request,
                   struct device_image images[CASES_MAX], struct trial_result *result,
                   struct error *error) {
    return build_variants(compiler, request, false, images, result, error);
}

int compiler_rebuild(struct compiler *compiler, const struct trial_request *request,
                     struct device_image images[CASES_MAX], struct trial_result *result,
                     struct error *error) {
    return build_variants(compiler, request, true, images, result, error);
}

int compiler_adopt(struct compiler *compiler, const struct trial_request *request,
                   struct device_image images[CASES_MAX], struct trial_result *result,
                   struct error *error) {
    const struct template *template;
    struct compile_options options;
    int variants = 0;
    int status = check_and_fill_key(compiler, request, &options, &template, result, error);
    if (status != 0) {
        release_images(images);
        return status;
    }
    for (int c = 0; c < template->case_count; c++) {
        if (template_variant(template, c) != c)
            continue;
        record_report(&images[c], result);
        variants++;
    }
    add_compile_gate(result, variants);
    return 0;
}
