/* NAME.py, NAME_torch.cpp and NAME_ctypes.py, which call the kernel from PyTorch and from others.
 */
#include "export/code.h"
#include "export/framework_values.h"
#include "export/operator_calls.h"

#include <string.h>

/* All that PyTorch's files name. */
static cJSON *make_values(const struct export *export, struct error *error) {
    cJSON *values = framework_values(export, error);
    if (values != NULL && operator_calls_add(export, values, error) < 0) {
        cJSON_Delete(values);
        return NULL;
    }
    return values;
}

int write_torch_source(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = make_values(export, error);
    if (values == NULL)
        return -1;
    struct strbuf code = {0};
    const cJSON *call;
    strbuf_add(&code, "", 0);
    cJSON_ArrayForEach(call, cJSON_GetObjectItem(values, "calls"))
        strbuf_print(&code, "%s\n", framework_text(call, "requires"));
    code_add_arithmetic(code.bytes, values);
    strbuf_release(&code);
    embedded_fill(EMBEDDED_TORCH, values, text);
    return 0;
}

int write_torch_module(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = make_values(export, error);
    if (values == NULL)
        return -1;
    cJSON_AddStringToObject(values, "about", export->template->about);
    embedded_fill(EMBEDDED_TORCH_MODULE, values, text);
    return 0;
}

/* ---- ctypes ---- */

static const char *ctype_of(const char *type) {
    static const char *const names[][2] = {{"int32_t", "c_int32"},
                                           {"int64_t", "c_int64"},
                                           {"float", "c_float"},
                                           {"double", "c_double"}};
    int i = 0;
    while (strcmp(names[i][0], type) != 0)
        i++;
    return names[i][1];
}

int write_ctypes_module(const struct export *export, struct strbuf *text, struct error *error) {
    const struct template *template = export->template;
    cJSON *values = framework_values(export, error), *object;
    if (values == NULL)
        return -1;
    cJSON *list = cJSON_AddArrayToObject(values, "dimensions");
    for (int d = 0; d < template->dimension_count; d++) {
        object = cJSON_CreateObject();
        cJSON_AddItemToArray(list, object);
        cJSON_AddStringToObject(object, "dimension", template->dimensions[d].name);
        cJSON_AddStringToObject(object, "ctype",
                                ctype_of(template->dimensions[d].real ? "float" : "int64_t"));
    }
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "scalars"))
        cJSON_AddStringToObject(object, "ctype", ctype_of(framework_text(object, "type")));
    embedded_fill(EMBEDDED_CTYPES, values, text);
    return 0;
}
