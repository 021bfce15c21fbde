/* Speed of the emulated device: attention with (B,H,S,D) = (1,2,128,64), one genome after another
   on one core, without compile time. Environment: GENOMES=N random genomes (20);
   BENCH_TEMPLATE=attention_fwd/hopper selects the other template; OBSERVED=1 enables racecheck. */
#include "base/clock.h"
#include "base/random.h"
#include "device/emulated.h"
#include "evaluate/buffers.h"
#include "evaluate/compile.h"
#include "pool/settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5 };

struct bench_setup {
    struct config *config;
    struct evaluation_settings settings;
    struct device *device;
    struct compiler *compiler;
    const struct template *template;
};

static void must(int status, const struct error *error) {
    if (status < 0) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

static double processor_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void fill(struct bench_setup *benching, const struct buffers *buffers, struct random *random,
                 struct error *error) {
    for (int t = 0; t < benching->template->tensor_count; t++) {
        size_t bytes = (size_t)buffers->plan->tensors[t].bytes;
        if (buffers->tensors[0][t] == 0 || benching->template->tensors[t].role != ROLE_INPUT)
            continue;
        uint16_t *halves = malloc(bytes);
        for (size_t i = 0; i < bytes / 2; i++) /* magnitudes from 1/8 to 2, either sign */
            halves[i] =
                (uint16_t)(0x3000 + random_below(random, 0x1000) + (random_below(random, 2) << 15));
        must(benching->device->backend->write(benching->device, buffers->tensors[0][t], halves,
                                              bytes, error),
             error);
        free(halves);
    }
}

/* The minimum CPU time of a call in ms; sets `instructions` to its warp instructions. */
static double time_call(struct bench_setup *benching, const struct genome *genome,
                        const struct device_image *image, struct random *random,
                        uint64_t *instructions, struct error *error) {
    const struct device_backend *backend = benching->device->backend;
    struct device_module *module;
    struct buffers buffers;
    struct launch_plan plan;
    struct device_sequence sequence;
    char reason[REASON_SIZE];
    double minimum_ms = 1e9;
    must(template_launch_plan(benching->template, genome, 0, &plan, error), error);
    must(backend->module_load(benching->device, image, &module, error), error);
    must(buffers_init(&buffers, NULL, benching->device, benching->template, &plan, 1, error),
         error);
    fill(benching, &buffers, random, error);
    buffers_sequence(&buffers, 0, module, &sequence);
    for (int i = 0; i < REPEATS; i++) {
        uint64_t before = emulated_instructions(benching->device);
        double start = processor_ms();
        if (backend->run(benching->device, &sequence, 0, reason) != VERDICT_OK) {
            fprintf(stderr, "%s\n", reason);
            exit(1);
        }
        double spent_ms = processor_ms() - start;
        minimum_ms = spent_ms < minimum_ms ? spent_ms : minimum_ms;
        *instructions = emulated_instructions(benching->device) - before;
    }
    buffers_release(&buffers);
    backend->module_unload(benching->device, module);
    return minimum_ms;
}

static bool build(struct bench_setup *benching, const struct trial_request *request,
                  struct device_image images[CASES_MAX], struct error *error) {
    struct trial_result *result = calloc(1, sizeof *result);
    int status = compiler_build(benching->compiler, request, images, result, error);
    must(status, error);
    trial_result_release(result);
    free(result);
    return status == 0;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(void) {
    const char *asked = getenv("GENOMES"), *name = getenv("BENCH_TEMPLATE");
    int count = asked ? atoi(asked) : 20, done = 0;
    struct error error = {0};
    struct bench_setup benching;
    struct random random;
    char text[512], folder[256];
    double *times_ms = calloc((size_t)count, sizeof *times_ms), total_ms = 0;
    uint64_t instructions, total = 0;
    name = name ? name : "attention_fwd";
    snprintf(folder, sizeof folder, "templates/%s", name);
    snprintf(text, sizeof text,
             "{\"template\": \"%s\", \"cases\": [{\"B\": 1, \"H\": 2, \"S\": 128, \"D\": 64}]}",
             name);
    benching.config = config_from_text("config.json", text, folder, &error);
    must(benching.config ? 0 : -1, &error);
    benching.device =
        device_open(strstr(name, "hopper") ? "emulated:sm_90" : "emulated:sm_89", &error);
    must(benching.device ? 0 : -1, &error);
    if (getenv("OBSERVED") != NULL)
        emulated_attach_racecheck(benching.device, NULL);
    evaluation_settings_from_config(&benching.settings, benching.config);
    benching.compiler = compiler_new(&benching.settings, &benching.device->info, NULL, &error);
    must(benching.compiler ? 0 : -1, &error);
    benching.template = compiler_template(benching.compiler, 0, &error);
    must(benching.template ? 0 : -1, &error);
    random_seed(&random, 1, 0);
    for (int i = 0; i < count; i++) {
        struct trial_request request = {.number = i,
                                        .genome = genome_default(benching.template->space)};
        struct device_image images[CASES_MAX];
        if ((i > 0 && !space_sample(benching.template->space, &random, &request.genome)) ||
            !build(&benching, &request, images, &error))
            continue;
        double ms =
            time_call(&benching, &request.genome, &images[0], &random, &instructions, &error);
        nvrtc_image_release(&images[0]);
        if (i == 0)
            printf("the default genome       %7.1f ms, %llu warp instructions\n", ms,
                   (unsigned long long)instructions);
        times_ms[done++] = ms;
        total_ms += ms;
        total += instructions;
    }
    qsort(times_ms, (size_t)done, sizeof *times_ms, compare);
    printf("%d genomes of %s: median %.1f ms, slowest %.1f ms, %.1f million warp instructions per "
           "second\n",
           done, name, times_ms[done / 2], times_ms[done - 1], 1e-3 * (double)total / total_ms);
    free(times_ms);
    compiler_free(benching.compiler);
    device_close(benching.device);
    evaluation_settings_release(&benching.settings);
    config_free(benching.config);
    return 0;
}
