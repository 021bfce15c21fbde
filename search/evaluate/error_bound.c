#include "evaluate/error_bound.h"

#include <math.h>

static const double tensor_factor = 2;
static const double row_factor = 4;
static const double element_factor = 4;
static const double min_roundings = 2.5;
static const double float_roundings = 6;
static const double dropped_tile_share = 0.25;
static const double relaxed_roundings = 32;

/* Without a plain kernel: see add_sums. */
static const double sum_roundings = 2, few_cancellation = 16, both_round = 2;
enum { FEW_ELEMENTS_SUMMED = 64 };

/* Of the systematic part, and of false zeros: see error_is_biased. */
static const double bias_deviations = 4, bias_precision_share = 0.25;
static const double truncation_per_product = 0x1p-26;
static const double zero_share = 0.25, zero_deviations = 6, zeros_always = 6;
enum { BIAS_ROWS_MIN = 16, BIAS_ELEMENTS_MIN = 256 };

/* An estimate of how many terms an element of the output sums up: by the operations, by the rows of
   the inputs, and by how many of their elements there are for each of the output's. */
static double terms_of(const struct planned_tensor *tensor, const struct launch_plan *plan) {
    double terms = fmax(1, (double)plan->operations / (double)tensor->elements);
    for (int t = 0; t < plan->template->tensor_count; t++) {
        const struct planned_tensor *input = &plan->tensors[t];
        if (!input->present || plan->template->tensors[t].role != ROLE_INPUT)
            continue;
        terms = fmax(terms, (double)input->row);
        terms = fmax(terms, (double)input->elements / (double)tensor->elements);
    }
    return terms;
}

/* Widens the bound of a plain kernel's stand-in, which makes no sums, by those of a candidate. */
static void add_sums(struct errors *bound, const struct comparison *plain,
                     const struct planned_tensor *tensor, const struct launch_plan *plan) {
    if (dtype_rounding(tensor->precision) == 0)
        return;
    double u = dtype_rounding(tensor->precision == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32);
    double sums = sum_roundings * sqrt(terms_of(tensor, plan)) * u;
    if (tensor->elements < FEW_ELEMENTS_SUMMED)
        sums *= few_cancellation;
    bound->relative_l2 += sums;
    bound->row_relative_l2 += 2 * sums;
    bound->max_absolute += 2 * sums * plain->largest_reference;
}

struct errors error_bound(const struct comparison *plain, const struct planned_tensor *tensor,
                          const struct launch_plan *plan) {
    if (tensor->tolerance.given)
        return plain->limits;
    struct errors bound = error_bound_from_plain(plain, tensor->precision, plan);
    if (plan->template->plain_kind == PLAIN_NONE)
        add_sums(&bound, plain, tensor, plan);
    if (plan->template->reference_kind == REFERENCE_DEFAULT_GENOME ||
        plan->template->reference_kind == REFERENCE_ANSWERS) {
        bound.relative_l2 *= both_round; /* what it is compared with may be rounded, too */
        bound.row_relative_l2 *= both_round;
        bound.max_absolute *= both_round;
    }
    return bound;
}

struct errors error_bound_from_plain(const struct comparison *plain, enum dtype precision,
                                     const struct launch_plan *plan) {
    double u = dtype_rounding(precision);
    double largest = plain->largest_reference;
    struct errors bound = {
        .relative_l2 = tensor_factor * plain->errors.relative_l2 + u,
        .row_relative_l2 = row_factor * plain->errors.row_relative_l2 + u,
        .max_absolute = element_factor * plain->errors.max_absolute +
                        u * fmax(largest, dtype_smallest_normal(precision)),
    };
    const double floats = u > 0 ? float_roundings * dtype_rounding(DTYPE_F32) : 0;
    const double min_relative = min_roundings * u + floats;
    const double min_absolute = min_relative * largest;
    const struct errors minimum = {
        fmax(plain->reference_l2 > 0 ? min_absolute / plain->reference_l2 : 0, floats),
        min_relative, min_absolute};
    errors_max(&bound, &minimum);
    if (!plan->limited_range)
        return bound;
    double tensor_limit = fmin(dropped_tile_share * plan->dropped_tile, relaxed_roundings * u);
    double rows = tensor_limit * row_factor / tensor_factor;
    const struct errors relaxed = {tensor_limit, rows, rows * largest};
    errors_max(&bound, &relaxed);
    return bound;
}

