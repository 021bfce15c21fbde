/* The export's Makefile: fills makefile.in. */
#include "export/internal.h"

#include <string.h>

void add_libraries(const struct export *export, cJSON *values) {
    const unsigned with = export->request->with;
    struct strbuf text = {0};
    cJSON_AddBoolToObject(values, "frameworks", with != 0);
    cJSON_AddBoolToObject(values, "torch", (with & EXPORT_WITH_TORCH) != 0);
    cJSON_AddBoolToObject(values, "jax", (with & EXPORT_WITH_JAX) != 0);
    cJSON_AddBoolToObject(values, "several", export->part_count > 0);
    embedded_fill(EMBEDDED_LIBRARIES_MAKEFILE, cJSON_Duplicate(values, 1), &text);
    embedded_add_text(values, "libraries", &text);
}

int write_makefile(const struct export *export, struct strbuf *text, struct error *error) {
    char architecture[NAME_SIZE];
    bool mixed = false;
    if (export_architecture(export, architecture, error) < 0)
        return -1;
    cJSON *values = embedded_values(export);
    const struct export_request *request = export->request;
    cJSON *units = embedded_add_units(values, "compiled", 0, count_all_variants(export));
    embedded_add_units(values, "units", 0, request->variant_count);
    embedded_add_units(values, "references", request->variant_count, request->reference_count);
    for (int variant = 0; variant < count_all_variants(export); variant++) {
        cJSON *unit = cJSON_GetArrayItem(units, variant);
        struct strbuf options = {0};
        char source[SOURCE_FILE_SIZE], own[NAME_SIZE] = "";
        if (variant_options(export, variant, own, &options, error) < 0) {
            strbuf_release(&options);
            cJSON_Delete(values);
            return -1;
        }
        embedded_add_text(unit, "options", &options);
        cJSON_AddStringToObject(unit, "source",
                                source_file(export, variant_template(export, variant), source));
        cJSON_AddStringToObject(unit, "own_architecture", own);
        mixed = mixed || strcmp(own, architecture) != 0;
    }
    cJSON_AddStringToObject(values, "architecture", architecture);
    add_libraries(export, values);
    cJSON_AddBoolToObject(values, "mixed", mixed);
    cJSON_AddBoolToObject(values, "of_several", export->solution_count > 1);
    cJSON_AddBoolToObject(values, "setup", export->template->setup.count > 0);
    cJSON_AddBoolToObject(values, "cpu_reference", has_cpu_reference(export));
    cJSON_AddBoolToObject(values, "default_genome", has_default_reference(export));
    cJSON_AddBoolToObject(values, "reference_source",
                          has_gpu_reference(export) && !has_default_reference(export));
    embedded_fill(EMBEDDED_MAKEFILE, values, text);
    return 0;
}
