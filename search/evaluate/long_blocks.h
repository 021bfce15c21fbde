/*
 * long_blocks: blocks of a case that is too long for the emulated device, each run by itself, and
 * what they write. Private to evaluate/: long_cases.c compares it.
 *
 * Functions that run blocks return 0; 1 with the candidate's failure; LONG_UNKNOWN with a reason if
 * a block cannot be judged; -1 with an error.
 */
#ifndef EVOTILE_EVALUATE_LONG_BLOCKS_H
#define EVOTILE_EVALUATE_LONG_BLOCKS_H

#include "base/random.h"
#include "evaluate/gate_run.h"
#include "evaluate/references.h"

enum { LONG_UNKNOWN = 2 };

enum run { CANDIDATE, REFERENCE, PLAIN, RUNS };

struct long_case {
    struct evaluation *evaluation;
    struct verify_case one; /* its module is loaded for this case alone: a block that is cut short
                               may leave a ticket in a global variable */
    struct planned_buffers *candidate;
    struct reference_runs *references;
    struct device_sequence *sequences[RUNS];
    struct random random;
    uint16_t poison;                           /* every half of a word of the outputs: a NaN */
    unsigned char *outputs[RUNS][TENSORS_MAX]; /* on the host, after a run */
    bool written[RUNS][TENSORS_MAX];           /* by a block that was run so far */
    int64_t compared;                          /* elements */
    int blocks;                                /* of which some were */
    char reason[REASON_SIZE];                  /* why there are none */
};

struct planned_buffers *long_buffers(const struct long_case *it, enum run run);
/* Fills the inputs with random numbers. */
int long_fill_inputs(struct long_case *it, struct error *error);
/* Whether the case has an output, once a block has run. */
bool long_is_output(const struct long_case *it, int t);
/* Whether the last block of a program wrote an element: whether it holds something else than
   poison. */
bool long_is_written(const struct long_case *it, enum run run, int t, int64_t element);

/* Runs a block of a program on poisoned outputs, and reads them. */
int long_run_block(struct long_case *it, enum run run, double position, struct failure *failure,
                   struct error *error);
/* Runs the candidate's block at a position, then others until one writes something; the position
   becomes that of an element that it wrote. */
int long_run_candidate(struct long_case *it, double *position, struct failure *failure,
                       struct error *error);
/* Runs the candidate's first block and others at random until each output that blocks of the
   references wrote was written, too: where one block of a row of tiles writes what belongs to the
   row, it is the first or the last, and the last has run. Exempt are outputs with fewer elements
   than the grid has blocks, such as a sum, which one block writes. */
int long_check_outputs(struct long_case *it, struct failure *failure, struct error *error);

#endif
