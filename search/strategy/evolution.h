/*
 * evolution: a search behind an ask/tell interface. Ask for a genome to try; tell its result. Any
 * number of asks may be open, and results may arrive in any order. It knows nothing of GPUs,
 * processes or databases.
 *
 * The state is a function of the settings, the seed and the sequence of ask and tell calls only. A
 * resumed run that repeats the calls gets the same population, counters and next proposals, which
 * evolution_digest proves. Profiles, which hints may read, are supplied beside the calls
 * (evolution_tell_profile).
 *
 *     struct evolution_settings settings = evolution_defaults();
 *     struct evolution *evolution = evolution_new(space, &settings, seed, stream, &error);
 *     struct proposal proposal;
 *     while (evolution_ask(evolution, &proposal)) {
 *         // try proposal.genome as trial number n
 *         evolution_tell(evolution, n, &proposal.genome, verdict, score_us);
 *     }
 *     evolution_free(evolution);
 *
 * No genome is proposed twice, whatever its result.
 */
#ifndef EVOTILE_STRATEGY_EVOLUTION_H
#define EVOTILE_STRATEGY_EVOLUTION_H

#include "base/error.h"
#include "base/hash.h"
#include "outcome/minimised.h"
#include "strategy/operators.h"
#include "strategy/population.h"
#include "strategy/source.h"

struct evolution;

enum { TRIAL_NONE = -1, STRATEGY_NAME_SIZE = 32 };

struct evolution_settings {
    char strategy[STRATEGY_NAME_SIZE]; /* a name in the table of strategy.c */
    int population;                    /* 24: capacity */
    int initial;                /* 32: default, seeds, then a design that a strategy may shorten */
    double exploration;         /* 0.10: share of uniform draws after the initial genomes */
    enum minimised minimise;    /* what scores are of: decides their error */
    const struct genome *seeds; /* proposed right after the default genome; copied */
    int seed_count;
    /* What is known of other tasks, sealed; copied. The model of `auto` learns from it; other
       strategies start with the best genomes of the sources. Their order does not matter. */
    const struct source *sources;
    int source_count;
    bool no_default; /* the space has no meaningful default genome, so it is not tried first */
    bool proposes_nothing; /* the caller knows that no genome is valid: none is ever proposed */
};

struct proposal {
    struct genome genome; /* canonical and valid */
    enum operator_kind made_by;
    int64_t parents[2]; /* trial numbers, or TRIAL_NONE */
    int hint;           /* index of the space's hint, for OPERATOR_HINT */
};

/* Results of the proposals of one operator. */
struct operator_counters {
    uint64_t tries;     /* proposed */
    uint64_t successes; /* observed with VERDICT_OK */
    uint64_t entered;   /* entered the population */
    uint64_t gains;     /* became its best member */
};

struct evolution_settings evolution_defaults(void);

/* The strategy that a user's word names: the word itself, or, with a warning, what takes the place
   of a strategy of earlier versions. */
const char *evolution_strategy_name(const char *word);

/* Whether a strategy's proposals follow from what other tasks taught (evolution_settings.sources).
 */
bool evolution_strategy_learns(const char *strategy);

/* `space` must be sealed and must outlive the evolution. Fails on an unknown strategy, on
   settings out of range and, unless it is to propose nothing, on a space without a valid genome.
   Invalid seeds are skipped. */
struct evolution *evolution_new(const struct space *space,
                                const struct evolution_settings *settings, uint64_t seed,
                                uint64_t stream, struct error *error);
void evolution_free(struct evolution *evolution);

/* Returns 1 and the next proposal, or 0, with the state unchanged, when every valid genome has
   been proposed. */
int evolution_ask(struct evolution *evolution, struct proposal *proposal);

/* The logarithm of the best score that the next proposal is expected to take off, by the strategy's
   model: INFINITY while it asks its first genomes, NAN if it has no model, 0 if nothing is left to
   propose. Changes nothing: the next ask gives the same proposal, which this call computes. */
double evolution_expected_gain(struct evolution *evolution);

/* Repeats a proposal that evolution_ask made in another process: the state becomes as after that
   call, without the cost of computing the proposal. Returns -1, without effect, if the genome is
   invalid or already in the history. */
int evolution_replay(struct evolution *evolution, const struct proposal *proposal);

/* Tells the result of a genome, asked for or from elsewhere; the latter is not proposed any more
   and counts as OPERATOR_SEED. `score_us` is read only with VERDICT_OK; it must be positive and
   finite and is taken as exact. Telling a genome twice is a bug of the caller. */
void evolution_tell(struct evolution *evolution, int64_t trial, const struct genome *genome,
                    enum verdict verdict, double score_us);

/* The measures of a successful trial that hints may read. */
struct measures evolution_measures(const struct resources *resources);
/* As evolution_tell, with the measures and the standard error of the score. */
void evolution_tell_outcome(struct evolution *evolution, int64_t trial, const struct genome *genome,
                            const struct outcome *outcome);

/* Supplies measures that were taken outside the trial, as by a profiler: they decide from now on
   which hints that read them hold for this genome; the other hints keep the trial's measures.
   Ignored unless the genome was observed with VERDICT_OK. A profile is not an event of the
   sequence: the digest excludes these hints, and a resumed run has to supply the profiles again. */
void evolution_tell_profile(struct evolution *evolution, const struct genome *genome,
                            const struct measures *measures);

/* Replaces the result of a genome that was observed before and has been measured again because its
   score is outdated: it moves to its new rank in the population, or leaves it if it failed.
   Counters and the hints that hold stay as they were. */
void evolution_tell_again(struct evolution *evolution, int64_t trial, const struct genome *genome,
                          const struct outcome *outcome);

/* Replaces what the search knows of other tasks (evolution_settings.sources; copied): from the next
   question on it is as if it had known this from the start. An event of the sequence, to be
   repeated with the others. */
void evolution_learn(struct evolution *evolution, const struct source *sources, int source_count);

/* Adds the results so far to a source of a search in `space`, which has the same genes with the
   same domains, and seals it. */
void evolution_fill_source(const struct evolution *evolution, const struct space *space,
                           struct source *source);

/* What is known of a genome: whether it was proposed, and whether it was observed. */
enum genome_state { GENOME_NEW, GENOME_PROPOSED, GENOME_OBSERVED };
enum genome_state evolution_genome_state(const struct evolution *evolution,
                                         const struct genome *genome);

/* Valid until the next tell. */
const struct population *evolution_population(const struct evolution *evolution);

/* The best member so far, or NULL. Valid until the next tell. */
const struct member *evolution_champion(const struct evolution *evolution);

/* The number of genomes in the history (asked for or observed). */
uint64_t evolution_seen_count(const struct evolution *evolution);

/* A hash of the whole state: equal states have equal digests. Its cost does not depend on the
   length of the history. */
struct hash evolution_digest(const struct evolution *evolution);

#endif
