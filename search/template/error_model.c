/* Reads the parts of a problem that define correctness beside its references: stress inputs, and
   relaxed genomes with a looser bound. */
#include "template/load.h"

#include <math.h>
#include <string.h>

/* Properties of each dtype: half a unit in the last place, the smallest normal and the largest
   number. */
static const struct {
    double rounding, smallest_normal, largest;
} precisions[DTYPE_COUNT] = {
    [DTYPE_F16] = {0x1p-11, 0x1p-14, 65504},
    [DTYPE_BF16] = {0x1p-9, 0x1p-126, 0x1.fep127},
    [DTYPE_F32] = {0x1p-24, 0x1p-126, 0x1.fffffep127},
    [DTYPE_F64] = {0x1p-53, 0x1p-500,
                   0x1p500}, /* chosen so that squares of these are representable */
    [DTYPE_U32] = {0, 1, UINT32_MAX},
    [DTYPE_I32] = {0, 1, INT32_MAX},
    [DTYPE_I8] = {0, 1, INT8_MAX},
    [DTYPE_U8] = {0, 1, UINT8_MAX},
    [DTYPE_I16] = {0, 1, INT16_MAX},
    [DTYPE_I64] = {0, 1, 0x1p63},
    [DTYPE_E4M3] = {0x1p-4, 0x1p-6, 448},
    [DTYPE_E5M2] = {0x1p-3, 0x1p-14, 57344},
    [DTYPE_BOOL] = {0, 1, 1},
};

double dtype_rounding(enum dtype dtype) {
    return precisions[dtype].rounding;
}

double dtype_smallest_normal(enum dtype dtype) {
    return precisions[dtype].smallest_normal;
}

double dtype_largest(enum dtype dtype) {
    return precisions[dtype].largest;
}

double template_fill_maximum(const struct tensor_fill *fill, enum dtype dtype) {
    switch (fill->fill) {
    case FILL_NORMAL:
    case FILL_NAN:
        return fabs(fill->value) * FILL_NORMAL_MAX;
    case FILL_CONSTANT:
        return fabs(fill->value);
    case FILL_SPIKES:
    case FILL_COLUMN:
    case FILL_FIRST:
    case FILL_LAST:
        return fmax(fabs(fill->value), FILL_NORMAL_MAX);
    default:
        return fmax(fabs(fill->value) * dtype_largest(dtype), FILL_NORMAL_MAX);
    }
}

/* ---- stress ---- */

static const char *const stress_keys[] = {"name",   "when",     "normal", "constant",
                                          "spikes", "extremes", "nan",    "column",
                                          "first",  "last",     NULL};
static const char *const fill_names[FILL_STRESSES] = {
    [FILL_NORMAL] = "normal",     [FILL_CONSTANT] = "constant", [FILL_SPIKES] = "spikes",
    [FILL_EXTREMES] = "extremes", [FILL_NAN] = "nan",           [FILL_COLUMN] = "column",
    [FILL_FIRST] = "first",       [FILL_LAST] = "last",
};

/* {"q": 8, "k": 8}: the fill's value for some input tensors. */
static int load_fills(const struct template *template, const struct json *values, enum fill fill,
                      struct stress *stress, bool *given, struct error *error) {
    if (json_is_object(values, error) < 0)
        return -1;
    for (int i = 0; i < json_count(values); i++) {
        struct json value = json_at(values, i);
        int t = find_tensor(template, json_key(&value));
        if (t >= 0 && template->tensors[t].before > 0)
            t = template->tensors[t].before;
        if (t < 0 ||
            (template->tensors[t].role != ROLE_INPUT && template->tensors[t].role != ROLE_SETUP))
            return json_error(&value, error, "there is no input \"%s\"", json_key(&value));
        if (given[t])
            return json_error(&value, error, "\"%s\" is filled twice", json_key(&value));
        if (template->tensors[t].fill.fill != FILL_NORMAL)
            return json_error(&value, error,
                              "\"%s\" has a fill of its own, which it keeps: a recipe changes "
                              "tensors with the fill \"normal\"",
                              json_key(&value));
        given[t] = true;
        stress->fills[t].fill = fill;
        if (json_number(&value, &stress->fills[t].value, error) < 0)
            return -1;
    }
    return 0;
}

