/* bayes: the strategy `auto`, Bayesian optimisation with a Gaussian process. The model predicts
   the score of every genome of a candidate pool; the candidate with the largest acquisition
   value (expected improvement, or a lower confidence bound on exploration turns) is proposed.

   Speed: hyperparameters are fitted and the pool is refilled only at milestones (see
   `milestone`); between milestones rows are only appended to the model.

   Reproducibility: all state here is a function of the order of asks and tells, independent of
   when it is computed. A resumed run therefore computes only what it needs. */
#include "base/error.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "strategy/acquisition.h"
#include "strategy/candidate_pool.h"
#include "strategy/design.h"
#include "strategy/output_transform.h"
#include "strategy/source_mean.h"
#include "strategy/source_trust.h"
#include "strategy/strategy.h"
#include "strategy/surrogate.h"
#include "strategy/training_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_MILESTONE = 4, /* trials before the first model */
    FIRST_MILESTONE_SOURCES = 2,
    SOURCE_CANDIDATES = 300, /* genomes of the sources that are candidates */
    SOURCE_FIRST = 2,        /* first asks of a search: the best genomes of each source, */
    SOURCE_FIRST_MAX = 6,    /* of all sources */
    ELITES = 5,
    TRAINING_MAX = 400,  /* rows of the training set when the archive is larger: */
    TRAINING_BEST = 160, /* the best of these, the others sampled at random */
    FAILURES_MAX = 200,
    STEP_MAX = 32,     /* trials between milestones, at most */
    STAGNATION = 64,   /* trials without a new champion, after which exploration turns start */
    EXPLORE_EVERY = 4, /* every n-th ask is an exploration turn */
};

struct bayes {
    struct surrogate *surrogate;
    struct candidate_pool *pool;
    struct design *design;      /* NULL once there is a model */
    struct source_set *sources; /* borrowed from the evolution; NULL without sources */
    size_t design_count;        /* history entries that were added to `design` */
    uint64_t rescored_count;

    /* At a milestone, counted in told results, the hyperparameters are fitted, the pool is
       refilled and the model is rebuilt. Until the next milestone rows are only appended, which
       is cheap. */
    size_t milestone, next_milestone;
    bool has_model; /* the model is valid for the current milestone */

    int training_count;  /* rows with a value at the milestone; pending and later rows follow */
    double median_noise; /* median noise variance of those rows, assumed for later ones */
    uint32_t row_entries[ROWS_MAX]; /* by row of the model: the index in the evolution's history */
    double row_values[ROWS_MAX][SOURCES_MAX],
        candidate_values[CANDIDATES_MAX][SOURCES_MAX]; /* of the sources */
    size_t history_processed, observed_processed;      /* entries already added to the model */
    double best_us;
    struct source_mean mean; /* of the sources; zeros without */
    bool trusts_sources;     /* as of the milestone (source_trust.h) */

    /* Feasibility: the weighted share of similar trials that succeeded. */
    bool has_failures;
    int weighted_count; /* candidates whose sums are up to date */
    float feasibility_weights[CANDIDATES_MAX], ok_weights[CANDIDATES_MAX];
    bool already_seen[CANDIDATES_MAX]; /* found in the history, so not proposed again */
};

static bool has_failed(const struct history_entry *observed) {
    return !observed->ok && !observed->lost;
}

static size_t first_milestone(const struct bayes *bayes) {
    return bayes->sources != NULL ? FIRST_MILESTONE_SOURCES : FIRST_MILESTONE;
}

/* The mean before any result. */
static void reset_mean(struct bayes *bayes) {
    source_mean_prior(&bayes->mean, source_set_distances(bayes->sources),
                      source_set_count(bayes->sources));
}

static struct bayes *bayes_new(const struct evolution *evolution) {
    struct bayes *bayes = xcalloc(1, sizeof *bayes);
    bayes->surrogate = surrogate_new(evolution->space);
    bayes->pool = candidate_pool_new(evolution->space);
    bayes->sources = evolution->sources;
    if (bayes->sources != NULL) {
        bayes->trusts_sources = true;
        source_set_teach_scales(bayes->sources, bayes->surrogate);
        reset_mean(bayes);
    }
    bayes->next_milestone = first_milestone(bayes);
    return bayes;
}

void bayes_free(void *state) {
    struct bayes *bayes = state;
    if (bayes == NULL)
        return;
    surrogate_free(bayes->surrogate);
    candidate_pool_free(bayes->pool);
    design_free(bayes->design);
    free(bayes);
}

