/* The export's Makefile: fills makefile.in. */
#include "freeze/parts.h"

#include <string.h>

int write_makefile(const struct export *export, struct text *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    char stem[STEM_SIZE];
    struct text stems = {0};
    cJSON *values = embedded_values(export);
    cJSON *variants = cJSON_AddArrayToObject(values, "variants");
    for (int unit = 0; unit < export->request->unit_count; unit++) {
        struct text options = {0};
        if (unit_options(export, unit, architecture, &options, error) < 0) {
            text_release(&options);
            text_release(&stems);
            cJSON_Delete(values);
            return -1;
        }
        text_print(&stems, " %s", unit_stem(unit, stem));
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(variants, object);
        cJSON_AddStringToObject(object, "stem", stem);
        embedded_add_text(object, "options", &options);
    }
    cJSON_AddStringToObject(values, "architecture", architecture);
    embedded_add_text(values, "stems", &stems);
    embedded_fill(EMBEDDED_MAKEFILE, values, text);
    return 0;
}