static int load_stress(struct template *template, const struct json *value, struct error *error) {
    struct stress *stress = &template->stresses[template->stress_count++];
    struct json member;
    bool given[TENSORS_MAX] = {false};
    for (int t = 0; t < TENSORS_MAX; t++)
        stress->fills[t] = (struct tensor_fill){FILL_NORMAL, 1, 0};
    if (json_check_keys(value, stress_keys, error) < 0 ||
        json_copy_text(value, "name", stress->name, NAME_SIZE, error) < 0 ||
        load_optional_expression(template, value, "when", &stress->when, error) < 0)
        return -1;
    for (int fill = 0; fill < FILL_STRESSES; fill++)
        if (json_find(value, fill_names[fill], &member) &&
            load_fills(template, &member, (enum fill)fill, stress, given, error) < 0)
            return -1;
    return 0;
}

/* Adds a copy of a recipe whose last spiked tensor has spikes of the other sign: the product of two
   spikes becomes negative, and a single spike an extreme at the other end. */
static void derive_negative(struct template *template, const struct stress *from) {
    int spiked = -1;
    for (int t = 0; t < template->tensor_count; t++)
        if (from->fills[t].fill == FILL_SPIKES)
            spiked = t;
    if (spiked < 0)
        return;
    struct stress *stress = &template->stresses[template->stress_count++];
    *stress = *from;
    stress->derived = true;
    stress->fills[spiked].value = -stress->fills[spiked].value;
    snprintf(stress->name, NAME_SIZE, "%.*s, negative", NAME_SIZE - 11, from->name);
}

/* Adds a copy of a recipe whose constants are far from zero and of the other sign: a largest
   element that starts at zero hides all of them. A power of two times as large, they round alike.
 */
static void derive_far(struct template *template, const struct stress *from) {
    static const double factor = -512;
    struct stress far = *from;
    far.derived = false;
    for (int t = 0; t < template->tensor_count; t++)
        if (from->fills[t].fill == FILL_CONSTANT) {
            far.derived = true;
            far.fills[t].value *= factor;
        }
    snprintf(far.name, NAME_SIZE, "%.*s, far below zero", NAME_SIZE - 18, from->name);
    if (far.derived)
        template->stresses[template->stress_count++] = far;
}

/* Adds a recipe in which single elements lead while the others still matter, unless one is
   declared, or no tensor follows recipes: e^4 outweighs 55 others. */
static void derive_leader(struct template *template) {
    static const double leader = 4;
    bool any = false;
    for (int t = 0; t < template->tensor_count; t++)
        any =
            any ||
            ((template->tensors[t].role == ROLE_INPUT || template->tensors[t].role == ROLE_SETUP) &&
             template->tensors[t].fill.fill == FILL_NORMAL);
    if (!any)
        return;
    for (int i = 0; i < template->stress_count; i++)
        for (int t = 0; t < template->tensor_count; t++)
            if (template->stresses[i].fills[t].fill >= FILL_COLUMN)
                return;
    struct stress *stress = &template->stresses[template->stress_count++];
    *stress = (struct stress){.name = "single elements lead", .derived = true};
    for (int t = 0; t < TENSORS_MAX; t++)
        stress->fills[t] = (struct tensor_fill){FILL_SPIKES, leader, 0};
}

int load_error_model(struct template *template, const struct template_roots *roots,
                     struct error *error) {
    static const struct section sections[] = {
        {"stress", load_stress, .maximum = DECLARED_STRESSES_MAX, .noun = "of them"},
        {0},
    };
    const struct json *root = &roots->problem;
    struct json value;
    if (load_relaxed(template, roots, error) < 0 ||
        load_sections(template, root, sections, error) < 0 ||
        check_magnitudes(template, roots, error) < 0)
        return -1;
    int declared = template->stress_count;
    for (int i = 0; i < declared; i++)
        derive_negative(template, &template->stresses[i]);
    for (int i = 0; i < declared; i++)
        derive_far(template, &template->stresses[i]);
    if (template->reference_kind != REFERENCE_ANSWERS)
        derive_leader(template);
    return json_find(root, "float_atomics", &value)
               ? json_bool(&value, &template->float_atomics, error)
               : 0;
}
