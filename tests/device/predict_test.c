/* The latency model (predict.h): what it must not say of any kernel. Properties of random inputs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "device/predict.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 3000 };

static const struct device_info h200 = {
    .sm_count = 132,
    .smem_per_block_optin = 232448,
    .smem_per_sm = 233472,
    .registers_per_sm = 65536,
    .threads_per_sm = 2048,
    .blocks_per_sm = 32,
    .l2_bytes = 62914560,
    .clock_mhz = 1980,
    .dram_gb_per_s = 4800,
    .l2_gb_per_s = 7710,
    .tensor_tflops = 989.5,
    .fp32_tflops = 67,
    .launch_us = 0.56,
};

static struct random generator;

/* Between `least` and `most`, evenly in the logarithm. */
static double draw(double least, double most) {
    return least * exp(log(most / least) * random_uniform(&generator));
}

/* A kernel of any size and mix: blocks of `bytes` each. */
static struct prediction_input draw_launch(void) {
    const double blocks = floor(draw(1, 1e5)), bytes = draw(1e2, 1e6);
    const double loading = draw(600, 1e5);
    return (struct prediction_input){
        .blocks = blocks,
        .threads = 128,
        .cluster = 1,
        .resources = {.ctas_per_sm = (int)draw(1, 32)},
        .warp_instructions = blocks * draw(10, 1e5),
        .matrix_operations = blocks * (random_below(&generator, 2) ? draw(1, 1e7) : 0),
        .special_functions = blocks * draw(1, 1e4),
        .shared_wavefronts = blocks * draw(1, 1e4),
        .sectors = blocks * bytes / 32,
        .l2_sectors = blocks * bytes / 32 * draw(0.1, 1),
        .dram_bytes = blocks * bytes * draw(0.01, 1),
        .critical_path_cycles = loading + draw(10, 1e4),
        .longest_critical_path_cycles = loading + draw(1e4, 1e5),
        .loading_cycles = loading,
    };
}

static double launch_us(const struct prediction_input *input) {
    const struct prediction_call call = {.count = 1, .launches = {*input}};
    return predict_call_us(&h200, &call);
}

/* Two numbers that are equal but for rounding are in order. */
static void assert_not_faster(double us, double than_us) {
    if (!(us >= than_us * (1 - 1e-12)))
        fail_msg("%.9g us is faster than %.9g", us, than_us);
}

static void never_below_the_roofline(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        const struct prediction_input input = draw_launch();
        const double us = launch_us(&input);
        assert_true(isfinite(us));
        assert_not_faster(us, h200.launch_us + input.dram_bytes / (h200.dram_gb_per_s * 1e3));
        assert_not_faster(us,
                          h200.launch_us + input.matrix_operations / (h200.tensor_tflops * 1e6));
    }
}

/* The same bytes in a shorter time: more of them are in flight. */
static void bytes_in_flight_never_cost(void **unused) {
    (void)unused;
    int faster = 0;
    for (int i = 0; i < DRAWS; i++) {
        const struct prediction_input input = draw_launch();
        struct prediction_input ahead = input;
        const double saved = input.loading_cycles / 2;
        ahead.loading_cycles -= saved;
        ahead.critical_path_cycles -= saved;
        ahead.longest_critical_path_cycles -= saved;
        assert_not_faster(launch_us(&input), launch_us(&ahead));
        faster += launch_us(&ahead) < 0.99 * launch_us(&input);
    }
    assert_true(faster > DRAWS / 4);
}

static void resident_blocks_never_cost(void **unused) {
    (void)unused;
    int faster = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct prediction_input input = draw_launch();
        input.longest_critical_path_cycles = input.critical_path_cycles; /* all blocks are alike */
        struct prediction_input fewer = input;
        fewer.resources.ctas_per_sm =
            1 + (int)random_below(&generator, (uint64_t)input.resources.ctas_per_sm);
        assert_not_faster(launch_us(&fewer), launch_us(&input));
        faster += launch_us(&fewer) > 1.01 * launch_us(&input);
    }
    assert_true(faster > DRAWS / 8);
}

/* Half of each sector is used: twice as many move for the same bytes. */
static void worse_coalescing_never_gains(void **unused) {
    (void)unused;
    int slower = 0;
    for (int i = 0; i < DRAWS; i++) {
        const struct prediction_input input = draw_launch();
        struct prediction_input scattered = input;
        scattered.sectors *= 2;
        scattered.l2_sectors *= 2;
        assert_not_faster(launch_us(&scattered), launch_us(&input));
        slower += launch_us(&scattered) > 1.01 * launch_us(&input);
        struct prediction_input cached = input;
        cached.l2_sectors /= 2; /* L1 serves the others */
        assert_not_faster(launch_us(&input), launch_us(&cached));
    }
    assert_true(slower > DRAWS / 8);
}

/* The same work in one block, which takes as many times longer. */
static void one_block_is_slower_than_many(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        struct prediction_input many = draw_launch();
        many.blocks = floor(draw(16, 132));
        many.longest_critical_path_cycles = many.critical_path_cycles;
        struct prediction_input one = many;
        one.blocks = 1;
        one.critical_path_cycles *= many.blocks;
        one.longest_critical_path_cycles *= many.blocks;
        one.loading_cycles *= many.blocks;
        assert_true(launch_us(&one) > launch_us(&many));
    }
}

