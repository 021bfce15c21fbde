#include "strategy/evolution.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "outcome/measure_names.h"
#include "strategy/start.h"
#include "strategy/strategy.h"

#include <math.h>
#include <string.h>

enum {
    MEMBERS_MAX = 10000,
    STRATEGIES_MAX = 16,
};

struct evolution_settings evolution_defaults(void) {
    return (struct evolution_settings){
        .strategy = "auto", .population = 24, .initial = 32, .exploration = 0.10};
}

static int check_settings(const struct evolution_settings *settings, struct error *error) {
    const char *names[STRATEGIES_MAX];
    int count = 0;
    for (const struct strategy *row = strategies; row->name != NULL; row++)
        names[count++] = row->name;
    if (strategy_find(settings->strategy) == NULL)
        return error_input(error, "unknown strategy '%s'; the nearest is '%s'", settings->strategy,
                           spelling_nearest(settings->strategy, names, count));
    if (settings->population < 2 || settings->population > MEMBERS_MAX)
        return error_input(error, "population is %d: it must be from 2 to %d", settings->population,
                           MEMBERS_MAX);
    if (settings->initial < 1 || settings->initial > MEMBERS_MAX)
        return error_input(error, "initial is %d: it must be from 1 to %d", settings->initial,
                           MEMBERS_MAX);
    if (!(settings->exploration >= 0 && settings->exploration <= 1))
        return error_input(error, "exploration is %g: it must be from 0 to 1",
                           settings->exploration);
    return 0;
}

/* ---- The initial genomes ---- */

static void make_initial(struct evolution *evolution, const struct evolution_settings *settings) {
    const struct space *space = evolution->space;
    struct genome genome = genome_default(space);
    size_t room = 1 + (size_t)settings->seed_count + SOURCES_START + (size_t)settings->initial;
    evolution->starts = xcalloc(room, sizeof *evolution->starts);
    if (!settings->no_default && space_check(space, &genome, NULL))
        start_add(evolution, &genome, OPERATOR_DEFAULT);
    for (int i = 0; i < settings->seed_count; i++) {
        genome = settings->seeds[i];
        genome_canonicalise(&genome, space);
        if (space_check(space, &genome, NULL))
            start_add(evolution, &genome, OPERATOR_SEED);
    }
    const struct strategy *strategy = evolution->strategy;
    if (strategy->start != NULL && evolution->sources != NULL) {
        struct genome best[SOURCES_START];
        int count = source_set_best(evolution->sources, best, SOURCES_START);
        for (int i = 0; i < count; i++)
            start_add(evolution, &best[i], OPERATOR_SEED);
    }
    int most = settings->initial < strategy->start_most ? settings->initial : strategy->start_most;
    if (evolution->start_count < most)
        strategy->start(evolution, most - evolution->start_count);
}

struct evolution *evolution_new(const struct space *space,
                                const struct evolution_settings *settings, uint64_t seed,
                                uint64_t stream, struct error *error) {
    struct problem why;
    if (check_settings(settings, error) < 0)
        return NULL;
    if (!settings->proposes_nothing && space_is_empty(space, &why)) {
        error_input(error, "no genome is valid; loosen a constraint: %s", why.text);
        return NULL;
    }
    struct evolution *evolution = xcalloc(1, sizeof *evolution);
    evolution->space = space;
    evolution->strategy = strategy_find(settings->strategy);
    evolution->exploration = settings->exploration;
    evolution->minimise = settings->minimise;
    evolution->proposes_nothing = settings->proposes_nothing;
    evolution->seed = seed;
    evolution->stream = stream;
    evolution->sources = source_set_new(space, settings->sources, settings->source_count);
    if (evolution->sources != NULL)
        evolution->sources_hash = source_set_hash(evolution->sources);
    random_seed(&evolution->random, seed, stream);
    population_init(&evolution->population, settings->population);
    if (!evolution->proposes_nothing)
        make_initial(evolution, settings);
    return evolution;
}

void evolution_free(struct evolution *evolution) {
    if (evolution == NULL)
        return;
    if (evolution->strategy->free_state != NULL)
        evolution->strategy->free_state(evolution->state);
    free(evolution->observed);
    population_release(&evolution->population);
    history_release(&evolution->history);
    space_cursor_free(evolution->rest);
    free(evolution->starts);
    source_set_free(evolution->sources);
    free(evolution);
}

