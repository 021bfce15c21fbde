/* task_model: what it suggests at a task that no source has measured, and what it gives as reasons.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "strategy/task_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 6, ROWS = 70 };

static struct space *tiles(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    static const int64_t powers[] = {1, 2, 4, 8, 16, 32, 64, 128}, few[] = {1, 2, 3, 4};
    struct space *space = space_new();
    struct error error = {0};
    space_add_integers(space, "M", "", powers, 8, 0, NULL, &error);
    space_add_integers(space, "N", "", powers, 8, 0, NULL, &error);
    space_add_integers(space, "IDLE", "", few, 4, 0, NULL, &error);
    space_add_labels(space, "SWIZZLE", "", labels, 3, 0, NULL, &error);
    space_add_constraint(space, "M * N <= 4096", "registers", &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

/* At the task `size` the best M is its square root; N = 16 and xor are best everywhere, and IDLE
   changes nothing. */
static double latency_us(const struct genome *genome, double size) {
    const double far = genome->value[0] - log2(size) / 2, wide = genome->value[1] - 4;
    return size * (1 + 0.05 * far * far) * (1 + 0.02 * wide * wide) *
           (genome->value[3] == 1 ? 1 : 1.4);
}

static struct task task_of(double size) {
    return (struct task){.features = {log2(size)}, .scale_us = size / 3};
}

typedef double latency_function(const struct genome *genome, double size);

static const double source_sizes[SOURCES] = {4, 16, 256, 1024, 4096, 16384};

/* `rows` random genomes at each size, at each others. */
static void fill_sources_by(const struct space *space, struct source sources[SOURCES],
                            struct task tasks[SOURCES], const double sizes[SOURCES],
                            latency_function *latency, int rows, uint64_t seed) {
    struct random random;
    random_seed(&random, seed, 0);
    for (int s = 0; s < SOURCES; s++) {
        sources[s] = (struct source){0};
        tasks[s] = task_of(sizes[s]);
        for (int i = 0; i < rows; i++) {
            struct genome genome;
            assert_true(space_sample(space, &random, &genome));
            source_add_genome(&sources[s], space, &genome, latency(&genome, sizes[s]));
        }
        source_seal(&sources[s]);
    }
}

static void fill_sources(const struct space *space, struct source sources[SOURCES],
                         struct task tasks[SOURCES]) {
    fill_sources_by(space, sources, tasks, source_sizes, latency_us, ROWS, 3);
}

static void release_sources(struct source sources[SOURCES]) {
    for (int s = 0; s < SOURCES; s++)
        source_release(&sources[s]);
}

/* Between measured sizes, and a factor of four beyond. */
static void suggests_at_unmeasured_tasks(void **state) {
    (void)state;
    static const double sizes[] = {64, 2048, 65536};
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    fill_sources(space, sources, tasks);
    for (int i = 0; i < 3; i++) {
        const struct task target = task_of(sizes[i]);
        struct suggestion suggestion;
        struct task_model *model = task_model_new(space, sources, tasks, SOURCES, &target);
        assert_true(task_model_suggest(model, 1, &suggestion));
        task_model_free(model);
        const double us = latency_us(&suggestion.genome, sizes[i]);
        print_message("size %g: %g us of at least %g, predicted %g (%g to %g)\n", sizes[i], us,
                      sizes[i], suggestion.us, suggestion.low_us, suggestion.high_us);
        assert_true(space_check(space, &suggestion.genome, NULL));
        assert_true(us <
                    1.051 * sizes[i]); /* the best of the last size, whose M is no value, is 1.05 */
        assert_true(suggestion.low_us < us && us < suggestion.high_us);
    }
    release_sources(sources);
    space_free(space);
}

static void reasons_are_those_of_the_data(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    const struct task target = task_of(64);
    struct suggestion suggestion;
    double shares = 0;
    fill_sources(space, sources, tasks);
    struct task_model *model = task_model_new(space, sources, tasks, SOURCES, &target);
    assert_true(task_model_suggest(model, 1, &suggestion));
    task_model_free(model);
    for (int s = 0; s < SOURCES; s++)
        shares += suggestion.shares[s];
    assert_float_equal(shares, 1, 1e-9);
    assert_true(suggestion.shares[1] > suggestion.shares[5]); /* 16 is nearer to 64 than 16384 */
    assert_int_equal(suggestion.near_count, SUGGESTION_NEAREST);
    for (int i = 0; i < suggestion.near_count; i++) {
        const struct near_trial *trial = &suggestion.nearest[i];
        assert_true(i == 0 || trial->correlation <= suggestion.nearest[i - 1].correlation);
        for (int j = 0; j < i; j++)
            assert_true(trial->source != suggestion.nearest[j].source);
        bool found = false;
        for (int r = 0; r < sources[trial->source].row_count; r++)
            found = found || (sources[trial->source].rows[r].us == trial->us &&
                              genome_equal(&sources[trial->source].rows[r].genome, &trial->genome));
        assert_true(found);
    }
    assert_int_equal(suggestion.genes[0].gene, 3); /* a swizzle costs 1.4 */
    assert_true(suggestion.genes[0].ratio > 1.2 && suggestion.genes[0].ratio < 1.6);
    for (int i = 0; i < suggestion.gene_count; i++)
        assert_true(suggestion.genes[i].gene != 2 || suggestion.genes[i].ratio < 1.05);
    release_sources(sources);
    space_free(space);
}