/* One block more than a whole number of waves starts another wave. */
static void a_partial_wave_costs(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        struct prediction_input whole = draw_launch();
        whole.longest_critical_path_cycles = whole.critical_path_cycles;
        const double blocks = h200.sm_count * whole.resources.ctas_per_sm * (1 + floor(draw(1, 4)));
        const double grown = (blocks + 1) / whole.blocks;
        struct prediction_input more = whole;
        const double shrunk = blocks / whole.blocks;
        double *const totals[] = {&whole.warp_instructions, &whole.matrix_operations,
                                  &whole.special_functions, &whole.shared_wavefronts,
                                  &whole.sectors,           &whole.l2_sectors,
                                  &whole.dram_bytes};
        double *const totals_more[] = {&more.warp_instructions, &more.matrix_operations,
                                       &more.special_functions, &more.shared_wavefronts,
                                       &more.sectors,           &more.l2_sectors,
                                       &more.dram_bytes};
        for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
            *totals[t] *= shrunk;
            *totals_more[t] *= grown;
        }
        whole.blocks = blocks;
        more.blocks = blocks + 1;
        assert_true(launch_us(&more) > launch_us(&whole));
    }
}

/* Two kernels that do half of the work each take longer than one, less if the second starts early.
 */
static void launches_cost(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++) {
        const struct prediction_input whole = draw_launch();
        struct prediction_call two = {.count = 2, .launches = {whole, whole}};
        const double apart_us = predict_call_us(&h200, &two);
        assert_true(apart_us >= 2 * launch_us(&whole) * (1 - 1e-12));
        two.launches[1].early = true;
        const double saved_us = apart_us - predict_call_us(&h200, &two);
        assert_true(saved_us > 0 && saved_us < launch_us(&(struct prediction_input){0}));
        struct prediction_call repeated = {.count = 1, .launches = {whole}};
        repeated.launches[0].times = 2;
        assert_true(fabs(predict_call_us(&h200, &repeated) - apart_us) < 1e-9 * apart_us);
    }
}

/* Kernels that move the same bytes with more or fewer loads at a time, with a longer prologue, or
   with a wave more: none of them is the roofline. */
static void memory_bound_kernels_differ(void **unused) {
    (void)unused;
    struct prediction_input input = {
        .blocks = 132 * 8 * 10,
        .threads = 128,
        .cluster = 1,
        .resources = {.ctas_per_sm = 8},
        .warp_instructions = 1e6,
        .sectors = 132 * 8 * 10 * 512,
        .l2_sectors = 132 * 8 * 10 * 512,
        .dram_bytes = 132 * 8 * 10 * 512 * 32.,
        .critical_path_cycles = 1500,
        .longest_critical_path_cycles = 1500,
        .loading_cycles = 700,
    };
    const double roofline_us = input.dram_bytes / (h200.dram_gb_per_s * 1e3);
    double last_us = roofline_us;
    for (int loads = 16; loads >= 1; loads /= 2) { /* in flight at a time, of 16 */
        struct prediction_input one = input;
        one.loading_cycles = 16. / loads * input.loading_cycles;
        one.critical_path_cycles = one.longest_critical_path_cycles = one.loading_cycles + 800;
        const double us = launch_us(&one);
        assert_true(us > 1.005 * last_us);
        last_us = us;
    }
    assert_true(last_us > 1.5 * roofline_us);
    /* Of a kernel that latency bounds, a block behind two waves starts a third. */
    struct prediction_input waves = input;
    waves.loading_cycles = 20000;
    waves.critical_path_cycles = waves.longest_critical_path_cycles = 21000;
    waves.blocks = 132 * 8 * 2;
    waves.dram_bytes = waves.sectors = waves.l2_sectors = 1e5;
    const double two_us = launch_us(&waves);
    waves.blocks++;
    assert_true(launch_us(&waves) > 1.35 * two_us);
    struct prediction_input prologue = input;
    prologue.critical_path_cycles = prologue.longest_critical_path_cycles =
        10 * input.critical_path_cycles;
    assert_true(launch_us(&prologue) > 1.1 * launch_us(&input));
}

/* The ends of blocks that run one after the other add up; of resident ones they overlap. */
static void resident_blocks_hide_ends(void **unused) {
    (void)unused;
    enum { WAVES = 10, ENDS = 5000 };
    double added_us[2];
    for (int i = 0; i < 2; i++) {
        struct prediction_input input = {
            .blocks = 132 * WAVES * (i ? 16 : 1),
            .threads = 128,
            .cluster = 1,
            .resources = {.ctas_per_sm = i ? 16 : 1},
            .critical_path_cycles = 1000,
            .longest_critical_path_cycles = 1000,
            .loading_cycles = 1000,
        };
        const double without_us = launch_us(&input);
        input.critical_path_cycles += ENDS;
        input.longest_critical_path_cycles += ENDS;
        added_us[i] = launch_us(&input) - without_us;
    }
    assert_true(fabs(added_us[0] / added_us[1] - WAVES / (1 + 9. / 16)) < 1e-6);
}

static int seed_generator(void **unused) {
    (void)unused;
    random_seed(&generator, 28, 0);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(never_below_the_roofline, seed_generator),
        cmocka_unit_test_setup(bytes_in_flight_never_cost, seed_generator),
        cmocka_unit_test_setup(resident_blocks_never_cost, seed_generator),
        cmocka_unit_test_setup(worse_coalescing_never_gains, seed_generator),
        cmocka_unit_test_setup(one_block_is_slower_than_many, seed_generator),
        cmocka_unit_test_setup(a_partial_wave_costs, seed_generator),
        cmocka_unit_test_setup(launches_cost, seed_generator),
        cmocka_unit_test_setup(memory_bound_kernels_differ, seed_generator),
        cmocka_unit_test_setup(resident_blocks_hide_ends, seed_generator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