/* ---- The digest of the history ---- */

/* The part of an entry that belongs to the state, without padding. */
struct hashed_entry {
    struct genome genome;
    uint8_t made_by, hint, ok, lost; /* lost: no trial of earlier runs is; their digests hold */
    uint32_t hints, observed_at, index;
    double score_us, score_error;
};
_Static_assert(sizeof(struct hashed_entry) == 64, "its bytes are hashed");

static struct hash hash_entry(const struct evolution *evolution,
                              const struct history_entry *entry) {
    const struct hashed_entry hashed = {
        .genome = entry->genome,
        .made_by = entry->made_by,
        .hint = entry->hint,
        .ok = entry->ok,
        .lost = entry->lost,
        .hints = entry->hints & ~evolution->space->hints.profiled,
        .observed_at = entry->observed_at,
        .index = (uint32_t)(entry - evolution->history.entries),
        .score_us = entry->score_us,
        .score_error = entry->score_error,
    };
    return hash_bytes(&hashed, sizeof hashed);
}

/* Called with -1 before each change of an entry and with 1 after it, so that a digest need not
   visit all entries. */
static void digest_update(struct evolution *evolution, const struct history_entry *entry,
                          int sign) {
    struct hash hash = hash_entry(evolution, entry);
    evolution->history_hash.low += (uint64_t)sign * hash.low;
    evolution->history_hash.high += (uint64_t)sign * hash.high;
}

/* ---- Ask ---- */

static bool next_initial(struct evolution *evolution, struct proposal *proposal) {
    while (evolution->start_at < evolution->start_count) {
        *proposal = evolution->starts[evolution->start_at++];
        if (strategy_is_new(evolution, proposal))
            return true;
    }
    return false;
}

/* Each ask has a random sequence of its own: its draws do not depend on those of other asks, so
   that an ask whose proposal is known need not be computed again. */
static void begin_ask(struct evolution *evolution) {
    random_seed(&evolution->random,
                evolution->seed + 0x9E3779B97F4A7C15 * (evolution->history.count + 1),
                evolution->stream);
}

static struct history_entry *add_to_history(struct evolution *evolution,
                                            const struct genome *genome,
                                            enum operator_kind made_by) {
    evolution->counters[made_by].tries++;
    return history_add(&evolution->history, genome, made_by);
}

static void record_proposal(struct evolution *evolution, const struct proposal *proposal) {
    evolution->has_next = false;
    struct history_entry *entry = add_to_history(evolution, &proposal->genome, proposal->made_by);
    entry->hint = (uint8_t)proposal->hint;
    digest_update(evolution, entry, 1);
    if (proposal->made_by == OPERATOR_HINT)
        evolution->hint_counters[proposal->hint].tries++;
}

/* Finds the proposal that follows the initial genomes, unless it is found already. */
static bool find_next(struct evolution *evolution) {
    struct proposal *next = &evolution->next;
    if (evolution->has_next)
        return evolution->found_next;
    begin_ask(evolution);
    evolution->expected_gain = NAN;
    evolution->has_next = true;
    evolution->found_next =
        !evolution->proposes_nothing &&
        (evolution->strategy->propose(evolution, next) || strategy_explore(evolution, next) ||
         strategy_enumerate(evolution, next));
    return evolution->found_next;
}

int evolution_ask(struct evolution *evolution, struct proposal *proposal) {
    struct proposal found;
    if (!next_initial(evolution, &found)) {
        if (!find_next(evolution))
            return 0;
        found = evolution->next;
    }
    record_proposal(evolution, &found);
    *proposal = found;
    return 1;
}

static bool has_initial(const struct evolution *evolution) {
    for (int i = evolution->start_at; i < evolution->start_count; i++)
        if (strategy_is_new(evolution, &evolution->starts[i]))
            return true;
    return false;
}

double evolution_expected_gain(struct evolution *evolution) {
    if (has_initial(evolution))
        return INFINITY;
    return find_next(evolution) ? evolution->expected_gain : 0;
}

int evolution_replay(struct evolution *evolution, const struct proposal *proposal) {
    if (history_find(&evolution->history, &proposal->genome) != NULL ||
        !space_check(evolution->space, &proposal->genome, NULL))
        return -1;
    for (int i = evolution->start_at; i < evolution->start_count; i++)
        if (genome_equal(&evolution->starts[i].genome, &proposal->genome))
            evolution->start_at = i + 1;
    record_proposal(evolution, proposal);
    return 0;
}

