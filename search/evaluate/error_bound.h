/*
 * error_bound: how much error a correct kernel may have. The bound is not a constant: the
 * template's plain kernel (same inputs and outputs, float arithmetic, no approximations) runs on
 * the same input, and its error against the fp64 reference is the scale for every candidate.
 *
 *     struct errors bound = error_bound(&plain, tensor, &plan);
 *     if (error_bound_exceeded(&candidate, &bound, text))
 *         log_info("%s", text);
 *
 * With u, half a unit in the last place of the output's dtype (2^-11 for f16), or of a coarser
 * precision that the template declares sufficient:
 *
 *   relative L2 of the tensor   <= 2 plain + u
 *       A tensor-core kernel rounds once more than the plain one: the probabilities of its second
 *       product, to the inputs' dtype. Independent roundings of equal size add to sqrt(2) plain; u
 *       covers a plain kernel whose errors cancel by luck, on a tensor of a few elements.
 *   worst row                   <= 4 plain's worst row + u
 *       A row has few elements, so that the extra rounding is not averaged away in a row with few
 *       terms: it alone may reach u times the row's cancellation, sqrt(sum (p v)^2) against
 *       |sum p v|, which is 1 for random terms and up to 2 in the worst of some thousand rows
 * of 64. The plain kernel's worst row is some 0.6 u; sqrt(0.6^2 + 2^2) u = 2.1 u, below 4 * 0.6 u +
 * u = 3.4 u. largest single error        <= 4 plain's largest + u times the reference's largest
 * element For the same reason, element by element: an outlier that the L2 of a tensor hides.
 *
 * If only few elements are large, the plain kernel may happen to round them all well, and then two
 * or four times its error is too little for a kernel that does not. So the largest element may
 * always be off by 2.5 u of itself: u for the rounding of the output, u for that of the
 * probabilities, the rest for approximations (exponentials by polynomials reach 0.2 u). The same
 * holds for the worst row, which may have no other large element, and for the tensor's L2 to the
 * extent that this element alone contributes, which is negligible in a large tensor. (Of 43,934
 * trials on an H200 one that the emulated device reproduces had been called wrong: six rows of 64,
 * in whose largest elements the plain kernel was 0.1 u off, and the candidate 1.6.)
 *
 * Approximate float instructions differ by more than half a unit: ex2.approx and lg2.approx by
 * 2^-22, rcp.approx and div.approx by one or two units in the last place (PTX ISA, "Floating Point
 * Instructions"). So 6 roundings of float are always allowed, in every element: of an f32 output
 * half a unit is no more than one of them, for f16 and bf16 they are nothing.
 *
 * A plain kernel may also be lucky on an output of few elements: few_elements.h.
 *
 * A relaxed genome (sums in half) is limited to a quarter of the error of one dropped tile, and to
 * 32 u: a sum in half is a random walk of one rounding per addition, which after 16384 terms in
 * steps of 16 has reached sqrt(1024) u. Rows and elements scale in the same proportion as above.
 *
 * Without a plain kernel the rounded reference stands in for it, which makes no sums. The bound
 * then gets what sums of n terms in float may be off by: 2 sqrt(n) roundings of float in the
 * tensor, twice that in a row and an element, 16 times in outputs of fewer than 64 elements, which
 * may cancel. n is an estimate: of operations and of inputs for each element of the output. Naive
 * sums of n random or positive terms are off by 0.4 sqrt(n) roundings (Higham, section 2.8). Where
 * default genome is the reference, or recorded answers are, all of it is doubled: they round, too.
 *
 * An output with a tolerance of the template (struct tolerance) is judged by that instead, element
 * by element. Its bound then is that of an output which is off by its limit everywhere: what a
 * correct output may have, to be shown beside the measured error.
 *
 * On an H200, 97 random full-precision genomes of a tensor-core kernel (582 inputs, stress inputs
 * included, lengths to 4096) reached at most 0.31, 0.38 and 0.35 of the three bounds, 358 relaxed
 * ones (1074 inputs) at most 0.26; of 455 mutants that drop one tile of keys, some in a single tile
 * of queries, the least exceeded a bound 2.9 times.
 */
#ifndef EVOTILE_EVALUATE_ERROR_BOUND_H
#define EVOTILE_EVALUATE_ERROR_BOUND_H

#include "evaluate/compare.h"

/* The bound for an output of a case. `plain` compares the plain kernel's output with the reference.
 */
struct errors error_bound(const struct comparison *plain, const struct planned_tensor *tensor,
                          const struct launch_plan *plan);

/* The same without regard to a tolerance. */
struct errors error_bound_from_plain(const struct comparison *plain, enum dtype precision,
                                     const struct launch_plan *plan);

/* Returns whether an error exceeds its bound, or is NaN; `text`, of REASON_SIZE bytes, then says
   which. */
bool error_bound_exceeded(const struct errors *found, const struct errors *bound, char *text);

/* Returns whether more elements are outside the template's tolerance than it allows; `text` then
   says how many. */
bool error_outside_tolerance(const struct comparison *found, const struct tolerance *tolerance,
                             char *text);

/* Returns whether the error has a part that rounding does not explain although it is within the
   bound; `text` then says which. For ordinary random inputs only: with constant ones, every element
   has the same rounding. A genome of limited range is not judged so: sums in half are biased.

   An output with a tolerance of the author's is not judged so either: it allows a bias. With
   magnitudes, the bound takes the place of the plain kernel's error below.

   - The *systematic part* s = sum(error * reference) / sum(reference^2), what a bias of all
     elements leaves. n independent relative roundings of deviation e leave about e / sqrt(n). The
     elements of a row share roundings (of weights, say), so n is the
     number of rows that count, or of elements if there is one row; e is the plain kernel's error,
     but at least u of the dtype, and four times the quotient is allowed. Tensor cores truncate when
     they add: k/8 additions of k products, each by up to 2^-23, where operations / elements / 2 is
     an estimate of k. Approximate instructions have 6 roundings of float, as in the bound, and u/4
     of the precision is allowed for approximations of functions. Of 500 comparisons of honest
     genomes on the emulated device, the worst left 0.09 u in few elements and 0.04 u in
     256 or more.
   - *False zeros*: elements of zero where the reference and the plain kernel have none. Sums may
     cancel exactly: one element in 4 / u is allowed, with six deviations of that number and 6. Of
     24,064 elements, the worst of these comparisons had one. */
bool error_is_biased(const struct comparison *candidate, const struct comparison *plain,
                     const struct planned_tensor *tensor, const struct launch_plan *plan,
                     char *text);

/* Sets each member of `worst` to the larger of the two. */
void errors_max(struct errors *worst, const struct errors *errors);

#endif
