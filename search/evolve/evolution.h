/*
 * evolution: a search, as a stream of questions and answers. Ask for a genome to try; tell what
 * came of it. Any number of questions may be open at once, and the answers may come in any order.
 * It never sees a GPU, a process or a database.
 *
 * Its state is a function of its settings, its seed and the sequence of calls of ask and of tell,
 * and of nothing else: whoever repeats the calls (a resumed run) has the same population,
 * counters and next proposals again, which evolution_digest proves. Profiles, which proposals may
 * follow too, come from beside them (evolution_tell_profile).
 *
 *     struct evolution_settings settings = evolution_defaults();
 *     struct evolution *evolution = evolution_new(space, &settings, seed, stream, &error);
 *     struct proposal proposal;
 *     while (evolution_ask(evolution, &proposal)) {
 *         ... try proposal.genome as trial number n ...
 *         evolution_tell(evolution, n, &proposal.genome, verdict, score_us);
 *     }
 *     evolution_free(evolution);
 *
 * No genome is proposed twice, whatever came of it. With several islands the questions go to them
 * in turn: what they have in common is what was seen, and what strategies learn from it.
 */
#ifndef EVOTILE_EVOLVE_EVOLUTION_H
#define EVOTILE_EVOLVE_EVOLUTION_H

#include "base/error.h"
#include "base/hash.h"
#include "evolve/forecast.h"
#include "evolve/operators.h"
#include "evolve/population.h"
#include "outcome/outcome.h"

struct evolution;

enum { TRIAL_NONE = -1, STRATEGY_NAME_SIZE = 32 };
#define PREFILTER_MOST 0.95

struct evolution_settings {
    char strategy[STRATEGY_NAME_SIZE]; /* a name of evolve/strategy.c's table */
    int population;                    /* 24: the room of all islands */
    int islands;                       /* 1: populations that breed apart (evolve/archipelago.h) */
    int migration;                     /* 64: trials told, between two migrations */
    int initial;                       /* 32: the default genome, the seeds, then a start that
                                          strategies may cut short */
    double exploration;                /* 0.10 of the proposals after the start: uniform draws */
    const struct genome *seeds;        /* proposed right after the default genome; copied */
    int seed_count;
    const struct predicted *predicted; /* of some valid genomes, the fastest first: `auto` learns
                                          from them, a start begins with some; copied */
    int predicted_count;
    double prefilter; /* 0: the share of the space that is not worth a trial, as its forecast from
                         `predicted` is among the slowest; without any, nothing is */
    bool no_default;  /* the space's default genome means nothing, and is not tried for its own sake
                       */
};

struct proposal {
    struct genome genome; /* canonical and valid */
    enum operator_kind made_by;
    int64_t parents[2]; /* trial numbers, or TRIAL_NONE */
    int rule;           /* an index among the space's, where made_by is OPERATOR_RULE */
    bool filtered;      /* forecast to be too slow to try: to be told with VERDICT_FILTERED */
};

/* What became of the proposals of one operator. */
struct operator_counters {
    uint64_t tries;     /* proposed */
    uint64_t successes; /* told with VERDICT_OK */
    uint64_t entered;   /* came into the population of their island */
    uint64_t gains;     /* became its best */
};

struct evolution_settings evolution_defaults(void);

/* `space` is sealed, and outlives the evolution. Fails on an unknown strategy, on settings out of
   range and on a space without a valid genome. Seeds that are not valid are left out. */
struct evolution *evolution_new(const struct space *space,
                                const struct evolution_settings *settings, uint64_t seed,
                                uint64_t stream, struct error *error);
void evolution_free(struct evolution *evolution);

/* Returns 1 and the next proposal, or 0 when every valid genome has been proposed; the state is
   then as before. */
int evolution_ask(struct evolution *evolution, struct proposal *proposal);

/* Notes a proposal that evolution_ask gave before, in another process: the state is then as after
   that call, without the work of thinking of it again. -1 if the genome is not valid or was seen:
   then nothing is noted. */
int evolution_replay(struct evolution *evolution, const struct proposal *proposal);

/* What became of a genome: one that was asked for, or one from elsewhere (which is then not
   proposed any more, and counts as OPERATOR_SEED). `score_us` is read only with VERDICT_OK, and is
   positive and finite, and taken to be exact. Telling the same genome twice is our bug. */
void evolution_tell(struct evolution *evolution, int64_t trial, const struct genome *genome,
                    enum verdict verdict, double score_us);

/* What rules may ask for of a trial that passed. */
struct measures evolution_measures(const struct resources *resources);
/* The same with all of that, and how exact the score is. */
void evolution_tell_outcome(struct evolution *evolution, int64_t trial, const struct genome *genome,
                            const struct outcome *outcome);

/* What was measured of a genome apart from its trial, as by a profiler: from now on it is known
   which of the rules that read such figures hold for it; what the others read remains the trial's.
   Nothing comes of it where the genome was not told with VERDICT_OK. It is no event, but something
   known beside them: the digest leaves those rules out, and whoever repeats the calls says it
   again. */
void evolution_tell_profile(struct evolution *evolution, const struct genome *genome,
                            const struct measures *measures);

/* What became of a genome that was told before, when it was tried anew because its score holds no
   more: it takes its new place in the population, or, if it failed, leaves it. Counters stay, and
   so do the rules that held. */
void evolution_tell_again(struct evolution *evolution, int64_t trial, const struct genome *genome,
                          const struct outcome *outcome);

/* The populations, `count` of them, each in rank order; a member may be in several. One where the
   strategy breeds from none. Valid until the next tell. */
const struct population *evolution_islands(const struct evolution *evolution, int *count);

/* The best so far, or NULL. Valid until the next tell. */
const struct member *evolution_champion(const struct evolution *evolution);

/* How many were asked for or told, and how many of them were told. */
uint64_t evolution_seen_count(const struct evolution *evolution);
uint64_t evolution_told_count(const struct evolution *evolution);

/* Whether this genome was asked for or told. */
bool evolution_has_seen(const struct evolution *evolution, const struct genome *genome);

/* OPERATOR_COUNT rows. */
const struct operator_counters *evolution_counters(const struct evolution *evolution);

/* A row for each of the space's rules: what became of its children. */
const struct operator_counters *evolution_rule_counters(const struct evolution *evolution);

/* A hash of the whole state: equal states, equal digests. Its cost does not grow with the number of
   genomes that were seen. */
struct hash evolution_digest(const struct evolution *evolution);

#endif