/* ---- Tell ---- */

static struct member make_member(int64_t trial, const struct genome *genome, double score_us) {
    if (!(score_us > 0 && isfinite(score_us)))
        BUG("trial %lld is ok with a score of %g us", (long long)trial, score_us);
    return (struct member){trial, *genome, score_us};
}

static void append_observed(struct evolution *evolution, struct history_entry *entry) {
    evolution->observed =
        xgrow(evolution->observed, evolution->observed_count, sizeof *evolution->observed);
    evolution->observed[evolution->observed_count++] =
        (uint32_t)(entry - evolution->history.entries);
    entry->observed_at = (uint32_t)evolution->observed_count;
}

static void count_result(struct operator_counters *counters, int rank) {
    counters->successes++;
    counters->entered += rank >= 0;
    counters->gains += rank == 0;
}

/* The result of a trial. */
struct observed_result {
    enum verdict verdict;
    double score_us, score_error;
};

static struct observed_result observed_result_of(const struct evolution *evolution,
                                                 const struct outcome *outcome) {
    return (struct observed_result){outcome->verdict, outcome->score_us,
                                    minimised_score_error(outcome, evolution->minimise)};
}

static void add_member(struct evolution *evolution, struct history_entry *entry,
                       const struct observed_result *result, const struct measures *measures) {
    const struct member member = make_member(entry->trial, &entry->genome, result->score_us);
    int rank = population_offer(&evolution->population, &member);
    entry->ok = true;
    entry->score_us = result->score_us;
    entry->score_error = result->score_error;
    entry->hints = space_hints(evolution->space, &entry->genome, measures);
    count_result(&evolution->counters[entry->made_by], rank);
    if (entry->made_by == OPERATOR_HINT)
        count_result(&evolution->hint_counters[entry->hint], rank);
}

static void tell_result(struct evolution *evolution, int64_t trial, const struct genome *genome,
                        const struct observed_result *result, const struct measures *measures) {
    struct history_entry *entry = history_find(&evolution->history, genome);
    evolution->has_next = false;
    if (entry != NULL)
        digest_update(evolution, entry, -1);
    else
        entry = add_to_history(evolution, genome, OPERATOR_SEED);
    if (entry->observed_at)
        BUG("the genome of trial %lld was told twice", (long long)trial);
    append_observed(evolution, entry);
    entry->trial = trial;
    entry->lost = result->verdict == VERDICT_LOST;
    if (result->verdict == VERDICT_OK)
        add_member(evolution, entry, result, measures);
    digest_update(evolution, entry, 1);
}

void evolution_tell(struct evolution *evolution, int64_t trial, const struct genome *genome,
                    enum verdict verdict, double score_us) {
    tell_result(evolution, trial, genome, &(struct observed_result){verdict, score_us, 0},
                &(struct measures){0});
}

struct measures evolution_measures(const struct resources *resources) {
    struct measures measures = {0};
    measures_put(&measures, MEASURE_REGISTERS, resources->registers);
    measures_put(&measures, MEASURE_SMEM_BYTES, resources->smem_bytes);
    measures_put(&measures, MEASURE_LOCAL_BYTES, resources->local_bytes);
    measures_put(&measures, MEASURE_SPILL_BYTES, resources->spill_bytes);
    measures_put(&measures, MEASURE_CTAS_PER_SM, resources->ctas_per_sm);
    measures_put(&measures, MEASURE_OCCUPANCY, llround(100 * resources->occupancy));
    return measures;
}

void evolution_tell_outcome(struct evolution *evolution, int64_t trial, const struct genome *genome,
                            const struct outcome *outcome) {
    const struct measures measures = evolution_measures(&outcome->resources);
    const struct observed_result result = observed_result_of(evolution, outcome);
    tell_result(evolution, trial, genome, &result, &measures);
}

void evolution_tell_profile(struct evolution *evolution, const struct genome *genome,
                            const struct measures *measures) {
    evolution->has_next = false;
    const uint32_t profiled = evolution->space->hints.profiled;
    struct history_entry *entry = history_find(&evolution->history, genome);
    if (entry != NULL && entry->ok)
        entry->hints = (entry->hints & ~profiled) |
                       (space_hints(evolution->space, genome, measures) & profiled);
}

