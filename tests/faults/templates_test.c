/*
 * The race checker on the templates: each row changes one place of a template's source, and the
 * race checker must report what is wrong and where, whether or not the results change.
 */
#include "evaluate/tiny.h"

#include "base/path.h"
#include "device/emulated.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"
#include "session/image_cache.h"

#define ATTENTION                                                                                  \
    "{ \"template\": \"attention_fwd\", \"cases\": [{\"B\": 1, \"H\": 1, \"S\": 70, \"S_KV\": "    \
    "300, \"D\": 64}] }"
#define CLUSTERS                                                                                   \
    "{ \"template\": \"attention_fwd\", \"cases\": [{\"B\": 1, \"H\": 1, \"S\": 70, \"S_KV\": "    \
    "300, \"D\": 64}], \"genes\": {\"KV_SPLITS\": [2], \"COMBINE\": [\"cluster\"]} }"
#define HOPPER                                                                                     \
    "{ \"template\": \"attention_fwd/hopper\", \"cases\": [{\"B\": 1, \"H\": 1, \"S\": 70, "       \
    "\"S_KV\": 900, \"D\": 64}] }"
#define ROWS "{ \"template\": \"softmax_rows\", \"cases\": [{\"ROWS\": 3, \"COLS\": 500}] }"

static const struct fault {
    const char *name, *device, *config, *template, *genome;
    const char *file, *from, *to; /* the change in the template's file */
    enum ptx_finding_kind kind;
    const char *at; /* part of the expected text */
} faults[] = {
    {"no barrier before a tile is read", TINY_DEVICE, ATTENTION, "attention_fwd", "COPY=joint",
     "mma/kernel.cu", "__syncthreads(); // Q, K and", "// Q, K and", PTX_FINDING_RACE_IN_BLOCK, ""},
    {"a wait that lets too many groups go on", TINY_DEVICE, ATTENTION, "attention_fwd",
     "COPY=joint", "mma/kernel.cu", ": k_stages - 2>();\n        }",
     ": k_stages - 1>();\n        }", PTX_FINDING_BEFORE_WAIT, "ldmatrix"},
    {"a wait for this tile's K instead of the next one's", TINY_DEVICE, ATTENTION, "attention_fwd",
     "COPY=apart,OVERLAP=1", "mma/kernel.cu",
     "cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();\n        __syncthreads(); // "
     "the",
     "cp_async_wait<copy_apart ? 2 * k_stages : k_stages>();\n        __syncthreads(); // the",
     PTX_FINDING_BEFORE_WAIT, "ldmatrix"},
    {"K overwritten while some warp still reads it", TINY_DEVICE, ATTENTION, "attention_fwd",
     "COPY=apart,K_STAGES=1,OVERLAP=1", "mma/kernel.cu", "__syncthreads(); // that K has",
     "// that K", PTX_FINDING_RACE_IN_BLOCK, ""},
    {"a tile overwritten while it is read", TINY_DEVICE, ATTENTION, "attention_fwd", "COPY=plain",
     "mma/kernel.cu", "__syncthreads(); // the previous tile", "// the previous tile",
     PTX_FINDING_RACE_IN_BLOCK, ""},
    {"parts of a cluster read too early", "emulated:sm_90", CLUSTERS, "attention_fwd",
     "KV_SPLITS=2,COMBINE=cluster", "mma/kernel.cu",
     "cluster_arrive();\n            cluster_wait(); // the partial",
     "cluster_arrive();\n            if (0) cluster_wait(); // the partial",
     PTX_FINDING_OUT_OF_BOUNDS, "that block has exited"},
    {"an early kernel that does not wait", "emulated:sm_90", ATTENTION, "attention_fwd",
     "KV_SPLITS=2,COMBINE=early", "mma/kernel.cu", "griddepcontrol_wait(); // all splits",
     "; // all", PTX_FINDING_BEFORE_WAIT, "griddepcontrol.wait"},
    {"a row's parts read too early", TINY_DEVICE, ROWS, "softmax_rows", "ROW_THREADS=128",
     "kernel.cu", "__syncthreads(); // every warp has written its partial result", "__syncwarp();",
     PTX_FINDING_RACE_IN_BLOCK, "kernel.cu:"},
    {"a buffer given back while wgmma still reads it", "emulated:sm_90", HOPPER, "attention_fwd",
     "BLOCK_N=32,K_STAGES=1,V_STAGES=1,OVERLAP=0", "hopper/kernel.cu",
     "wgmma_wait<0>();\n        wgmma_hold(s_rmem);\n        consumer_release_stage(k_full);",
     "consumer_release_stage(k_full);\n        wgmma_wait<0>();\n        wgmma_hold(s_rmem);",
     PTX_FINDING_BEFORE_WAIT, "wgmma.cuh"},
    {"a tile read before TMA has brought it", "emulated:sm_90", HOPPER, "attention_fwd",
     "OVERLAP=0", "hopper/kernel.cu", "consumer_wait(k_full, state.k.phase);\n        start",
     "start", PTX_FINDING_BEFORE_WAIT, "wgmma.cuh"},
    {"O stored before the copy engine may see it", "emulated:sm_90", HOPPER, "attention_fwd",
     "STORE=tma,BLOCK_N=32", "hopper/epilogue.cuh", "fence_proxy_async();\n", "\n",
     PTX_FINDING_MISSING_PROXY_FENCE, "tma.cuh"},
};

