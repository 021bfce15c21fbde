/*
 * gate_run: a gate that verifies many inputs of many cases, and counts them. Private to evaluate/:
 * correctness.c and final_checks.c decide which.
 *
 *     struct gate_run run = gate_run_begin(evaluation, "cases", template);
 *     for (int c = 0; c < template->case_count; c++) {
 *         int status = gate_run_short_case(&run, c);
 *         if (status == 0)
 *             continue;
 *         if (status == 1)
 *             status = gate_run_random(&run, evaluation_seed(evaluation, c, 0));
 *         if (status != 0)
 *             return status;
 *         run.cases++;
 *     }
 *     gate_run_report(&run);
 *
 * Checks return 0 if the candidate is right, 1 when it has its verdict, -1 with the evaluation's
 * error.
 */
#ifndef EVOTILE_EVALUATE_GATE_RUN_H
#define EVOTILE_EVALUATE_GATE_RUN_H

#include "evaluate/evaluation.h"

/* Ranges of a trial's input seeds by purpose: cases start at 0, each with up to 900 inputs. */
enum {
    THIN_SEEDS = 400,
    PROBE_SEEDS = 500,
    EDGE_SEEDS = 600,
    HELD_OUT_SEEDS = 700,
    RACE_SEEDS = 800,
    LONG_SEEDS = 900,
    STRESS_INPUTS = 100,
    FINAL_CHECK_INPUTS = 400
};

/* Its progress, and the case that is checked. */
struct gate_run {
    struct evaluation *evaluation;
    const char *gate;
    const struct template *template; /* of the cases: the goal's own, its probes or others */
    double start;
    bool in_full;      /* compare with all blocks of the references, not only some */
    int cases, inputs; /* checked so far; the caller counts the cases */
    double worst;      /* relative L2 */
    double excess;     /* as in struct verify_result */
    struct verify_case one;
    struct launch_plan plan; /* of that case */
};

struct gate_run gate_run_begin(struct evaluation *evaluation, const char *gate,
                               const struct template *template);
/* Makes a case the one that is checked. Returns 1; 0 if the candidate has no kernel for it; -1. */
int gate_run_case(struct gate_run *run, int c);
/* The same, without cases that take too long on an interpreting device. */
int gate_run_short_case(struct gate_run *run, int c);
/* What verifying one input of the case costs, in operations; on an emulated device some 5 ns
   each. */
double gate_run_cost(const struct gate_run *run);

int gate_run_input(struct gate_run *run, const struct verify_input *input,
                   struct verify_result *found);
/* Checks one input of random numbers, and repeats it. */
int gate_run_random(struct gate_run *run, uint64_t seed);
/* Checks all stress recipes that apply to the genome and the case. */
int gate_run_stress_recipes(struct gate_run *run, uint64_t seed);
/* Checks one of them, which changes with `turn`. */
int gate_run_stress_turn(struct gate_run *run, uint64_t turn, uint64_t seed);

/* Adds the gate of cases that all passed. */
void gate_run_report(const struct gate_run *run);

#endif
