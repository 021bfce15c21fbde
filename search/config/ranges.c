#include "config/ranges.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading the section ---- */

/* A dimension that comes before this one, so that its value is drawn first. */
static int read_divided(const struct template *shapes, int dimension, const struct json *value,
                        struct range *range, struct error *error) {
    const char *name;
    if (json_string(value, &name, error) < 0)
        return -1;
    for (int d = 0; d < dimension; d++)
        if (strcmp(shapes->dimensions[d].name, name) == 0 && !shapes->dimensions[d].real) {
            range->divides = d;
            return 0;
        }
    return json_error(value, error, "must name a dimension that comes before %s in the template",
                      shapes->dimensions[dimension].name);
}

static int check_number(const struct dimension *dimension, int64_t number, const struct json *value,
                        struct error *error) {
    bool allowed =
        dimension->value_count == 0 && number >= dimension->minimum && number <= dimension->maximum;
    for (int i = 0; i < dimension->value_count; i++)
        allowed = allowed || dimension->values[i] == number;
    return allowed ? 0
                   : json_error(value, error, "%lld is no value of %s in the template",
                                (long long)number, dimension->name);
}

static int read_values(const struct dimension *dimension, const struct json *list,
                       struct range *range, struct error *error) {
    if (json_is_array(list, error) < 0)
        return -1;
    if (json_count(list) < 1 || json_count(list) > RANGE_VALUES_MAX)
        return json_error(list, error, "must have 1 to %d values", RANGE_VALUES_MAX);
    for (int i = 0; i < json_count(list); i++) {
        struct json item = json_at(list, i);
        int64_t *number = &range->values[range->value_count++];
        if (json_integer(&item, number, error) < 0 ||
            check_number(dimension, *number, &item, error) < 0)
            return -1;
    }
    return 0;
}

static int read_limit(const struct dimension *dimension, const struct json *object, const char *key,
                      int64_t *number, struct error *error) {
    struct json value;
    return json_require(object, key, &value, error) < 0 ||
                   json_integer(&value, number, error) < 0 ||
                   check_number(dimension, *number, &value, error) < 0
               ? -1
               : 0;
}

/* From the least to the most multiple within the limits. */
static int read_limits(const struct dimension *dimension, const struct json *object,
                       struct range *range, struct error *error) {
    struct json value;
    const char *scale;
    range->multiple_of = 1;
    if (read_limit(dimension, object, "min", &range->minimum, error) < 0 ||
        read_limit(dimension, object, "max", &range->maximum, error) < 0)
        return -1;
    if (json_find(object, "multiple_of", &value)) {
        if (json_integer(&value, &range->multiple_of, error) < 0)
            return -1;
        if (range->multiple_of < 1)
            return json_error(&value, error, "must be at least 1");
    }
    if (json_find(object, "scale", &value)) {
        if (json_string(&value, &scale, error) < 0)
            return -1;
        range->logarithmic = strcmp(scale, "log") == 0;
        if (!range->logarithmic && strcmp(scale, "linear") != 0)
            return json_error(&value, error, "must be \"linear\" or \"log\"");
    }
    if (dimension->value_count > 0 || range->minimum < 0)
        return json_error(object, error, "give the \"values\" of %s", dimension->name);
    const int64_t step = range->multiple_of;
    range->minimum = range->minimum / step * step + (range->minimum % step != 0 ? step : 0);
    range->maximum = range->maximum / step * step;
    return range->minimum <= range->maximum
               ? 0
               : json_error(object, error, "holds no multiple of %lld: no shape is in it",
                            (long long)step);
}

static int read_range(const struct template *shapes, int d, const struct json *object,
                      struct range *range, struct error *error) {
    static const char *const values_keys[] = {"values", NULL};
    static const char *const divides_keys[] = {"divides", NULL};
    static const char *const limit_keys[] = {"min",    "max",     "multiple_of", "scale",
                                             "values", "divides", NULL};
    const struct dimension *dimension = &shapes->dimensions[d];
    struct json value;
    range->divides = -1;
    range->given = true;
    if (dimension->real)
        return json_error(object, error,
                          "%s is a real number, which is not drawn: leave it out, or give a file "
                          "of shapes",
                          dimension->name);
    if (json_is_object(object, error) < 0 || json_check_keys(object, limit_keys, error) < 0)
        return -1;
    if (json_find(object, "values", &value))
        return json_check_keys(object, values_keys, error) < 0
                   ? -1
                   : read_values(dimension, &value, range, error);
    if (json_find(object, "divides", &value))
        return json_check_keys(object, divides_keys, error) < 0
                   ? -1
                   : read_divided(shapes, d, &value, range, error);
    return read_limits(dimension, object, range, error);
}

