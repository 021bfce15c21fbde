/* Sources: what they hold, what their models say of genomes that they have not tried, and what a
   search gains by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/statistics.h"
#include "strategy/evolution.h"
#include "strategy/output_transform.h"
#include "strategy/source_model.h"
#include "strategy/source_set.h"
#include "strategy/source_trust.h"
#include "strategy/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 150, MANY = 3 * ROWS_MAX };

static struct space *tiles(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE];
    int64_t values[] = {1, 2, 3, 4, 6, 8, 12, 16};
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, 8, 0, NULL, &error);
    }
    space_add_labels(space, "L", "", labels, 3, 0, NULL, &error);
    space_add_constraint(space, "G0 * G1 <= 96", "threads", &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static double predicted_us(const struct genome *genome) {
    static const int best[] = {5, 2, 6, 1, 3, 4};
    double logarithm = genome->value[6] == 1 ? 0 : 0.3;
    for (int i = 0; i < 6; i++)
        logarithm += 0.03 * (1 + i % 3) * abs(genome->value[i] - best[i]);
    return 5 * exp(logarithm);
}

/* Measurements differ by up to 15 % either way from the predictions, as a function of the genes. */
static double measured_us(const struct genome *genome) {
    return predicted_us(genome) *
           exp(0.15 * sin(1.7 * genome->value[0] + genome->value[3] - 2.1 * genome->value[5]));
}

/* A source of some random genomes whose latencies this function gives. */
static struct source draw_source(const struct space *space, int count, uint64_t seed,
                                 double (*us)(const struct genome *)) {
    struct source source = {.name = "drawn"};
    struct random random;
    random_seed(&random, seed, 0);
    for (int i = 0; i < count; i++) {
        struct genome genome;
        assert_true(space_sample(space, &random, &genome));
        source_add_genome(&source, space, &genome, us(&genome));
    }
    source_seal(&source);
    return source;
}

static double agreement(const struct space *space, struct source_model *model) {
    enum { ASKED = 300 };
    double values[ASKED], truths[ASKED];
    struct source asked = draw_source(space, ASKED, 77, predicted_us);
    for (int i = 0; i < ASKED; i++) {
        values[i] = source_model_value(model, &asked.rows[i].genome);
        truths[i] = asked.rows[i].us;
    }
    source_release(&asked);
    return statistics_rank_correlation(values, truths, ASKED);
}

static void squashing_keeps_the_order(void **state) {
    (void)state;
    const double sorted[] = {2, 3, 4, 5, 9, 40, 1000};
    double sum = 0, square = 0, last = -INFINITY;
    struct output_transform transform = output_transform_fit(sorted, 7);
    for (int i = 0; i < 7; i++) {
        double value = output_transform_apply(&transform, sorted[i]);
        assert_true(value > last);
        last = value;
        sum += value;
        square += value * value;
    }
    assert_true(fabs(sum) < 1e-9 && fabs(square - 7) < 1e-6);
    /* A factor among the slower half changes the value less than one among the faster half. */
    assert_true(
        output_transform_apply(&transform, 1000) - output_transform_apply(&transform, 40) <
        2 * (output_transform_apply(&transform, 4) - output_transform_apply(&transform, 2)));
    transform = output_transform_fit(sorted, 1);
    assert_true(isfinite(output_transform_apply(&transform, 2)) &&
                isfinite(output_transform_apply(&transform, 3)));
}

static void unseen_genomes_are_ordered_too(void **state) {
    (void)state;
    struct space *space = tiles();
    static const int counts[] = {1, 40, DRAWS, MANY};
    double before = -1;
    for (int i = 0; i < 4; i++) {
        struct source source = draw_source(space, counts[i], 5, predicted_us);
        struct source_model *model = source_model_new(space, &source);
        double now = counts[i] > 1 ? agreement(space, model) : 0;
        assert_true(now >= before - 0.02);
        before = now;
        source_model_free(model);
        source_release(&source);
    }
    assert_true(before > 0.97);
    space_free(space);
}

/* A gene that a source lacks changes nothing in its values; one that only the source has is
   dropped, and its rows are averaged; a row with a value of another domain is left out. */
static void spaces_may_differ(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source source = {0};
    struct genome genome = genome_default(space);
    source_add(&source, space, "G0=4,G1=2,OTHER=7", 8);
    source_add(&source, space, "G0=4,G1=2,OTHER=9", 2);
    source_add(&source, space, "G0=8,G1=2,OTHER=7", 16);
    source_add(&source, space, "G0=5,G1=2,OTHER=7", 1);
    source_add(&source, space, "OTHER=7", 1);
    source_add(&source, space, "G0=16,G1=1,OTHER=7", INFINITY);
    source_seal(&source);
    assert_int_equal(source.row_count, 4);
    assert_int_equal(source.left_out, 2);
    assert_int_equal(source.genes, 3);
    assert_true(source_is_usable(&source));
    struct source_model *model = source_model_new(space, &source);
    genome.value[0] = 3;
    genome.value[1] = 1;
    const double mean = source_model_value(model, &genome);
    genome.value[5] = 4;
    genome.value[6] = 2;
    assert_true(source_model_value(model, &genome) == mean);
    genome.value[0] = 5;
    const double slow = source_model_value(model, &genome);
    assert_true(slow > mean);
    genome.value[0] = 7;
    genome.value[1] = 0;
    assert_true(source_model_value(model, &genome) == slow); /* failed: as slow as the slowest */
    source_model_free(model);
    source_release(&source);
    space_free(space);
}

