/* Reads what manifest.json says of a tree's choices. */
#include "base/json_fields.h"
#include "base/memory.h"
#include "export/export.h"

#include <float.h>
#include <string.h>

static const struct json_field fields[] = {
    JSON_FIELD_REQUIRED(struct manifest_regret, within, "within", DOUBLE, 0, DBL_MAX),
    JSON_FIELD_REQUIRED(struct manifest_regret, genomes, "genomes", INT, 1, INT32_MAX),
    JSON_FIELD_REQUIRED(struct manifest_regret, exported_genomes, "exported_genomes", INT, 1,
                        INT32_MAX),
    JSON_FIELD_REQUIRED(struct manifest_regret, predicted, "predicted", BOOL, 0, 0),
    {0}};

/* The dimensions are those of the first shape. */
static int read_names(const struct json *shape, struct regret_shapes *shapes, struct error *error) {
    const char *names[DIMENSIONS_MAX];
    const int count = json_count(shape);
    if (count < 1 || count > DIMENSIONS_MAX)
        return json_error(shape, error, "must have 1 to %d dimensions", DIMENSIONS_MAX);
    for (int d = 0; d < count; d++) {
        const struct json value = json_at(shape, d);
        names[d] = json_key(&value);
    }
    regret_shapes_init(shapes, names, count);
    return 0;
}

/* A number beyond 2^53 is a string of digits. */
static int read_values(const struct json *shape, const struct regret_shapes *shapes, double *values,
                       struct error *error) {
    if (json_count(shape) != shapes->dimension_count)
        return json_error(shape, error, "must have the %d dimensions of the first shape",
                          shapes->dimension_count);
    for (int d = 0; d < shapes->dimension_count; d++) {
        struct json value;
        int64_t wide;
        if (json_require(shape, shapes->names[d], &value, error) < 0)
            return -1;
        if (!cJSON_IsString(value.value)) {
            if (json_number(&value, &values[d], error) < 0)
                return -1;
            continue;
        }
        if (json_integer(&value, &wide, error) < 0)
            return -1;
        values[d] = (double)wide;
    }
    return 0;
}

static int read_inputs(const struct tree *tree, const struct json *shape,
                       int64_t inputs[TREE_INPUTS_MAX], struct error *error) {
    for (int i = 0; i < tree->input_count; i++) {
        struct json value;
        if (json_require(shape, tree->names[i], &value, error) < 0 ||
            json_integer(&value, &inputs[i], error) < 0)
            return -1;
    }
    return 0;
}

/* The time of the choice over the least one. */
static int read_ratio(const struct tree *tree, const struct json *one, const int64_t *inputs,
                      double *ratio, struct error *error) {
    double us[DISPATCH_KERNELS_MAX], least_us = 0;
    struct json list, least;
    if (json_require(one, "us", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) != tree->kernel_count)
        return json_error(&list, error, "must have the times of the %d kernels",
                          tree->kernel_count);
    if (json_find(one, "least_us", &least) &&
        (json_number(&least, &least_us, error) < 0 || !(least_us > 0)))
        return json_error(&least, error, "must be a time");
    for (int k = 0; k < tree->kernel_count; k++) {
        const struct json time = json_at(&list, k);
        us[k] = NAN;
        if (cJSON_IsNull(time.value))
            continue;
        if (json_number(&time, &us[k], error) < 0)
            return -1;
        if (!(least_us > 0 && us[k] >= least_us && isfinite(us[k] / least_us)))
            return json_error(&time, error, "must be a time, not below \"least_us\"");
    }
    const struct kernel_times times = {tree->kernel_count, 1, us};
    const int choice = tree_choose(tree, inputs, &times, 0);
    *ratio = choice >= 0 ? us[choice] / least_us : least_us > 0 ? REGRET_UNSERVED : REGRET_UNFIT;
    return 0;
}

static int read_shape(const struct tree *tree, const struct json *one, struct regret_shapes *shapes,
                      struct error *error) {
    static const char *const keys[] = {"shape", "fitted", "least_us", "us", NULL};
    double values[DIMENSIONS_MAX], ratio = REGRET_UNFIT;
    int64_t inputs[TREE_INPUTS_MAX];
    bool fitted;
    struct json shape, value;
    if (json_check_keys(one, keys, error) < 0 || json_require(one, "shape", &shape, error) < 0 ||
        json_is_object(&shape, error) < 0 ||
        (shapes->dimension_count == 0 && read_names(&shape, shapes, error) < 0) ||
        read_values(&shape, shapes, values, error) < 0 ||
        read_inputs(tree, &shape, inputs, error) < 0 ||
        json_require(one, "fitted", &value, error) < 0 || json_bool(&value, &fitted, error) < 0 ||
        read_ratio(tree, one, inputs, &ratio, error) < 0)
        return -1;
    regret_shapes_add(shapes, values, ratio, fitted);
    return 0;
}

int manifest_read_regret(const struct manifest *manifest, struct manifest_regret *regret,
                         struct error *error) {
    const struct json root = json_root(&manifest->document);
    struct json object, list, stated;
    *regret = (struct manifest_regret){0};
    if (manifest->tree == NULL)
        return error_input(error,
                           "%s: no tree chooses its kernel, and no regret was measured: export "
                           "with --within, or measure it with `evotile regret`",
                           manifest->document.file);
    if (json_require(&root, "dispatch", &object, error) < 0 ||
        json_fields_read(&object, fields, regret, error) < 0 ||
        json_require(&object, "regret", &stated, error) < 0 ||
        regret_read(&regret->stated, &stated, error) < 0 ||
        json_require(&object, "shapes", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        const struct json one = json_at(&list, i);
        if (read_shape(manifest->tree, &one, &regret->shapes, error) == 0)
            continue;
        regret_shapes_release(&regret->shapes);
        return -1;
    }
    return 0;
}
