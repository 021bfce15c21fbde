/* Any text as a template.json, whose other files exist: it is read, or rejected with a position; if
   it is read, its default genome has sources, options, plans and probes, or gives an error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "template/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct example example;

static void discard(void) {
    example_free(&example);
}

/* A case that the template accepts: for each dimension its default, a listed value, or the minimum.
 */
static struct shape some_shape(const struct template *template) {
    struct shape shape = {0};
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        shape.values[d] = dimension->value_count > 0 ? dimension->values[0] : dimension->minimum;
    }
    return shape;
}

static void check(int result, const struct error *error) {
    if (result < 0 && (error->kind == ERROR_NONE || error->text[0] == '\0'))
        BUG("failed without a reason");
}

static void use(const struct template *template, const struct template_setting *setting) {
    struct genome genome = genome_default(template->space);
    struct compile_options options;
    struct launch_plan plan;
    struct error error = {0};
    check(template_launch_plan(template, &genome, 0, &plan, &error), &error);
    check(template_reference_launch_plan(template, 0, &plan, &error), &error);
    check(template_setup_launch_plan(template, 0, &plan, &error), &error);
    check(template_options(template, &genome, true, &options, &error), &error);
    char *source = template_source(template, &genome, 0, &error);
    check(source != NULL ? 0 : -1, &error);
    free(source);
    if (template->reference_kind == REFERENCE_KERNEL) {
        source = template_reference_source(template, &error);
        check(source != NULL ? 0 : -1, &error);
        free(source);
    }
    error = (struct error){0};
    struct template *probes = template_load_probes(template, setting, &error);
    if (probes != NULL)
        (void)template_genome_is_valid(probes, &genome, 0);
    template_free(probes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    char path[PATH_SIZE];
    if (example.folder[0] == '\0') {
        example_new(&example);
        example_put(&example, "example/reference.c", "");
        example_put(&example, "example/setup.cu", "// setup\n");
        example_put(&example, "example/signs.bin", "0123456789abcdef");
        atexit(discard);
    }
    if (path_join(path, example.folder, "template.json", &error) < 0 ||
        path_write_unsynced(path, data, size, &error) < 0)
        abort();
    struct template *dimensions = template_load(example.folder, NULL, &error);
    if (dimensions == NULL) {
        check(-1, &error);
        return 0;
    }
    struct shape shape = some_shape(dimensions);
    struct template_setting setting = {
        .device = &example_device, .smem_limit = 49152, .cases = &shape, .case_count = 1};
    struct template *template = template_load(example.folder, &setting, &error);
    if (template != NULL)
        use(template, &setting);
    else
        check(-1, &error);
    template_free(template);
    template_free(dimensions);
    return 0;
}
