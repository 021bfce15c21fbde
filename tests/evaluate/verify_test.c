/* Planted kernels that replace scaled_add's, each with its expected verdict. */
#include "evaluate/tiny.h"

#include "evaluate/buffers.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"

/* A device worker without pipes, in this process. */
struct verify_stage {
    struct tiny tiny;
    struct config *config;
    struct evaluation_settings settings;
    struct device *device;
    struct compiler *compiler;
    struct evaluator *evaluator;
    const struct template *template;
    char source[PATH_SIZE];
    int64_t tried;
};

static struct verify_stage verify_stage;
static struct trial_result result; /* too large for the stack under AddressSanitizer */

static const char config_text[] =
    "{ \"template\": \"scaled_add\", \"cases\": [{\"ROWS\": 3, \"COLS\": 128},\n"
    "  {\"ROWS\": 5, \"COLS\": 77}] }";

static int open_stage(void **state) {
    (void)state;
    struct error error = {0};
    tiny_make(&verify_stage.tiny, config_text);
    verify_stage.config = config_from_text("config.json", config_text, TINY_TEMPLATE, &error);
    verify_stage.device = device_open(TINY_DEVICE, &error);
    if (verify_stage.config == NULL || verify_stage.device == NULL)
        goto failed;
    evaluation_settings_from_config(&verify_stage.settings, verify_stage.config);
    verify_stage.compiler =
        compiler_new(&verify_stage.settings, &verify_stage.device->info, NULL, &error);
    if (verify_stage.compiler == NULL)
        goto failed;
    verify_stage.evaluator =
        evaluator_new(&verify_stage.settings, verify_stage.device, verify_stage.compiler, &error);
    verify_stage.template = compiler_template(verify_stage.compiler, 0, &error);
    if (verify_stage.evaluator != NULL && verify_stage.template != NULL)
        return path_join(verify_stage.source, verify_stage.tiny.folder, "planted.cu", &error);
failed:
    print_error("%s\n", error.text);
    return -1;
}

static int close_stage(void **state) {
    (void)state;
    evaluator_free(verify_stage.evaluator);
    compiler_free(verify_stage.compiler);
    device_close(verify_stage.device);
    evaluation_settings_release(&verify_stage.settings);
    config_free(verify_stage.config);
    tiny_remove(&verify_stage.tiny);
    return 0;
}

/* Writes a file with the genome's mark and this kernel; text before "---" stands outside the
   kernel. */
static char *write_planted_kernel(const struct genome *genome, const char *body) {
    struct error error = {0};
    char text[4096];
    const char *cut = strstr(body, "---");
    int outside = cut != NULL ? (int)(cut - body) : 0;
    int length = snprintf(
        text, sizeof text,
        "extern \"C\" { __device__ unsigned long long %s = 0x%llxull; }\n%.*s\n"
        "extern \"C\" __global__ void scaled_add(const float *a, const float *b, float *c, "
        "int ROWS, int COLS) {\n"
        "    const int count = ROWS * COLS, step = gridDim.x * blockDim.x;\n"
        "    const int first = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    %s\n}\n",
        TEMPLATE_TAG_SYMBOL, (unsigned long long)template_genome_tag(genome), outside, body,
        cut != NULL ? cut + 3 : body);
    assert_in_range(length, 1, (int)sizeof text - 1);
    assert_int_equal(path_write_file(verify_stage.source, text, (size_t)length, &error), 0);
    return strdup(verify_stage.source);
}