int config_read_ranges(struct config *config, const struct json *root, struct error *error) {
    const struct template *shapes = config->shapes;
    const char *names[DIMENSIONS_MAX + 1] = {NULL};
    struct json section, object;
    if (!json_find(root, "ranges", &section))
        return 0;
    for (int d = 0; d < shapes->dimension_count; d++)
        names[d] = shapes->dimensions[d].name;
    if (json_is_object(&section, error) < 0 || json_check_keys(&section, names, error) < 0)
        return -1;
    if (json_count(&section) == 0)
        return json_error(&section, error, "must have the range of a dimension");
    for (int d = 0; d < shapes->dimension_count; d++)
        if (json_find(&section, names[d], &object)
                ? read_range(shapes, d, &object, &config->ranges[d], error) < 0
                : shapes->dimensions[d].default_value == NULL)
            return config->ranges[d].given
                       ? -1
                       : json_error(&section, error, "%s has no default: give its range", names[d]);
    config->has_ranges = true;
    return 0;
}

/* ---- shapes ---- */

bool config_is_compiled(const struct config *config, const struct shape *shape) {
    const struct template *shapes = config->shapes;
    for (int c = 0; c < config->case_count; c++) {
        bool same = true;
        for (int d = 0; d < shapes->dimension_count; d++)
            same = same && (!shapes->dimensions[d].specialised ||
                            shape->values[d] == config->cases[c].values[d]);
        if (same)
            return true;
    }
    return false;
}

static bool is_in(const struct shape *shapes, int count, const struct shape *shape) {
    for (int i = 0; i < count; i++)
        if (memcmp(&shapes[i], shape, sizeof *shape) == 0)
            return true;
    return false;
}

static int64_t draw_divisor(int64_t number, struct random *random) {
    int64_t divisors[1024];
    int count = 0;
    for (int64_t i = 1; i <= number / i && count < 1023; i++)
        if (number % i == 0) {
            divisors[count++] = i;
            if (i != number / i)
                divisors[count++] = number / i;
        }
    return count > 0 ? divisors[random_below(random, (uint64_t)count)] : number;
}

static int64_t draw_value(const struct range *range, const int64_t *values, struct random *random) {
    if (range->value_count > 0)
        return range->values[random_below(random, (uint64_t)range->value_count)];
    if (range->divides >= 0)
        return draw_divisor(values[range->divides], random);
    const int64_t step = range->multiple_of;
    const uint64_t count = (uint64_t)((range->maximum - range->minimum) / step) + 1;
    if (!range->logarithmic)
        return range->minimum + (int64_t)random_below(random, count) * step;
    /* Every doubling is as likely as any other: of numbers from `low` to less than `high`. */
    const double low = (double)range->minimum / (double)step,
                 high = (double)range->maximum / (double)step + 1;
    const double from = low > 0 ? log(low) : log(0.5);
    const double drawn = floor(exp(from + (log(high) - from) * random_uniform(random)));
    return (int64_t)fmin(fmax(drawn, low), high - 1) * step;
}

/* The shape with these values for the dimensions that have ranges; the template fills in the
   others. Returns -1 where it refuses the shape. */
static int make_shape(const struct config *config, const int64_t *values, struct shape *shape,
                      struct error *error) {
    const struct template *shapes = config->shapes;
    struct json_document document;
    struct strbuf text = {0};
    strbuf_print(&text, "{");
    for (int d = 0; d < shapes->dimension_count; d++)
        if (config->ranges[d].given)
            strbuf_print(&text, "%s\"%s\": \"%lld\"", text.used > 1 ? ", " : "",
                         shapes->dimensions[d].name, (long long)values[d]);
    strbuf_print(&text, "}");
    int status = json_read_text(&document, config->path, text.bytes, error);
    if (status == 0) {
        const struct json root = json_root(&document);
        status = template_read_shape(shapes, &root, NULL, shape, error);
        json_release(&document);
    }
    strbuf_release(&text);
    return status;
}

static int draw_shape(const struct config *config, struct random *random, struct shape *shape,
                      struct error *error) {
    int64_t values[DIMENSIONS_MAX] = {0};
    for (int d = 0; d < config->shapes->dimension_count; d++)
        if (config->ranges[d].given)
            values[d] = draw_value(&config->ranges[d], values, random);
    return make_shape(config, values, shape, error);
}