/* A genome that failed at a near task is not suggested, however fast its neighbours are. */
static void failures_are_left_out(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    const struct task target = task_of(64);
    struct suggestion first, second;
    fill_sources(space, sources, tasks);
    struct task_model *model = task_model_new(space, sources, tasks, SOURCES, &target);
    assert_true(task_model_suggest(model, 1, &first));
    task_model_free(model);
    source_add_genome(&sources[2], space, &first.genome, INFINITY);
    source_seal(&sources[2]);
    model = task_model_new(space, sources, tasks, SOURCES, &target);
    assert_true(task_model_suggest(model, 1, &second));
    task_model_free(model);
    assert_false(genome_equal(&first.genome, &second.genome));
    release_sources(sources);
    space_free(space);
}

/* A factor of a genome that no gene explains: from 1 to 1.5, by a hash of its values. */
static double roughness(const struct genome *genome) {
    uint64_t hash = 1469598103934665603u;
    for (int g = 0; g < 4; g++)
        hash = (hash ^ genome->value[g]) * 1099511628211u;
    return 1 + 0.5 * (double)(hash >> 40) / (double)(1 << 24);
}

static double rough_us(const struct genome *genome, double size) {
    return latency_us(genome, size) * roughness(genome);
}

static double least_rough_us(const struct source *source, double size) {
    double least = INFINITY;
    for (int i = 0; i < source->row_count; i++)
        least = fmin(least, rough_us(&source->rows[i].genome, size));
    return least;
}

static struct suggestion suggest_at(const struct space *space, const struct source *sources,
                                    const struct task *tasks, double size) {
    const struct task target = task_of(size);
    struct suggestion suggestion;
    struct task_model *model = task_model_new(space, sources, tasks, SOURCES, &target);
    assert_true(task_model_suggest(model, 1, &suggestion));
    task_model_free(model);
    return suggestion;
}

/* What was measured counts, also where the model has no place for all of it: the genome that is
   best by a part of the results was tried, or one like it, and is slow. */
static void looks_at_what_was_measured(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    double worst = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        fill_sources_by(space, sources, tasks, source_sizes, rough_us, 400, seed);
        const struct suggestion suggestion = suggest_at(space, sources, tasks, 64);
        const double ratio = rough_us(&suggestion.genome, 64) / least_rough_us(&sources[0], 64);
        print_message("seed %d: %.3f of the least, roughness %.3f\n", (int)seed, ratio,
                      roughness(&suggestion.genome));
        worst = fmax(worst, ratio);
        release_sources(sources);
    }
    assert_true(worst < 1.1);
    space_free(space);
}

/* Every other task is slower than its features say. */
static double uneven_us(const struct genome *genome, double size) {
    const bool slow = size == 16 || size == 1024 || size == 4096;
    return (slow ? 1.4 : 1) * latency_us(genome, size);
}

static void interval_knows_how_tasks_differ(void **state) {
    (void)state;
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    fill_sources_by(space, sources, tasks, source_sizes, uneven_us, ROWS, 3);
    const struct suggestion suggestion = suggest_at(space, sources, tasks, 64);
    const double us = latency_us(&suggestion.genome, 64);
    print_message("%g to %g us predicted; %g or %g\n", suggestion.low_us, suggestion.high_us, us,
                  1.4 * us);
    assert_true(suggestion.low_us < us && 1.4 * us < suggestion.high_us);
    const struct suggestion measured = suggest_at(space, sources, tasks, 256);
    print_message("%g to %g us at a measured task\n", measured.low_us, measured.high_us);
    assert_true(measured.high_us < 1.3 * measured.low_us);
    release_sources(sources);
    space_free(space);
}

/* Most of a small task's time is fixed: twice the work takes less than twice as long. */
static double fixed_us(const struct genome *genome, double size) {
    return (100 + size) / size * latency_us(genome, size);
}

static void time_that_is_fixed_is_not_scaled(void **state) {
    (void)state;
    static const double sizes[SOURCES] = {4, 8, 16, 64, 128, 256};
    struct space *space = tiles();
    struct source sources[SOURCES];
    struct task tasks[SOURCES];
    fill_sources_by(space, sources, tasks, sizes, fixed_us, ROWS, 3);
    const struct suggestion small = suggest_at(space, sources, tasks, 2);
    const double us = fixed_us(&small.genome, 2);
    print_message("%g us, predicted %g (%g to %g)\n", us, small.us, small.low_us, small.high_us);
    assert_true(fabs(log(small.us / us)) < log(1.25));
    release_sources(sources);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_at_unmeasured_tasks),
        cmocka_unit_test(reasons_are_those_of_the_data),
        cmocka_unit_test(failures_are_left_out),
        cmocka_unit_test(looks_at_what_was_measured),
        cmocka_unit_test(interval_knows_how_tasks_differ),
        cmocka_unit_test(time_that_is_fixed_is_not_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
