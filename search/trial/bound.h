/*
 * bound: how much error is honest. Not a constant that somebody typed: the template's plain kernel
 * (same inputs and outputs, float arithmetic, no tricks) runs on the very same input, and its error
 * against the fp64 reference is the measure of everybody's.
 *
 *     struct errors bound = bound_honest(&plain, tensor->precision, &plan);
 *     if (bound_exceeded(&candidate, &bound, text)) ...
 *
 * With u, half a unit in the last place of the output's dtype (2^-11 for f16), or of the coarser
 * one that its template is content with:
 *
 *   relative L2 of the tensor   <= 2 plain + u
 *       A tensor-core kernel rounds once more than the plain one: the weights of its second
 *       product, to the inputs' dtype. Independent roundings of equal size add to sqrt(2) plain;
 *       u covers a plain kernel that was lucky, on a tensor of a few elements.
 *   worst row                   <= 4 plain's worst row + u
 *       A row has few elements, and the extra rounding is not averaged away in one with few terms:
 *       it alone may reach u times the row's cancellation, sqrt(sum (p v)^2) against |sum p v|,
 *       which is 1 for random terms and up to 2 in the worst of some thousand rows of 64. The plain
 *       kernel's worst row is some 0.6 u; sqrt(0.6^2 + 2^2) u = 2.1 u, below 4 * 0.6 u + u = 3.4 u.
 *   largest single error        <= 4 plain's largest + u times the reference's largest element
 *       For the same reason, element by element: an outlier that L2 over a tensor hides.
 *
 * Where few elements are large, the plain kernel may round them all well, and twice or four times
 * its luck is too little for a kernel that does not. So the largest element may always be 2.5 u of
 * itself off: u for the rounding of the output, u for that of the weights, the rest for what is
 * approximate (exponentials by polynomials come to 0.2 u). The worst row likewise, which may have
 * no other; and the tensor's L2 as far as that element alone brings it, which is nowhere in a
 * tensor of many. (Of 43,934 trials on an H200 one had been called wrong that the emulated device
 * repeats: six rows of 64, in whose largest elements the plain kernel was 0.1 u off, and the
 * candidate 1.6.)
 *
 * A relaxed genome (sums in half) is held to a quarter of what one dropped tile would cost, and to
 * 32 u: a sum in half is a random walk of one rounding an addition, which after 16384 terms in
 * steps of 16 has gone sqrt(1024) u. Rows and elements in the proportion of above.
 *
 * On an H200, 97 random full genomes of a tensor-core kernel (582 inputs, stress and all, lengths
 * to 4096) came to at most 0.31, 0.38 and 0.35 of the three bounds, 358 relaxed ones (1074 inputs)
 * to 0.26; of 455 that drop one tile of keys, some in a single tile of queries, the least was 2.9
 * times above a bound.
 */
#ifndef EVOTILE_TRIAL_BOUND_H
#define EVOTILE_TRIAL_BOUND_H

#include "trial/judge.h"

/* `plain`: the plain kernel's output compared with the reference. */
struct errors bound_honest(const struct comparison *plain, enum dtype precision,
                           const struct plan *plan);

/* Whether an error lies above its bound; `text`, of REASON_SIZE bytes, then says which. NaN does.
 */
bool bound_exceeded(const struct errors *found, const struct errors *bound, char *text);

/* Of each the larger. */
void errors_worst(struct errors *worst, const struct errors *errors);

#endif
