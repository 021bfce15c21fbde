/* Cases: reads and prints shapes, and groups cases into variants that share a compilation. */
#include "template/load.h"

#include "base/path.h"
#include "base/spelling.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- real dimensions ---- */

float dimension_real(int64_t bits) {
    uint32_t word = (uint32_t)bits;
    float number;
    memcpy(&number, &word, sizeof number);
    return number;
}

void dimension_print_real(float number, char text[NAME_SIZE]) {
    for (int digits = 6; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, NAME_SIZE, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            return;
    }
}

int load_float_bits(const struct json *value, int64_t *bits, struct error *error) {
    double wide;
    uint32_t word;
    if (json_number(value, &wide, error) < 0)
        return -1;
    float number = (float)wide;
    if (!isfinite(number) || (number == 0 && wide != 0))
        return json_error(value, error, "is beyond the range of a float");
    memcpy(&word, &number, sizeof word);
    *bits = word;
    return 0;
}

static int check_real(const struct dimension *dimension, int64_t bits, const struct json *value,
                      struct error *error) {
    float number = dimension_real(bits);
    if (number >= dimension->least && number <= dimension->most)
        return 0;
    return json_error(value, error, "%s is %g, but must lie between %g and %g", dimension->name,
                      (double)number, (double)dimension->least, (double)dimension->most);
}

/* ---- reading and printing ---- */

/* Checks one value of a case against the range of its dimension. */
static int check_value(const struct dimension *dimension, int64_t number, const struct json *value,
                       struct error *error) {
    char list[256] = "";
    if (dimension->real)
        return check_real(dimension, number, value, error);
    bool allowed =
        dimension->value_count == 0 && number >= dimension->minimum && number <= dimension->maximum;
    for (int i = 0; i < dimension->value_count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%lld", i > 0 ? ", " : "",
                 (long long)dimension->values[i]);
        allowed = allowed || dimension->values[i] == number;
    }
    if (allowed)
        return 0;
    if (dimension->value_count > 0)
        return json_error(value, error, "%s is %lld, but must be one of %s", dimension->name,
                          (long long)number, list);
    return json_error(value, error, "%s is %lld, but must lie between %lld and %lld",
                      dimension->name, (long long)number, (long long)dimension->minimum,
                      (long long)dimension->maximum);
}

static int read_shape(const struct template *template, const struct json *value,
                      const struct shape *like, const char *other_key, struct shape *shape,
                      struct error *error) {
    const char *names[DIMENSIONS_MAX + 2] = {NULL};
    int64_t slots[SLOTS_MAX] = {0};
    int name_count = 0;
    for (int d = 0; d < template->dimension_count; d++)
        /* A problem does not know which dimensions a solution specialises. */
        if (like == NULL || !template->dimensions[d].specialised || is_split(template))
            names[name_count++] = template->dimensions[d].name;
    names[name_count] = other_key;
    if (json_check_keys(value, names, error) < 0)
        return -1;
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        int64_t *number = &shape->values[d];
        struct json given;
        if (like != NULL && dimension->specialised)
            *number = like->values[d];
        else if (json_find(value, dimension->name, &given)) {
            if ((dimension->real ? load_float_bits(&given, number, error)
                                 : json_integer(&given, number, error)) < 0 ||
                check_value(dimension, *number, &given, error) < 0)
                return -1;
        } else if (dimension->default_value == NULL)
            return json_error(value, error, "%s is missing (%s)", dimension->name,
                              dimension->about);
        else if (expression_evaluate(dimension->default_value, slots, number, error) < 0)
            return load_locate_error(value, error);
        else if (check_value(dimension, *number, value, error) < 0)
            return -1;
        slots[symbol_table_find(&template->space->symbols, dimension->name)] = *number;
    }
    return 0;
}

int template_read_shape(const struct template *template, const struct json *value,
                        const struct shape *like, struct shape *shape, struct error *error) {
    return read_shape(template, value, like, NULL, shape, error);
}

int template_read_case(const struct template *template, const struct json *value,
                       const char *other_key, struct shape *shape, struct error *error) {
    return read_shape(template, value, NULL, other_key, shape, error);
}

