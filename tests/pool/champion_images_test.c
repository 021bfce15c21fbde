#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "pool/champion_images.h"
#include "pool/image_file.h"

static bool is_open(int file) {
    return fcntl(file, F_GETFD) >= 0;
}

static void last_two_of_each_goal_are_kept(void **state) {
    (void)state;
    struct champion_images champions;
    int files[3];
    const struct genome genomes[3] = {{{1}}, {{2}}, {{3}}};
    champion_images_init(&champions);
    assert_int_equal(champion_images_find(&champions, 0, &genomes[0]), -1);
    for (int i = 0; i < 3; i++) {
        files[i] = image_file_new();
        champion_images_add(&champions, 5, &genomes[i], files[i]);
        assert_int_equal(champion_images_find(&champions, 5, &genomes[i]), files[i]);
        assert_int_equal(champion_images_find(&champions, 4, &genomes[i]), -1);
    }
    assert_int_equal(champion_images_find(&champions, 5, &genomes[1]), files[1]);
    assert_int_equal(champion_images_find(&champions, 5, &genomes[0]), -1);
    assert_false(is_open(files[0]));
    assert_true(is_open(files[1]) && is_open(files[2]));
    champion_images_release(&champions);
    assert_false(is_open(files[1]) || is_open(files[2]));
    assert_int_equal(champion_images_find(&champions, 5, &genomes[2]), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_two_of_each_goal_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
