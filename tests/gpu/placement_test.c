/* How placement affects a call's time: warm medians of one kernel in several placements. Depending
   on the kind, each placement has its own buffers, its own copy of the code, both, or neither
   (captured again only).

       build/tests/gpu/placement_test [GENOME...]     of attention_fwd; without any, its default

   Prints a line per shape and kind: the medians in microseconds, and their spread about the median
   of all. EVOTILE_PLACEMENTS: number of placements (default 8). EVOTILE_SHAPE: a case as in a
   config, instead of two small ones. Takes some 10 s per genome. Fails only if something cannot be
   timed. */
#include "evaluate/verify_fixture.h"

#include "base/statistics.h"
#include "device/cuda.h"
#include "evaluate/measure.h"

enum { PLACEMENTS_AT_MOST = 16, SAMPLES = 50 };

static const char *shapes[] = {
    "{\"B\":1,\"H\":1,\"S\":128,\"D\":64}",
    "{\"B\":2,\"H\":8,\"S\":512,\"D\":64}",
};
static size_t shape_count = sizeof shapes / sizeof *shapes;

struct kind {
    const char *name;
    bool buffers, module; /* of its own */
};

static const struct kind kinds[] = {
    {"captured again", false, false},
    {"new buffers", true, false},
    {"new module", false, true},
    {"both new", true, true},
};

static int genome_count;
static char **genomes;

static struct device_image compile(struct verify_fixture *verify_fixture,
                                   const struct genome *genome) {
    struct error error = {0};
    struct compile_options options;
    struct device_image image;
    char reason[REASON_SIZE];
    char *source = template_source(verify_fixture->template, genome, 0, &error);
    must(source != NULL ? 0 : -1, &error);
    must(template_options(verify_fixture->template, genome, false, &options, &error), &error);
    if (nvrtc_compile(verify_fixture->nvrtc, "kernel.cu", source, options.items, options.count,
                      &image, reason, &error) != 0)
        fail_msg("%s%s", error.text, reason);
    free(source);
    return image;
}

/* Every placement stays allocated until the last is timed, so that no two use the same
   addresses. */
static void time_kind(struct verify_fixture *verify_fixture, const struct device_image *image,
                      const struct kind *kind, int count, double medians[]) {
    struct error error = {0};
    struct failure failure = {0};
    struct measurement *measurements[PLACEMENTS_AT_MOST];
    struct device_module *modules[PLACEMENTS_AT_MOST];
    struct device *device = verify_fixture->device;
    for (int i = 0; i < count; i++) {
        struct latency latency = {0};
        modules[i] = i == 0 || kind->module ? NULL : modules[0];
        if (modules[i] == NULL)
            must(device->backend->module_load(device, image, &modules[i], &error), &error);
        const struct verify_case one = {.device = device,
                                        .comparator = verify_fixture->comparator,
                                        .reference = verify_fixture->reference,
                                        .plain = verify_fixture->plain,
                                        .template = verify_fixture->template,
                                        .genome = &verify_fixture->genome,
                                        .module = modules[i],
                                        .deadline_s = 5};
        const struct measure_settings settings = {
            .sets = 4,
            .launches = 20,
            .seed = 1,
            .share_with = i == 0 || kind->buffers ? NULL : measurements[0]};
        device->fresh_memory = true;
        int status = measurement_new(&one, &settings, &measurements[i], &failure, &error);
        device->fresh_memory = false;
        must(status < 0 ? -1 : 0, &error);
        if (status == 0)
            status = measurement_warm(measurements[i], 5000, SAMPLES, &latency, &failure);
        if (status != 0)
            fail_msg("%s", failure.reason);
        medians[i] = latency.p50_us;
        latency_release(&latency);
    }
    for (int i = count - 1; i >= 0; i--) {
        measurement_free(measurements[i]);
        if (i == 0 || kind->module)
            device->backend->module_unload(device, modules[i]);
    }
}

static void report(const char *what, const double medians[], int count) {
    double middle = statistics_median(medians, count);
    double low = statistics_percentile(medians, count, 0);
    double high = statistics_percentile(medians, count, 100);
    printf("  %-16s", what);
    for (int i = 0; i < count; i++)
        printf(" %.3f", medians[i]);
    printf("  %.3f us, %+.1f to %+.1f %%\n", middle, 100 * (low / middle - 1),
           100 * (high / middle - 1));
    fflush(stdout);
}

static void medians_by_placement(void **state) {
    (void)state;
    struct verify_fixture verify_fixture;
    const char *asked = getenv("EVOTILE_PLACEMENTS");
    int count = asked != NULL ? atoi(asked) : 8;
    assert_in_range(count, 1, PLACEMENTS_AT_MOST);
    verify_fixture_open(&verify_fixture, "cuda:0");
    for (size_t s = 0; s < shape_count; s++) {
        verify_fixture_load(&verify_fixture, "templates/attention_fwd", shapes[s]);
        for (int g = 0; g == 0 || g < genome_count; g++) {
            struct error error = {0};
            const char *text = genome_count > 0 ? genomes[g] : "";
            must(genome_parse(&verify_fixture.genome, verify_fixture.template->space, text, &error),
                 &error);
            struct device_image image = compile(&verify_fixture, &verify_fixture.genome);
            printf("%s %s\n", shapes[s], *text != '\0' ? text : "the default genome");
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                double medians[PLACEMENTS_AT_MOST];
                time_kind(&verify_fixture, &image, &kinds[k], count, medians);
                report(kinds[k].name, medians, count);
            }
            nvrtc_image_release(&image);
        }
    }
    verify_fixture_close(&verify_fixture);
}

int main(int argc, char **argv) {
    struct error error = {0};
    if (cuda_device_count(&error) == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    genome_count = argc - 1;
    genomes = argv + 1;
    if (getenv("EVOTILE_SHAPE") != NULL) {
        shapes[0] = getenv("EVOTILE_SHAPE");
        shape_count = 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(medians_by_placement)};
    return cmocka_run_group_tests_name("placement on a GPU", tests, NULL, NULL);
}
