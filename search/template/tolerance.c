/* Reads what an element of an output may be off by, where the template says so: "tolerance", or
   "magnitude", which names a tensor that the reference alone writes. */
#include "template/load.h"

#include <math.h>
#include <string.h>

/* The bound of an output with magnitudes, in roundings u of the arithmetic: `of_magnitude` of the
   sum of the magnitudes of its terms, and `of_sum` of the sum itself.

   Of a sum of n terms in any order, |error| <= gamma(n - 1) sum |x_i|, where gamma(n) is about n u;
   of a tree of them, gamma(log2 n) (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
   ed., equations 4.4 and 4.6). Both are reached only if all roundings have one sign. If they are
   independent, the error is at most l sqrt(n) u sum |x_i|, but for a probability of 2 exp(-l^2 / 2)
   (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019).

   sqrt(n) is needed where all terms have one sign. Each addition rounds a partial sum S_k, by a
   deviation of u |S_k| / sqrt(3) or less: the error of a chain has the deviation u / sqrt(3) times
   sqrt(sum S_k^2). Terms of one sign have S_k = k S / n, so that this is at most u sqrt(n) |S| / 3.
   Terms of either sign at random have S_k about sqrt(k) of one term, so that it is about u / 2 of
   the sum of the magnitudes, however many terms there are. So the bound has two parts: of the sum
   64, three deviations of a chain of 4096 terms of one sign (threads and blocks have shorter ones),
   and of the magnitudes 4, eight deviations of any chain, and what a few roundings of each term
   add. One multiple of the magnitudes, 64, would allow a sum of 100,000 normal numbers what it
   loses if it is kept in half precision.

   One term of 4096 left out is 4096 roundings of the sum, if it is of mean size; of n, it shows if
   it exceeds n / 2^18 of the mean. */
static const double of_magnitude_roundings = 4, of_sum_roundings = 64;

/* Equal terms are not rounded independently: while the partial sum stays within a power of two,
   each addition makes the same error, of up to u times that power. So a chain of n has up to n / 3
   u of the sum, 1366 for 4096, a third of a term. It holds where a stress input is constant. */
static const double of_equal_roundings = 1366;

/* Of a relaxed genome, as in the bound from the plain kernel (evaluate/error_bound.c), but not more
   than a quarter of what one dropped tile costs: its share of the magnitudes. */
static const double relaxed_roundings = 32, dropped_tile_share = 0.25;

static const char *const tolerance_keys[] = {"relative", "absolute", "matched", NULL};

/* Reads a number from 0 on. */
static int load_limit(const struct json *object, const char *key, double *limit, bool *found,
                      struct error *error) {
    struct json member;
    if (!json_find(object, key, &member))
        return 0;
    *found = true;
    if (json_number(&member, limit, error) < 0)
        return -1;
    return *limit >= 0 && *limit <= 1e300 ? 0 : json_error(&member, error, "must be 0 or more");
}

static int load_given(const struct json *value, struct tolerance *tolerance, struct error *error) {
    struct json member;
    bool found = false;
    if (json_check_keys(value, tolerance_keys, error) < 0 ||
        load_limit(value, "relative", &tolerance->relative, &found, error) < 0 ||
        load_limit(value, "absolute", &tolerance->absolute, &found, error) < 0)
        return -1;
    if (!found)
        return json_error(value, error, "needs \"relative\", \"absolute\" or both");
    if (!json_find(value, "matched", &member))
        return 0;
    if (json_number(&member, &tolerance->matched, error) < 0)
        return -1;
    return tolerance->matched > 0 && tolerance->matched <= 1
               ? 0
               : json_error(&member, error,
                            "must be more than 0 and at most 1: the share of elements that agree");
}

int load_tolerance(const struct json *value, struct tensor *tensor, struct error *error) {
    struct json given, magnitude;
    bool has_tolerance = json_find(value, "tolerance", &given);
    bool has_magnitude = json_find(value, "magnitude", &magnitude);
    const struct json *either = has_tolerance ? &given : &magnitude;
    tensor->tolerance = (struct tolerance){.matched = 1, .magnitude = -1};
    if (!has_tolerance && !has_magnitude)
        return 0;
    tensor->tolerance.given = true;
    if (tensor->role != ROLE_OUTPUT)
        return json_error(either, error, "only an output has a %s",
                          has_tolerance ? "tolerance" : "magnitude");
    if (has_tolerance && has_magnitude)
        return json_error(&magnitude, error,
                          "the tensor has a \"tolerance\" already: remove one of them");
    if (has_tolerance && tensor->coarse)
        return json_error(&given, error,
                          "replaces the \"precision\" of the tensor: remove one of them");
    if (has_magnitude &&
        (dtype_rounding(tensor->dtype) == 0 || dtype_rounding(tensor->other_dtype) == 0))
        return json_error(&magnitude, error,
                          "whole numbers are not rounded: an output of them has no magnitude");
    return has_tolerance ? load_given(&given, &tensor->tolerance, error) : 0;
}

