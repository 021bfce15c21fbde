/* bayes: the strategy `auto`, Bayesian optimisation with a Gaussian process. The model predicts
   the score of every genome of a candidate pool; the candidate with the largest acquisition
   value (expected improvement, or a lower confidence bound on exploration turns) is proposed.

   Speed: hyperparameters are fitted and the pool is refilled only at milestones (see
   `milestone`); between milestones rows are only appended to the model.

   Reproducibility: all state here is a function of the order of asks and tells, independent of
   when it is computed. A resumed run therefore computes only what it needs. */
#include "base/error.h"
#include "base/statistics.h"
#include "evolve/brood.h"
#include "evolve/design.h"
#include "evolve/squash.h"
#include "evolve/strategy.h"
#include "evolve/surrogate.h"
#include "evolve/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 6, /* trials before the first model */
    FIRST_FORETOLD = 2,
    FORETOLD_MOST = 16, /* measured values, above which predictions are ignored */
    ELITES = 5,
    LEARN_MOST = 400, /* rows of the training set when the archive is larger: */
    LEARN_BEST = 160, /* the best of these, the others sampled at random */
    FAILED_MOST = 200,
    STEP_MOST = 32,  /* trials between milestones, at most */
    STUCK = 64,      /* trials without a new champion, after which exploration turns start */
    DOUBT_EVERY = 4, /* every n-th ask is an exploration turn */
};

struct automatic {
    struct surrogate *surrogate;
    struct brood *brood;
    struct design *design;           /* NULL once there is a model */
    const struct forecast *forecast; /* borrowed from the evolution; NULL without predictions */
    size_t noted;                    /* history entries that were added to `design` */
    uint64_t retold;

    /* At a milestone, counted in told results, the hyperparameters are fitted, the pool is
       refilled and the model is rebuilt. Until the next milestone rows are only appended, which
       is cheap. */
    size_t milestone, next;
    bool built; /* the model is valid for the current milestone */

    int learnt;         /* rows with a value at the milestone; pending and later rows follow */
    double usual_noise; /* median noise variance of those rows, assumed for later ones */
    uint32_t row_entries[ROWS_MAX]; /* by row of the model: the index in the evolution's history */
    double row_forecasts[ROWS_MAX],
        candidate_forecasts[CANDIDATES_MAX]; /* zero without predictions */
    size_t seen_done, told_done;             /* entries already added to the model */
    double best_us;
    struct trend trend; /* linear mean of the low-fidelity predictions; zeros without */

    /* Feasibility: the weighted share of similar trials that succeeded. */
    bool failures;
    int likened; /* candidates whose sums are up to date */
    float weights[CANDIDATES_MAX], ok_weights[CANDIDATES_MAX];
    bool taken[CANDIDATES_MAX]; /* found in the history, so not proposed again */
};

static size_t first_milestone(const struct automatic *automatic) {
    return automatic->forecast != NULL ? FIRST_FORETOLD : FIRST;
}

static struct automatic *automatic_new(const struct evolution *evolution) {
    struct automatic *automatic = calloc(1, sizeof *automatic);
    if (automatic == NULL)
        BUG("out of memory");
    automatic->surrogate = surrogate_new(evolution->space);
    automatic->brood = brood_new(evolution->space);
    automatic->forecast = evolution->forecast;
    automatic->next = first_milestone(automatic);
    return automatic;
}

void auto_free(void *state) {
    struct automatic *automatic = state;
    if (automatic == NULL)
        return;
    surrogate_free(automatic->surrogate);
    brood_free(automatic->brood);
    design_free(automatic->design);
    free(automatic);
}

static const struct seen_entry *told_entry(const struct evolution *evolution, size_t at) {
    return &evolution->seen.entries[evolution->told[at]];
}

/* The entry must have been told. */
static bool has_failed(const struct seen_entry *entry) {
    return !entry->ok && !entry->filtered;
}

/* ---- The training set ---- */

struct lesson {
    double score_us;
    uint32_t entry;
};

