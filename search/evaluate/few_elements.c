#include "evaluate/few_elements.h"
#include "evaluate/references.h"

#include <math.h>

/* A candidate so many times beyond the bound after this many draws is not unlucky but wrong. */
enum { DRAWS_MIN = 4 };
static const double hopeless = 16;

/* Added to an input's seed, gives the seeds of further draws. */
#define DRAW_SEED UINT64_C(0x2545f4914f6cdd1d)

void pool_errors(struct comparison *plain, const struct comparison *other, bool relative) {
    struct errors errors = other->errors;
    if (plain->reference_l2 <= 0 || plain->largest_reference <= 0)
        return;
    if (relative)
        errors.max_absolute *= plain->largest_reference / fmax(other->largest_reference, 1e-300);
    else
        errors.relative_l2 *= other->reference_l2 / plain->reference_l2;
    errors.row_relative_l2 = fmax(errors.row_relative_l2, errors.relative_l2);
    errors_max(&plain->errors, &errors);
}

/* Whether the input's tensors hold extremes: their number, and so the magnitude of the output and
   of its errors, depends on the draw. */
static bool has_extremes(const struct verify_case *one, const struct stress *stress) {
    for (int t = 0; stress != NULL && t < one->template->tensor_count; t++)
        if (one->template->tensors[t].role == ROLE_INPUT && stress->fills[t].fill == FILL_EXTREMES)
            return true;
    return false;
}

/* Compares the plain kernel with the reference on one more input. */
static int draw(const struct verify_case *one, const struct stress *stress, uint64_t seed, int t,
                struct comparison *drawn, struct error *error) {
    struct planned_buffers *inputs;
    struct reference_runs *runs = reference_runs_on_seed(one, stress, seed, &inputs, error);
    if (runs == NULL)
        return -1;
    const struct compared compared = {runs->plain.buffers.tensors[0][t],
                                      &runs->plain.plan.tensors[t],
                                      runs->reference.buffers.tensors[0][t],
                                      0,
                                      0,
                                      0};
    const int status = comparator_compare(one->comparator, &compared, 1, drawn, error);
    reference_inputs_free(inputs);
    reference_runs_free(runs);
    return status;
}

static bool is_hopeless(const struct errors *candidate, const struct errors *bound) {
    return candidate->relative_l2 > hopeless * bound->relative_l2 ||
           candidate->row_relative_l2 > hopeless * bound->row_relative_l2 ||
           candidate->max_absolute > hopeless * bound->max_absolute;
}

int widen_bound_of_few(const struct verify_case *one, const struct buffers *buffers, int set, int t,
                       const struct comparison *plain, const struct errors *candidate,
                       struct errors *bound, struct error *error) {
    const struct planned_tensor *tensor = &buffers->plan->tensors[t];
    const struct stress *stress = buffers->stress[set];
    struct comparison pooled = *plain;
    char text[REASON_SIZE];
    if (one->template->plain_kind == PLAIN_NONE || tensor->tolerance.given ||
        tensor->elements > FEW_ELEMENTS || isnan(candidate->relative_l2))
        return 0;
    for (int i = 0; i < DRAWS_MAX && error_bound_exceeded(candidate, bound, text); i++) {
        struct comparison drawn;
        uint64_t seed = buffers->seeds[set] + (uint64_t)(i + 1) * DRAW_SEED;
        if (i >= DRAWS_MIN && is_hopeless(candidate, bound))
            return 0;
        if (draw(one, stress, seed, t, &drawn, error) < 0)
            return -1;
        pool_errors(&pooled, &drawn, has_extremes(one, stress));
        *bound = error_bound_from_plain(&pooled, tensor->precision, buffers->plan);
    }
    return 0;
}
