#include "cli/export_code.h"

#include <stdlib.h>

/* Takes ownership of the source, which may be NULL after an error. */
static int compile_source(struct nvrtc *nvrtc, const char *name, char *source,
                          const struct compile_options *options, const struct kernel_list *kernels,
                          struct device_image *image, struct error *error) {
    char reason[REASON_SIZE];
    const struct nvrtc_program program = {.name = name,
                                          .source = source,
                                          .options = options->items,
                                          .option_count = options->count,
                                          .kernels = kernels->items,
                                          .kernel_count = kernels->count};
    int result = nvrtc_compile_program(nvrtc, &program, false, image, reason, error);
    free(source);
    return result == 1 ? error_set(error, "this NVRTC cannot compile the run's kernel: %s", reason)
                       : result;
}

int export_compile_genome(struct nvrtc *nvrtc, const struct template *template,
                          const struct genome *genome, int case_index, struct device_image *image,
                          struct error *error) {
    struct compile_options options;
    struct kernel_list kernels;
    const int variant = template_variant(template, case_index);
    char *source = template_source(template, genome, variant, error);
    if (source == NULL || template_options(template, genome, false, &options, error) < 0 ||
        template_kernels(template, genome, variant, &kernels, error) < 0) {
        free(source);
        return -1;
    }
    return compile_source(nvrtc, template->source, source, &options, &kernels, image, error);
}

int export_compile_launches(struct nvrtc *nvrtc, const struct template *template,
                            const struct launch_list *launches, struct device_image *image,
                            struct error *error) {
    const struct genome genome = genome_default(template->space);
    const bool setup = launches == &template->setup;
    struct compile_options options;
    struct kernel_list kernels;
    launch_list_kernels(launches, &kernels);
    if (kernels.count == 0)
        return 0;
    char *source =
        setup ? template_setup_source(template, error) : template_reference_source(template, error);
    if (source == NULL || template_options(template, &genome, false, &options, error) < 0) {
        free(source);
        return -1;
    }
    return compile_source(nvrtc, setup ? template->setup_source : template->reference_source,
                          source, &options, &kernels, image, error);
}
