/* predict_start: predictions as text, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "session/predict_start.h"
#include "space/random_space.h"

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

static void text_keeps_every_bit(void **state) {
    (void)state;
    enum { ROUNDS = 200, MOST = 8 };
    struct space *space = make_space();
    struct random random;
    random_seed(&random, 61, 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct predicted predicted[MOST] = {0}, *read;
        struct error error = {0};
        int count = (int)random_below(&random, MOST + 1);
        for (int i = 0; i < count; i++) {
            assert_true(space_sample(space, &random, &predicted[i].genome));
            predicted[i].us =
                (0.5 + random_uniform(&random)) / (1 + (double)random_below(&random, 1000));
        }
        char *text = predict_start_print(predicted, count, space);
        assert_int_equal(predict_start_parse(text, space, &read, &error), count);
        assert_memory_equal(read, predicted, (size_t)count * sizeof *read);
        free(read);
        free(text);
    }
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
                                        "5.25 A=1,B\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct predicted *read;
        struct error error = {0};
        assert_int_equal(predict_start_parse(texts[i], space, &read, &error), -1);
        assert_non_null(strstr(error.text, "the stored predictions are damaged: "));
    }
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_every_bit),
        cmocka_unit_test(damage_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