static int by_score(const void *left, const void *right) {
    const struct lesson *a = left, *b = right;
    if (a->score_us != b->score_us)
        return a->score_us < b->score_us ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Keeps the `best` first rows and a random sample of the others, `most` in total, in order of
   score. */
static int thin(struct lesson *lessons, int count, int best, int most, struct random *random) {
    int kept = best;
    if (count <= most)
        return count;
    for (int i = best; i < count; i++)
        if (random_below(random, (uint64_t)(count - i)) < (uint64_t)(most - kept))
            lessons[kept++] = lessons[i];
    return kept;
}

/* Collects the successful ones of the first `told` results, best first. Returns their number. */
static int lessons_of(const struct evolution *evolution, size_t told, struct lesson *lessons) {
    int count = 0;
    for (size_t i = 0; i < told; i++)
        if (told_entry(evolution, i)->ok)
            lessons[count++] =
                (struct lesson){told_entry(evolution, i)->score_us, evolution->told[i]};
    qsort(lessons, (size_t)count, sizeof *lessons, by_score);
    return count;
}

/* Fits the transform. The rows are in ascending order of score; at least one. */
static struct squash squash_lessons(const struct lesson *lessons, int count) {
    double scores[ROWS_MAX] = {0};
    for (int i = 0; i < count; i++)
        scores[i] = lessons[i].score_us;
    return squash_over(scores, count);
}

/* The noise variance of the transformed score, from its relative standard error. */
static double noise_of(const struct evolution *evolution, const struct squash *squash,
                       const struct lesson *lesson) {
    return squash_noise(squash, lesson->score_us,
                        evolution->seen.entries[lesson->entry].score_error);
}

/* ---- Milestones ---- */

static size_t step_after(size_t milestone) {
    size_t step = milestone / 16;
    return step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
}

/* Low-fidelity predictions are used only at the start of a search: genomes with a slow
   prediction are hardly ever proposed, and one of them may be the best (measurements in
   README.md). */
static bool heeds_forecasts(const struct automatic *automatic, int known) {
    return automatic->forecast != NULL && known <= FORETOLD_MOST;
}

static void fit(struct automatic *automatic, const struct evolution *evolution,
                const struct lesson *lessons, int count, struct random *random) {
    struct lesson chosen[LEARN_MOST];
    struct genome genomes[FIT_MAX];
    double values[FIT_MAX], noises[FIT_MAX], forecasts[FIT_MAX];
    memcpy(chosen, lessons, (size_t)count * sizeof *chosen);
    count = thin(chosen, count, FIT_MAX / 2, FIT_MAX, random);
    const struct squash squash = squash_lessons(chosen, count);
    for (int i = 0; i < count; i++) {
        genomes[i] = evolution->seen.entries[chosen[i].entry].genome;
        values[i] = squash_of(&squash, chosen[i].score_us);
        noises[i] = noise_of(evolution, &squash, &chosen[i]);
    }
    if (heeds_forecasts(automatic, count)) {
        for (int i = 0; i < count; i++)
            forecasts[i] = forecast_of(automatic->forecast, &genomes[i]);
        trend_take(forecasts, values, count, squash.deviation);
    }
    surrogate_fit(automatic->surrogate, genomes, values, noises, count);
}

static void add_row(struct automatic *automatic, const struct evolution *evolution, uint32_t entry,
                    double noise) {
    int row = surrogate_row_count(automatic->surrogate);
    const struct genome *genome = &evolution->seen.entries[entry].genome;
    if (!surrogate_add_row(automatic->surrogate, genome, noise))
        return;
    automatic->row_entries[row] = entry;
    if (automatic->forecast != NULL)
        automatic->row_forecasts[row] = forecast_of(automatic->forecast, genome);
}

static void add_candidates(struct automatic *automatic) {
    int count = surrogate_candidate_count(automatic->surrogate);
    for (int i = count; i < brood_count(automatic->brood); i++) {
        const struct genome *genome = brood_genome(automatic->brood, i);
        automatic->taken[i] = false;
        surrogate_add_candidate(automatic->surrogate, genome);
        if (automatic->forecast != NULL)
            automatic->candidate_forecasts[i] = forecast_of(automatic->forecast, genome);
    }
}

/* The parents of the candidate pool: the best measured genomes, then, while there are too few,
   the best predicted ones. */
static int find_elites(const struct automatic *automatic, const struct evolution *evolution,
                       const struct lesson *lessons, int count, struct genome elites[ELITES]) {
    int found = 0;
    for (; found < ELITES && found < count; found++)
        elites[found] = evolution->seen.entries[lessons[found].entry].genome;
    for (int i = 0; found < ELITES && automatic->forecast != NULL && i < evolution->predicted_count;
         i++)
        elites[found++] = evolution->predicted[i].genome;
    return found;
}

/* Adds the rows whose values are known at the milestone. */
static void add_lessons(struct automatic *automatic, const struct evolution *evolution,
                        const struct lesson *lessons, int count) {
    double noises[LEARN_MOST];
    automatic->learnt = count;
    automatic->usual_noise = 0;
    if (count == 0)
        return;
    const struct squash squash = squash_lessons(lessons, count);
    for (int i = 0; i < count; i++) {
        noises[i] = noise_of(evolution, &squash, &lessons[i]);
        add_row(automatic, evolution, lessons[i].entry, noises[i]);
    }
    automatic->usual_noise = statistics_median(noises, count);
}

static void build(struct automatic *automatic, const struct evolution *evolution,
                  const struct lesson *lessons, int count, struct random *random) {
    struct genome elites[ELITES];
    int elite_count = find_elites(automatic, evolution, lessons, count, elites);
    brood_refill(automatic->brood, random, elites, elite_count);
    surrogate_clear(automatic->surrogate);
    add_lessons(automatic, evolution, lessons, count);
    add_candidates(automatic);
    automatic->built = true;
    automatic->best_us = count > 0 ? lessons[0].score_us : INFINITY;
    automatic->told_done = automatic->milestone;
    automatic->seen_done = 0;
    automatic->likened = 0;
    automatic->failures = false;
    for (size_t i = 0; i < automatic->milestone; i++)
        automatic->failures = automatic->failures || has_failed(told_entry(evolution, i));
}

/* Builds the model before the first milestone, from low-fidelity predictions alone. */
static void build_blindly(struct automatic *automatic, const struct evolution *evolution) {
    struct random random;
    random_seed(&random, evolution->seed, evolution->stream);
    build(automatic, evolution, NULL, 0, &random);
}

/* Processes every milestone up to now, because each fit starts from the hyperparameters of the
   previous one. The model is built only for the last milestone. */
static void pass_milestones(struct automatic *automatic, const struct evolution *evolution) {
    if (evolution->told_count < automatic->next)
        return;
    struct lesson *lessons = malloc(evolution->told_count * sizeof *lessons);
    if (lessons == NULL)
        BUG("out of memory");
    while (automatic->next <= evolution->told_count) {
        struct random random;
        size_t now = automatic->next;
        int count = lessons_of(evolution, now, lessons);
        random_seed(&random, evolution->seed + now, evolution->stream);
        automatic->next = now + step_after(now);
        if (count < 2)
            continue;
        count = thin(lessons, count, LEARN_BEST, LEARN_MOST, &random);
        fit(automatic, evolution, lessons, count, &random);
        automatic->milestone = now;
        if (automatic->next > evolution->told_count)
            build(automatic, evolution, lessons, count, &random);
    }
    free(lessons);
}

/* ---- Between milestones ---- */

/* Returns whether this entry's result was known when the milestone's model was built. */
static bool was_told(const struct automatic *automatic, const struct seen_entry *entry) {
    return entry->told_at != 0 && entry->told_at <= automatic->milestone;
}

/* Adds a trial to the feasibility sums of the candidates from `first` on, weighted by the fourth
   power of the correlation: only close genomes predict a failure. */
static void liken(struct automatic *automatic, const struct seen_entry *entry, int first) {
    float likeness[CANDIDATES_MAX];
    int count = surrogate_candidate_count(automatic->surrogate);
    if (entry->filtered)
        return;
    surrogate_likeness(automatic->surrogate, &entry->genome, first, likeness);
    for (int i = first; i < count; i++) {
        float square = likeness[i - first] * likeness[i - first];
        automatic->weights[i] += square * square;
        automatic->ok_weights[i] += entry->ok ? square * square : 0;
    }
}

/* Computes the feasibility sums of new candidates in a fixed order: results known at the
   milestone, then results told since. */
static void liken_new(struct automatic *automatic, const struct evolution *evolution) {
    int first = automatic->likened, failed = 0;
    automatic->likened = surrogate_candidate_count(automatic->surrogate);
    for (int i = first; i < automatic->likened; i++)
        automatic->weights[i] = automatic->ok_weights[i] = 0;
    for (int row = 0; row < automatic->learnt && first < automatic->likened; row++)
        liken(automatic, &evolution->seen.entries[automatic->row_entries[row]], first);
    for (size_t i = automatic->milestone;
         i-- > 0 && failed < FAILED_MOST && first < automatic->likened;)
        if (has_failed(told_entry(evolution, i))) {
            liken(automatic, told_entry(evolution, i), first);
            failed++;
        }
    for (size_t i = automatic->milestone; i < automatic->told_done; i++)
        liken(automatic, told_entry(evolution, i), first);
}

static void take_told(struct automatic *automatic, const struct seen_entry *entry) {
    if (automatic->failures)
        liken(automatic, entry, 0);
    automatic->failures = automatic->failures || has_failed(entry);
    if (entry->ok && entry->score_us < automatic->best_us) {
        automatic->best_us = entry->score_us;
        brood_add_neighbours(automatic->brood, &entry->genome);
    }
}

/* Extends the model by everything asked and told since the milestone. Each asked genome gets a
   row, with or without a value, because neither the position nor the noise of a row may depend
   on when its value became known. The neighbours of a new best genome join the candidate pool. */
static void follow(struct automatic *automatic, const struct evolution *evolution) {
    for (; automatic->seen_done < evolution->seen.count; automatic->seen_done++)
        if (!was_told(automatic, &evolution->seen.entries[automatic->seen_done]))
            add_row(automatic, evolution, (uint32_t)automatic->seen_done, automatic->usual_noise);
    for (; automatic->told_done < evolution->told_count; automatic->told_done++)
        take_told(automatic, told_entry(evolution, automatic->told_done));
    add_candidates(automatic);
    if (automatic->failures && automatic->likened < surrogate_candidate_count(automatic->surrogate))
        liken_new(automatic, evolution);
}

/* Lists the rows with a value, best first, and sets `values` to NAN. Returns their number. */
static int known_rows(const struct automatic *automatic, const struct evolution *evolution,
                      struct lesson known[ROWS_MAX], double values[ROWS_MAX]) {
    int count = 0, rows = surrogate_row_count(automatic->surrogate);
    for (int row = 0; row < rows; row++) {
        const struct seen_entry *entry = &evolution->seen.entries[automatic->row_entries[row]];
        values[row] = NAN;
        if (entry->ok)
            known[count++] = (struct lesson){entry->score_us, (uint32_t)row};
    }
    qsort(known, (size_t)count, sizeof *known, by_score);
    return count;
}

/* With fewer than two measured values: assumes the default error of low-fidelity predictions and
   takes pending genomes at their prediction. Returns the best of these. */
static double trust_forecasts(struct automatic *automatic) {
    int rows = surrogate_row_count(automatic->surrogate);
    double best = 0; /* the prior mean, an average genome */
    automatic->trend = trend_usual();
    for (int row = 0; row < rows; row++)
        best = fmin(best, trend_at(&automatic->trend, automatic->row_forecasts[row]));
    return best;
}

static void learn_values(struct automatic *automatic, const struct lesson *known, int count,
                         double *values) {
    double sorted[ROWS_MAX], forecasts[ROWS_MAX];
    const struct squash squash = squash_lessons(known, count);
    for (int i = 0; i < count; i++) {
        sorted[i] = squash_of(&squash, known[i].score_us);
        forecasts[i] = automatic->row_forecasts[known[i].entry];
    }
    automatic->trend = heeds_forecasts(automatic, count)
                           ? trend_take(forecasts, sorted, count, squash.deviation)
                           : (struct trend){0};
    for (int i = 0; i < count; i++)
        values[known[i].entry] = sorted[i];
}

/* The incumbent of expected improvement: the least denoised value. With the raw values a lucky
   sample would become a target that cannot be beaten. */
static double least_settled(const struct automatic *automatic, const struct lesson *known,
                            int count, const double *values) {
    double best = INFINITY;
    for (int i = 0; i < count; i++) {
        int row = (int)known[i].entry;
        best = fmin(best, surrogate_settle(automatic->surrogate, row, values[row]) +
                              trend_at(&automatic->trend, automatic->row_forecasts[row]));
    }
    return best;
}

static double condition(struct automatic *automatic, const struct evolution *evolution) {
    struct lesson known[ROWS_MAX];
    double values[ROWS_MAX];
    int count = known_rows(automatic, evolution, known, values);
    if (count < 2 && automatic->forecast == NULL)
        BUG("a model of %d values", count);
    double prior_best = 0;
    if (count < 2)
        prior_best = trust_forecasts(automatic);
    else
        learn_values(automatic, known, count, values);
    surrogate_condition(automatic->surrogate, values);
    return count < 2 ? prior_best : least_settled(automatic, known, count, values);
}

/* ---- Acquisition ---- */

/* The expected improvement on `best` (Jones, Schonlau and Welch, "Efficient global optimization
   of expensive black-box functions", 1998). */
static double improvement(double best, double mean, double variance) {
    double deviation = sqrt(variance), t = (best - mean) / deviation;
    if (t < -8) /* below the precision of the closed form; only the order matters */
        return 1e-30 * exp(t);
    double density = 0.3989422804014327 * exp(-0.5 * t * t);
    return deviation * (t * 0.5 * erfc(-t * 0.7071067811865475) + density);
}

/* Returns whether this ask is an exploration turn, which looks where the model may be wrong. The
   model cannot see an isolated optimum from its neighbours, so some asks explore once the search
   stagnates. */
static bool is_to_doubt(const struct evolution *evolution) {
    const struct member *champion = evolution_champion(evolution);
    return champion != NULL && evolution->seen.count % DOUBT_EVERY == 0 &&
           evolution->told_count - seen_find(&evolution->seen, &champion->genome)->told_at >= STUCK;
}

/* The lower confidence bound at three standard deviations, mapped to a positive acquisition
   value to maximise (Srinivas et al., "Gaussian process optimization in the bandit setting",
   2010). */
static double hope(double mean, double variance) {
    return exp(3 * sqrt(variance) - mean);
}

static int choose(struct automatic *automatic, const struct evolution *evolution, double best) {
    const float *means = surrogate_means(automatic->surrogate);
    const float *variances = surrogate_variances(automatic->surrogate);
    int chosen = -1, count = surrogate_candidate_count(automatic->surrogate);
    double most = -1;
    bool doubt = is_to_doubt(evolution);
    for (int i = 0; i < count; i++) {
        if (automatic->taken[i])
            continue;
        double mean = means[i] + trend_at(&automatic->trend, automatic->candidate_forecasts[i]);
        double gain = doubt ? hope(mean, variances[i]) : improvement(best, mean, variances[i]);
        if (automatic->failures)
            gain *= (automatic->ok_weights[i] + 0.5) / (automatic->weights[i] + 0.5);
        if (gain <= most)
            continue;
        automatic->taken[i] =
            seen_find(&evolution->seen, surrogate_candidate(automatic->surrogate, i)) != NULL;
        if (!automatic->taken[i]) {
            most = gain;
            chosen = i;
        }
    }
    return chosen;
}

/* Proposes the next point of the initial design; used until the first results arrive, however
   many asks that takes. */
static bool propose_start(struct automatic *automatic, const struct evolution *evolution,
                          struct proposal *proposal) {
    if (automatic->design == NULL) {
        automatic->design = design_new(evolution->space, evolution->seed, evolution->stream);
        automatic->noted = 0;
    }
    for (; automatic->noted < evolution->seen.count; automatic->noted++)
        design_note(automatic->design, &evolution->seen.entries[automatic->noted].genome);
    *proposal = (struct proposal){.made_by = OPERATOR_START, .parents = {TRIAL_NONE, TRIAL_NONE}};
    return design_next(automatic->design, &proposal->genome);
}

/* With low-fidelity predictions the first asks cluster where the prediction is fast, and
   measurements there say little about the rest of the space. So a few points of the initial
   design, far from all genomes asked before, follow these asks. The turn depends only on the
   number of asks, because a resumed run knows nothing else. */
static bool is_to_look_round(const struct automatic *automatic, const struct evolution *evolution) {
    size_t asked = evolution->seen.count;
    return automatic->forecast != NULL && asked >= FORETOLD_MOST && asked < FORETOLD_MOST + FIRST;
}

bool auto_propose(struct evolution *evolution, struct proposal *proposal) {
    if (evolution->state == NULL)
        evolution->state = automatic_new(evolution);
    struct automatic *automatic = evolution->state;
    if (automatic->retold != evolution->retold_count) { /* scores were replaced: rebuild */
        surrogate_reset(automatic->surrogate);
        automatic->retold = evolution->retold_count;
        automatic->milestone = 0;
        automatic->built = false;
        automatic->next = first_milestone(automatic);
    }
    pass_milestones(automatic, evolution);
    if (automatic->milestone == 0 && automatic->forecast == NULL)
        return propose_start(automatic, evolution, proposal);
    if (is_to_look_round(automatic, evolution) && propose_start(automatic, evolution, proposal))
        return true;
    if (!automatic->built)
        build_blindly(automatic, evolution);
    design_free(automatic->design);
    automatic->design = NULL;
    follow(automatic, evolution);
    int chosen = choose(automatic, evolution, condition(automatic, evolution));
    if (chosen < 0)
        return false;
    *proposal = (struct proposal){.genome = *surrogate_candidate(automatic->surrogate, chosen),
                                  .made_by = OPERATOR_MODEL,
                                  .parents = {TRIAL_NONE, TRIAL_NONE}};
    return true;
}
