#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "space/random_space.h"
#include "strategy/strategy.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { OPEN_MAX = 16, STRATEGIES = 7 };

/* Ten genes, 4.7 million raw genomes, a fifth of them valid. */
static struct space *landscape(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE];
    int64_t values[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, i < 3 ? 8 : 4, 0, NULL, &error);
    }
    space_add_labels(space, "L0", "", labels, 3, 0, NULL, &error);
    space_add_labels(space, "L1", "", labels, 3, 0, "G3 > 1", &error);
    space_add_integers(space, "W0", "", values, 4, 0, NULL, &error);
    space_add_integers(space, "W1", "", values, 4, 0, NULL, &error);
    space_add_constraint(space, "G0 * G1 <= 1024", "memory", &error);
    space_add_constraint(space, "G2 * G4 <= 128", "registers", &error);
    space_add_constraint(space, "W0 * W1 >= 4", "parallelism", &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

/* The optimum is one point; genes have different weights, and some interact in pairs. */
static double score_of(const struct genome *genome) {
    static const int best[] = {5, 4, 3, 2, 1, 3, 1, 2, 2, 1};
    double score = 10;
    for (int i = 0; i < 10; i++) {
        bool label = i == 6 || i == 7;
        int away = abs(genome->value[i] - best[i]);
        score *= 1 + (label ? 0.2 * (away > 0) : 0.05 * (1 + i % 3) * away);
    }
    score *= 1 + 0.1 * abs(genome->value[0] - best[0] - genome->value[2] + best[2]);
    return score;
}

/* A fifth of the candidates fails, as a function of the genome alone. */
static enum verdict verdict_of(const struct genome *genome) {
    uint64_t bits = genome_hash(genome).high;
    return bits % 5 ? VERDICT_OK : (enum verdict)(1 + bits / 5 % (VERDICT_COUNT - 1));
}

static struct outcome *outcome_of(enum verdict verdict, double score_us) {
    static struct outcome outcome;
    outcome_release(&outcome);
    outcome.verdict = verdict;
    outcome.score_us = score_us;
    return &outcome;
}

/* Timed with few or many samples of small or large scatter, as a function of the genome. */
static struct outcome *timed_outcome(const struct genome *genome) {
    struct outcome *outcome = outcome_of(verdict_of(genome), score_of(genome));
    uint64_t bits = genome_hash(genome).low;
    double scatter = 0.01 * (double)(bits % 8);
    outcome_set_cases(outcome, 1);
    outcome->cases[0].warm = (struct latency){.sample_count = bits / 8 % 2 ? 5 : 50,
                                              .p10_us = outcome->score_us * (1 - scatter),
                                              .p50_us = outcome->score_us,
                                              .p90_us = outcome->score_us * (1 + scatter)};
    return outcome;
}

static struct evolution *evolution_of(const struct space *space, const char *strategy,
                                      uint64_t seed) {
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    snprintf(settings.strategy, sizeof settings.strategy, "%s", strategy);
    struct evolution *evolution = evolution_new(space, &settings, seed, 0, &error);
    if (evolution == NULL)
        fail_msg("%s", error.text);
    return evolution;
}

/* Each strategy in turn. */
static const char *strategy(int i) {
    return strategies[i % STRATEGIES].name;
}

/* The calls of one run: an ask has trial < 0, a tell the trial of its proposal. */
struct event {
    int64_t trial;
};

struct open_trial {
    struct genome genome;
    int64_t trial;
};

/* Keeps up to OPEN_MAX asks open and answers them in an order that `interleaving` decides.
   Writes the order of calls to `events` and returns the number of calls. */
static int run(struct evolution *evolution, struct random *interleaving, int trials,
               struct event *events) {
    struct open_trial open[OPEN_MAX];
    int open_count = 0, asked = 0, calls = 0;
    bool more = true;
    while (open_count > 0 || (more && asked < trials)) {
        bool can_ask = more && asked < trials && open_count < OPEN_MAX;
        if (can_ask && (open_count == 0 || below(interleaving, 2))) {
            struct proposal proposal;
            more = evolution_ask(evolution, &proposal);
            if (!more)
                continue;
            open[open_count++] = (struct open_trial){proposal.genome, asked++};
            events[calls++].trial = -1;
        } else {
            int at = below(interleaving, open_count);
            const struct genome *genome = &open[at].genome;
            evolution_tell_outcome(evolution, open[at].trial, genome, timed_outcome(genome));
            events[calls++].trial = open[at].trial;
            open[at] = open[--open_count];
        }
    }
    return calls;
}

static void same_calls_same_state(void **state) {
    (void)state;
    enum { TRIALS = 400 };
    struct space *space = landscape();
    struct random interleaving;
    static struct event events[2 * TRIALS];
    static struct genome genomes[TRIALS];
    random_seed(&interleaving, 41, 0);
    for (int i = 0; i < STRATEGIES; i++) {
        struct evolution *evolution = evolution_of(space, strategy(i), (uint64_t)i);
        int calls = run(evolution, &interleaving, TRIALS, events);
        assert_int_equal(calls, 2 * TRIALS);

        /* Another process repeats the calls, as a resumed run does. */
        struct evolution *again = evolution_of(space, strategy(i), (uint64_t)i);
        struct evolution *resumed = evolution_of(space, strategy(i), (uint64_t)i);
        int asked = 0;
        for (int j = 0; j < calls; j++) {
            struct proposal proposal;
            int64_t trial = events[j].trial;
            if (j == calls - 1) /* one call less gives another state */
                assert_false(hash_equal(evolution_digest(evolution), evolution_digest(again)));
            if (trial < 0) {
                assert_true(evolution_ask(again, &proposal));
                assert_int_equal(evolution_replay(resumed, &proposal), 0);
                assert_int_equal(evolution_replay(resumed, &proposal), -1);
                genomes[asked++] = proposal.genome;
            } else {
                const struct outcome *outcome = timed_outcome(&genomes[trial]);
                evolution_tell_outcome(resumed, trial, &genomes[trial], outcome);
                evolution_tell_outcome(again, trial, &genomes[trial], outcome);
            }
        }
        assert_true(hash_equal(evolution_digest(evolution), evolution_digest(again)));
        assert_true(hash_equal(evolution_digest(evolution), evolution_digest(resumed)));
        for (int j = 0; j < 8;
             j++) { /* an evolution that only replayed the asks continues identically */
            struct proposal one, other;
            assert_int_equal(evolution_ask(evolution, &one), 1);
            assert_int_equal(evolution_ask(resumed, &other), 1);
            assert_true(genome_equal(&one.genome, &other.genome));
            assert_int_equal(one.made_by, other.made_by);
            assert_int_equal(evolution_ask(again, &other), 1);
        }
        evolution_free(resumed);
        assert_int_equal(evolution_seen_count(again), TRIALS + 8);
        assert_int_equal(again->observed_count, TRIALS);
        evolution_free(again);
        evolution_free(evolution);
    }
    space_free(space);
}

static void other_seed_or_order_is_another_state(void **state) {
    (void)state;
    enum { TRIALS = 100 };
    struct space *space = landscape();
    struct event events[2 * TRIALS];
    struct hash digests[3];
    for (int i = 0; i < 3; i++) {
        struct random interleaving;
        random_seed(&interleaving, i == 2 ? 1 : 0, 0);
        struct evolution *evolution = evolution_of(space, "evolve", i == 1 ? 1 : 0);
        run(evolution, &interleaving, TRIALS, events);
        digests[i] = evolution_digest(evolution);
        evolution_free(evolution);
    }
    assert_false(hash_equal(digests[0], digests[1]));
    assert_false(hash_equal(digests[0], digests[2]));
    space_free(space);
}

/* A search that is to propose nothing can be made of a space without a valid genome, too: its asks
   end at once, whatever it learns. */
static void propose_nothing(const struct space *space, const char *name) {
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct proposal proposal;
    struct genome seed = genome_default(space);
    settings.proposes_nothing = true;
    settings.seeds = &seed;
    settings.seed_count = 1;
    snprintf(settings.strategy, sizeof settings.strategy, "%s", name);
    struct evolution *evolution = evolution_new(space, &settings, 1, 0, &error);
    assert_non_null(evolution);
    const struct hash before = evolution_digest(evolution);
    assert_true(evolution_expected_gain(evolution) == 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(evolution_ask(evolution, &proposal), 0);
        evolution_learn(evolution, NULL, 0);
    }
    assert_int_equal(evolution_seen_count(evolution), 0);
    assert_null(evolution_champion(evolution));
    assert_true(hash_equal(before, evolution_digest(evolution)));
    evolution_free(evolution);
}

/* Every valid genome of a small space is proposed once, then the asks end. */
static void small_spaces_are_exhausted(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 42, 0);
    for (int i = 0; i < 400; i++) {
        struct space *space = random_space(&random);
        uint64_t count, asked = 0;
        struct proposal proposal;
        space_count(space, 0, &count);
        propose_nothing(space, strategy(i));
        if (count == 0) {
            struct evolution_settings settings = evolution_defaults();
            struct error error = {0};
            assert_null(evolution_new(space, &settings, 1, 0, &error));
            assert_non_null(strstr(error.text, "no genome is valid"));
        } else {
            struct evolution *evolution = evolution_of(space, strategy(i), 7);
            while (evolution_ask(evolution, &proposal)) {
                assert_true(brute_force_valid(space, &proposal.genome));
                assert_true(history_find(&evolution->history, &proposal.genome) != NULL);
                /* ask never repeats a genome, so this counts distinct ones */
                assert_int_equal(evolution_seen_count(evolution), ++asked);
                if (below(&random, 3))
                    evolution_tell(evolution, (int64_t)asked, &proposal.genome,
                                   verdict_of(&proposal.genome), score_of(&proposal.genome));
            }
            assert_int_equal(asked, count);
            /* Asks without an answer are not stored, so a resumed run does not repeat them. */
            struct hash before = evolution_digest(evolution);
            assert_int_equal(evolution_ask(evolution, &proposal), 0);
            assert_true(hash_equal(before, evolution_digest(evolution)));
            evolution_free(evolution);
        }
        space_free(space);
    }
}