static void an_empty_source_is_none(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source sources[2] = {{.name = "other genes"}, {.name = "failed"}};
    source_add(&sources[0], space, "OTHER=7", 1);
    source_add(&sources[1], space, "G0=4,G1=2", INFINITY);
    for (int i = 0; i < 2; i++) {
        source_seal(&sources[i]);
        assert_false(source_is_usable(&sources[i]));
    }
    assert_null(source_set_new(space, sources, 2));
    assert_null(source_set_new(space, NULL, 0));
    for (int i = 0; i < 2; i++)
        source_release(&sources[i]);
    space_free(space);
}

/* ---- searches ---- */

enum { TRIALS = 60 };

static double least_us(const struct space *space) {
    struct space_cursor *cursor = space_cursor_new(space);
    struct genome genome;
    double least = INFINITY;
    while (space_cursor_next(cursor, &genome))
        least = fmin(least, measured_us(&genome));
    space_cursor_free(cursor);
    return least;
}

static struct evolution *search_with(const struct space *space, const struct source *sources,
                                     int count, uint64_t seed) {
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    settings.sources = sources;
    settings.source_count = count;
    settings.no_default = true;
    struct evolution *evolution = evolution_new(space, &settings, seed, 0, &error);
    assert_non_null(evolution);
    return evolution;
}

static void ask_and_tell(struct evolution *evolution, int trial, struct genome *asked) {
    struct proposal proposal;
    assert_int_equal(evolution_ask(evolution, &proposal), 1);
    *asked = proposal.genome;
    evolution_tell(evolution, trial, asked, VERDICT_OK, measured_us(asked));
}

/* Trials until a score within 5 % of `good_us`. */
static int trials_to(const struct space *space, const struct source *sources, int count,
                     uint64_t seed, double good_us) {
    struct evolution *evolution = search_with(space, sources, count, seed);
    struct genome asked;
    int trial = 0;
    double best_us = INFINITY;
    while (trial < TRIALS && best_us > 1.05 * good_us) {
        ask_and_tell(evolution, trial++, &asked);
        best_us = fmin(best_us, measured_us(&asked));
    }
    evolution_free(evolution);
    return trial;
}

static double against_us(const struct genome *genome) {
    return 100 / measured_us(genome);
}

/* What nothing of the search's depends on: a hash of the genome. */
static double unrelated_us(const struct genome *genome) {
    return 1 + (double)(genome_hash(genome).low % 1000) / 100;
}

static void related_sources_save_trials_and_others_cost_few(void **state) {
    (void)state;
    enum { SEEDS = 6, KINDS = 5 };
    struct space *space = tiles();
    const double good_us = least_us(space);
    int trials[KINDS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct source sources[] = {draw_source(space, DRAWS, seed, measured_us),
                                   draw_source(space, DRAWS, seed, predicted_us),
                                   draw_source(space, DRAWS, seed, against_us),
                                   draw_source(space, DRAWS, seed, unrelated_us)};
        trials[0] += trials_to(space, NULL, 0, seed, good_us);
        for (int kind = 1; kind < KINDS; kind++) {
            trials[kind] += trials_to(space, &sources[kind - 1], 1, seed, good_us);
            source_release(&sources[kind - 1]);
        }
    }
    print_message("trials to within 5 %%, all seeds: %d without a source; equal %d, related %d, "
                  "negated %d, unrelated %d\n",
                  trials[0], trials[1], trials[2], trials[3], trials[4]);
    assert_true(2 * trials[1] < trials[0]);
    assert_true(2 * trials[2] < trials[0]);
    assert_true(trials[3] < trials[0] + 8 * SEEDS);
    assert_true(trials[4] < trials[0] + 8 * SEEDS);
    space_free(space);
}

/* ---- trust ---- */

enum { RESULTS = 40, JUDGED_FROM = 12 };

static double trust_after(struct source_set *sources, const struct evolution *evolution) {
    struct surrogate *surrogate = surrogate_new(evolution->space);
    struct training_row rows[RESULTS];
    const int count = training_set_collect(evolution, evolution->observed_count, rows);
    const double trust = source_trust(sources, surrogate, evolution, rows, count);
    surrogate_free(surrogate);
    assert_true(trust >= 0 && trust <= 1);
    return trust;
}