/* ---- Milestones ---- */

static size_t step_after(size_t milestone) {
    size_t step = milestone / 16;
    return step < 1 ? 1 : step > STEP_MAX ? STEP_MAX : step;
}

/* Fits the mean of the sources to the values of the surrogate's rows and subtracts it from them. */
static void subtract_mean(struct bayes *bayes, const double (*source_values)[SOURCES_MAX],
                          double *values) {
    source_mean_fit(&bayes->mean, bayes->surrogate, source_values, values);
    for (int row = 0; row < surrogate_row_count(bayes->surrogate); row++)
        values[row] -= source_mean_at(&bayes->mean, source_values[row]);
}

static void fit_hyperparameters(struct bayes *bayes, const struct evolution *evolution,
                                const struct training_row *training_set, int count,
                                struct random *random) {
    struct training_row chosen[TRAINING_MAX];
    struct genome genomes[FIT_MAX];
    double values[FIT_MAX], noises[FIT_MAX];
    double(*source_values)[SOURCES_MAX] = xcalloc(FIT_MAX, sizeof *source_values);
    memcpy(chosen, training_set, (size_t)count * sizeof *chosen);
    count = training_set_sample(chosen, count, FIT_MAX / 2, FIT_MAX, random);
    const struct output_transform transform = training_set_transform(chosen, count);
    for (int i = 0; i < count; i++) {
        genomes[i] = evolution->history.entries[chosen[i].entry].genome;
        values[i] = output_transform_apply(&transform, chosen[i].score_us);
        noises[i] = training_set_noise(evolution, &transform, &chosen[i]);
    }
    if (bayes->trusts_sources) {
        surrogate_clear(bayes->surrogate);
        for (int i = 0; i < count; i++) {
            surrogate_add_row(bayes->surrogate, &genomes[i], noises[i]);
            source_set_values(bayes->sources, &genomes[i], source_values[i]);
        }
        subtract_mean(bayes, source_values, values);
    }
    surrogate_fit(bayes->surrogate, genomes, values, noises, count);
    free(source_values);
}

static void add_row(struct bayes *bayes, const struct evolution *evolution, uint32_t entry,
                    double noise) {
    int row = surrogate_row_count(bayes->surrogate);
    const struct genome *genome = &evolution->history.entries[entry].genome;
    if (!surrogate_add_row(bayes->surrogate, genome, noise))
        return;
    bayes->row_entries[row] = entry;
    if (bayes->sources != NULL)
        source_set_values(bayes->sources, genome, bayes->row_values[row]);
}

static void add_candidates(struct bayes *bayes) {
    int count = surrogate_candidate_count(bayes->surrogate);
    for (int i = count; i < candidate_pool_count(bayes->pool); i++) {
        const struct genome *genome = candidate_pool_genome(bayes->pool, i);
        bayes->already_seen[i] = false;
        surrogate_add_candidate(bayes->surrogate, genome);
        if (bayes->sources != NULL)
            source_set_values(bayes->sources, genome, bayes->candidate_values[i]);
    }
}

/* The parents of the candidate pool: the best measured genomes, then, while there are too few,
   the best predicted ones. */
static int find_elites(const struct bayes *bayes, const struct evolution *evolution,
                       const struct training_row *training_set, int count,
                       struct genome elites[ELITES]) {
    int found = 0;
    for (; found < ELITES && found < count; found++)
        elites[found] = evolution->history.entries[training_set[found].entry].genome;
    if (bayes->sources != NULL && found < ELITES)
        found += source_set_best(bayes->sources, &elites[found], ELITES - found);
    return found;
}

/* Adds the rows whose values are known at the milestone. */
static void add_training_set(struct bayes *bayes, const struct evolution *evolution,
                             const struct training_row *training_set, int count) {
    double noises[TRAINING_MAX];
    bayes->training_count = count;
    bayes->median_noise = 0;
    if (count == 0)
        return;
    const struct output_transform transform = training_set_transform(training_set, count);
    for (int i = 0; i < count; i++) {
        noises[i] = training_set_noise(evolution, &transform, &training_set[i]);
        add_row(bayes, evolution, training_set[i].entry, noises[i]);
    }
    bayes->median_noise = statistics_median(noises, count);
}