void template_print_shape(const struct template *template, const struct shape *shape,
                          char text[CASE_NAME_SIZE]) {
    int64_t slots[SLOTS_MAX] = {0};
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        int64_t default_value;
        slots[symbol_table_find(&template->space->symbols, dimension->name)] = shape->values[d];
        if (dimension->default_value != NULL &&
            expression_evaluate(dimension->default_value, slots, &default_value, NULL) == 0 &&
            default_value == shape->values[d])
            continue;
        char value[NAME_SIZE];
        snprintf(value, sizeof value, "%lld", (long long)shape->values[d]);
        if (dimension->real)
            dimension_print_real(dimension_real(shape->values[d]), value);
        int length = snprintf(text + used, CASE_NAME_SIZE - used, "%s%s=%s", used > 0 ? "," : "",
                              dimension->name, value);
        used = used + (size_t)length < CASE_NAME_SIZE ? used + (size_t)length : CASE_NAME_SIZE - 1;
    }
}

int64_t template_dimension(const struct template *template, const struct shape *shape,
                           const char *name, int64_t otherwise) {
    for (int d = 0; d < template->dimension_count; d++)
        if (strcmp(template->dimensions[d].name, name) == 0)
            return shape->values[d];
    return otherwise;
}

cJSON *template_shape_json(const struct template *template, const struct shape *shape) {
    cJSON *object = cJSON_CreateObject();
    for (int d = 0; d < template->dimension_count; d++) {
        const char *name = template->dimensions[d].name;
        int64_t value = shape->values[d];
        char digits[NAME_SIZE];
        snprintf(digits, sizeof digits, "%lld", (long long)value);
        if (template->dimensions[d].real) {
            dimension_print_real(dimension_real(value), digits);
            cJSON_AddNumberToObject(object, name, strtod(digits, NULL));
            continue;
        }
        /* Beyond 2^53 a double is inexact: write the number as a string of digits. */
        if (value <= INT64_C(1) << 53 && value >= -(INT64_C(1) << 53))
            cJSON_AddNumberToObject(object, name, (double)value);
        else
            cJSON_AddStringToObject(object, name, digits);
    }
    return object;
}

static bool same_variant(const struct template *template, const struct shape *a,
                         const struct shape *b) {
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised && a->values[d] != b->values[d])
            return false;
    return true;
}

int template_variant(const struct template *template, int case_index) {
    int variant = 0;
    while (!same_variant(template, &template->cases[variant], &template->cases[case_index]))
        variant++;
    return variant;
}

struct template *template_load_probes(const struct template *template,
                                      const struct template_setting *setting, struct error *error) {
    struct json root = json_root(&template->document);
    struct json probes;
    struct shape shapes[CASES_MAX];
    struct template_setting probing = *setting;
    if (!json_find(&root, "probe_cases", &probes))
        return NULL;
    if (json_is_array(&probes, error) < 0)
        return NULL;
    probing.cases = shapes;
    probing.case_count = 0;
    for (int c = 0; c < template->case_count; c++) {
        if (template_variant(template, c) != c)
            continue;
        for (int i = 0; i < json_count(&probes); i++) {
            struct json probe = json_at(&probes, i);
            if (probing.case_count == CASES_MAX)
                break;
            if (template_read_shape(template, &probe, &template->cases[c],
                                    &shapes[probing.case_count++], error) < 0)
                return NULL;
        }
    }
    return probing.case_count > 0 ? template_load(template->folder, &probing, error) : NULL;
}

struct template *template_load_reference_cases(const struct template *template,
                                               const struct template_setting *setting,
                                               struct error *error) {
    struct json root = json_root(&template->document), cases;
    struct shape shapes[CASES_MAX];
    struct template_setting comparing = *setting;
    if (!json_find(&root, "reference_cases", &cases))
        return NULL;
    if (json_is_array(&cases, error) < 0)
        return NULL;
    comparing.cases = shapes;
    comparing.case_count = json_count(&cases);
    if (comparing.case_count < 1 || comparing.case_count > CASES_MAX) {
        json_error(&cases, error, "there must be 1 to %d cases", CASES_MAX);
        return NULL;
    }
    for (int c = 0; c < comparing.case_count; c++) {
        struct json one = json_at(&cases, c);
        if (template_read_case(template, &one, NULL, &shapes[c], error) < 0)
            return NULL;
    }
    return template_load(template->folder, &comparing, error);
}

bool template_genome_is_valid(const struct template *template, const struct genome *genome,
                              int case_index) {
    int64_t values[SLOTS_MAX];
    if (template->unfit[case_index] ||
        space_values(template->space, genome, case_index, values, &(struct error){0}) < 0)
        return false;
    for (int i = 0; i < template->space->constraint_count; i++) {
        int64_t holds;
        if (expression_evaluate(template->space->constraints[i].expression, values, &holds, NULL) <
                0 ||
            holds == 0)
            return false;
    }
    return true;
}
