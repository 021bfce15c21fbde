/* Hopper's instructions, through templates/lib/hopper.cuh, on the emulated device. */
#include "device/hopper.h"

static struct hopper hopper;

static int open_emulated(void **state) {
    (void)state;
    hopper_open(&hopper, "emulated:sm_90");
    return 0;
}

static int close_emulated(void **state) {
    (void)state;
    hopper_close(&hopper);
    return 0;
}

static void every_primitive_compiles(void **state) {
    (void)state;
    hopper_unload(&hopper, hopper_compile(&hopper, "primitives.cu", "", NULL));
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

static void a_pipeline_is_right(void **state) {
    (void)state;
    check_pipeline(&hopper);
}

static void clusters_are_right(void **state) {
    (void)state;
    check_clusters(&hopper);
}

/* The faults that pipeline.cu injects with FAULT. */
static void faults_are_found(void **state) {
    (void)state;
    static const struct {
        const char *fault;
        enum verdict verdict;
        const char *said; /* expected part of the reason */
    } rows[] = {
        {"no_wait", VERDICT_CRASHED, "with 0 of 1 arrivals pending"},
        {"too_many_bytes", VERDICT_TIMEOUT, "of 1 arrivals and 16 transaction bytes"},
        {"too_few_bytes", VERDICT_TIMEOUT, "of 1 arrivals and -16 transaction bytes"},
        {"early_release", VERDICT_CRASHED, "overwritten before its wait"},
        {"no_init", VERDICT_CRASHED, "not initialized"},
        {"wrong_parity", VERDICT_TIMEOUT, "waits forever at the mbarrier"},
        {"no_release", VERDICT_TIMEOUT, "missing 2 of 2 arrivals"},
        {"no_tail_wait", VERDICT_CRASHED, "did not wait before the block exited"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char option[64], reason[REASON_SIZE] = "";
        int wrong;
        snprintf(option, sizeof option, "-DFAULT=%s", rows[i].fault);
        struct device_module *module = hopper_compile(&hopper, "pipeline.cu", "", option);
        enum verdict verdict = run_pipeline(&hopper, module, 5, &wrong, reason);
        if (verdict != rows[i].verdict || strstr(reason, rows[i].said) == NULL ||
            (verdict == VERDICT_OK && wrong == 0) ||
            (verdict != VERDICT_OK && strstr(reason, "pipeline.cu:") == NULL))
            fail_msg("%s: %d, %d wrong, %s", rows[i].fault, (int)verdict, wrong, reason);
        hopper_unload(&hopper, module);
    }
}

/* The faults that clusters.cu injects with FAULT, in clusters of two and of eight blocks. */
static void faults_of_clusters_are_found(void **state) {
    (void)state;
    static const struct cluster_case shapes[] = {{{1, 2, 1}, {2, 1, 1}}, {{2, 2, 2}, {1, 2, 1}}};
    static const struct {
        const char *fault;
        enum verdict verdict;
        const char *said; /* expected part of the reason */
    } rows[] = {
        {"no_start_wait", VERDICT_WROTE_OUTSIDE, "that block has not started"},
        {"no_end_wait", VERDICT_WROTE_OUTSIDE, "that block has exited"},
        {"late_end_wait", VERDICT_OK, "word "},
        {"no_such_rank", VERDICT_CRASHED, "of a cluster of"},
        {"early_exit", VERDICT_WROTE_OUTSIDE, "that block has exited"},
        {"past_the_end", VERDICT_WROTE_OUTSIDE, "shared memory at"},
        {"skipped_barrier", VERDICT_TIMEOUT, "waits forever at barrier 1"},
        {"arrived_twice", VERDICT_CRASHED, "twice without a wait"},
        {"no_arrival", VERDICT_CRASHED, "without arriving first"},
        {"own_block_store", VERDICT_WROTE_OUTSIDE, "requires .shared::cluster"},
        {"remote_wait", VERDICT_CRASHED, "shared memory at"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            char option[64], reason[REASON_SIZE] = "";
            int wrong;
            snprintf(option, sizeof option, "-DFAULT=%s", rows[i].fault);
            struct device_module *module = cluster_compile(&hopper, &shapes[s], option);
            enum verdict verdict =
                run_cluster_kernel(&hopper, module, &shapes[s], 0, &wrong, reason);
            if (verdict != rows[i].verdict || strstr(reason, rows[i].said) == NULL ||
                (verdict == VERDICT_OK && wrong == 0) ||
                (verdict != VERDICT_OK && strstr(reason, "clusters.cu:") == NULL &&
                 strstr(reason, "hopper.cuh:") == NULL))
                fail_msg("%s: %d, %d wrong, %s", rows[i].fault, (int)verdict, wrong, reason);
            hopper_unload(&hopper, module);
        }
}

static void a_grid_has_whole_clusters(void **state) {
    (void)state;
    static const struct cluster_case one = {{1, 2, 1}, {1, 1, 1}};
    struct device_module *module = cluster_compile(&hopper, &one, NULL);
    uint64_t out = hopper_buffer(&hopper, "out", 64, NULL);
    struct device_launch launch = hopper_launch(module, "tell", CLUSTER_THREADS);
    char reason[REASON_SIZE] = "";
    launch.grid[0] = 2;
    launch.grid[1] = 3;
    hopper_pointer(&launch, out);
    assert_int_equal(hopper_try(&hopper, &launch, reason), VERDICT_LAUNCH_FAILED);
    assert_non_null(strstr(reason, "not a multiple of the cluster size (1,2,1)"));
    hopper_free(&hopper, out);
    hopper_unload(&hopper, module);
}

/* On an H200 each of these ends the grid with an illegal instruction. */
static void misplaced_boxes_are_found(void **state) {
    (void)state;
    static const struct {
        struct copy_case copy;
        bool is_store;
        const char *said; /* expected part of the reason */
    } rows[] = {
        {{2, 2, SWIZZLE_NONE, {64, 40}, {64, 8}, {0, -5}}, true, "coordinate -5"},
        {{2, 2, SWIZZLE_128B, {200, 40}, {64, 24}, {-8, 0}}, true, "coordinate -8"},
        {{2, 2, SWIZZLE_128B, {72, 40}, {64, 24}, {-19, 0}}, false, "-38 bytes into the row"},
        {{2, 2, SWIZZLE_NONE, {64, 50}, {64, 40}, {13, 30}}, true, "26 bytes into the row"},
        {{2, 4, SWIZZLE_128B, {32, 9}, {32, 8}, {1, 2}}, true, "4 bytes into the row"},
        {{2, 1, SWIZZLE_64B, {80, 33}, {64, 16}, {7, 20}}, false, "7 bytes into the row"},
    };
    struct device_module *module = hopper_compile(&hopper, "copies.cu", "", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char reason[REASON_SIZE] = "";
        enum verdict verdict = try_copy(&hopper, module, &rows[i].copy, rows[i].is_store, reason);
        if (verdict != VERDICT_CRASHED || strstr(reason, rows[i].said) == NULL)
            fail_msg("row %zu: %s, %s", i, verdict_name(verdict), reason);
    }
    hopper_unload(&hopper, module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_primitive_compiles),  cmocka_unit_test(products_are_right),
        cmocka_unit_test(copies_are_right),          cmocka_unit_test(barriers_are_right),
        cmocka_unit_test(a_pipeline_is_right),       cmocka_unit_test(faults_are_found),
        cmocka_unit_test(clusters_are_right),        cmocka_unit_test(faults_of_clusters_are_found),
        cmocka_unit_test(a_grid_has_whole_clusters), cmocka_unit_test(misplaced_boxes_are_found),
    };
    return cmocka_run_group_tests(tests, open_emulated, close_emulated);
}