static void starts_with_the_default_and_the_seeds(void **state) {
    (void)state;
    struct space *space = landscape();
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct genome seeds[3], default_genome = genome_default(space);
    assert_int_equal(genome_parse(&seeds[0], space, "G0=8,W0=4", &error), 0);
    assert_int_equal(genome_parse(&seeds[1], space, "G0=128,G1=128", &error), 0); /* invalid */
    assert_int_equal(genome_parse(&seeds[2], space, "W0=8", &error), 0);
    strcpy(settings.strategy, "evolve");
    settings.seeds = seeds;
    settings.seed_count = 3;
    struct evolution *evolution = evolution_new(space, &settings, 1, 0, &error);
    struct proposal proposal;
    static const enum operator_kind made_by[] = {OPERATOR_SEED, OPERATOR_SEED};
    /* This default is not valid itself: W0 * W1 is 1. */
    assert_false(space_check(space, &default_genome, NULL));
    for (int i = 0; i < settings.initial; i++) {
        assert_true(evolution_ask(evolution, &proposal));
        assert_int_equal(proposal.made_by, i < 2 ? made_by[i] : OPERATOR_START);
        if (i < 2)
            assert_true(genome_equal(&proposal.genome, &seeds[2 * i]));
        assert_int_equal(proposal.parents[0], TRIAL_NONE);
    }
    assert_true(evolution_ask(evolution, &proposal));
    assert_int_equal(proposal.made_by, OPERATOR_EXPLORE); /* there are no parents yet */
    evolution_free(evolution);
    space_free(space);

    space = space_new();
    space_add_integers(space, "X", "", (int64_t[]){1, 2, 3, 4}, 4, 2, NULL, &error);
    space_add_labels(space, "L", "", (const char *const[]){"a", "b", "c"}, 3, 1, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    default_genome = genome_default(space);
    for (int i = 0; i < STRATEGIES; i++) {
        evolution = evolution_of(space, strategy(i), 1);
        assert_true(evolution_ask(evolution, &proposal));
        assert_int_equal(proposal.made_by, OPERATOR_DEFAULT);
        assert_true(genome_equal(&proposal.genome, &default_genome));
        evolution_free(evolution);
    }
    space_free(space);
}

/* Each initial genome lies farther from the previous ones than a uniform draw does, and the ends
   of the domains come before interior values. */
static void the_start_is_spread(void **state) {
    (void)state;
    enum { STARTS = 16, GENES = 8, ROUNDS = 10 };
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE];
    for (int i = 0; i < GENES; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", (int64_t[]){1, 2, 3, 4}, 4, 0, NULL, &error);
    }
    assert_int_equal(space_seal(space, &error), 0);
    int ends = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct evolution *evolution = evolution_of(space, "full", (uint64_t)round);
        struct genome genomes[STARTS];
        for (int i = 0; i < STARTS; i++) {
            struct proposal proposal;
            int least = INT_MAX;
            assert_true(evolution_ask(evolution, &proposal));
            genomes[i] = proposal.genome;
            for (int j = 0; j < i; j++) {
                int apart = 0;
                for (int g = 0; g < GENES; g++)
                    apart += abs(genomes[i].value[g] - genomes[j].value[g]);
                least = apart < least ? apart : least;
            }
            assert_true(least >= 6); /* 4 or 5 for as many uniform draws */
            for (int g = 0; g < GENES && i > 0; g++)
                ends += genomes[i].value[g] % 3 == 0;
        }
        evolution_free(evolution);
    }
    assert_true(ends > ROUNDS * (STARTS - 1) * GENES * 3 / 4);
    space_free(space);
}