/* Copies the template and the library next to each other. */
static void copy_template(const char *name, const char *to, char folder[PATH_SIZE]) {
    struct error error = {0};
    char from[PATH_SIZE], library[PATH_SIZE];
    assert_int_equal(path_join(from, "templates", name, &error), 0);
    assert_int_equal(path_join(folder, to, name, &error), 0);
    assert_int_equal(path_join(library, to, "lib", &error), 0);
    if (path_copy_tree(from, folder, &error) < 0 ||
        path_copy_tree("templates/lib", library, &error) < 0)
        fail_msg("%s", error.text);
}

static void apply_change(const char *folder, const struct fault *fault) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, folder, fault->file, &error), 0);
    char *text = path_read_file(path, 1 << 20, NULL, &error);
    assert_non_null(text);
    char *at = strstr(text, fault->from);
    if (at == NULL || strstr(at + 1, fault->from) != NULL)
        fail_msg("%s: %s does not hold it once: %s", fault->name, path, fault->from);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, fault->to, at + strlen(fault->from));
    fclose(file);
    free(text);
}

static void run_instrumented(const struct fault *fault, const char *folder) {
    static struct trial_result result; /* too large for the stack under the sanitizer */
    struct error error = {0};
    struct device_image images[CASES_MAX];
    struct trial_request request = {.seed = 1, .under_tool = true};
    bool found = false;
    memset(&result, 0, sizeof result);
    struct config *config = config_from_text("config.json", fault->config, folder, &error);
    if (config == NULL)
        fail_msg("%s: %s", fault->name, error.text);
    struct device *device = device_open(fault->device, &error);
    struct ptx_racecheck *racecheck = emulated_attach_racecheck(device, TEMPLATE_TAG_SYMBOL);
    struct cache *cache = cache_new(NULL, 0);
    const struct image_cache cached = image_cache_on_disk(cache);
    struct evaluation_settings settings;
    evaluation_settings_from_config(&settings, config);
    struct compiler *compiler = compiler_new(&settings, &device->info, &cached, &error);
    struct evaluator *evaluator = evaluator_new(&settings, device, compiler, &error);
    const struct template *template = compiler_template(compiler, 0, &error);
    if (evaluator == NULL || template == NULL ||
        genome_parse(&request.genome, template->space, fault->genome, &error) < 0 ||
        compiler_build(compiler, &request, images, &result, &error) != 0)
        fail_msg("%s: %s %s", fault->name, error.text, result.outcome.reason);
    assert_int_equal(evaluator_run(evaluator, &request, images, &result, &error), 0);
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    for (int i = 0; i < ptx_racecheck_finding_count(racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(racecheck, i);
        if (ptx_finding_is_cost(finding->kind))
            continue;
        print_message("%s: %s\n", ptx_finding_name(finding->kind), finding->text);
        found |= finding->kind == fault->kind && strstr(finding->text, fault->at) != NULL;
    }
    if (!found)
        fail_msg("%s: not found", fault->name);
    trial_result_release(&result);
    evaluator_free(evaluator);
    compiler_free(compiler);
    cache_free(cache);
    device_close(device);
    evaluation_settings_release(&settings);
    config_free(config);
}

static void finding_is_reported(void **state) {
    const struct fault *fault = *state;
    struct tiny tiny;
    char folder[PATH_SIZE];
    tiny_make(&tiny, "{}");
    copy_template(fault->template, tiny.folder, folder);
    apply_change(folder, fault);
    run_instrumented(fault, folder);
    tiny_remove(&tiny);
}

int main(void) {
    enum { COUNT = sizeof faults / sizeof *faults };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = faults[i].name,
                                       .test_func = finding_is_reported,
                                       .initial_state = (void *)&faults[i]};
    return _cmocka_run_group_tests("templates", tests, COUNT, NULL, NULL);
}