static int end_shape(const struct config *config, int case_index, bool most, struct shape *shape) {
    int64_t values[DIMENSIONS_MAX] = {0};
    struct error refused;
    for (int d = 0; d < config->shapes->dimension_count; d++) {
        const struct range *range = &config->ranges[d];
        if (range->value_count > 0)
            values[d] = config->cases[case_index].values[d];
        else if (range->given && range->divides >= 0)
            values[d] = most ? values[range->divides] : 1;
        else if (range->given)
            values[d] = most ? range->maximum : range->minimum;
    }
    return make_shape(config, values, shape, &refused);
}

int config_end_shapes(const struct config *config, struct shape **shapes) {
    int count = 0;
    *shapes = xcalloc(2 * (size_t)config->case_count, sizeof **shapes);
    for (int i = 0; i < 2 * config->case_count && config->has_ranges; i++) {
        struct shape shape = {{0}};
        if (end_shape(config, i / 2, i % 2 == 1, &shape) == 0 &&
            config_is_compiled(config, &shape) &&
            !is_in(config->cases, config->case_count, &shape) && !is_in(*shapes, count, &shape))
            (*shapes)[count++] = shape;
    }
    return count;
}

int config_draw_shapes(const struct config *config, int count, uint64_t seed, struct shape **shapes,
                       struct error *error) {
    struct random random;
    struct error refused = {0};
    int drawn = 0, compiled = 0;
    if (!config->has_ranges)
        return error_input(error,
                           "%s has no \"ranges\" to draw shapes from: add them, or give a file of "
                           "shapes",
                           config->path);
    if (count < 1 || count > SHAPES_MAX)
        return error_input(error, "%d shapes: draw 1 to %d", count, SHAPES_MAX);
    *shapes = xcalloc((size_t)count, sizeof **shapes);
    random_seed(&random, seed, 0x736861706573); /* "shapes" */
    /* A range with few shapes gives the last of them late. */
    for (int attempt = 0; attempt < 64 * count + 4096 && drawn < count; attempt++) {
        struct shape shape = {{0}};
        if (draw_shape(config, &random, &shape, &refused) < 0 ||
            !config_is_compiled(config, &shape))
            continue;
        compiled++;
        if (!is_in(config->cases, config->case_count, &shape) && !is_in(*shapes, drawn, &shape))
            (*shapes)[drawn++] = shape;
    }
    if (drawn > 0)
        return drawn;
    free(*shapes);
    *shapes = NULL;
    return error_input(error, "%s: \"ranges\" admit no shape: %s", config->path,
                       compiled > 0 ? "all of them are cases"
                       : refused.kind != ERROR_NONE
                           ? refused.text
                           : "no case has the specialised dimensions of any, so no kernel is "
                             "compiled for them");
}

/* ---- a file of shapes ---- */

static int read_list(const struct config *config, const struct json *list, struct shape *shapes,
                     struct error *error) {
    for (int i = 0; i < json_count(list); i++) {
        struct json value = json_at(list, i);
        if (template_read_case(config->shapes, &value, "weight", &shapes[i], error) < 0)
            return -1;
        if (!config_is_compiled(config, &shapes[i]))
            return json_error(&value, error,
                              "has specialised dimensions that match no case, so no kernel is "
                              "compiled for it");
        if (is_in(shapes, i, &shapes[i]))
            return json_error(&value, error, "occurs twice");
    }
    return json_count(list);
}

int config_read_shapes(const struct config *config, const char *path, struct shape **shapes,
                       struct error *error) {
    struct json_document document;
    if (json_read(&document, path, error) < 0)
        return -1;
    struct json list = json_root(&document), root = list;
    int count = -1;
    *shapes = NULL;
    if (cJSON_IsObject(root.value) && json_require(&root, "cases", &list, error) < 0)
        goto done;
    if (json_is_array(&list, error) < 0)
        goto done;
    if (json_count(&list) < 1 || json_count(&list) > SHAPES_MAX) {
        json_error(&list, error, "must have 1 to %d shapes", SHAPES_MAX);
        goto done;
    }
    *shapes = xcalloc((size_t)json_count(&list), sizeof **shapes);
    count = read_list(config, &list, *shapes, error);
    if (count < 0) {
        free(*shapes);
        *shapes = NULL;
    }
done:
    json_release(&document);
    return count;
}
