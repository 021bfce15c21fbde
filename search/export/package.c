/* What other builds find an export by: CMakeLists.txt and NAME.pc. */
#include "export/internal.h"

int write_cmake(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = embedded_values(export);
    cJSON *units = embedded_add_units(values, "units", 0, export->request->variant_count);
    (void)error;
    cJSON_AddBoolToObject(units->child, "first", true);
    embedded_fill(EMBEDDED_CMAKE, values, text);
    return 0;
}

int write_pkg_config(const struct export *export, struct strbuf *text, struct error *error) {
    char architecture[NAME_SIZE];
    if (export_architecture(export, architecture, error) < 0)
        return -1;
    cJSON *values = embedded_values(export);
    cJSON_AddStringToObject(values, "architecture", architecture);
    embedded_fill(EMBEDDED_PKG_CONFIG, values, text);
    return 0;
}