/* Adds the tensor of magnitudes of an output, doubles of the same shape. */
static int load_magnitude(struct template *template, const struct json *value,
                          struct error *error) {
    struct json member;
    const char *name;
    if (!json_find(value, "magnitude", &member))
        return 0;
    struct tensor *output = &template->tensors[find_tensor(template, json_key(value))];
    if (json_string(&member, &name, error) < 0)
        return -1;
    if (*name == '\0' || strlen(name) >= NAME_SIZE)
        return json_error(&member, error, "must have 1 to %d characters", NAME_SIZE - 1);
    if (find_tensor(template, name) >= 0 || find_map(template, name) >= 0)
        return json_error(&member, error,
                          "\"%s\" is the name of a tensor already: the magnitudes of %s need one "
                          "of their own",
                          name, output->name);
    if (template->tensor_count == TENSORS_MAX)
        return json_error(&member, error, "more than %d tensors", TENSORS_MAX);
    output->tolerance.magnitude = template->tensor_count;
    struct tensor *magnitude = &template->tensors[template->tensor_count++];
    *magnitude = *output;
    snprintf(magnitude->name, NAME_SIZE, "%s", name);
    magnitude->role = ROLE_MAGNITUDE;
    magnitude->before = BEFORE_ANYTHING;
    magnitude->dtype = magnitude->other_dtype = DTYPE_F64;
    magnitude->dtype_when = NULL;
    magnitude->tolerance = (struct tolerance){.matched = 1, .magnitude = -1};
    /* What both references' may differ by. */
    magnitude->coarse = true;
    magnitude->precision = DTYPE_F32;
    return 0;
}

const struct section magnitude_sections[] = {
    {"tensors", load_magnitude, .object = true},
    {0},
};

/* ---- who writes the magnitudes ---- */

int check_magnitudes(const struct template *template, const struct template_roots *roots,
                     struct error *error) {
    const struct {
        const char *key;
        const struct json *root;
        const struct launch_list *launches;
    } programs[] = {{"launches", &roots->solution, &template->launches},
                    {"plain", &roots->problem, &template->plain}};
    struct json value;
    for (int t = 0; t < template->tensor_count; t++) {
        const char *name = template->tensors[t].name;
        if (template->tensors[t].role != ROLE_MAGNITUDE)
            continue;
        const size_t count = template->plain_kind == PLAIN_KERNEL ? 2 : 1;
        for (size_t i = 0; i < count; i++)
            if (is_launch_argument(programs[i].launches, t) &&
                json_require(programs[i].root, programs[i].key, &value, error) == 0)
                return json_error(&value, error,
                                  "a launch takes the magnitudes \"%s\", which only the reference "
                                  "writes: remove the argument",
                                  name);
        if (template->reference_kind == REFERENCE_KERNEL &&
            !is_launch_argument(&template->reference, t) &&
            json_require(&roots->problem, "reference", &value, error) == 0)
            return json_error(&value, error,
                              "no launch takes \"%s\": add it to the arguments of the one that "
                              "writes the magnitudes",
                              name);
    }
    return 0;
}

/* ---- of a genome ---- */

/* Half a unit in the last place of what the terms are summed in. */
static double sum_rounding(const struct tensor *tensor, enum dtype dtype) {
    double u = dtype_rounding(dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32);
    return tensor->coarse ? fmax(u, dtype_rounding(tensor->precision)) : u;
}

void plan_tolerances(const struct template *template, struct launch_plan *plan) {
    for (int t = 0; t < template->tensor_count; t++) {
        const struct tensor *tensor = &template->tensors[t];
        struct planned_tensor *planned = &plan->tensors[t];
        struct tolerance *tolerance = &planned->tolerance;
        *tolerance = tensor->tolerance;
        tolerance->of_equal = tolerance->relative;
        if (!planned->present || !tolerance->given || tolerance->magnitude < 0)
            continue;
        double u = sum_rounding(tensor, planned->dtype);
        double rounding = dtype_rounding(planned->dtype);
        tolerance->relative = rounding + of_sum_roundings * u;
        tolerance->of_equal = rounding + of_equal_roundings * u;
        tolerance->absolute = rounding * dtype_smallest_normal(planned->dtype);
        tolerance->of_magnitude = of_magnitude_roundings * u;
        if (!plan->limited_range)
            continue;
        double coarse = relaxed_roundings * fmax(u, dtype_rounding(DTYPE_F16));
        double tile = dropped_tile_share * plan->dropped_tile * plan->dropped_tile;
        tolerance->of_magnitude = fmax(tolerance->of_magnitude, fmin(coarse, tile));
    }
}
