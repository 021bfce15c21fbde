/* NAME_jax.py and NAME_jax.cpp, which call the kernel from JAX. */
#include "export/framework_values.h"

#include <string.h>

/* XLA's name of each dtype, and that of jax.numpy. */
static const char *const names[DTYPE_COUNT][2] = {
    [DTYPE_F16] = {"F16", "float16"},
    [DTYPE_BF16] = {"BF16", "bfloat16"},
    [DTYPE_F32] = {"F32", "float32"},
    [DTYPE_F64] = {"F64", "float64"},
    [DTYPE_U32] = {"U32", "uint32"},
    [DTYPE_I32] = {"S32", "int32"},
    [DTYPE_I8] = {"S8", "int8"},
    [DTYPE_U8] = {"U8", "uint8"},
    [DTYPE_I16] = {"S16", "int16"},
    [DTYPE_I64] = {"S64", "int64"},
    [DTYPE_E4M3] = {"F8E4M3FN", "float8_e4m3fn"},
    [DTYPE_E5M2] = {"F8E5M2", "float8_e5m2"},
    [DTYPE_BOOL] = {"PRED", "bool_"},
};

static cJSON *make_values(const struct export *export, struct error *error) {
    cJSON *values = framework_values(export, error), *object;
    int dtype = 0;
    if (values == NULL)
        return NULL;
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "dtypes")) {
        cJSON_AddStringToObject(object, "xla", names[dtype][0]);
        cJSON_AddStringToObject(object, "jax", names[dtype++][1]);
    }
    cJSON_ArrayForEach(object, cJSON_GetObjectItem(values, "arguments")) cJSON_AddStringToObject(
        object, "python_real",
        cJSON_IsTrue(cJSON_GetObjectItem(object, "real")) ? "True" : "False");
    cJSON *in_place = cJSON_AddArrayToObject(values, "in_place_given");
    cJSON_ArrayForEach(
        object, cJSON_GetObjectItem(
                    values, "given")) if (cJSON_IsTrue(cJSON_GetObjectItem(object, "in_place")))
        cJSON_AddItemToArray(in_place, cJSON_Duplicate(object, 1));
    cJSON_AddNumberToObject(values, "in_place_count", cJSON_GetArraySize(in_place));
    cJSON_AddStringToObject(values, "about", export->template->about);
    return values;
}

int write_jax_source(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = make_values(export, error);
    if (values == NULL)
        return -1;
    embedded_fill(EMBEDDED_JAX, values, text);
    return 0;
}

int write_jax_module(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *values = make_values(export, error);
    if (values == NULL)
        return -1;
    embedded_fill(EMBEDDED_JAX_MODULE, values, text);
    return 0;
}
