#include "export/framework_values.h"

#include <string.h>

/* PyTorch's name of each dtype; DLPack and NumPy have the same. */
static const char *const torch_dtypes[DTYPE_COUNT] = {
    [DTYPE_F16] = "float16", [DTYPE_BF16] = "bfloat16",      [DTYPE_F32] = "float32",
    [DTYPE_F64] = "float64", [DTYPE_U32] = "uint32",         [DTYPE_I32] = "int32",
    [DTYPE_I8] = "int8",     [DTYPE_U8] = "uint8",           [DTYPE_I16] = "int16",
    [DTYPE_I64] = "int64",   [DTYPE_E4M3] = "float8_e4m3fn", [DTYPE_E5M2] = "float8_e5m2",
    [DTYPE_BOOL] = "bool",
};

static bool has_dtype(const struct template *template, enum dtype dtype) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        if (is_parameter(tensor) && (tensor->dtype == dtype ||
                                     (tensor->dtype_when != NULL && tensor->other_dtype == dtype)))
            return true;
    }
    return false;
}

static void add_dtypes(const struct template *template, cJSON *values) {
    int dtype = 0;
    cJSON *object;
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "dtypes")) {
        cJSON_AddBoolToObject(object, "used", has_dtype(template, (enum dtype)dtype));
        cJSON_AddStringToObject(object, "torch", torch_dtypes[dtype++]);
    }
    cJSON_AddNumberToObject(values, "dtype_count", DTYPE_COUNT);
}

const char *framework_text(const cJSON *object, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

static bool is_set(const cJSON *object, const char *key) {
    return cJSON_IsTrue(cJSON_GetObjectItem(object, key));
}

/* ---- lists of parameters ---- */

/* What each of `given` and `arguments` adds to a list. */
enum list {
    LIST_SCHEMA,   /* Tensor q, Tensor? sinks=None, *, int CAUSAL=0 */
    LIST_DECLARED, /* q, sinks=None, *, CAUSAL=0: as Python declares them */
    LIST_PASSED,   /* q, sinks, CAUSAL=CAUSAL */
    LIST_BY_NAME,  /* q=q, sinks=sinks, CAUSAL=CAUSAL */
    LIST_NUMBERS,  /* CAUSAL=CAUSAL */
    LIST_MAP,      /* "q": q, "sinks": sinks */
};

static void add_given(const cJSON *object, enum list list, struct strbuf *text) {
    const char *name = framework_text(object, "tensor");
    const bool optional = is_set(object, "optional");
    if (list == LIST_NUMBERS)
        return;
    strbuf_print(text, text->used > 0 ? ", " : "");
    if (list == LIST_SCHEMA && is_set(object, "in_place"))
        strbuf_print(text, "Tensor(%c!)%s ", 'a' + cJSON_GetObjectItem(object, "index")->valueint,
                     optional ? "?" : "");
    else if (list == LIST_SCHEMA)
        strbuf_print(text, "Tensor%s ", optional ? "?" : "");
    if (list == LIST_MAP)
        strbuf_print(text, "\"%s\": ", name);
    strbuf_print(text, "%s", name);
    if (list == LIST_BY_NAME)
        strbuf_print(text, "=%s", name);
    if ((list == LIST_SCHEMA || list == LIST_DECLARED) && optional)
        strbuf_print(text, "=None");
}

static void add_argument(const cJSON *object, enum list list, struct strbuf *text) {
    const char *name = framework_text(object, "argument");
    const bool scalar = is_set(object, "scalar");
    if (list == LIST_MAP)
        return;
    strbuf_print(text, text->used > 0 ? ", " : "");
    if ((list == LIST_SCHEMA || list == LIST_DECLARED) && is_set(object, "first"))
        strbuf_print(text, "*, ");
    if (list == LIST_SCHEMA)
        strbuf_print(text, "%s%s ", is_set(object, "real") ? "float" : "int",
                     is_set(object, "no_default") && !scalar ? "?" : "");
    strbuf_print(text, "%s", name);
    if (list != LIST_SCHEMA && list != LIST_DECLARED)
        strbuf_print(text, "=%s", name);
    else if (!scalar)
        strbuf_print(text, "=%s", framework_text(object, "default"));
}

static void add_list(const char *key, enum list list, cJSON *values) {
    struct strbuf text = {0};
    const cJSON *object;
    strbuf_add(&text, "", 0);
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "given")) add_given(object, list, &text);
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "arguments"))
        add_argument(object, list, &text);
    if (list == LIST_MAP) {
        char *braced = NULL;
        if (asprintf(&braced, "{%s}", text.bytes) > 0)
            cJSON_AddStringToObject(values, key, braced);
        free(braced);
    } else
        cJSON_AddStringToObject(values, key, text.bytes);
    strbuf_release(&text);
}

