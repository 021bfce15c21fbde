/* The energy of a call from synthetic counters: of steps, noise, and such that give no figure. */
#include "evaluate/energy.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* A GPU in virtual time. Calls of `call_s` follow one another in batches, with host time between.
 */
struct gpu {
    double now_s;
    double total_mj;            /* exactly */
    double shown_mj, updated_s; /* by the counter, which follows every step_s */
    double step_s;
    double idle_watts, call_mj, call_s;
    double noise;       /* of each step's energy, relative */
    double falls_at_s;  /* the counter starts again at 0 then; 0: never */
    double breaks_at_s; /* the counter cannot be read from then on; 0: never */
    int fails_after;    /* batches; 0: never */
    int batches, reads, waits;
    struct random random;
};

/* Time passes at constant power; the counter follows on its grid of steps. */
static void pass(struct gpu *gpu, double seconds, double watts) {
    double until_s = gpu->now_s + seconds;
    while (gpu->step_s > 0 && gpu->updated_s + gpu->step_s <= until_s) {
        double step_s = gpu->updated_s + gpu->step_s - gpu->now_s;
        gpu->total_mj += 1000 * watts * step_s;
        gpu->now_s += step_s;
        double added = gpu->total_mj - gpu->shown_mj;
        gpu->total_mj += added * gpu->noise * (random_uniform(&gpu->random) - 0.5);
        gpu->shown_mj = floor(gpu->total_mj);
        gpu->updated_s = gpu->now_s;
    }
    gpu->total_mj += 1000 * watts * (until_s - gpu->now_s);
    gpu->now_s = until_s;
}

static bool read_counter(void *context, double *now_s, double *changed_s, double *total_mj) {
    struct gpu *gpu = context;
    gpu->reads++;
    if (gpu->breaks_at_s > 0 && gpu->now_s >= gpu->breaks_at_s)
        return false;
    if (gpu->falls_at_s > 0 && gpu->now_s >= gpu->falls_at_s) {
        gpu->falls_at_s = 0;
        gpu->total_mj = gpu->shown_mj = 0;
    }
    *now_s = gpu->now_s;
    *changed_s = gpu->updated_s;
    *total_mj = gpu->shown_mj;
    return true;
}

static void wait_a_little(void *context) {
    struct gpu *gpu = context;
    gpu->waits++;
    pass(gpu, 0.001, gpu->idle_watts);
}

static int run_batch(void *context, int64_t *calls) {
    enum { CALLS = 20 };
    struct gpu *gpu = context;
    if (gpu->fails_after > 0 && gpu->batches == gpu->fails_after)
        return 7;
    gpu->batches++;
    *calls += CALLS;
    pass(gpu, CALLS * gpu->call_s, gpu->idle_watts + gpu->call_mj / gpu->call_s / 1000);
    pass(gpu, 0.0001, gpu->idle_watts); /* the host reads the counter */
    return 0;
}

/* 20 calls of 0.1 ms: 400 W above the idle 100 W. */
static struct gpu make_gpu(double step_s) {
    struct gpu gpu = {.now_s = 1000,
                      .updated_s = 1000,
                      .total_mj = 5e12,
                      .shown_mj = 5e12,
                      .step_s = step_s,
                      .idle_watts = 100,
                      .call_mj = 40,
                      .call_s = 1e-4};
    random_seed(&gpu.random, 1, 1);
    return gpu;
}

static int measure(struct gpu *gpu, struct energy *energy) {
    const struct energy_counter counter = {
        .read = read_counter, .wait = wait_a_little, .context = gpu};
    const struct energy_load load = {run_batch, gpu};
    struct energy_meter *meter = energy_meter_new_with_counter(&counter);
    int status = energy_measure(meter, &load, 300, energy);
    energy_meter_free(meter);
    return status;
}

static void a_call_is_measured_above_idle_power(void **state) {
    (void)state;
    static const double steps_s[] = {0.001, 0.02, 0.05, 0.1};
    for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
        struct gpu gpu = make_gpu(steps_s[i]);
        struct energy energy;
        assert_int_equal(measure(&gpu, &energy), 0);
        assert_true(fabs(energy.mj / 40 - 1) < 0.006); /* changes are seen up to 2 ms late */
        assert_true(energy.error >= 0 && energy.error < 0.015);
        assert_true(fabs(energy.idle_watts / 100 - 1) < 0.005);
        assert_true(energy.watts > 470 && energy.watts < 490); /* less the host's time */
        assert_true(gpu.now_s - 1000 < 2.5);
    }
}

/* Batches of 21 ms, and a counter that changes every 100 ms, as on an H200: a change lies somewhere
   in a batch, whose calls count up to there. */
