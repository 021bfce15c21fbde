/* build_wheel.py and pyproject.toml, with which pip installs an export. */
#include "export/internal.h"

static int fill(const struct export *export, enum embedded_file file, struct strbuf *text,
                struct error *error) {
    cJSON *values = values_with_architectures(export, error);
    if (values == NULL)
        return -1;
    cJSON_AddBoolToObject(values, "torch", (export->request->with & EXPORT_WITH_TORCH) != 0);
    cJSON_AddBoolToObject(values, "jax", (export->request->with & EXPORT_WITH_JAX) != 0);
    embedded_fill(file, values, text);
    return 0;
}

int write_wheel_builder(const struct export *export, struct strbuf *text, struct error *error) {
    return fill(export, EMBEDDED_WHEEL, text, error);
}

int write_pyproject(const struct export *export, struct strbuf *text, struct error *error) {
    return fill(export, EMBEDDED_PYPROJECT, text, error);
}