/* The trust in a source after each number of results of random genomes. */
static void judge(const struct space *space, struct source_set *sources,
                  double trust[RESULTS + 1]) {
    struct evolution *evolution = search_with(space, NULL, 0, 1);
    struct source trials = draw_source(space, RESULTS, 99, measured_us);
    struct random random;
    random_seed(&random, 5, 0);
    for (int i = RESULTS; i-- > 1;) { /* in any order, because a source is sorted */
        const int other = (int)random_below(&random, (uint64_t)i + 1);
        const struct source_row row = trials.rows[i];
        trials.rows[i] = trials.rows[other];
        trials.rows[other] = row;
    }
    trust[0] = trust_after(sources, evolution);
    for (int n = 1; n <= RESULTS; n++) {
        evolution_tell(evolution, n, &trials.rows[n - 1].genome, VERDICT_OK, trials.rows[n - 1].us);
        trust[n] = trust_after(sources, evolution);
    }
    source_release(&trials);
    evolution_free(evolution);
}

/* The trust after the results of a search's own questions, which lie where its source is fast. */
static double trust_of_search(const struct space *space, const struct source *source,
                              struct source_set *sources) {
    struct evolution *evolution = search_with(space, source, 1, 7);
    struct genome asked;
    for (int n = 0; n < RESULTS; n++)
        ask_and_tell(evolution, n, &asked);
    const double trust = trust_after(sources, evolution);
    evolution_free(evolution);
    return trust;
}

/* Every source is believed alike before the results, and later as far as they agree with it. */
static void trust_follows_the_results(void **state) {
    (void)state;
    enum { SOURCES = 4 };
    struct space *space = tiles();
    struct source sources[SOURCES] = {
        draw_source(space, DRAWS, 3, measured_us), draw_source(space, DRAWS, 3, predicted_us),
        draw_source(space, DRAWS, 3, unrelated_us), draw_source(space, DRAWS, 3, against_us)};
    double trust[SOURCES][RESULTS + 1];
    for (int s = 0; s < SOURCES; s++) {
        const bool agrees = s < 2;
        struct source_set *set = source_set_new(space, &sources[s], 1);
        judge(space, set, trust[s]);
        assert_true(trust[s][0] == trust[0][0] && trust[s][1] == trust[0][0]);
        for (int n = JUDGED_FROM; n <= RESULTS; n++)
            assert_true(!agrees || trust[s][n] > 0.9);
        assert_true(agrees || trust[s][RESULTS] < 0.5);
        const double last = trust_of_search(space, &sources[s], set);
        print_message("source %d: trust %.3f after %d results, %.3f after the search's own\n", s,
                      trust[s][RESULTS], RESULTS, last);
        assert_true(agrees ? last > 0.9 : last < 0.1);
        source_set_free(set);
        source_release(&sources[s]);
    }
    space_free(space);
}

/* With any number of open asks, the first proposals are fast for the source and distinct. */
static void what_is_asked_blindly_is_predicted_to_be_fast(void **state) {
    (void)state;
    enum { OPEN = 24 };
    struct space *space = tiles();
    struct source source = draw_source(space, DRAWS, 9, predicted_us);
    struct proposal proposal;
    double asked_us[OPEN];
    struct evolution *evolution = search_with(space, &source, 1, 3);
    for (int i = 0; i < OPEN; i++) {
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        asked_us[i] = predicted_us(&proposal.genome);
    }
    assert_true(statistics_median(asked_us, OPEN) < source.rows[DRAWS / 2].us - 1);
    evolution_free(evolution);
    source_release(&source);
    space_free(space);
}

/* The order of sources does not matter, nor the order of the rows of one; a resumed search asks the
   same genomes. */
static void questions_follow_from_the_sources_alone(void **state) {
    (void)state;
    enum { QUESTIONS = 30, CUT = 13 };
    struct space *space = tiles();
    struct source sources[] = {draw_source(space, DRAWS, 1, predicted_us),
                               draw_source(space, DRAWS, 2, against_us),
                               draw_source(space, 40, 3, measured_us)};
    struct source shuffled[] = {{.name = "shuffled"}, sources[0], sources[1]};
    struct genome asked[QUESTIONS], again;
    for (int i = sources[2].row_count - 1; i >= 0; i--)
        source_add_genome(&shuffled[0], space, &sources[2].rows[i].genome, sources[2].rows[i].us);
    source_seal(&shuffled[0]);
    for (int round = 0; round < 3; round++) {
        struct evolution *evolution = search_with(space, round == 1 ? shuffled : sources, 3, 4);
        int first = round == 2 ? CUT : 0;
        for (int i = 0; i < first; i++)
            evolution_tell(evolution, i, &asked[i], VERDICT_OK, measured_us(&asked[i]));
        for (int i = first; i < QUESTIONS; i++) {
            ask_and_tell(evolution, i, round == 0 ? &asked[i] : &again);
            assert_true(round == 0 || genome_equal(&asked[i], &again));
        }
        evolution_free(evolution);
    }
    source_release(&shuffled[0]);
    for (int s = 0; s < 3; s++)
        source_release(&sources[s]);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squashing_keeps_the_order),
        cmocka_unit_test(unseen_genomes_are_ordered_too),
        cmocka_unit_test(spaces_may_differ),
        cmocka_unit_test(an_empty_source_is_none),
        cmocka_unit_test(related_sources_save_trials_and_others_cost_few),
        cmocka_unit_test(trust_follows_the_results),
        cmocka_unit_test(what_is_asked_blindly_is_predicted_to_be_fast),
        cmocka_unit_test(questions_follow_from_the_sources_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
