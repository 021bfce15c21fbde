/* Hopper's instructions through templates/lib/hopper.cuh on a GPU: the checks of the emulated
   device (tests/device/hopper_test.c) pass there, too. Skipped on GPUs other than sm_90. */
#include "device/hopper.h"

static struct hopper hopper;

static int open_gpu(void **state) {
    (void)state;
    hopper_open(&hopper, "cuda:0");
    return 0;
}

static int close_gpu(void **state) {
    (void)state;
    hopper_close(&hopper);
    return 0;
}

static void products_are_right(void **state) {
    (void)state;
    check_products(&hopper);
}

static void copies_are_right(void **state) {
    (void)state;
    check_copies(&hopper);
}

static void barriers_are_right(void **state) {
    (void)state;
    check_barriers(&hopper);
}

static void clusters_are_right(void **state) {
    (void)state;
    check_clusters(&hopper);
}

static void a_pipeline_is_right(void **state) {
    (void)state;
    check_pipeline(&hopper);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right), cmocka_unit_test(copies_are_right),
        cmocka_unit_test(barriers_are_right), cmocka_unit_test(a_pipeline_is_right),
        cmocka_unit_test(clusters_are_right),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
