/* The export's Makefile: fills makefile.in. */
#include "export/internal.h"

int write_makefile(const struct export *export, struct strbuf *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    cJSON *values = embedded_values(export);
    const struct export_request *request = export->request;
    cJSON *units = embedded_add_units(values, "compiled", 0, count_all_variants(export));
    embedded_add_units(values, "units", 0, request->variant_count);
    embedded_add_units(values, "references", request->variant_count, request->reference_count);
    for (int variant = 0; variant < count_all_variants(export); variant++) {
        struct strbuf options = {0};
        if (variant_options(export, variant, architecture, &options, error) < 0) {
            strbuf_release(&options);
            cJSON_Delete(values);
            return -1;
        }
        embedded_add_text(cJSON_GetArrayItem(units, variant), "options", &options);
    }
    cJSON_AddStringToObject(values, "architecture", architecture);
    cJSON_AddBoolToObject(values, "setup", export->template->setup.count > 0);
    cJSON_AddBoolToObject(values, "cpu_reference", has_cpu_reference(export));
    cJSON_AddBoolToObject(values, "default_genome", has_default_reference(export));
    cJSON_AddBoolToObject(values, "reference_source",
                          has_gpu_reference(export) && !has_default_reference(export));
    embedded_fill(EMBEDDED_MAKEFILE, values, text);
    return 0;
}
