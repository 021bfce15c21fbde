/*
 * few_elements: outputs of few elements, on which a plain kernel may be right by luck. Private to
 * evaluate/.
 *
 * The relative L2 error of a plain kernel over n elements is the root of a mean of n squares, so it
 * is a sample of its own scale. If n is large it is close to it: its relative deviation is about
 * 1 / sqrt(2 n). If n is 1 it is below a tenth of it in 8 of 100 inputs, and for two kernels with
 * equally distributed errors the ratio of one to the other has no mean: one exceeds twice the
 * other in 3 of 10 inputs. No factor covers this, and the scale itself depends on the function (on
 * the number of terms, and on how much they cancel), which evotile does not know.
 *
 * So where few elements exceed the bound, the scale is measured: the plain kernel runs on other
 * inputs of the same kind, DRAWS_MAX of them, and the largest of its errors gives the bound. The
 * largest of 16 normal numbers is below half their deviation once in 5 * 10^6. A candidate with the
 * same normal errors as the plain kernel exceeds twice the largest of 16 others, the narrowest of
 * the bounds, in 1.3 of 1,000 inputs (the integral over that maximum); the half unit in the last
 * place and the roundings that are always allowed make it rarer (tests/evaluate/honest_few_test.c
 * measures it). A wrong kernel is wrong by much more.
 */
#ifndef EVOTILE_EVALUATE_FEW_ELEMENTS_H
#define EVOTILE_EVALUATE_FEW_ELEMENTS_H

#include "evaluate/verify.h"

enum { DRAWS_MAX = 16, FEW_ELEMENTS = 4096 };

/* Widens the bound of output `t` of a set if `candidate` exceeds it, the output has no tolerance of
   the template but few elements,
   and the plain kernel's errors on other inputs allow it. `plain` is its error on this one. */
int widen_bound_of_few(const struct verify_case *one, const struct buffers *buffers, int set, int t,
                       const struct comparison *plain, const struct errors *candidate,
                       struct errors *bound, struct error *error);

/* Sets each member of `plain->errors` to the larger of itself and that of another input's, `other`,
   at the scale of this input's reference. If `relative`, the scale is that of the references, else
   errors do not depend on it: sums that cancel have the errors of their terms. */
void pool_errors(struct comparison *plain, const struct comparison *other, bool relative);

#endif
