/* The export's Makefile: fills makefile.in. */
#include "export/internal.h"

int write_makefile(const struct export *export, struct strbuf *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    cJSON *values = embedded_values(export);
    cJSON *units = embedded_add_units(export, values);
    for (int variant = 0; variant < export->request->variant_count; variant++) {
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
    cJSON_AddBoolToObject(values, "gpu_reference", has_gpu_reference(export));
    embedded_fill(EMBEDDED_MAKEFILE, values, text);
    return 0;
}