static void counters_add_up(void **state) {
    (void)state;
    enum { TRIALS = 1000 };
    struct space *space = landscape();
    struct random interleaving;
    static struct event events[2 * TRIALS];
    random_seed(&interleaving, 43, 0);
    struct evolution *evolution = evolution_of(space, "evolve", 5);
    run(evolution, &interleaving, TRIALS, events);
    struct operator_counters sum = {0};
    const struct operator_counters *counters = evolution->counters;
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        assert_true(counters[i].tries >= counters[i].successes);
        assert_true(counters[i].successes >= counters[i].entered);
        assert_true(counters[i].entered >= counters[i].gains);
        sum.tries += counters[i].tries;
        sum.successes += counters[i].successes;
        sum.gains += counters[i].gains;
        if (operators[i].weight > 0)
            assert_true(counters[i].tries > 50 && counters[i].entered > 0);
    }
    assert_int_equal(sum.tries, TRIALS);
    assert_in_range(sum.successes, TRIALS * 7 / 10, TRIALS * 9 / 10);
    assert_true(sum.gains > 5);
    assert_in_range(counters[OPERATOR_EXPLORE].tries, 60, 140);

    const struct population *population = evolution_population(evolution);
    assert_int_equal(population->count, 24);
    assert_ptr_equal(evolution_champion(evolution), &population->members[0]);
    for (int i = 1; i < population->count; i++)
        assert_true(population->members[i - 1].score_us <= population->members[i].score_us);
    evolution_free(evolution);
    space_free(space);
}

