/* The source: kernel.cu, which the variants of a solution share, and variant_N.h, the macros of
 * one. */
#include "export/internal.h"

#include <string.h>

/* Collects the lines that include the toolkit's headers. Include guards make the original lines
   have no effect. */
static void add_includes(const char *source, cJSON *values) {
    struct strbuf text = {0};
    for (const char *line = source; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "#include", 8) == 0)
            strbuf_print(&text, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    embedded_add_text(values, "includes", &text);
}

/* A comment of lines that start with `prefix`. */
static void add_comment(const char *key, const char *prefix, const char *words, cJSON *values) {
    struct strbuf text = {0};
    strbuf_add_wrapped(&text, prefix, words);
    embedded_add_text(values, key, &text);
}

/* Adds the solution's name, if the export has several. */
static void add_solution(const struct export *export, const struct template *solution,
                         cJSON *values) {
    if (export->solution_count > 1)
        cJSON_AddStringToObject(values, "solution", solution->solution);
}

/* Adds `units`, the solution's variants, and the number of the `first`. */
static void add_units(const struct export *export, const struct template *solution, cJSON *values) {
    cJSON *units = embedded_add_units(values, "units", 0, count_all_variants(export));
    for (int variant = count_all_variants(export) - 1; variant >= 0; variant--)
        if (variant_template(export, variant) != solution)
            cJSON_DeleteItemFromArray(units, variant);
    cJSON_AddNumberToObject(values, "first",
                            cJSON_GetNumberValue(cJSON_GetObjectItem(units->child, "number")));
}

int write_kernel(const struct export *export, const struct template *solution, struct strbuf *text,
                 struct error *error) {
    struct kernel_list kernels;
    char file[SOURCE_FILE_SIZE];
    char *source = template_kernel_source(solution, error);
    if (source == NULL)
        return -1;
    cJSON *values = embedded_values(export);
    cJSON_AddStringToObject(values, "file", source_file(export, solution, file));
    add_solution(export, solution, values);
    cJSON_AddBoolToObject(values, "of_several", export->solution_count > 1);
    add_comment("about", "// ", solution->about, values);
    add_includes(source, values);
    cJSON_AddStringToObject(values, "replay", export->request->replay);
    cJSON_AddStringToObject(values, "tag", TEMPLATE_TAG_SYMBOL);
    add_units(export, solution, values);
    size_t length = strlen(source);
    if (length > 0 && source[length - 1] == '\n')
        source[length - 1] = '\0';
    cJSON_AddStringToObject(values, "source", source);
    launch_list_kernels(&solution->launches, &kernels);
    cJSON_AddBoolToObject(values, "expressions", kernels.count > 0);
    embedded_fill(EMBEDDED_KERNEL, values, text);
    free(source);
    return 0;
}

void add_kernel_addresses(const struct kernel_list *kernels, struct strbuf *text) {
    for (int i = 0; i < kernels->count; i++)
        strbuf_print(text, "%s(const void *)(%s)", i > 0 ? ", " : "", kernels->items[i]);
}

static void add_latencies(const struct export *export, int variant, cJSON *values) {
    struct strbuf text = {0};
    for (int c = 0; c < export->template->case_count; c++) {
        const struct checked_shape *checked = &export->checked[c];
        const struct latency *warm = &checked->record->warm;
        if (export->request->cases[c].variant == variant)
            strbuf_print(&text, "//   %-32s p50 %.2f us, p90 %.2f us%s\n", checked->name,
                         warm->p50_us, warm->p90_us,
                         export->request->predicted ? " (predicted, not measured)" : "");
    }
    embedded_add_text(values, "latencies", &text);
}

int write_variant_header(const struct export *export, int variant, struct strbuf *text,
                         struct error *error) {
    const struct export_variant *exported = &export->request->variants[variant];
    const struct template *template = exported->template;
    const struct key *key = exported->key;
    struct strbuf options = {0};
    struct strbuf specialised = {0};
    struct strbuf macros = {0}, addresses = {0};
    struct kernel_list kernels;
    char architecture[NAME_SIZE] = "";
    char genome[GENOME_TEXT_SIZE];
    char line[HASH_TEXT_SIZE];
    const int compiled = template_variant(template, exported->case_index);
    int result = variant_options(export, variant, architecture, &options, error);
    strbuf_release(&options);
    if (result == 0)
        result = template_kernels(template, exported->genome, compiled, &kernels, error);
    if (result == 0)
        macros.bytes = template_macros(template, exported->genome, compiled, error);
    if (macros.bytes == NULL)
        return -1;
    cJSON *values = embedded_values(export);
    cJSON_AddNumberToObject(values, "number", variant + 1);
    add_solution(export, template, values);
    genome_print(exported->genome, template->space, genome);
    add_comment("genome", "//   ", genome, values);
    variant_specialised(export, variant, &specialised);
    embedded_add_text(values, "specialised", &specialised);
    if (variant < export->request->variant_count)
        cJSON_AddStringToObject(values, "key", hash_print(key_hash(key), line));
    else
        cJSON_AddBoolToObject(values, "is_reference", true);
    cJSON_AddStringToObject(values, "device", key->parts[KEY_DEVICE]);
    cJSON_AddStringToObject(values, "driver", key->parts[KEY_DRIVER]);
    cJSON_AddStringToObject(values, "architecture", architecture);
    cJSON_AddStringToObject(values, "nvrtc", key->parts[KEY_NVRTC]);
    add_latencies(export, variant, values);
    macros.used = strlen(macros.bytes);
    embedded_add_text(values, "macros", &macros);
    add_kernel_addresses(&kernels, &addresses);
    if (kernels.count > 0)
        embedded_add_text(values, "kernels", &addresses);
    snprintf(line, sizeof line, "0x%016llxull",
             (unsigned long long)template_genome_tag(exported->genome));
    cJSON_AddStringToObject(values, "tag", line);
    embedded_fill(EMBEDDED_VARIANT, values, text);
    return 0;
}