static void build_model(struct bayes *bayes, const struct evolution *evolution,
                        const struct training_row *training_set, int count, struct random *random) {
    struct genome elites[ELITES] = {0};
    /* At the last milestones, STEP_MAX apart, all draws are new. */
    const struct uniform_draws draws = {.seed = evolution->seed,
                                        .stream = evolution->stream,
                                        .first = bayes->milestone * UNIFORM_BLOCKS / STEP_MAX};
    int elite_count = find_elites(bayes, evolution, training_set, count, elites);
    candidate_pool_refill(bayes->pool, random, &draws, elites, elite_count);
    if (bayes->sources != NULL) {
        struct genome *best = xcalloc(SOURCE_CANDIDATES, sizeof *best);
        int best_count = source_set_best(bayes->sources, best, SOURCE_CANDIDATES);
        for (int i = 0; i < best_count; i++)
            candidate_pool_add(bayes->pool, &best[i]);
        free(best);
    }
    surrogate_clear(bayes->surrogate);
    add_training_set(bayes, evolution, training_set, count);
    add_candidates(bayes);
    bayes->has_model = true;
    bayes->best_us = count > 0 ? training_set[0].score_us : INFINITY;
    bayes->observed_processed = bayes->milestone;
    bayes->history_processed = 0;
    bayes->weighted_count = 0;
    bayes->has_failures = false;
    for (size_t i = 0; i < bayes->milestone; i++)
        bayes->has_failures = bayes->has_failures || has_failed(evolution_observed(evolution, i));
}

/* Builds the model before the first milestone, from the sources alone. */
static void build_model_from_sources(struct bayes *bayes, const struct evolution *evolution) {
    struct random random;
    random_seed(&random, evolution->seed, evolution->stream);
    build_model(bayes, evolution, NULL, 0, &random);
}

/* Where the results agree with no source, all is as without sources: the mean, and the priors of
   the length scales. */
static void judge_sources(struct bayes *bayes, bool trusted) {
    if (trusted == bayes->trusts_sources)
        return;
    bayes->trusts_sources = trusted;
    if (trusted)
        source_set_teach_scales(bayes->sources, bayes->surrogate);
    else
        surrogate_forget_scales(bayes->surrogate);
    bayes->mean = (struct source_mean){.count = bayes->mean.count};
}

/* Processes every milestone up to now, because each fit starts from the hyperparameters of the
   previous one. The model is built only for the last milestone. */
static void process_milestones(struct bayes *bayes, const struct evolution *evolution) {
    if (evolution->observed_count < bayes->next_milestone)
        return;
    struct training_row *training_set = xmalloc(evolution->observed_count * sizeof *training_set);
    while (bayes->next_milestone <= evolution->observed_count) {
        struct random random;
        size_t milestone_now = bayes->next_milestone;
        int count = training_set_collect(evolution, milestone_now, training_set);
        random_seed(&random, evolution->seed + milestone_now, evolution->stream);
        bayes->next_milestone = milestone_now + step_after(milestone_now);
        if (count < 2)
            continue;
        if (bayes->sources != NULL)
            judge_sources(bayes, source_trust(bayes->sources, evolution, training_set, count));
        count = training_set_sample(training_set, count, TRAINING_BEST, TRAINING_MAX, &random);
        fit_hyperparameters(bayes, evolution, training_set, count, &random);
        bayes->milestone = milestone_now;
        if (bayes->next_milestone > evolution->observed_count)
            build_model(bayes, evolution, training_set, count, &random);
    }
    free(training_set);
}

/* ---- Between milestones ---- */

/* Returns whether this entry's result was known when the milestone's model was built. */
static bool was_known_at_milestone(const struct bayes *bayes, const struct history_entry *entry) {
    return entry->observed_at != 0 && entry->observed_at <= bayes->milestone;
}

/* Adds a trial to the feasibility sums of the candidates from `first` on, weighted by the fourth
   power of the correlation: only close genomes predict a failure. */
static void add_feasibility_weight(struct bayes *bayes, const struct history_entry *entry,
                                   int first) {
    float correlations[CANDIDATES_MAX];
    int count = surrogate_candidate_count(bayes->surrogate);
    if (entry->lost)
        return;
    surrogate_correlations(bayes->surrogate, &entry->genome, first, correlations);
    for (int i = first; i < count; i++) {
        float square = correlations[i - first] * correlations[i - first];
        bayes->feasibility_weights[i] += square * square;
        bayes->ok_weights[i] += entry->ok ? square * square : 0;
    }
}

/* Computes the feasibility sums of new candidates in a fixed order: results known at the
   milestone, then results observed since. */