static void genomes_observed_elsewhere_are_not_asked(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct genome genome = {{1}};
    struct proposal proposal;
    space_add_integers(space, "X", "", (int64_t[]){1, 2, 3}, 3, 1, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    struct evolution *evolution = evolution_of(space, "evolve", 1);
    assert_null(evolution_champion(evolution));
    evolution_tell(evolution, 100, &genome, VERDICT_OK, 3.5);
    assert_int_equal(evolution_champion(evolution)->trial, 100);
    for (int i = 0; i < 2; i++) {
        assert_true(evolution_ask(evolution, &proposal));
        assert_false(genome_equal(&proposal.genome, &genome));
    }
    assert_false(evolution_ask(evolution, &proposal));
    assert_int_equal(evolution->counters[OPERATOR_SEED].gains, 1);
    evolution_free(evolution);
    space_free(space);
}

/* The number of trials until a genome within 2 % of the best; `most` if none. */
static int trials_to_the_best(const struct space *space, const char *strategy, uint64_t seed,
                              int most) {
    struct evolution *evolution = evolution_of(space, strategy, seed);
    struct proposal proposal;
    int trials = 0;
    for (; trials < most && evolution_ask(evolution, &proposal); trials++) {
        evolution_tell(evolution, trials, &proposal.genome, verdict_of(&proposal.genome),
                       score_of(&proposal.genome));
        const struct member *champion = evolution_champion(evolution);
        if (champion != NULL && champion->score_us <= 10 * 1.06)
            break;
    }
    evolution_free(evolution);
    return trials;
}

/* Replaces the score of every member by a reversed score or a failure: the population keeps the
   successful ones in their new order, and the rest of the state is unchanged. */
static void observed_again_moves_to_its_new_place(void **state) {
    (void)state;
    enum { TRIALS = 300 };
    struct space *space = landscape();
    struct random interleaving;
    static struct event events[2 * TRIALS];
    random_seed(&interleaving, 47, 0);
    struct evolution *evolution = evolution_of(space, "evolve", 8);
    run(evolution, &interleaving, TRIALS, events);
    const struct population *population = evolution_population(evolution);
    struct operator_counters before[OPERATOR_COUNT];
    memcpy(before, evolution->counters, sizeof before);
    struct member members[24];
    int count = population->count, failed = 0;
    assert_int_equal(count, 24);
    memcpy(members, population->members, sizeof members);
    struct hash was = evolution_digest(evolution);
    for (int i = 0; i < 2; i++) { /* changed and restored: the digest depends on the state alone */
        struct outcome *outcome = timed_outcome(&members[3].genome);
        outcome->score_us *= i == 0 ? 2 : 1;
        evolution_tell_again(evolution, members[3].trial, &members[3].genome, outcome);
        assert_int_equal(hash_equal(was, evolution_digest(evolution)), i == 1);
    }
    assert_true(outcome_score_error(timed_outcome(&members[3].genome)) > 0);
    evolution_tell_again(evolution, members[3].trial, &members[3].genome,
                         outcome_of(VERDICT_OK, members[3].score_us)); /* exact now */
    assert_false(hash_equal(was, evolution_digest(evolution)));
    for (int i = 0; i < count; i++) {
        bool ok = i % 5 != 2;
        failed += !ok;
        evolution_tell_again(evolution, members[i].trial, &members[i].genome,
                             outcome_of(ok ? VERDICT_OK : VERDICT_WRONG, ok ? 1000.0 - i : 0));
    }
    assert_int_equal(population->count, count - failed);
    for (int i = 0, rank = population->count; i < count; i++)
        if (i % 5 != 2) {
            rank--;
            assert_int_equal(population->members[rank].trial, members[i].trial);
            assert_true(population->members[rank].score_us == 1000.0 - i);
        }
    assert_memory_equal(before, evolution->counters, sizeof before);
    assert_int_equal(evolution->observed_count, TRIALS);
    evolution_free(evolution);
    space_free(space);
}

/* How many of the trials have the first value of the last gene, if none of these comes back ok. */
static int trials_at_first_value(const struct space *space, const char *strategy,
                                 enum verdict verdict) {
    enum { TRIALS = 200 };
    struct evolution *evolution = evolution_of(space, strategy, 3);
    struct proposal proposal;
    int count = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        bool first = proposal.genome.value[space->gene_count - 1] == 0;
        count += first;
        evolution_tell(evolution, trial, &proposal.genome, first ? verdict : VERDICT_OK,
                       score_of(&proposal.genome));
    }
    evolution_free(evolution);
    return count;
}

