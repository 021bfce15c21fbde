/*
 * c_reference: compares a template's C reference, which checks exported kernels, with reference.cu,
 * which judges candidates: what both the candidate and reference.cu leave out shows only in another
 * program. Private to evaluate/.
 *
 * The C reference is compiled by NVRTC and runs in one thread on the evaluator's device: a template
 * may come from elsewhere, and its code must not run in this process.
 */
#ifndef EVOTILE_EVALUATE_C_REFERENCE_H
#define EVOTILE_EVALUATE_C_REFERENCE_H

#include "device/nvrtc.h"
#include "evaluate/verify.h"

/* Compares both references on random inputs at the smallest cases of `one`'s template, as many as
   take a tenth of a second, which it counts; `one` needs no module. Returns 0; 1 if there is
   nothing to compare: the template has no C reference or, with a warning, one that NVRTC does not
   compile, or no case is small enough; -1 with an error of the template if they differ. */
int c_reference_compare(const struct verify_case *one, struct nvrtc *nvrtc, int *count,
                        struct error *error);

/* The same at all cases that `one->genome` is valid for, which are thin (edge_shapes.h). Returns 1
   if there is none, or if they cost too much; 2 if there is nothing that could be compared. */
int c_reference_compare_thin(const struct verify_case *one, struct nvrtc *nvrtc,
                             struct error *error);

#endif
