/* source_text: sources as text, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "space/random_space.h"
#include "strategy/source_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct space *make_space(void) {
    static const char *const labels[] = {"none", "xor"};
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[] = {1, 2, 4, 8};
    space_add_integers(space, "A", "", values, 4, 0, NULL, &error);
    space_add_labels(space, "B", "", labels, 2, 0, NULL, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static void add_random_rows(struct source *source, const struct space *space,
                            struct random *random) {
    enum { MOST = 8 };
    struct genome genome;
    for (uint64_t left = random_below(random, MOST + 1); left > 0; left--) {
        assert_true(space_sample(space, random, &genome));
        source_add_genome(source, space, &genome,
                          random_below(random, 5) == 0
                              ? INFINITY
                              : (0.5 + random_uniform(random)) /
                                    (1 + (double)random_below(random, 1000)));
    }
    source->distance = random_uniform(random);
    source->genes = source->row_count > 0 ? 1 + (uint32_t)random_below(random, 3) : 0;
    source_seal(source);
}

static void text_keeps_every_bit(void **state) {
    (void)state;
    enum { ROUNDS = 200, MOST = 4 };
    struct space *space = make_space();
    struct random random;
    random_seed(&random, 61, 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct source sources[MOST] = {{.name = "results/a b"}, {.name = ""}, {.name = "source 3"}};
        struct source *read;
        struct error error = {0};
        int count = (int)random_below(&random, MOST + 1);
        for (int s = 0; s < count; s++)
            add_random_rows(&sources[s], space, &random);
        char *text = sources_print(sources, count, space);
        assert_int_equal(sources_parse(text, space, &read, &error), count);
        for (int s = 0; s < count; s++) {
            assert_string_equal(read[s].name, sources[s].name);
            assert_true(read[s].distance == sources[s].distance);
            assert_int_equal(read[s].genes, sources[s].genes);
            assert_int_equal(read[s].row_count, sources[s].row_count);
            if (sources[s].row_count > 0)
                assert_memory_equal(read[s].rows, sources[s].rows,
                                    (size_t)sources[s].row_count * sizeof *sources[s].rows);
            source_release(&sources[s]);
        }
        sources_free(read, count);
        free(text);
    }
    space_free(space);
}

/* Runs of earlier versions stored their predictions as rows without a heading. */
static void rows_alone_are_one_source(void **state) {
    (void)state;
    struct space *space = make_space();
    struct source *read;
    struct error error = {0};
    assert_int_equal(sources_parse("5 A=1,B=xor\n4 A=2,B=xor\n", space, &read, &error), 1);
    assert_int_equal(read->row_count, 2);
    assert_int_equal(read->genes, 3);
    assert_true(read->rows[0].us == 4 && source_is_usable(read));
    sources_free(read, 1);
    space_free(space);
}

static void damage_is_reported(void **state) {
    (void)state;
    struct space *space = make_space();
    static const char *const texts[] = {"\n",
                                        "5\n",
                                        "0 A=1,B=xor\n",
                                        "-2 A=1,B=xor\n",
                                        "nan A=1,B=xor\n",
                                        "5.25 A=3,B=xor\n",
                                        "5.25 A=1,B=xor\n5.5A=1,B=none\n",
                                        "5.25 A=1,B\n",
                                        "source\n",
                                        "source 3\n",
                                        "source 3 -1 name\n",
                                        "source 3 nan name\n",
                                        "source 3 1\n",
                                        "source x 1 name\n",
                                        "source 100000000 1 name\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct source *read;
        struct error error = {0};
        assert_int_equal(sources_parse(texts[i], space, &read, &error), -1);
        assert_non_null(strstr(error.text, "the stored sources are damaged: "));
        assert_null(read);
    }
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_every_bit),
        cmocka_unit_test(rows_alone_are_one_source),
        cmocka_unit_test(damage_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