static void compute_feasibility_weights(struct bayes *bayes, const struct evolution *evolution) {
    int first = bayes->weighted_count, failed = 0;
    bayes->weighted_count = surrogate_candidate_count(bayes->surrogate);
    for (int i = first; i < bayes->weighted_count; i++)
        bayes->feasibility_weights[i] = bayes->ok_weights[i] = 0;
    for (int row = 0; row < bayes->training_count && first < bayes->weighted_count; row++)
        add_feasibility_weight(bayes, &evolution->history.entries[bayes->row_entries[row]], first);
    for (size_t i = bayes->milestone;
         i-- > 0 && failed < FAILURES_MAX && first < bayes->weighted_count;)
        if (has_failed(evolution_observed(evolution, i))) {
            add_feasibility_weight(bayes, evolution_observed(evolution, i), first);
            failed++;
        }
    for (size_t i = bayes->milestone; i < bayes->observed_processed; i++)
        add_feasibility_weight(bayes, evolution_observed(evolution, i), first);
}

static void add_result(struct bayes *bayes, const struct history_entry *entry) {
    if (bayes->has_failures)
        add_feasibility_weight(bayes, entry, 0);
    bayes->has_failures = bayes->has_failures || has_failed(entry);
    if (entry->ok && entry->score_us < bayes->best_us) {
        bayes->best_us = entry->score_us;
        candidate_pool_add_neighbours(bayes->pool, &entry->genome);
    }
}

/* Extends the model by everything asked and observed since the milestone. Each asked genome gets a
   row, with or without a value, because neither the position nor the noise of a row may depend
   on when its value became known. The neighbours of a new best genome join the candidate pool. */
static void extend_model(struct bayes *bayes, const struct evolution *evolution) {
    for (; bayes->history_processed < evolution->history.count; bayes->history_processed++)
        if (!was_known_at_milestone(bayes, &evolution->history.entries[bayes->history_processed]))
            add_row(bayes, evolution, (uint32_t)bayes->history_processed, bayes->median_noise);
    for (; bayes->observed_processed < evolution->observed_count; bayes->observed_processed++)
        add_result(bayes, evolution_observed(evolution, bayes->observed_processed));
    add_candidates(bayes);
    if (bayes->has_failures && bayes->weighted_count < surrogate_candidate_count(bayes->surrogate))
        compute_feasibility_weights(bayes, evolution);
}

/* Lists the rows with a value, best first, and sets `values` to NAN. Returns their number. */
static int known_rows(const struct bayes *bayes, const struct evolution *evolution,
                      struct training_row known[ROWS_MAX], double values[ROWS_MAX]) {
    int count = 0, rows = surrogate_row_count(bayes->surrogate);
    for (int row = 0; row < rows; row++) {
        const struct history_entry *entry = &evolution->history.entries[bayes->row_entries[row]];
        values[row] = NAN;
        if (entry->ok)
            known[count++] = (struct training_row){entry->score_us, (uint32_t)row};
    }
    training_set_sort(known, count);
    return count;
}

/* With fewer than two measured values: takes pending genomes at their mean. Returns the best of
   these. */
static double use_sources_only(struct bayes *bayes) {
    int rows = surrogate_row_count(bayes->surrogate);
    double best = 0; /* an average genome */
    reset_mean(bayes);
    for (int row = 0; row < rows; row++)
        best = fmin(best, source_mean_at(&bayes->mean, bayes->row_values[row]));
    return best;
}

static void transform_values(struct bayes *bayes, const struct training_row *known, int count,
                             double *values) {
    const struct output_transform transform = training_set_transform(known, count);
    for (int i = 0; i < count; i++)
        values[known[i].entry] = output_transform_apply(&transform, known[i].score_us);
    if (bayes->trusts_sources)
        subtract_mean(bayes, bayes->row_values, values);
}

/* The incumbent of expected improvement: the least denoised value. With the raw values a lucky
   sample would become a target that cannot be beaten. */
static double least_denoised(const struct bayes *bayes, const struct training_row *known, int count,
                             const double *values) {
    double best = INFINITY;
    for (int i = 0; i < count; i++) {
        int row = (int)known[i].entry;
        best = fmin(best, surrogate_denoise(bayes->surrogate, row, values[row]) +
                              source_mean_at(&bayes->mean, bayes->row_values[row]));
    }
    return best;
}