/* A lost trial is not a failure: the model goes on asking where trials were lost. */
/* Looking at what is expected changes neither the state nor the next proposal. Only a model expects
   something, and never less than nothing. */
static void expecting_changes_nothing(void **state) {
    enum { ASKS = 60 };
    (void)state;
    for (int s = 0; s < STRATEGIES; s++) {
        struct space *space = landscape();
        struct evolution *looked = evolution_of(space, strategy(s), 3),
                         *plain = evolution_of(space, strategy(s), 3);
        const bool models = strcmp(strategy(s), "auto") == 0;
        int finite = 0;
        for (int i = 0; i < ASKS; i++) {
            struct proposal proposal, other;
            const struct hash before = evolution_digest(looked);
            const double gain = evolution_expected_gain(looked);
            assert_true(isnan(gain) ? !models : gain >= 0);
            assert_true(evolution_expected_gain(looked) == gain || isnan(gain));
            assert_true(hash_equal(before, evolution_digest(looked)));
            finite += isfinite(gain) && gain > 0;
            const int asked = evolution_ask(looked, &proposal);
            assert_int_equal(asked, evolution_ask(plain, &other));
            if (asked == 0)
                break;
            assert_true(genome_equal(&proposal.genome, &other.genome));
            if (i % 3 == 2)
                continue; /* it stays open */
            evolution_tell_outcome(looked, i, &proposal.genome, timed_outcome(&proposal.genome));
            evolution_tell_outcome(plain, i, &proposal.genome, timed_outcome(&proposal.genome));
        }
        assert_true(hash_equal(evolution_digest(plain), evolution_digest(looked)));
        assert_true(models ? finite > ASKS / 3 : finite == 0);
        evolution_free(looked);
        evolution_free(plain);
        space_free(space);
    }
}

