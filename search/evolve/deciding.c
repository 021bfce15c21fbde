/* What is decided on a proposal: revert, keep or promote, by duels with its parent and with the
   champion. */
#include "evolve/internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "run/rival_duels.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A solution that is slower than its parent by more than this share is dropped. */
static const double slower_max = 0.02;
/* One whose own timing is slower by this factor has no duel: no timing errs so much. */
static const double hopeless = 1.25;

enum { DUEL_BLOCKS = 4 };

/* ---- deciding ---- */

static void log_decision(const struct evolve *evolve, const struct source_proposal *proposal) {
    const struct store_proposal *row = &proposal->row;
    char *words = text_escaped(isfinite(row->ratio) ? row->hypothesis : row->reason, false);
    if (isfinite(row->ratio))
        log_info("proposal %" PRId64 ": %s: %.3f times as fast as %s, %.3f us%s: %s", row->number,
                 row->decision, row->ratio, row->parent, row->score_us,
                 pool_device(evolve->session.pool)->predicts ? " predicted" : "", words);
    else
        log_info("proposal %" PRId64 ": %s: %s: %s", row->number, row->decision, row->verdict,
                 words);
    free(words);
}

int evolve_decide(struct evolve *evolve, struct source_proposal *proposal, const char *decision,
                  struct error *error) {
    struct store_proposal *row = &proposal->row;
    proposal_set(&row->decision, decision);
    row->turn = ++evolve->turns;
    row->decided = clock_unix_seconds();
    proposal->state = PROPOSAL_DECIDED;
    cJSON_Delete(proposal->files);
    template_free(proposal->template);
    proposal->files = NULL;
    proposal->template = NULL;
    if (strcmp(decision, "revert") != 0)
        evolve->solutions[row->goal].stands = true;
    if (strcmp(decision, "promote") == 0)
        evolve->champion = row->goal;
    log_decision(evolve, proposal);
    return evolve_put_now(evolve, proposal, error);
}

bool evolve_was_champion(const struct evolve *evolve, int goal) {
    char *start = NULL;
    struct error ignored;
    for (int i = 0; i < evolve->count; i++) {
        const struct store_proposal *row = &evolve->proposals[i]->row;
        if (row->goal == goal && row->decision != NULL && strcmp(row->decision, "promote") == 0)
            return true;
    }
    if (store_meta_get(evolve->session.store, START_META, &start, &ignored) < 0 || start == NULL)
        return false;
    const bool was_first = strcmp(start, evolve->solutions[goal].name) == 0;
    free(start);
    return was_first;
}

int evolve_choose_start(struct evolve *evolve, struct error *error) {
    struct session *session = &evolve->session;
    char *stored;
    if (store_meta_get(session->store, START_META, &stored, error) < 0)
        return -1;
    if (stored != NULL) {
        evolve->champion = evolve_find_solution(evolve, stored);
        free(stored);
        if (evolve->champion >= 0)
            return 0;
    }
    for (int g = 0; g < session->goal_count; g++) {
        const double score_us = evolve_score(evolve, g);
        evolve->solutions[g].stands = score_us > 0;
        if (score_us > 0 &&
            (evolve->champion < 0 || score_us < evolve_score(evolve, evolve->champion)))
            evolve->champion = g;
    }
    if (evolve->champion < 0)
        return error_input(error,
                           "no solution that %s starts with passes: `evotile summary %s` says why; "
                           "start another run when it is repaired",
                           session->run_dir, session->run_dir);
    char score[32];
    snprintf(score, sizeof score, "%.17g", evolve_score(evolve, evolve->champion));
    return session_open_batch(session, error) < 0 ||
                   store_meta_set(session->store, START_META,
                                  evolve->solutions[evolve->champion].name, error) < 0 ||
                   store_meta_set(session->store, START_US_META, score, error) < 0 ||
                   session_close_batch(session, false, error) < 0
               ? -1
               : 0;
}

