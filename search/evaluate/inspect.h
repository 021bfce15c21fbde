/*
 * inspect: what an evaluator can say of a template beside a verdict, for `evotile lint`: whether
 * its references agree, whether a kernel's outputs depend on each input, and what a kernel
 * computes, as one hash.
 *
 *     struct inspection it = {.genome = &genome};      // and the evaluator, the goal and the
 * images struct inspected_tensor tensors[TENSORS_MAX]; if (inspect_references(&it, references,
 * &error) < 0 || inspect_tensors(&it, tensors, &error) < 0 || inspect_results(&it, &results,
 * &error) < 0) return -1;
 *
 * All of it runs on the template's probe cases that the genome is valid for and, if they are small,
 * on the goal's own cases. The functions return -1 when the device or the template failed.
 */
#ifndef EVOTILE_EVALUATE_INSPECT_H
#define EVOTILE_EVALUATE_INSPECT_H

#include "evaluate/evaluator.h"

struct inspection {
    struct evaluator *evaluator;
    int goal;
    const struct genome *genome;
    const struct device_image *images; /* of compiler_build, or changed since */
};

/* Two programs that should compute the same. */
struct inspected_reference {
    char what[2 * NAME_SIZE + 8]; /* "plain.cu and reference.cu" */
    int cases;                    /* on which they were compared; 0: none was possible */
    int left_out;                 /* reference cases that are too large */
    double worst;                 /* the largest relative L2 error of the plain kernel; NAN: another
                                     comparison, element by element */
    bool agrees;
    char reason[REASON_SIZE]; /* why not */
};
enum { INSPECTED_REFERENCES_MAX = 2 };

/* Compares what the template has. Returns the number of comparisons: 0 if only one program says
   what is correct. */
int inspect_references(const struct inspection *inspection,
                       struct inspected_reference list[INSPECTED_REFERENCES_MAX],
                       struct error *error);

enum inspected {
    INSPECTED_NOT, /* absent in every case, or the same in every set of inputs */
    INSPECTED_YES, /* an input: a result changes with it; an output: all of it is written */
    INSPECTED_NO,
};

struct inspected_tensor {
    enum inspected used;
    double unwritten; /* of an output: the largest share of a case that no call wrote */
};

/* Runs the genome's kernel on ordinary inputs, with one input after the other replaced by another
   draw; and twice over different outputs. A kernel that fails on its own inputs is an error. */
int inspect_tensors(const struct inspection *inspection,
                    struct inspected_tensor tensors[TENSORS_MAX], struct error *error);

/* What a kernel computed, bit for bit, and how much it read and wrote: equal for kernels that
   nothing here tells apart. */
struct inspected_results {
    struct hash outputs, accesses;
    int inputs;  /* on which it ran */
    bool failed; /* it did not end, or crashed */
};
int inspect_results(const struct inspection *inspection, struct inspected_results *results,
                    struct error *error);

#endif