static void changes_within_a_batch_are_placed(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct gpu gpu = make_gpu(0.1);
        struct energy energy;
        gpu.call_s = 1.05e-3 + 3e-5 * i;
        gpu.call_mj = 400;
        assert_int_equal(measure(&gpu, &energy), 0);
        assert_true(fabs(energy.mj / 400 - 1) < 0.003);
    }
}

/* The error that is stated covers the true figure, and two that differ by 10 % differ by more. */
static void noise_is_stated_as_error(void **state) {
    (void)state;
    int covered = 0;
    enum { TIMES = 40 };
    for (int i = 0; i < TIMES; i++) {
        struct gpu gpu = make_gpu(0.02);
        struct energy energy, more;
        random_seed(&gpu.random, 1, (uint64_t)i);
        gpu.noise = 0.1;
        assert_int_equal(measure(&gpu, &energy), 0);
        assert_true(energy.error > 0.002 && energy.error < 0.03);
        assert_true(fabs(energy.mj / 40 - 1) < 0.04);
        covered += fabs(energy.mj / 40 - 1) < 2 * energy.error;
        gpu.call_mj = 44;
        assert_int_equal(measure(&gpu, &more), 0);
        assert_true(more.mj / energy.mj - 1 > 2 * hypot(energy.error, more.error));
    }
    assert_true(covered >= TIMES * 8 / 10);
}

static void a_counter_that_gives_no_figure_is_unknown(void **state) {
    (void)state;
    struct energy energy;
    struct gpu still = make_gpu(0);
    assert_int_equal(measure(&still, &energy), 0);
    assert_true(energy.mj == 0 && energy.error == 0 && energy.watts == 0 && energy.idle_watts == 0);
    assert_true(still.now_s - 1000 < 3); /* it gave up */
    struct gpu rare = make_gpu(0.9);
    assert_int_equal(measure(&rare, &energy), 0);
    assert_true(energy.mj == 0);
    assert_true(rare.now_s - 1000 < 6);
    struct gpu falls = make_gpu(0.02);
    falls.falls_at_s = 1001;
    assert_int_equal(measure(&falls, &energy), 0);
    assert_true(energy.mj == 0);
    struct gpu breaks = make_gpu(0.02);
    breaks.breaks_at_s = 1001;
    assert_int_equal(measure(&breaks, &energy), 0);
    assert_true(energy.mj == 0);
    struct gpu none = make_gpu(0.02);
    none.breaks_at_s = 1;
    assert_int_equal(measure(&none, &energy), 0);
    assert_true(energy.mj == 0);
    struct gpu free_calls = make_gpu(0.02);
    free_calls.call_mj = 0;
    assert_int_equal(measure(&free_calls, &energy), 0);
    assert_true(energy.mj < 0.01);
}

static void idle_power_is_measured_once(void **state) {
    (void)state;
    struct gpu gpu = make_gpu(0.02);
    const struct energy_counter counter = {
        .read = read_counter, .wait = wait_a_little, .context = &gpu};
    const struct energy_load load = {run_batch, &gpu};
    struct energy_meter *meter = energy_meter_new_with_counter(&counter);
    struct energy first, second;
    assert_int_equal(energy_measure(meter, &load, 300, &first), 0);
    int waits = gpu.waits;
    assert_true(waits > 100);
    assert_int_equal(energy_measure(meter, &load, 300, &second), 0);
    assert_int_equal(gpu.waits, waits);
    assert_true(second.idle_watts == first.idle_watts);
    assert_true(fabs(second.mj / first.mj - 1) < 0.01);
    energy_meter_free(meter);
}

static void a_load_that_fails_ends_it(void **state) {
    (void)state;
    struct gpu gpu = make_gpu(0.02);
    struct energy energy;
    gpu.fails_after = 30;
    assert_int_equal(measure(&gpu, &energy), 7);
    assert_int_equal(gpu.batches, 30);
    assert_true(energy.mj == 0);
}

static void a_device_that_predicts_has_no_counter(void **state) {
    (void)state;
    const struct device_info emulated = {.spec = "emulated:sm_90", .predicts = true};
    const struct device_info none = {.spec = "cuda:0", .uuid = ""};
    assert_null(energy_meter_new(&emulated));
    assert_null(energy_meter_new(&none));
    energy_meter_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_measured_above_idle_power),
        cmocka_unit_test(changes_within_a_batch_are_placed),
        cmocka_unit_test(noise_is_stated_as_error),
        cmocka_unit_test(a_counter_that_gives_no_figure_is_unknown),
        cmocka_unit_test(idle_power_is_measured_once),
        cmocka_unit_test(a_load_that_fails_ends_it),
        cmocka_unit_test(a_device_that_predicts_has_no_counter),
    };
    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