/* ---- duels ---- */

/* How a solution compares with another: times as fast, with the interval. */
struct comparison {
    double ratio, low, high;
};

/* By two scores, which are of other times: without an interval. */
static struct comparison compare_scores(double own_us, double other_us) {
    return (struct comparison){other_us / own_us, NAN, NAN};
}

/* Of a duel: own time over the other's. */
static struct comparison compare_duel(const struct duel_outcome *duel) {
    return (struct comparison){1 / duel->ratio, 1 / duel->high, 1 / duel->low};
}

/* Why a decision is as it is: the rule that decided, with its figures. */
static void explain(struct source_proposal *proposal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void explain(struct source_proposal *proposal, const char *format, ...) {
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    proposal_set(&proposal->row.reason, reason);
}

/* A prediction has no interval: both of its bounds are the ratio. */
static bool is_faster(struct comparison comparison) {
    return comparison.low > 1;
}

static void explain_challenge(const struct evolve *evolve, struct source_proposal *proposal,
                              struct comparison comparison) {
    const char *champion = evolve->solutions[evolve->champion].name;
    const bool wins = is_faster(comparison);
    if (!isfinite(comparison.low))
        explain(proposal, "it is %.3f times as fast as the champion %s, without a duel",
                comparison.ratio, champion);
    else if (pool_device(evolve->session.pool)->predicts)
        explain(proposal, "it is predicted to be %.3f times as fast as the champion %s: %s",
                comparison.ratio, champion, wins ? "faster" : "not faster");
    else
        explain(proposal,
                "it is %.3f times as fast as the champion %s, with a 99 %% interval of %.3f to "
                "%.3f, which %s above 1",
                comparison.ratio, champion, comparison.low, comparison.high,
                wins ? "lies" : "does not lie");
}

static void note_comparison(struct source_proposal *proposal, struct comparison comparison) {
    proposal->row.ratio = comparison.ratio;
    proposal->row.low = comparison.low;
    proposal->row.high = comparison.high;
}

/* The board names the new champion as the best, as long as both are the best of their solutions. */
static int store_promotion(struct evolve *evolve, const struct source_proposal *proposal,
                           struct comparison comparison, struct error *error) {
    struct session *session = &evolve->session;
    const struct member *own = evolution_champion(session->evolutions[proposal->row.goal]),
                        *other = evolution_champion(session->evolutions[evolve->champion]);
    struct rival_duels *rivals = xcalloc(1, sizeof *rivals);
    rivals->goal = proposal->row.goal;
    rivals->trial = own->trial;
    rivals->count = 1;
    rivals->duels[0] = (struct rival_duel){evolve->champion, other->trial, comparison.ratio,
                                           comparison.low, comparison.high};
    const int status = session_close_batch(session, false, error) < 0 ||
                               rival_duels_write(session->store, 0, rivals, error) < 0
                           ? -1
                           : 0;
    free(rivals);
    return status;
}

static int take_challenge(struct evolve *evolve, struct source_proposal *proposal,
                          struct comparison comparison, struct error *error) {
    const bool wins = is_faster(comparison);
    explain_challenge(evolve, proposal, comparison);
    if (wins && evolve->champion != proposal->row.goal &&
        store_promotion(evolve, proposal, comparison, error) < 0)
        return -1;
    return evolve_decide(evolve, proposal, wins ? "promote" : "keep", error);
}

static int start_challenge(struct evolve *evolve, struct source_proposal *proposal,
                           struct error *error) {
    const double own_us = evolve_score(evolve, proposal->row.goal),
                 champion_us = evolve_score(evolve, evolve->champion);
    if (evolve->champion == proposal->row.goal || own_us > hopeless * champion_us) {
        explain(proposal, "its own timing is %.2f times that of the champion %s: there was no duel",
                own_us / champion_us, evolve->solutions[evolve->champion].name);
        return evolve_decide(evolve, proposal, "keep", error);
    }
    proposal->state = PROPOSAL_CHALLENGING;
    proposal->dueller =
        session_submit_duel(&evolve->session, proposal->row.goal, evolve->champion, DUEL_BLOCKS);
    return 0;
}

/* What follows from how it compares with its parent. */
static int take_comparison(struct evolve *evolve, struct source_proposal *proposal,
                           struct comparison comparison, struct error *error) {
    note_comparison(proposal, comparison);
    if (comparison.ratio < 1 / (1 + slower_max)) {
        explain(proposal, "it is %.3f times as fast as its parent: more than %.0f %% slower",
                comparison.ratio, 100 * slower_max);
        return evolve_decide(evolve, proposal, "revert", error);
    }
    return proposal->parent_goal == evolve->champion
               ? take_challenge(evolve, proposal, comparison, error)
               : start_challenge(evolve, proposal, error);
}

int evolve_compare(struct evolve *evolve, struct source_proposal *proposal, struct error *error) {
    const double own_us = evolve_score(evolve, proposal->row.goal),
                 parent_us = evolve_score(evolve, proposal->parent_goal);
    proposal->row.score_us = own_us;
    if (own_us <= 0 || parent_us <= 0) /* after a change of the driver */
        return evolve_refuse(evolve, proposal, proposal->row.verdict,
                             "it, or its parent, does not pass any more", error);
    if (own_us > hopeless * parent_us)
        return take_comparison(evolve, proposal, compare_scores(own_us, parent_us), error);
    proposal->state = PROPOSAL_DUELLING;
    proposal->dueller = session_submit_duel(&evolve->session, proposal->row.goal,
                                            proposal->parent_goal, DUEL_BLOCKS);
    return 0;
}

int evolve_take_duel(struct evolve *evolve, struct source_proposal *proposal,
                     const struct trial_result *result, struct error *error) {
    const struct duel_outcome *duel = &result->outcome.duel;
    const bool challenges = proposal->state == PROPOSAL_CHALLENGING;
    const int other = challenges ? evolve->champion : proposal->parent_goal;
    if (duel->blocks == 0)
        log_warn("the duel of %s and %s was not possible: %s", proposal->row.solution,
                 evolve->solutions[other].name, result->outcome.reason);
    const struct comparison comparison =
        duel->blocks > 0
            ? compare_duel(duel)
            : compare_scores(evolve_score(evolve, proposal->row.goal), evolve_score(evolve, other));
    return (challenges ? take_challenge : take_comparison)(evolve, proposal, comparison, error);
}

/* ---- a genome of its parent ---- */

int evolve_take_tried(struct evolve *evolve, struct source_proposal *proposal,
                      const struct outcome *outcome, struct error *error) {
    const int goal = proposal->row.goal;
    const struct member *champion = evolution_champion(evolve->session.evolutions[goal]);
    proposal_set(&proposal->row.verdict, verdict_name(outcome->verdict));
    if (outcome->verdict != VERDICT_OK)
        return evolve_refuse(evolve, proposal, verdict_name(outcome->verdict), outcome->reason,
                             error);
    proposal->row.first_us = proposal->row.score_us = outcome->score_us;
    /* It became the goal's champion by the trial's own duel. */
    const bool won = champion != NULL && champion->trial == proposal->row.trial;
    const struct comparison comparison =
        outcome->duel.blocks > 0 ? compare_duel(&outcome->duel)
                                 : compare_scores(outcome->score_us, proposal->parent_us);
    note_comparison(proposal, comparison);
    explain(proposal, won ? "it is the best genome of its solution, by its trial's duel"
                          : "it is not the best genome of its solution");
    if (!won)
        return comparison.ratio < 1 / (1 + slower_max)
                   ? take_comparison(evolve, proposal, comparison, error)
                   : evolve_decide(evolve, proposal, "keep", error);
    return goal == evolve->champion ? evolve_decide(evolve, proposal, "promote", error)
                                    : start_challenge(evolve, proposal, error);
}
