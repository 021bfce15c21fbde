/*
 * carry_over: finds kernels that keep results between calls. What a call leaves behind, in its
 * outputs, its workspaces or the module's variables, must not spare a later call its work.
 *
 *     struct carry_over *it = carry_over_new(&buffers, seed, &error);
 *     int status = carry_over_change(it, &error);                // then run, and compare each set
 *     if (status == 0)
 *         status = carry_over_chain(it, &calls, 5, deadline_s, &failure, &error); // the same
 *     if (status == 0)
 *         status = carry_over_time(it, &failure, &error);
 *     carry_over_free(it);
 *
 * Changes alternate: one changes, in each set, one element of every row of each input and fills a
 * random half of each output with random bits; the next draws half of a random row of each input
 * again, and fills a random 64th of each output. Each fills the workspaces of every second set with
 * random bits; the other workspaces keep what the calls before left there. So a kernel is wrong
 * that recognises an input by its address, by some of its elements or by a hash of them, that looks
 * whether its output fits, or that notices that calls come close together.
 *
 * A kernel that recognises all of its input is right, but its time is not that of a call:
 * carry_over_time finds it.
 */
#ifndef EVOTILE_EVALUATE_CARRY_OVER_H
#define EVOTILE_EVALUATE_CARRY_OVER_H

#include "evaluate/timed_calls.h"
#include "evaluate/verify.h"

struct carry_over;

/* `buffers` must be filled, and outlive it. NULL on an error; the caller frees it. */
struct carry_over *carry_over_new(struct buffers *buffers, uint64_t seed, struct error *error);
void carry_over_free(struct carry_over *it);

/* Changes all sets, differently each time, and records their checksums. */
int carry_over_change(struct carry_over *it, struct error *error);

/* Runs the calls of all sets in one graph, `rounds` times, at least 2, with a change before each
   round but the first: the outputs are those of the last. What comes before calls is part of the
   graph. `deadline_s` is that
   of a call. Once for each carry_over. Returns 1, with the failure, if the candidate failed; -1 if
   the device failed. */
int carry_over_chain(struct carry_over *it, const struct timed_calls *calls, int rounds,
                     double deadline_s, struct failure *failure, struct error *error);

/* Times the graph of carry_over_chain with changes of one element of every row of each input, in
   turn with the same graph in which these elements get the same values each time. Returns 1, with
   the failure, if the candidate is slower by far when its inputs change. */
int carry_over_time(struct carry_over *it, struct failure *failure, struct error *error);

/* Compares the times of the same graph with and without changes, taken in turn. Returns whether
   every pair is slower with changes by the margin at which a kernel counts as one that keeps
   results; `ratio` is the median. */
bool carry_over_is_slower(const double *changed_us, const double *unchanged_us, int pairs,
                          double *ratio);

#endif