/* "Tensor" or "(Tensor, Tensor)", and in C++. */
static void add_returns(cJSON *values) {
    const int count = cJSON_GetArraySize(cJSON_GetObjectItem(values, "returned"));
    struct strbuf schema = {0}, type = {0};
    strbuf_print(&schema, count == 1 ? "" : "(");
    strbuf_print(&type, count == 0 ? "void" : count == 1 ? "" : "std::tuple<");
    for (int i = 0; i < count; i++) {
        strbuf_print(&schema, "%sTensor", i > 0 ? ", " : "");
        strbuf_print(&type, "%sTensor", i > 0 ? ", " : "");
    }
    strbuf_print(&schema, count == 1 ? "" : ")");
    strbuf_print(&type, count > 1 ? ">" : "");
    embedded_add_text(values, "returns", &schema);
    embedded_add_text(values, "return_type", &type);
}

/* How C++ sets each number of the call. */
static void add_settings(cJSON *values) {
    cJSON *object;
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "arguments")) {
        const char *name = framework_text(object, "argument"),
                   *member = framework_text(object, "member");
        const char *type = framework_text(object, "type");
        const char *plain = is_set(object, "real") ? "double" : "int64_t";
        const bool optional = is_set(object, "no_default") && !is_set(object, "scalar");
        struct strbuf cpp = {0}, set = {0};
        strbuf_print(&cpp, optional ? "std::optional<%s>" : "%s", plain);
        if (optional)
            strbuf_print(&set, "if (%s)\n        call.%s = %s(*%s);", name, member, type, name);
        else
            strbuf_print(&set, "call.%s = %s(%s);", member, type, name);
        cJSON_AddStringToObject(object, "plain", plain);
        embedded_add_text(object, "cpp", &cpp);
        embedded_add_text(object, "set", &set);
    }
}

/* ---- all ---- */

cJSON *framework_values(const struct export *export, struct error *error) {
    struct binding binding;
    cJSON *values = embedded_values(export);
    binding_init(&binding, export->template);
    int status = binding_add_call(export, &binding, values, error);
    if (status == 0)
        status = binding_add_extents(&binding, values, error);
    const cJSON *first = cJSON_GetObjectItem(values, "given")->child;
    if (status == 0 && (first == NULL || is_set(first, "optional")))
        status = error_input(error,
                             "%s: an operator runs on the device of its tensors, but "
                             "this problem has none that is always given: export it without --with",
                             export->template->document.file);
    if (status < 0) {
        cJSON_Delete(values);
        return NULL;
    }
    cJSON_AddStringToObject(values, "beside", framework_text(first, "tensor"));
    add_dtypes(export->template, values);
    add_settings(values);
    add_returns(values);
    add_list("schema", LIST_SCHEMA, values);
    add_list("declared", LIST_DECLARED, values);
    add_list("passed", LIST_PASSED, values);
    add_list("passed_by_name", LIST_BY_NAME, values);
    add_list("numbers_by_name", LIST_NUMBERS, values);
    add_list("given_map", LIST_MAP, values);
    return values;
}
