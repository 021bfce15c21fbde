#include "base/minimise.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BACKTRACKS_MAX = 6 };

static const double first_step_limit = 0.7, step_limit = 2.0; /* maximum step lengths */
static const double backtracking_factor = 0.35, minimum_gain = 1e-3;

struct descent {
    int count;
    const double *lower, *upper;
    minimise_cost *function;
    void *context;
    double value, *x;
    double gradient[MINIMISE_MAX], direction[MINIMISE_MAX];
    double inverse_hessian[MINIMISE_MAX][MINIMISE_MAX]; /* approximate inverse of the Hessian */
    bool scaled;
};

static bool is_at_bound(const struct descent *descent, int i) {
    return (descent->x[i] <= descent->lower[i] && descent->gradient[i] > 0) ||
           (descent->x[i] >= descent->upper[i] && descent->gradient[i] < 0);
}

/* Computes the search direction; returns the slope along it. */
static double compute_direction(struct descent *descent) {
    double slope = 0, length = 0;
    for (int i = 0; i < descent->count; i++) {
        descent->direction[i] = 0;
        if (is_at_bound(descent, i))
            continue;
        for (int j = 0; j < descent->count; j++)
            if (!is_at_bound(descent, j))
                descent->direction[i] -= descent->inverse_hessian[i][j] * descent->gradient[j];
        slope += descent->direction[i] * descent->gradient[i];
        length += descent->direction[i] * descent->direction[i];
    }
    double limit = descent->scaled ? step_limit : first_step_limit;
    double scale = length > limit * limit ? limit / sqrt(length) : 1;
    for (int i = 0; i < descent->count; i++)
        descent->direction[i] *= scale;
    return slope * scale;
}

/* The BFGS update for a step s that changed the gradient by y. */
static void update_inverse_hessian(struct descent *descent, const double *s, const double *y) {
    double step_dot_change = 0, change_squared = 0, weighted_change = 0, product[MINIMISE_MAX];
    int count = descent->count;
    for (int i = 0; i < count; i++) {
        step_dot_change += s[i] * y[i];
        change_squared += y[i] * y[i];
    }
    if (step_dot_change <= 1e-10)
        return;
    for (int i = 0; i < count && !descent->scaled; i++)
        descent->inverse_hessian[i][i] = step_dot_change / change_squared;
    descent->scaled = true;
    for (int i = 0; i < count; i++) {
        product[i] = 0;
        for (int j = 0; j < count; j++)
            product[i] += descent->inverse_hessian[i][j] * y[j];
        weighted_change += y[i] * product[i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            descent->inverse_hessian[i][j] +=
                (1 + weighted_change / step_dot_change) * s[i] * s[j] / step_dot_change -
                (product[i] * s[j] + s[i] * product[j]) / step_dot_change;
}

/* One BFGS step with backtracking. Returns false when the function no longer decreases. */
static bool take_step(struct descent *descent) {
    double next[MINIMISE_MAX], gradient[MINIMISE_MAX], s[MINIMISE_MAX], y[MINIMISE_MAX];
    double slope = compute_direction(descent), step = 1;
    if (slope > -1e-4)
        return false;
    for (int i = 0; i < BACKTRACKS_MAX; i++, step *= backtracking_factor) {
        for (int j = 0; j < descent->count; j++)
            next[j] = fmin(descent->upper[j],
                           fmax(descent->lower[j], descent->x[j] + step * descent->direction[j]));
        double value = descent->function(next, gradient, descent->context);
        if (!(value < descent->value + 1e-4 * step * slope))
            continue;
        double gain = descent->value - value;
        for (int j = 0; j < descent->count; j++) {
            s[j] = next[j] - descent->x[j];
            y[j] = gradient[j] - descent->gradient[j];
        }
        update_inverse_hessian(descent, s, y);
        descent->value = value;
        memcpy(descent->x, next, (size_t)descent->count * sizeof *next);
        memcpy(descent->gradient, gradient, (size_t)descent->count * sizeof *gradient);
        return gain > minimum_gain;
    }
    return false;
}

double minimise(int count, double *x, const double *lower, const double *upper, int iterations,
                minimise_cost *function, void *context) {
    if (count < 1 || count > MINIMISE_MAX)
        BUG("%d variables to minimise over", count);
    struct descent *descent = xcalloc(1, sizeof *descent);
    descent->count = count;
    descent->lower = lower;
    descent->upper = upper;
    descent->function = function;
    descent->context = context;
    descent->x = x;
    for (int i = 0; i < count; i++)
        descent->inverse_hessian[i][i] = 1;
    descent->value = function(x, descent->gradient, context);
    for (int i = 0; isfinite(descent->value) && i < iterations && take_step(descent); i++)
        ;
    double value = descent->value;
    free(descent);
    return value;
}