void evolution_tell_again(struct evolution *evolution, int64_t trial, const struct genome *genome,
                          const struct outcome *outcome) {
    struct history_entry *entry = history_find(&evolution->history, genome);
    if (entry == NULL || !entry->observed_at)
        BUG("trial %lld is told again, but never was", (long long)trial);
    const struct observed_result result = observed_result_of(evolution, outcome);
    evolution->rescored_count++;
    evolution->has_next = false;
    digest_update(evolution, entry, -1);
    entry->ok = result.verdict == VERDICT_OK;
    entry->lost = result.verdict == VERDICT_LOST;
    entry->score_us = entry->ok ? result.score_us : 0;
    entry->score_error = entry->ok ? result.score_error : 0;
    digest_update(evolution, entry, 1);
    population_remove(&evolution->population, genome);
    if (entry->ok) {
        const struct member again = make_member(trial, genome, result.score_us);
        population_offer(&evolution->population, &again);
    }
}

/* ---- Other tasks ---- */

void evolution_learn(struct evolution *evolution, const struct source *sources, int source_count) {
    if (evolution->strategy->free_state != NULL)
        evolution->strategy->free_state(evolution->state);
    evolution->state = NULL;
    evolution->has_next = false;
    source_set_free(evolution->sources);
    evolution->sources = source_set_new(evolution->space, sources, source_count);
}

void evolution_fill_source(const struct evolution *evolution, const struct space *space,
                           struct source *source) {
    for (size_t i = 0; i < evolution->observed_count; i++) {
        const struct history_entry *entry = evolution_observed(evolution, i);
        struct genome genome = entry->genome;
        genome_canonicalise(&genome, space);
        if (!entry->lost)
            source_add_genome(source, space, &genome, entry->ok ? entry->score_us : INFINITY);
    }
    source_seal(source);
}

/* ---- Accessors ---- */

enum genome_state evolution_genome_state(const struct evolution *evolution,
                                         const struct genome *genome) {
    const struct history_entry *entry = history_find(&evolution->history, genome);
    return entry == NULL ? GENOME_NEW : entry->observed_at ? GENOME_OBSERVED : GENOME_PROPOSED;
}

const struct population *evolution_population(const struct evolution *evolution) {
    return &evolution->population;
}

const struct member *evolution_champion(const struct evolution *evolution) {
    return evolution->population.count > 0 ? &evolution->population.members[0] : NULL;
}

uint64_t evolution_seen_count(const struct evolution *evolution) {
    return evolution->history.count;
}

static void hash_population(struct hasher *hasher, const struct population *population) {
    hasher_add(hasher, &population->capacity, sizeof population->capacity);
    for (int i = 0; i < population->count; i++) {
        const struct member *member = &population->members[i];
        hasher_add(hasher, &member->trial, sizeof member->trial);
        hasher_add(hasher, &member->genome, sizeof member->genome);
        hasher_add(hasher, &member->score_us, sizeof member->score_us);
    }
}

struct hash evolution_digest(const struct evolution *evolution) {
    struct hasher *hasher = hasher_new();
    hasher_add_text(hasher, evolution->strategy->name);
    hasher_add(hasher, &evolution->seed, sizeof evolution->seed);
    hasher_add(hasher, &evolution->stream, sizeof evolution->stream);
    hasher_add(hasher, &evolution->exploration, sizeof evolution->exploration);
    hash_population(hasher, &evolution->population);
    /* Not of those that evolution_learn gave: they follow from the results of other searches. */
    if (!hash_equal(evolution->sources_hash, (struct hash){0}))
        hasher_add(hasher, &evolution->sources_hash, sizeof evolution->sources_hash);
    hasher_add(hasher, &evolution->history.count, sizeof evolution->history.count);
    hasher_add(hasher, &evolution->history_hash, sizeof evolution->history_hash);
    hasher_add(hasher, evolution->counters, sizeof evolution->counters);
    hasher_add(hasher, evolution->hint_counters, sizeof evolution->hint_counters);
    for (int i = evolution->start_at; i < evolution->start_count; i++)
        hasher_add(hasher, &evolution->starts[i].genome, sizeof evolution->starts[i].genome);
    /* The position of the enumeration follows from the history. */
    return hasher_finish(hasher);
}

const struct history_entry *evolution_observed(const struct evolution *evolution, size_t at) {
    return &evolution->history.entries[evolution->observed[at]];
}
