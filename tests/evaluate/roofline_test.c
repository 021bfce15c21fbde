/* The least time that a device allows, by hand-computed figures. */
#include "evaluate/roofline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* 100 TFLOP/s, 1,000 GB/s from DRAM and 5,000 from L2. */
static const struct device_info device = {.tensor_tflops = 100,
                                          .fp32_tflops = 50,
                                          .dram_gb_per_s = 1000,
                                          .l2_gb_per_s = 5000,
                                          .l2_bytes = 1 << 20};

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.9g, not %.9g", value, expected);
}

/* The peak of tensor cores may be exceeded twofold, by sparsity; bandwidths by 10 %. */
static void floor_is_the_slower_of_two_resources(void **state) {
    (void)state;
    const struct work compute = {.operations = 200000000000, .bytes = 1000};
    const struct work memory = {.operations = 1000, .bytes = 55000000, .output_bytes = 11000000};
    assert_near(roofline_floor_us(&device, &compute, false), 1000);
    assert_near(roofline_floor_us(&device, &compute, true), 1000);
    assert_near(roofline_floor_us(&device, &memory, false), 10);
    /* After a flush of L2 the inputs come from DRAM; outputs may stay in L2. */
    assert_near(roofline_floor_us(&device, &memory, true), 40);
}

static void unknown_rates_give_no_floor(void **state) {
    (void)state;
    const struct device_info unknown = {0};
    const struct work work = {.operations = 1000000, .bytes = 1000000};
    assert_near(roofline_floor_us(&unknown, &work, false), 0);
}

static void share_uses_the_level_that_holds_the_inputs(void **state) {
    (void)state;
    const struct work work = {.operations = 1000, .bytes = 1 << 18};
    double bytes = 1 << 18;
    assert_near(roofline_share(&device, &work, 4, 100), bytes / 5e6 / 100);
    assert_near(roofline_share(&device, &work, 5, 100), bytes / 1e6 / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floor_is_the_slower_of_two_resources),
        cmocka_unit_test(unknown_rates_give_no_floor),
        cmocka_unit_test(share_uses_the_level_that_holds_the_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
