/* What is decided on a proposal: revert, keep or promote, by duels with its parent and with the
   champion. */
#include "evolve/internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <math.h>
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

static void submit_duel(struct evolve *evolve, struct source_proposal *proposal, int other) {
    struct session *session = &evolve->session;
    const int goal = proposal->row.goal;
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    const struct member *opponent = evolution_champion(session->evolutions[other]);
    struct trial_request request = {
        .number = champion->trial,
        .genome = champion->genome,
        .full = true,
        .seed = session->config->seed + (uint64_t)champion->trial,
        .duel_blocks = DUEL_BLOCKS,
        .opponent = {.present = true, .trial = opponent->trial, .genome = opponent->genome},
    };
    session_place_opponent(session, goal, other, &request.opponent);
    session_place(session, goal, &request);
    proposal->dueller = champion->trial;
    pool_submit(session->pool, &request);
}

/* How a solution compares with another: times as fast, with the interval. */
struct comparison {
    double ratio, low, high;
};

/* By two scores; of predictions, which do not err at random, that is an interval, too. */
static struct comparison compare_scores(const struct evolve *evolve, double own_us,
                                        double other_us) {
    const double ratio = other_us / own_us;
    return pool_device(evolve->session.pool)->predicts ? (struct comparison){ratio, ratio, ratio}
                                                       : (struct comparison){ratio, NAN, NAN};
}

static void note_comparison(struct source_proposal *proposal, struct comparison comparison) {
    proposal->row.ratio = comparison.ratio;
    proposal->row.low = comparison.low;
    proposal->row.high = comparison.high;
}

static int take_challenge(struct evolve *evolve, struct source_proposal *proposal,
                          struct comparison comparison, struct error *error) {
    return evolve_decide(evolve, proposal, comparison.low > 1 ? "promote" : "keep", error);
}

static int start_challenge(struct evolve *evolve, struct source_proposal *proposal,
                           struct error *error) {
    const double own_us = evolve_score(evolve, proposal->row.goal),
                 champion_us = evolve_score(evolve, evolve->champion);
    if (evolve->champion == proposal->row.goal || own_us > hopeless * champion_us)
        return evolve_decide(evolve, proposal, "keep", error);
    if (pool_device(evolve->session.pool)->predicts)
        return take_challenge(evolve, proposal, compare_scores(evolve, own_us, champion_us), error);
    proposal->state = PROPOSAL_CHALLENGING;
    submit_duel(evolve, proposal, evolve->champion);
    return 0;
}

/* What follows from how it compares with its parent. */
static int take_comparison(struct evolve *evolve, struct source_proposal *proposal,
                           struct comparison comparison, struct error *error) {
    note_comparison(proposal, comparison);
    if (comparison.ratio < 1 / (1 + slower_max)) {
        char reason[120];
        snprintf(reason, sizeof reason, "it is %.3f times as fast as its parent", comparison.ratio);
        proposal_set(&proposal->row.reason, reason);
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
    if (own_us <= 0)
        return evolve_refuse(evolve, proposal, proposal->row.verdict,
                             "none of its genomes passes any more", error);
    if (pool_device(evolve->session.pool)->predicts || own_us > hopeless * parent_us)
        return take_comparison(evolve, proposal, compare_scores(evolve, own_us, parent_us), error);
    proposal->state = PROPOSAL_DUELLING;
    submit_duel(evolve, proposal, proposal->parent_goal);
    return 0;
}

int evolve_take_duel(struct evolve *evolve, struct source_proposal *proposal,
                     const struct trial_result *result, struct error *error) {
    const struct duel_outcome *duel = &result->outcome.duel; /* own time over the other's */
    const bool challenges = proposal->state == PROPOSAL_CHALLENGING;
    const int other = challenges ? evolve->champion : proposal->parent_goal;
    struct comparison comparison = compare_scores(evolve, evolve_score(evolve, proposal->row.goal),
                                                  evolve_score(evolve, other));
    if (duel->blocks > 0)
        comparison = (struct comparison){1 / duel->ratio, 1 / duel->high, 1 / duel->low};
    else
        log_warn("the duel of %s and %s was not possible: %s", proposal->row.solution,
                 evolve->solutions[other].name, result->outcome.reason);
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
    struct comparison comparison = compare_scores(evolve, outcome->score_us, proposal->parent_us);
    /* It became the goal's champion by the trial's own duel. */
    const bool won = champion != NULL && champion->trial == proposal->row.trial;
    if (outcome->duel.blocks > 0)
        comparison = (struct comparison){1 / outcome->duel.ratio, 1 / outcome->duel.high,
                                         1 / outcome->duel.low};
    note_comparison(proposal, comparison);
    if (!won)
        return comparison.ratio < 1 / (1 + slower_max)
                   ? take_comparison(evolve, proposal, comparison, error)
                   : evolve_decide(evolve, proposal, "keep", error);
    return goal == evolve->champion ? evolve_decide(evolve, proposal, "promote", error)
                                    : start_challenge(evolve, proposal, error);
}
