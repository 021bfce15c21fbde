/* What other builds find an export by: CMakeLists.txt and NAME.pc. */
#include "export/internal.h"

static void add_source(cJSON *list, const char *folder, const char *source) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    cJSON_AddStringToObject(object, "folder", folder);
    cJSON_AddStringToObject(object, "source", source);
}

int write_cmake(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = embedded_values(export);
    cJSON *sources = cJSON_AddArrayToObject(values, "launchers");
    (void)error;
    add_parts(export, values);
    cJSON_AddBoolToObject(values, "frameworks", export->request->with != 0);
    for (int i = 0; i < export->part_count; i++) {
        char folder[NAME_SIZE + 1];
        snprintf(folder, sizeof folder, "%s/", export->parts[i].architecture);
        add_source(sources, folder, export->parts[i].name);
    }
    if (export->part_count == 0)
        add_source(sources, "", export->name);
    embedded_fill(EMBEDDED_CMAKE, values, text);
    return 0;
}

int write_pkg_config(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = values_with_architectures(export, error);
    if (values == NULL)
        return -1;
    embedded_fill(EMBEDDED_PKG_CONFIG, values, text);
    return 0;
}
