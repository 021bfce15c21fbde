/* concurrency: a simulated pool with this limit completes as many trials as one that fills all
   its workers, with fewer in flight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "base/random.h"
#include "pool/concurrency.h"

enum { WORKERS_MAX = 128, TRIALS = 20000 };

struct pool_model {
    int devices, compilers;
    double compile_s;      /* mean duration of a compilation */
    bool uses_all_workers; /* in flight: all workers and two for each device */
    double compiling[WORKERS_MAX], evaluating[WORKERS_MAX]; /* when each finishes; INFINITY: idle */
    double started_at_s[2][WORKERS_MAX];
    int waiting_to_compile, waiting_to_evaluate;
    struct random random;
    struct concurrency concurrency;
};

/* Half of the mean, plus an exponentially distributed part. */
static double compile_s(struct pool_model *pool_model) {
    return pool_model->compile_s * (0.5 - 0.5 * log(1 - random_uniform(&pool_model->random)));
}

/* Most candidates lose the race, some are timed, a few run a duel: 28 ms on average. */
static double sample_evaluate_s(struct pool_model *pool_model) {
    double die = random_uniform(&pool_model->random);
    return die < 0.7 ? 0.009 : die < 0.95 ? 0.045 : 0.2;
}

static int capacity(const struct pool_model *pool_model) {
    int most = pool_model->compilers + 3 * pool_model->devices;
    return pool_model->uses_all_workers
               ? most
               : concurrency_limit(&pool_model->concurrency, pool_model->devices,
                                   pool_model->compilers);
}

static void start_jobs(double now, double *ends, double *started_at_s, int count, int *waiting,
                       double (*takes)(struct pool_model *pool_model),
                       struct pool_model *pool_model) {
    for (int w = 0; w < count; w++)
        if (isinf(ends[w]) && *waiting) {
            started_at_s[w] = now;
            ends[w] = now + takes(pool_model);
            --*waiting;
        }
}

static int earliest(const double *ends, int count) {
    int first = 0;
    for (int w = 1; w < count; w++)
        if (ends[w] < ends[first])
            first = w;
    return first;
}

/* Returns trials per second; sets the mean number of trials in flight. */
static double run(struct pool_model *pool_model, double *in_flight_mean) {
    int in_flight = 0, done = 0;
    double now = 0, sum = 0;
    random_seed(&pool_model->random, 1, 1);
    pool_model->concurrency = (struct concurrency){0};
    pool_model->waiting_to_compile = pool_model->waiting_to_evaluate = 0;
    for (int w = 0; w < WORKERS_MAX; w++)
        pool_model->compiling[w] = pool_model->evaluating[w] = INFINITY;
    while (done < TRIALS) {
        for (int room = capacity(pool_model); in_flight < room; in_flight++)
            pool_model->waiting_to_compile++;
        start_jobs(now, pool_model->compiling, pool_model->started_at_s[0], pool_model->compilers,
                   &pool_model->waiting_to_compile, compile_s, pool_model);
        start_jobs(now, pool_model->evaluating, pool_model->started_at_s[1], pool_model->devices,
                   &pool_model->waiting_to_evaluate, sample_evaluate_s, pool_model);
        int compiled = earliest(pool_model->compiling, pool_model->compilers);
        int evaluated = earliest(pool_model->evaluating, pool_model->devices);
        if (pool_model->compiling[compiled] < pool_model->evaluating[evaluated]) {
            now = pool_model->compiling[compiled];
            concurrency_record(&pool_model->concurrency.compile,
                               now - pool_model->started_at_s[0][compiled]);
            pool_model->compiling[compiled] = INFINITY;
            pool_model->waiting_to_evaluate++;
        } else {
            now = pool_model->evaluating[evaluated];
            concurrency_record(&pool_model->concurrency.evaluate,
                               now - pool_model->started_at_s[1][evaluated]);
            pool_model->evaluating[evaluated] = INFINITY;
            sum += in_flight--;
            done++;
        }
    }
    *in_flight_mean = sum / done;
    return done / now;
}

static void devices_stay_busy(void **state) {
    (void)state;
    static const double compile_s[] = {0.02, 0.1, 0.4, 1.0};
    static const int devices[] = {1, 2, 8}, compilers[] = {1, 3, 15, 63};
    for (size_t s = 0; s < sizeof compile_s / sizeof *compile_s; s++)
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
            for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
                struct pool_model pool_model = {devices[d], compilers[c],
                                                .compile_s = compile_s[s]};
                double few, many;
                double rate = run(&pool_model, &few);
                pool_model.uses_all_workers = true;
                double best = run(&pool_model, &many);
                print_message("%.2f s, %d devices, %2d compilers: %5.1f and %5.1f trials/s, %5.1f "
                              "and %5.1f in flight\n",
                              compile_s[s], devices[d], compilers[c], rate, best, few, many);
                assert_true(rate > 0.95 * best);
                assert_true(few <= many);
            }
}

/* One GPU and 63 compile workers, as on an H200: 0.4 s per compilation. */
static void unneeded_workers_stay_idle(void **state) {
    (void)state;
    struct pool_model pool_model = {1, 63, .compile_s = 0.4};
    double few;
    run(&pool_model, &few);
    assert_true(few < 30);
}

static void limit_stays_in_range(void **state) {
    (void)state;
    struct concurrency concurrency = {0};
    for (int devices = 1; devices <= 8; devices++) {
        assert_int_equal(concurrency_limit(&concurrency, devices, 0), 3 * devices);
        assert_int_equal(concurrency_limit(&concurrency, devices, 1), 3 * devices + 1);
    }
    /* For any recorded durations. */
    static const double seconds[] = {0, 1e-9, 1, 1e9};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            concurrency = (struct concurrency){0};
            concurrency_record(&concurrency.compile, seconds[i]);
            concurrency_record(&concurrency.evaluate, seconds[j]);
            int room = concurrency_limit(&concurrency, 2, 30);
            assert_in_range(room, 6, 36);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_stay_busy),
        cmocka_unit_test(unneeded_workers_stay_idle),
        cmocka_unit_test(limit_stays_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