static void lost_trials_are_no_failures(void **state) {
    (void)state;
    static const char *const learning[] = {"auto", "insight"};
    struct space *space = landscape();
    for (int i = 0; i < 2; i++) {
        int lost = trials_at_first_value(space, learning[i], VERDICT_LOST);
        int crashed = trials_at_first_value(space, learning[i], VERDICT_CRASHED);
        print_message("%s: %d at lost, %d at crashed\n", learning[i], lost, crashed);
        assert_true(lost > crashed);
    }
    struct evolution *evolution = evolution_of(space, "auto", 3);
    struct proposal proposal;
    assert_int_equal(evolution_ask(evolution, &proposal), 1);
    evolution_tell(evolution, 0, &proposal.genome, VERDICT_OK, 5);
    struct hash ok = evolution_digest(evolution);
    evolution_tell_again(evolution, 0, &proposal.genome, outcome_of(VERDICT_WRONG, 0));
    struct hash wrong = evolution_digest(evolution);
    evolution_tell_again(evolution, 0, &proposal.genome, outcome_of(VERDICT_LOST, 0));
    assert_false(hash_equal(wrong, evolution_digest(evolution)));
    evolution_tell_again(evolution, 0, &proposal.genome, outcome_of(VERDICT_OK, 5));
    assert_true(hash_equal(ok, evolution_digest(evolution)));
    evolution_free(evolution);
    space_free(space);
}

static int ascending(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

static void evolution_beats_chance(void **state) {
    (void)state;
    enum { SEEDS = 15, MOST = 12000 };
    struct space *space = landscape();
    int evolve[SEEDS], chance[SEEDS], model[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        model[i] = trials_to_the_best(space, "auto", (uint64_t)i, MOST);
        evolve[i] = trials_to_the_best(space, "evolve", (uint64_t)i, MOST);
        chance[i] = trials_to_the_best(space, "random", (uint64_t)i, MOST);
    }
    qsort(evolve, SEEDS, sizeof *evolve, ascending);
    qsort(chance, SEEDS, sizeof *chance, ascending);
    qsort(model, SEEDS, sizeof *model, ascending);
    print_message("trials to the best: auto %d to %d, median %d; evolve %d to %d, median %d; "
                  "random %d to %d, median %d\n",
                  model[0], model[SEEDS - 1], model[SEEDS / 2], evolve[0], evolve[SEEDS - 1],
                  evolve[SEEDS / 2], chance[0], chance[SEEDS - 1], chance[SEEDS / 2]);
    assert_true(3 * model[SEEDS / 2] < evolve[SEEDS / 2]);
    assert_true(model[SEEDS - 1] < evolve[SEEDS / 2]);
    assert_true(evolve[SEEDS / 2] < 1000);
    assert_true(evolve[SEEDS - 1] < 4000);
    assert_true(chance[SEEDS / 2] > 10 * evolve[SEEDS / 2]);
    space_free(space);
}

static void bad_settings_are_refused(void **state) {
    (void)state;
    struct space *space = landscape();
    static const struct {
        struct evolution_settings settings;
        const char *words;
    } rows[] = {
        {{.strategy = "evolv", .population = 24, .initial = 32},
         "unknown strategy 'evolv'; the nearest is 'evolve'"},
        {{.strategy = "evolve", .population = 1, .initial = 32}, "population is 1:"},
        {{.strategy = "evolve", .population = 24, .initial = 0}, "initial is 0:"},
        {{.strategy = "evolve", .population = 24, .initial = 32, .exploration = 1.5},
         "exploration is 1.5:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        assert_null(evolution_new(space, &rows[i].settings, 1, 0, &error));
        assert_non_null(strstr(error.text, rows[i].words));
        assert_int_equal(error.kind, ERROR_INPUT);
    }
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_calls_same_state),
        cmocka_unit_test(other_seed_or_order_is_another_state),
        cmocka_unit_test(small_spaces_are_exhausted),
        cmocka_unit_test(starts_with_the_default_and_the_seeds),
        cmocka_unit_test(the_start_is_spread),
        cmocka_unit_test(counters_add_up),
        cmocka_unit_test(genomes_observed_elsewhere_are_not_asked),
        cmocka_unit_test(observed_again_moves_to_its_new_place),
        cmocka_unit_test(expecting_changes_nothing),
        cmocka_unit_test(lost_trials_are_no_failures),
        cmocka_unit_test(evolution_beats_chance),
        cmocka_unit_test(bad_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