/* Compiles and evaluates a genome; `body` NULL: with the template's own kernel. */
static const struct outcome *run_kernel(const char *genome, const char *body) {
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct trial_request request = {.number = verify_stage.tried,
                                    .seed = (uint64_t)verify_stage.tried};
    verify_stage.tried++;
    trial_result_release(&result);
    memset(&result, 0, sizeof result);
    if (genome_parse(&request.genome, verify_stage.template->space, genome, &error) < 0)
        fail_msg("%s", error.text);
    for (int c = 0; c < verify_stage.template->case_count && body != NULL; c++)
        if (template_variant(verify_stage.template, c) == c)
            request.sources[c] = write_planted_kernel(&request.genome, body);
    int status = compiler_build(verify_stage.compiler, &request, images, &result, &error);
    if (status == 0) {
        status = evaluator_run(verify_stage.evaluator, &request, images, &result, &error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    trial_request_release(&request);
    if (status < 0)
        fail_msg("%s", error.text);
    return &result.outcome;
}

static void expect(const char *genome, const char *body, enum verdict verdict, const char *reason) {
    const struct outcome *outcome = run_kernel(genome, body);
    if (outcome->verdict != verdict || strstr(outcome->reason, reason) == NULL)
        fail_msg("%s\nis %s (%s), not %s (%s)", body != NULL ? body : genome,
                 verdict_name(outcome->verdict), outcome->reason, verdict_name(verdict), reason);
    if (verdict != VERDICT_OK)
        assert_true(outcome->score_us == 0);
}

#define RIGHT "2.0f * a[i] + b[i]"
#define LOOP  "for (int i = first; i < count; i += step) "
#define FILL  LOOP "c[i] = " RIGHT ";"

/* ---- correct kernels ---- */

static void correct_kernels_pass(void **state) {
    (void)state;
    static const char *const genomes[] = {"", "ITEMS=4,ORDER=backward,BLOCKS=3", "SPARE=48",
                                          "THREADS=128,ITEMS=2,BLOCKS=8,SPARE=4"};
    for (size_t i = 0; i < sizeof genomes / sizeof *genomes; i++) {
        expect(genomes[i], NULL, VERDICT_OK, "");
        const struct outcome *outcome = &result.outcome;
        assert_true(outcome->predicted && outcome->score_us > 0);
        assert_int_equal(outcome->case_count, 2);
        for (int c = 0; c < 2; c++) {
            const struct case_outcome *one = &outcome->cases[c];
            assert_true(one->errors.relative_l2 > 0 && one->errors.relative_l2 < 1e-7);
            assert_true(one->errors.row_relative_l2 >= one->errors.relative_l2);
            assert_true(one->errors.max_absolute > 0);
            assert_true(one->warm.sample_count > 0 && one->warm.p50_us > 0 && one->tflops > 0);
        }
        assert_true(result.has_key);
        assert_non_null(strstr(result.key.parts[KEY_OPTIONS], "sm_89"));
        for (int g = 0; g < result.gate_count; g++)
            assert_true(result.gates[g].passed);
    }
    assert_int_equal(result.outcome.resources.smem_bytes, 4096);
    assert_int_equal(result.outcome.cases[0].ctas, 8);
}

/* Shows that the later kernels are not rejected merely because they are planted. */
static void correct_planted_kernel_passes(void **state) {
    (void)state;
    expect("", FILL, VERDICT_OK, "");
    expect("THREADS=32,BLOCKS=8,SPARE=2", FILL, VERDICT_OK, "");
}

/* ---- wrong results ---- */

static void wrong_results_are_found(void **state) {
    (void)state;
    static const struct {
        const char *body, *reason;
    } kernels[] = {
        {"", "NaN"},                          /* does nothing */
        {LOOP "c[i] = 1.0f;", "relative L2"}, /* a constant */
        {LOOP "c[i] = 0.0f;", "all zeros"},
        {LOOP "c[i] = 2.0f * b[i] + a[i];", "relative L2"}, /* operands swapped */
        {LOOP "c[i] = 2.0f * a[i] + a[i];", "relative L2"}, /* one operand read twice */
        {LOOP "c[i] = i / COLS == 1 ? __int_as_float(0x7fc00000) : " RIGHT ";", "NaN"},
        {LOOP "c[i] = i == count - 1 ? __int_as_float(0x7f800000) : " RIGHT ";", "infinite"},
        {LOOP "if (i % COLS < COLS / 64 * 64) c[i] = " RIGHT ";", "NaN"}, /* whole tiles only */
        {LOOP "if (i != 7) c[i] = " RIGHT ";", "NaN"}, /* one element unwritten */
        {LOOP "c[i] = " RIGHT " + (i == 7 ? 1e-3f : 0.0f);", "relative L2"},
        {LOOP "c[i] = 2.0f * a[i] + b[i < COLS ? i : i - COLS];", "relative L2"}, /* row 0 only */
        {LOOP "c[count - 1 - i] = " RIGHT ";", "relative L2"},
        {"if (blockIdx.x == 0) " LOOP "c[i] = -(" RIGHT ");", "relative L2"},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        expect("", kernels[i].body, VERDICT_WRONG, kernels[i].reason);
    expect("FAULT=wrong", NULL, VERDICT_WRONG, "relative L2"); /* by 0.05 % */
    /* Uninitialised shared memory, and data that another warp may not have written yet. */
    expect("SPARE=2",
           "extern __shared__ float shared[];---" LOOP "c[i] = " RIGHT " + 0.0f * shared[i];",
           VERDICT_WRONG, "NaN");
}

/* Over the whole tensor the error is below the 1e-6 that the template allows a row. */
static void one_bad_row_is_found(void **state) {
    (void)state;
    expect("", LOOP "c[i] = " RIGHT " + (COLS > 5 && i / COLS == 1 ? 3.1e-6f * b[i] : 0.0f);",
           VERDICT_WRONG, "relative L2 error");
}

static void hidden_state_is_racy(void **state) {
    (void)state;
    /* Depends on the output's old contents. */
    expect("", LOOP "c[i] = (" RIGHT ") * (c[i] != c[i] ? 1.0f : 1.0000002f);", VERDICT_RACY,
           "two runs");
    /* Depends on the number of calls. */
    expect("",
           "__device__ int calls;---" LOOP "c[i] = (" RIGHT ") * (calls == 0 ? 1.0f : 1.0000002f);"
           "if (threadIdx.x == blockDim.x - 1) calls++;",
           VERDICT_RACY, "two runs");
}

/* A kernel that keeps its results for as long as the input's address stays: right only as long as
   the inputs stay the same. */
static void kept_results_are_wrong(void **state) {
    (void)state;
    expect("",
           "__device__ const float *kept_of[512]; __device__ float kept[512];---" LOOP
           "{ if (kept_of[i] != a) kept[i] = " RIGHT "; kept_of[i] = a; c[i] = kept[i]; }",
           VERDICT_WRONG, "relative L2 error");
}

/* A kernel that works only where the output holds NaN. */
static void no_poison_is_known(void **state) {
    (void)state;
    expect("", LOOP "if (c[i] != c[i]) c[i] = " RIGHT ";", VERDICT_RACY, "two runs");
    expect("", LOOP "if (__float_as_uint(c[i]) == 0xffffffffu) c[i] = " RIGHT ";", VERDICT_WRONG,
           "NaN");
}

/* ---- forbidden accesses ---- */

static void writes_outside_the_output_are_found(void **state) {
    (void)state;
    static const char *const writes[] = {"c[count] = 0;", "c[-1] = 0;",
                                         "((char *)(c + count))[0] = 0;", "c[1 << 20] = 0;"};
    char body[256];
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        snprintf(body, sizeof body, "%s if (first == 0) %s", FILL, writes[i]);
        expect("", body, VERDICT_WROTE_OUTSIDE, "");
    }
}

static void changed_inputs_are_found(void **state) {
    (void)state;
    static const char *const writes[] = {
        "if (first == 0) ((float *)a)[0] = 0.25f;",
        "if (first == 0) ((char *)(b + count))[-1] ^= 1;",
        "if (first == 0) { float kept = a[0]; ((float *)a)[0] = a[1]; ((float *)a)[1] = kept; }",
    };
    char body[512];
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        snprintf(body, sizeof body, "%s __syncthreads(); %s", FILL, writes[i]);
        expect("BLOCKS=1", body, VERDICT_CHANGED_INPUT, "input");
    }
}

/* The same on a device that cannot protect the inputs: they are compared after each run. */
static void changed_inputs_are_found_without_protection(void **state) {
    struct device_backend unprotected = *verify_stage.device->backend;
    const struct device_backend *backend = verify_stage.device->backend;
    unprotected.protect = NULL;
    verify_stage.device->backend = &unprotected;
    changed_inputs_are_found(state);
    verify_stage.device->backend = backend;
}

static void restored_inputs_are_found(void **state) {
    (void)state;
    static const char *const writes[] = {
        "if (first == 0) { volatile float *v = (float *)b; float kept = *v; *v = 1; *v = kept; }",
        "if (first == 0) atomicAdd((float *)b, 0.0f);",
    };
    char body[512];
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        snprintf(body, sizeof body, "%s __syncthreads(); %s", FILL, writes[i]);
        expect("BLOCKS=1", body, VERDICT_CHANGED_INPUT, "'b'");
    }
}

