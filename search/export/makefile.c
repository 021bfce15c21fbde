/* The export's Makefile: fills makefile.in. */
#include "export/internal.h"

#include <string.h>

int write_makefile(const struct export *export, struct strbuf *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    char stem[STEM_SIZE];
    struct strbuf stems = {0};
    cJSON *values = embedded_values(export);
    cJSON *variants = cJSON_AddArrayToObject(values, "variants");
    for (int variant = 0; variant < export->request->variant_count; variant++) {
        struct strbuf options = {0};
        if (variant_options(export, variant, architecture, &options, error) < 0) {
            strbuf_release(&options);
            strbuf_release(&stems);
            cJSON_Delete(values);
            return -1;
        }
        strbuf_print(&stems, " %s", variant_stem(variant, stem));
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
