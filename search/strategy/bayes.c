/* bayes: the strategy `auto`, Bayesian optimisation with a Gaussian process (bayes_model.h). The
   candidate with the largest acquisition value (expected improvement, or a lower confidence bound
   on exploration turns), times the likelihood that it does not fail, is proposed. With sources
   (source.h) it begins with their best genomes. */
#include "base/memory.h"
#include "strategy/bayes_model.h"
#include "strategy/design.h"
#include "strategy/strategy.h"

#include <math.h>
#include <stdlib.h>

enum {
    SOURCE_FIRST_MAX = 6, /* first asks of a search: the best genome of each source, at most */
    STAGNATION = 64,      /* trials without a new champion, after which exploration turns start; */
    STAGNATION_SOURCES = 16, /* where trusted sources keep a search where they are fast */
    EXPLORE_EVERY = 4,       /* every n-th ask is an exploration turn */
};

struct bayes {
    struct bayes_model *model;
    struct design *design; /* NULL once there is a model */
    size_t design_count;   /* history entries that were added to `design` */
    uint64_t rescored_count;
};

static struct bayes *bayes_new(const struct evolution *evolution) {
    struct bayes *bayes = xcalloc(1, sizeof *bayes);
    bayes->model = bayes_model_new(evolution);
    return bayes;
}

void bayes_free(void *state) {
    struct bayes *bayes = state;
    if (bayes == NULL)
        return;
    bayes_model_free(bayes->model);
    design_free(bayes->design);
    free(bayes);
}

static bool follows_sources(const struct bayes *bayes) {
    return bayes->model->sources != NULL && bayes->model->trust >= 0.5;
}

/* Returns whether this ask is an exploration turn, which looks where the model may be wrong. The
   model cannot see an isolated optimum from its neighbours, so some asks explore once the search
   stagnates. */
static bool is_exploration_turn(const struct bayes *bayes, const struct evolution *evolution) {
    const struct member *champion = evolution_champion(evolution);
    const size_t stagnation = follows_sources(bayes) ? STAGNATION_SOURCES : STAGNATION;
    return champion != NULL && evolution->history.count % EXPLORE_EVERY == 0 &&
           evolution->observed_count -
                   history_find(&evolution->history, &champion->genome)->observed_at >=
               stagnation;
}

/* Returns the candidate of the largest gain, which it sets; -1: none is new. */
static int choose_candidate(struct bayes_model *model, const struct evolution *evolution,
                            bool explore, double *best_gain) {
    int chosen = -1, count = surrogate_candidate_count(model->surrogate);
    *best_gain = -1;
    for (int i = 0; i < count; i++) {
        if (model->already_seen[i])
            continue;
        const double gain =
            bayes_model_gain(model, i, explore) * feasibility_share(&model->feasibility, i);
        if (gain <= *best_gain)
            continue;
        model->already_seen[i] =
            history_find(&evolution->history, surrogate_candidate(model->surrogate, i)) != NULL;
        if (!model->already_seen[i]) {
            *best_gain = gain;
            chosen = i;
        }
    }
    return chosen;
}

/* Proposes the next point of the initial design; used until the first results arrive, however
   many asks that takes. */
static bool propose_design_point(struct bayes *bayes, const struct evolution *evolution,
                                 struct proposal *proposal) {
    if (bayes->design == NULL) {
        bayes->design = design_new(evolution->space, evolution->seed, evolution->stream);
        bayes->design_count = 0;
    }
    for (; bayes->design_count < evolution->history.count; bayes->design_count++)
        design_add(bayes->design, &evolution->history.entries[bayes->design_count].genome);
    *proposal = strategy_proposal(OPERATOR_START, NULL, NULL);
    return design_next(bayes->design, &proposal->genome);
}

static int first_question_count(const struct bayes *bayes) {
    const int sources = source_set_count(bayes->model->sources);
    return sources < SOURCE_FIRST_MAX ? sources : SOURCE_FIRST_MAX;
}

/* Whether this ask is a point of the initial design, when there are sources. One follows their best
   genomes if nothing else was asked, for contrast: results that are all alike do not tell whether
   the sources are right. Once the results contradict them, there are as many points as in a search
   without. */
static bool is_design_turn(const struct bayes *bayes, const struct evolution *evolution) {
    if (bayes->model->sources == NULL)
        return false;
    return evolution->history.count == (size_t)first_question_count(bayes) ||
           (!follows_sources(bayes) && evolution->counters[OPERATOR_START].tries < FIRST_MILESTONE);
}

/* Proposes the next of the best genomes of the sources: the first questions of a search that has
   some. Each source is heard, because which of them is right is not known yet; the one that all
   think well of comes first. */
static bool propose_from_sources(const struct bayes *bayes, const struct evolution *evolution,
                                 struct proposal *proposal) {
    struct genome best[SOURCE_FIRST_MAX];
    const int count =
        source_set_first_questions(bayes->model->sources, best, first_question_count(bayes));
    *proposal = strategy_proposal(OPERATOR_SEED, NULL, NULL);
    for (int i = 0; i < count; i++) {
        proposal->genome = best[i];
        if (strategy_is_new(evolution, proposal))
            return true;
    }
    return false;
}

bool bayes_propose(struct evolution *evolution, struct proposal *proposal) {
    if (evolution->state == NULL)
        evolution->state = bayes_new(evolution);
    struct bayes *bayes = evolution->state;
    struct bayes_model *model = bayes->model;
    evolution->expected_gain = INFINITY;
    if (bayes->rescored_count != evolution->rescored_count) {
        bayes->rescored_count = evolution->rescored_count;
        bayes_model_restart(model, evolution);
    }
    if (model->sources != NULL && propose_from_sources(bayes, evolution, proposal))
        return true;
    bayes_model_process_milestones(model, evolution);
    if (is_design_turn(bayes, evolution) && propose_design_point(bayes, evolution, proposal))
        return true;
    if (model->milestone == 0 && model->sources == NULL)
        return propose_design_point(bayes, evolution, proposal);
    design_free(bayes->design);
    bayes->design = NULL;
    bayes_model_update(model, evolution);
    double gain, ignored;
    int chosen = choose_candidate(model, evolution, false, &gain);
    if (chosen < 0)
        return false;
    if (is_exploration_turn(bayes, evolution))
        chosen = choose_candidate(model, evolution, true, &ignored);
    *proposal = strategy_proposal(OPERATOR_MODEL, NULL, NULL);
    proposal->genome = *surrogate_candidate(model->surrogate, chosen);
    evolution->expected_gain = model->deviation > 0 ? gain * model->deviation : INFINITY;
    return true;
}
