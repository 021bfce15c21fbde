/* task_model on measured tasks: 2,048 genomes of one kernel at eight shapes on an H200
 * (tests/spaces/related_H200). Each shape is left out in turn, and each other one tells of a random
 * half of its genomes: how fast is what the seven suggest?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "device/recorded.h"
#include "strategy/task_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHAPES = 8, LAST_SEED = 6 };

static const int shapes[SHAPES][3] = {{1, 8, 512}, {2, 8, 256},  {2, 8, 512},  {4, 8, 512},
                                      {4, 8, 256}, {1, 8, 1024}, {4, 16, 512}, {2, 8, 1024}};
static struct recorded *spaces[SHAPES];

static int read_spaces(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        struct error error = {0};
        char path[128];
        snprintf(path, sizeof path, "tests/spaces/related_H200/B%d_H%d_S%d.json.gz", shapes[i][0],
                 shapes[i][1], shapes[i][2]);
        spaces[i] = recorded_read(path, &error);
        if (spaces[i] == NULL)
            fail_msg("%s", error.text);
    }
    return 0;
}

static int free_spaces(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        recorded_free(spaces[i]);
    return 0;
}

/* What session/task_features.h says of a shape, of D = 64 and tiles of 128 rows. */
static struct task task_of(const int shape[3]) {
    const double heads = shape[0] * shape[1], length = shape[2];
    const double operations = 4 * heads * length * length * 64;
    struct task task = {.features = {log2(133), 9, log2(heads * ceil(length / 128) / 133)},
                        .scale_us = fmax(2, operations / 600e6)};
    for (int d = 0; d < 3; d++)
        task.features[3 + d] = log2(1 + shape[d]);
    return task;
}

static void fill_source(struct source *source, const struct recorded *from,
                        const struct space *space, struct random *random) {
    *source = (struct source){0};
    for (int64_t row = 0; row < from->row_count; row++)
        if (random_below(random, 2) == 0)
            source_add_genome(source, space, &from->genomes[row], from->times_us[row]);
    source_seal(source);
}

struct answer {
    double ratio;   /* time of the suggestion over the least that was measured */
    double off;     /* the factor between the predicted time and the measured one, at least 1 */
    bool in_bounds; /* of the interval */
};

static struct answer suggest_at(int left_out, uint64_t seed) {
    struct recorded *target = spaces[left_out];
    struct source sources[SHAPES - 1];
    struct task tasks[SHAPES - 1];
    const struct task task = task_of(shapes[left_out]);
    struct suggestion suggestion;
    struct random random;
    int count = 0;
    for (int i = 0; i < SHAPES; i++)
        if (i != left_out) {
            random_seed(&random, seed, 0); /* the same half of all */
            fill_source(&sources[count], spaces[i], target->space, &random);
            tasks[count++] = task_of(shapes[i]);
        }
    struct task_model *model = task_model_new(target->space, sources, tasks, count, &task);
    assert_true(task_model_suggest(model, seed, &suggestion));
    task_model_free(model);
    for (int s = 0; s < count; s++)
        source_release(&sources[s]);
    const int64_t row = recorded_find(target, &suggestion.genome);
    assert_true(row >= 0);
    const double us = target->times_us[row];
    return (struct answer){.ratio = us / target->best_us,
                           .off = exp(fabs(log(suggestion.us / us))),
                           .in_bounds = suggestion.low_us < us && us < suggestion.high_us};
}

static void suggestions_are_near_the_best(void **state) {
    (void)state;
    enum { COUNT = SHAPES * LAST_SEED };
    double ratios = 0, offs = 0;
    int far = 0, in_bounds = 0;
    for (int i = 0; i < COUNT; i++) {
        const int *shape = shapes[i % SHAPES];
        const struct answer answer = suggest_at(i % SHAPES, 1 + (uint64_t)i / SHAPES);
        print_message("B=%d,H=%d,S=%d: %.3f of the least, predicted off by %.3f\n", shape[0],
                      shape[1], shape[2], answer.ratio, answer.off);
        ratios += log(answer.ratio) / COUNT;
        offs += log(answer.off) / COUNT;
        far += answer.ratio > 1.2;
        in_bounds += answer.in_bounds;
    }
    print_message("%.3f of the least, %d of %d above 1.2; off by %.3f, %d within the interval\n",
                  exp(ratios), far, COUNT, exp(offs), in_bounds);
    assert_true(exp(ratios) < 1.1);
    assert_true(far <= COUNT / 5);
    assert_true(exp(offs) < 1.215);
    assert_true(in_bounds >= COUNT * 8 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(suggestions_are_near_the_best)};
    return cmocka_run_group_tests(tests, read_spaces, free_spaces);
}
