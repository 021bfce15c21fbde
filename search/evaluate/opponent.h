/*
 * opponent: the other side of a duel. A genome is loaded beside the candidate on the same device,
 * and both run on inputs of the same seeds; a baseline runs in a process of its own. Private to
 * evaluate/.
 *
 *     struct opponent *opponent = xcalloc(1, sizeof *opponent);
 *     int status = opponent_prepare(opponent, evaluation, &error);
 *     if (status == 0 && opponent->baseline != NULL)
 *         status = opponent_capture_baseline(opponent, evaluation, c, launches, &sampler, &error);
 *     evaluation_unload(&opponent->evaluation);
 *     opponent_free(opponent);
 *
 * The evaluator owns what the next duel uses again: a baseline's process, whose start takes
 * seconds, the machine code of a genome, and the evaluator of another run's settings.
 */
#ifndef EVOTILE_EVALUATE_OPPONENT_H
#define EVOTILE_EVALUATE_OPPONENT_H

#include "evaluate/baseline.h"
#include "evaluate/duel.h"
#include "evaluate/evaluation.h"

struct opponent {
    struct trial_request request; /* borrows pointers from the candidate's request */
    struct trial_result result;
    struct evaluation evaluation;        /* of a genome */
    struct baseline *baseline;           /* NULL: the opponent is a genome */
    int implementation_index[CASES_MAX]; /* of the baseline, by case */
    double call_us[CASES_MAX];           /* of that implementation, by a few samples */
    cJSON *inputs[CASES_MAX];            /* that it gets (setup_inputs.h); NULL: none */
    struct error *failure;               /* what a baseline that fails within a round reports */
    bool failed;                         /* it did */
};

/* Makes the opponent that the challenger's request names ready for all cases: compiles and loads a
   genome, and verifies it unless it is a search's champion; or starts the baseline, and selects an
   implementation for each case. An opponent that fails is an error, not a verdict on the
   challenger. `opponent` starts as zeros. */
int opponent_prepare(struct opponent *opponent, struct evaluation *challenger, struct error *error);

/* Of a genome that is unloaded, or whose device has crashed. A baseline's process goes on. */
void opponent_free(struct opponent *opponent);

/* Captures the baseline's call of a case, `launches` times in a graph. The sampler borrows
   `opponent` and `error`, in which it reports a baseline that fails. */
int opponent_capture_baseline(struct opponent *opponent, const struct evaluation *challenger,
                              int case_index, int launches, struct duel_sampler *sampler,
                              struct error *error);

#endif
