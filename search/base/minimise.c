#include "base/minimise.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHORTENINGS = 6 };

static const double first_reach = 0.7, reach = 2.0; /* maximum step lengths */
static const double shortening = 0.35, enough = 1e-3;

struct descent {
    int count;
    const double *lower, *upper;
    minimise_function *function;
    void *context;
    double value, *x;
    double gradient[MINIMISE_MAX], direction[MINIMISE_MAX];
    double inverse[MINIMISE_MAX][MINIMISE_MAX]; /* approximate inverse of the Hessian */
    bool scaled;
};

static bool held(const struct descent *descent, int i) {
    return (descent->x[i] <= descent->lower[i] && descent->gradient[i] > 0) ||
           (descent->x[i] >= descent->upper[i] && descent->gradient[i] < 0);
}

/* Computes the search direction; returns the slope along it. */
static double aim(struct descent *descent) {
    double slope = 0, length = 0;
    for (int i = 0; i < descent->count; i++) {
        descent->direction[i] = 0;
        if (held(descent, i))
            continue;
        for (int j = 0; j < descent->count; j++)
            if (!held(descent, j))
                descent->direction[i] -= descent->inverse[i][j] * descent->gradient[j];
        slope += descent->direction[i] * descent->gradient[i];
        length += descent->direction[i] * descent->direction[i];
    }
    double most = descent->scaled ? reach : first_reach;
    double scale = length > most * most ? most / sqrt(length) : 1;
    for (int i = 0; i < descent->count; i++)
        descent->direction[i] *= scale;
    return slope * scale;
}

/* The BFGS update for a step s that changed the gradient by y. */
static void learn(struct descent *descent, const double *s, const double *y) {
    double along = 0, squared = 0, through = 0, product[MINIMISE_MAX];
    int count = descent->count;
    for (int i = 0; i < count; i++) {
        along += s[i] * y[i];
        squared += y[i] * y[i];
    }
    if (along <= 1e-10)
        return;
    for (int i = 0; i < count && !descent->scaled; i++)
        descent->inverse[i][i] = along / squared;
    descent->scaled = true;
    for (int i = 0; i < count; i++) {
        product[i] = 0;
        for (int j = 0; j < count; j++)
            product[i] += descent->inverse[i][j] * y[j];
        through += y[i] * product[i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            descent->inverse[i][j] += (1 + through / along) * s[i] * s[j] / along -
                                      (product[i] * s[j] + s[i] * product[j]) / along;
}

/* One BFGS step with backtracking. Returns false when the function no longer decreases. */
static bool descend(struct descent *descent) {
    double next[MINIMISE_MAX], gradient[MINIMISE_MAX], s[MINIMISE_MAX], y[MINIMISE_MAX];
    double slope = aim(descent), step = 1;
    if (slope > -1e-4)
        return false;
    for (int i = 0; i < SHORTENINGS; i++, step *= shortening) {
        for (int j = 0; j < descent->count; j++)
            next[j] = fmin(descent->upper[j],
                           fmax(descent->lower[j], descent->x[j] + step * descent->direction[j]));
        double value = descent->function(next, gradient, descent->context);
        if (!(value < descent->value + 1e-4 * step * slope))
            continue;
        double gained = descent->value - value;
        for (int j = 0; j < descent->count; j++) {
            s[j] = next[j] - descent->x[j];
            y[j] = gradient[j] - descent->gradient[j];
        }
        learn(descent, s, y);
        descent->value = value;
        memcpy(descent->x, next, (size_t)descent->count * sizeof *next);
        memcpy(descent->gradient, gradient, (size_t)descent->count * sizeof *gradient);
        return gained > enough;
    }
    return false;
}

double minimise(int count, double *x, const double *lower, const double *upper, int iterations,
                minimise_function *function, void *context) {
    struct descent descent = {.count = count,
                              .lower = lower,
                              .upper = upper,
                              .function = function,
                              .context = context,
                              .x = x};
    if (count < 1 || count > MINIMISE_MAX)
        BUG("%d variables to minimise over", count);
    for (int i = 0; i < count; i++)
        descent.inverse[i][i] = 1;
    descent.value = function(x, descent.gradient, context);
    if (!isfinite(descent.value))
        return descent.value;
    for (int i = 0; i < iterations && descend(&descent); i++)
        ;
    return descent.value;
}