/* ---- crashes and hangs ---- */

static void bad_addresses_crash(void **state) {
    (void)state;
    static const char *const bodies[] = {
        LOOP "c[i] = 2.0f * a[i + (1 << 28)] + b[i];",
        LOOP "c[i] = 2.0f * a[i + 1] + b[i];", /* one past the input, in the last thread */
        LOOP "c[i] = " RIGHT " + *(const float *)nullptr;",
        "float2 pair = *(const float2 *)(a + 1);" LOOP "c[i] = pair.x + pair.y;", /* misaligned */
        FILL "asm volatile(\"trap;\");",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect("", bodies[i], VERDICT_CRASHED, "");
}

static void endless_loops_time_out(void **state) {
    (void)state;
    expect("", FILL "for (volatile int turning = 1; turning;);", VERDICT_TIMEOUT, "time limit");
}

/* ---- earlier gates ---- */

static void gates_run_in_order(void **state) {
    (void)state;
    expect("THREADS=128,ITEMS=4", NULL, VERDICT_INVALID, "at most 256 elements");
    assert_int_equal(result.gate_count, 1);
    assert_false(result.has_key);
    expect("FAULT=syntax", NULL, VERDICT_COMPILE_FAILED, "kernel.cu");
    assert_int_equal(result.gate_count, 2);
    assert_true(result.has_key);
    expect("", "this is no CUDA;", VERDICT_COMPILE_FAILED, "error");
    expect("SPARE=48",
           "__shared__ float extra[4]; extra[threadIdx.x % 4] = 0; __syncthreads();" LOOP
           "c[i] = " RIGHT " + extra[i % 4];",
           VERDICT_OVER_LIMIT, "49168 bytes");
    expect("", "__nanosleep(1 << 30);" FILL "asm volatile(\"nosuchthing;\");",
           VERDICT_COMPILE_FAILED, "");
}

/* A compiled kernel that has another genome's mark, even after recompilation. */
static void other_genomes_kernel_is_rejected(void **state) {
    (void)state;
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct trial_request request = {0};
    struct genome other;
    assert_int_equal(genome_parse(&request.genome, verify_stage.template->space, "", &error), 0);
    assert_int_equal(genome_parse(&other, verify_stage.template->space, "BLOCKS=8", &error), 0);
    request.sources[0] = write_planted_kernel(&other, FILL);
    trial_result_release(&result);
    memset(&result, 0, sizeof result);
    assert_int_equal(compiler_build(verify_stage.compiler, &request, images, &result, &error), 0);
    assert_int_equal(evaluator_run(verify_stage.evaluator, &request, images, &result, &error), 0);
    assert_int_equal(result.outcome.verdict, VERDICT_COMPILE_FAILED);
    assert_non_null(strstr(result.outcome.reason, "another genome's"));
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    trial_request_release(&request);
}

/* The default genome's machine code as `export` compiles it; the caller frees it. */
static char *export_machine_code(size_t *size) {
    struct error error = {0};
    struct compile_options options;
    struct device_image image;
    char reason[REASON_SIZE];
    const struct template *template = verify_stage.template;
    struct genome genome = genome_default(template->space);
    char *source = template_source(template, &genome, 0, &error);
    if (source == NULL || template_options(template, &genome, false, &options, &error) < 0 ||
        nvrtc_compile(compiler_nvrtc(verify_stage.compiler), template->source, source,
                      options.items, options.count, &image, reason, &error) != 0)
        fail_msg("%s", error.text);
    char *cubin = malloc(image.cubin_bytes);
    memcpy(cubin, image.cubin, image.cubin_bytes);
    *size = image.cubin_bytes;
    nvrtc_image_release(&image);
    free(source);
    return cubin;
}

/* Builds the default genome with the machine code in this file. */
static int build_exported(struct compiler *compiler, const char *cubin,
                          struct device_image images[CASES_MAX]) {
    struct error error = {0};
    struct trial_request request = {.cubins = {strdup(cubin)}};
    trial_result_release(&result);
    memset(&result, 0, sizeof result);
    if (genome_parse(&request.genome, verify_stage.template->space, "", &error) < 0)
        fail_msg("%s", error.text);
    int status = compiler_build(compiler, &request, images, &result, &error);
    trial_request_release(&request);
    return status;
}

/* On a device that runs machine code diagnostics name lines, and the key is that of any other
 * trial.
 */
static void diagnostics_name_lines_on_every_device(void **state) {
    (void)state;
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct device_info runs_it = verify_stage.device->info;
    struct hash keys[2];
    runs_it.predicts = false;
    struct compiler *compiler = compiler_new(&verify_stage.settings, &runs_it, NULL, &error);
    assert_non_null(compiler);
    for (int diagnosed = 0; diagnosed < 2; diagnosed++) {
        const struct trial_request request = {
            .genome = genome_default(verify_stage.template->space), .diagnosed = diagnosed == 1};
        trial_result_release(&result);
        trial_result_init(&result, &request);
        assert_int_equal(compiler_build(compiler, &request, images, &result, &error), 0);
        assert_int_equal(strstr(images[0].ptx, ".loc") != NULL, diagnosed == 1);
        keys[diagnosed] = key_hash(&result.key);
        nvrtc_image_release(&images[0]);
    }
    assert_memory_equal(&keys[0], &keys[1], sizeof *keys);
    compiler_free(compiler);
}

/* A device that runs PTX compares an exported folder's machine code with the compiler's; one that
   runs machine code gets the folder's. */
static void exported_machine_code_is_judged(void **state) {
    (void)state;
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct device_info runs_it = verify_stage.device->info;
    char path[PATH_SIZE];
    runs_it.predicts = false;
    struct compiler *compiler = compiler_new(&verify_stage.settings, &runs_it, NULL, &error);
    assert_non_null(compiler);
    assert_int_equal(path_join(path, verify_stage.tiny.folder, "a.cubin", &error), 0);
    size_t size;
    char *cubin = export_machine_code(&size);

    assert_int_equal(path_write_file(path, cubin, size, &error), 0);
    assert_int_equal(build_exported(verify_stage.compiler, path, images), 0);
    assert_int_not_equal(images[0].cubin_bytes, size); /* with line information */
    nvrtc_image_release(&images[0]);
    assert_int_equal(build_exported(compiler, path, images), 0);
    assert_false(result.other_code);
    nvrtc_image_release(&images[0]);

    cubin[size / 2] ^= 1;
    assert_int_equal(path_write_file(path, cubin, size, &error), 0);
    assert_int_equal(build_exported(verify_stage.compiler, path, images), 1);
    assert_int_equal(result.outcome.verdict, VERDICT_COMPILE_FAILED);
    assert_non_null(strstr(result.outcome.reason, "machine code differs"));
    assert_int_equal(build_exported(compiler, path, images), 0);
    assert_int_equal(images[0].cubin_bytes, size);
    assert_memory_equal(images[0].cubin, cubin, size);
    assert_true(result.other_code); /* what the compiler says of its own is not said of this */
    nvrtc_image_release(&images[0]);
    assert_int_equal(build_exported(compiler, "/no/such.cubin", images), -1);
    compiler_free(compiler);
    free(cubin);
}

/* After all these, the evaluator still verifies correctly. */
static void evaluator_survives_all_of_them(void **state) {
    (void)state;
    expect("ITEMS=3", NULL, VERDICT_OK, "");
    trial_result_release(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_kernels_pass),
        cmocka_unit_test(correct_planted_kernel_passes),
        cmocka_unit_test(wrong_results_are_found),
        cmocka_unit_test(one_bad_row_is_found),
        cmocka_unit_test(hidden_state_is_racy),
        cmocka_unit_test(kept_results_are_wrong),
        cmocka_unit_test(no_poison_is_known),
        cmocka_unit_test(writes_outside_the_output_are_found),
        cmocka_unit_test(changed_inputs_are_found),
        cmocka_unit_test(changed_inputs_are_found_without_protection),
        cmocka_unit_test(restored_inputs_are_found),
        cmocka_unit_test(bad_addresses_crash),
        cmocka_unit_test(endless_loops_time_out),
        cmocka_unit_test(gates_run_in_order),
        cmocka_unit_test(other_genomes_kernel_is_rejected),
        cmocka_unit_test(diagnostics_name_lines_on_every_device),
        cmocka_unit_test(exported_machine_code_is_judged),
        cmocka_unit_test(evaluator_survives_all_of_them),
    };
    return cmocka_run_group_tests(tests, open_stage, close_stage);
}