void errors_max(struct errors *worst, const struct errors *errors) {
    worst->relative_l2 = fmax(worst->relative_l2, errors->relative_l2);
    worst->row_relative_l2 = fmax(worst->row_relative_l2, errors->row_relative_l2);
    worst->max_absolute = fmax(worst->max_absolute, errors->max_absolute);
}

bool error_bound_exceeded(const struct errors *found, const struct errors *bound, char *text) {
    const struct {
        double found, bound;
        const char *what;
    } rows[] = {
        {found->relative_l2, bound->relative_l2, "relative L2 error"},
        {found->row_relative_l2, bound->row_relative_l2, "relative L2 error of the worst row"},
        {found->max_absolute, bound->max_absolute, "largest single error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].found <= rows[i].bound)) {
            snprintf(text, REASON_SIZE, "%s %.3e exceeds the error bound %.3e", rows[i].what,
                     rows[i].found, rows[i].bound);
            return true;
        }
    return false;
}

bool error_outside_tolerance(const struct comparison *found, const struct tolerance *tolerance,
                             char *text) {
    double allowed = (1 - tolerance->matched) * (double)found->elements;
    if ((double)found->outside <= allowed)
        return false;
    snprintf(text, REASON_SIZE,
             "%lld of %lld elements are off by more than %s, the worst by %.3g times as much",
             (long long)found->outside, (long long)found->elements,
             tolerance->magnitude >= 0 ? "what rounding the terms explains" : "the tolerance",
             found->worst_excess);
    return true;
}

static double systematic_limit(const struct comparison *plain, const struct planned_tensor *tensor,
                               const struct launch_plan *plan) {
    bool one_row = tensor->row == tensor->elements;
    double count = one_row ? (double)plain->elements : plain->effective_rows;
    if (count < (one_row ? BIAS_ELEMENTS_MIN : BIAS_ROWS_MIN))
        return INFINITY;
    double products = (double)plan->operations / (double)tensor->elements / 2;
    double error = tensor->tolerance.given ? plain->limits.relative_l2 : plain->errors.relative_l2;
    double deviation = fmax(error, dtype_rounding(tensor->dtype));
    return 2 * fabs(plain->systematic) + bias_deviations * deviation / sqrt(count) +
           bias_precision_share * dtype_rounding(tensor->precision) +
           float_roundings * dtype_rounding(DTYPE_F32) + products * truncation_per_product;
}

bool error_is_biased(const struct comparison *candidate, const struct comparison *plain,
                     const struct planned_tensor *tensor, const struct launch_plan *plan,
                     char *text) {
    double u = dtype_rounding(tensor->precision);
    if (plan->limited_range || u == 0 ||
        (tensor->tolerance.given && tensor->tolerance.magnitude < 0))
        return false;
    double limit = systematic_limit(plain, tensor, plan);
    if (fabs(candidate->systematic) > limit) {
        snprintf(text, REASON_SIZE,
                 "the error is systematic: %.3e of the result everywhere, more than the %.3e that "
                 "rounding explains",
                 candidate->systematic, limit);
        return true;
    }
    double zeros = zero_share * u * (double)candidate->elements;
    zeros += zero_deviations * sqrt(zeros) + zeros_always;
    if ((double)candidate->false_zeros > zeros) {
        snprintf(text, REASON_SIZE,
                 "%lld elements are zero where neither the reference nor the plain kernel is, more "
                 "than the %.0f that cancellation explains",
                 (long long)candidate->false_zeros, zeros);
        return true;
    }
    return false;
}