static double condition_model(struct bayes *bayes, const struct evolution *evolution) {
    struct training_row *known = xcalloc(ROWS_MAX, sizeof *known);
    double *values = xcalloc(ROWS_MAX, sizeof *values);
    int count = known_rows(bayes, evolution, known, values);
    if (count < 2 && bayes->sources == NULL)
        BUG("a model of %d values", count);
    double prior_best = 0;
    if (count < 2)
        prior_best = use_sources_only(bayes);
    else
        transform_values(bayes, known, count, values);
    surrogate_condition(bayes->surrogate, values);
    double best = count < 2 ? prior_best : least_denoised(bayes, known, count, values);
    free(known);
    free(values);
    return best;
}

/* ---- Acquisition ---- */

/* Returns whether this ask is an exploration turn, which looks where the model may be wrong. The
   model cannot see an isolated optimum from its neighbours, so some asks explore once the search
   stagnates. */
static bool is_exploration_turn(const struct evolution *evolution) {
    const struct member *champion = evolution_champion(evolution);
    return champion != NULL && evolution->history.count % EXPLORE_EVERY == 0 &&
           evolution->observed_count -
                   history_find(&evolution->history, &champion->genome)->observed_at >=
               STAGNATION;
}

static int choose_candidate(struct bayes *bayes, const struct evolution *evolution, double best) {
    const float *means = surrogate_means(bayes->surrogate);
    const float *variances = surrogate_variances(bayes->surrogate);
    int chosen = -1, count = surrogate_candidate_count(bayes->surrogate);
    double best_gain = -1;
    bool explore = is_exploration_turn(evolution);
    for (int i = 0; i < count; i++) {
        if (bayes->already_seen[i])
            continue;
        double mean = means[i] + source_mean_at(&bayes->mean, bayes->candidate_values[i]);
        double gain = explore ? acquisition_confidence_bound(mean, variances[i])
                              : acquisition_expected_improvement(best, mean, variances[i]);
        if (bayes->has_failures)
            gain *= (bayes->ok_weights[i] + 0.5) / (bayes->feasibility_weights[i] + 0.5);
        if (gain <= best_gain)
            continue;
        bayes->already_seen[i] =
            history_find(&evolution->history, surrogate_candidate(bayes->surrogate, i)) != NULL;
        if (!bayes->already_seen[i]) {
            best_gain = gain;
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

/* Whether this ask is a point of the initial design: with sources only once the results have
   contradicted them, until there are as many points as in a search without sources. */
static bool is_design_turn(const struct bayes *bayes, const struct evolution *evolution) {
    return bayes->sources != NULL && !bayes->trusts_sources &&
           evolution->counters[OPERATOR_START].tries < FIRST_MILESTONE;
}

/* Proposes the next of the best genomes of the sources: the first questions of a search that has
   some. Each source is heard, because which of them is right is not known yet. */
static bool propose_from_sources(const struct bayes *bayes, const struct evolution *evolution,
                                 struct proposal *proposal) {
    struct genome best[SOURCE_FIRST_MAX];
    int most = SOURCE_FIRST * source_set_count(bayes->sources);
    int count =
        source_set_best(bayes->sources, best, most < SOURCE_FIRST_MAX ? most : SOURCE_FIRST_MAX);
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
    if (bayes->rescored_count != evolution->rescored_count) { /* scores were replaced: rebuild */
        surrogate_reset(bayes->surrogate);
        bayes->rescored_count = evolution->rescored_count;
        bayes->milestone = 0;
        bayes->has_model = false;
        if (bayes->sources != NULL)
            judge_sources(bayes, true);
        bayes->next_milestone = first_milestone(bayes);
    }
    if (bayes->sources != NULL && propose_from_sources(bayes, evolution, proposal))
        return true;
    process_milestones(bayes, evolution);
    if (is_design_turn(bayes, evolution) && propose_design_point(bayes, evolution, proposal))
        return true;
    if (bayes->milestone == 0 && bayes->sources == NULL)
        return propose_design_point(bayes, evolution, proposal);
    if (!bayes->has_model)
        build_model_from_sources(bayes, evolution);
    design_free(bayes->design);
    bayes->design = NULL;
    extend_model(bayes, evolution);
    int chosen = choose_candidate(bayes, evolution, condition_model(bayes, evolution));
    if (chosen < 0)
        return false;
    *proposal = strategy_proposal(OPERATOR_MODEL, NULL, NULL);
    proposal->genome = *surrogate_candidate(bayes->surrogate, chosen);
    return true;
}
