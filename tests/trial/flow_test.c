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
#include "trial/flow.h"

enum { WORKERS_MAX = 128, TRIALS = 20000 };

struct crew {
    int devices, compilers;
    double compile_s; /* mean duration of a compilation */
    bool full;        /* in flight: all workers and two for each device */
    double compiling[WORKERS_MAX], judging[WORKERS_MAX]; /* when each finishes; INFINITY: idle */
    double begun[2][WORKERS_MAX];
    int to_compile, to_judge;
    struct random random;
    struct flow flow;
};

/* Half of the mean, plus an exponentially distributed part. */
static double compile_s(struct crew *crew) {
    return crew->compile_s * (0.5 - 0.5 * log(1 - random_uniform(&crew->random)));
}

/* Most candidates lose the race, some are timed, a few run a duel: 28 ms on average. */
static double judge_s(struct crew *crew) {
    double die = random_uniform(&crew->random);
    return die < 0.7 ? 0.009 : die < 0.95 ? 0.045 : 0.2;
}

static int capacity(const struct crew *crew) {
    int most = crew->compilers + 3 * crew->devices;
    return crew->full ? most : flow_capacity(&crew->flow, crew->devices, crew->compilers);
}

static void employ(double now, double *ends, double *begun, int count, int *waiting,
                   double (*takes)(struct crew *crew), struct crew *crew) {
    for (int w = 0; w < count; w++)
        if (isinf(ends[w]) && *waiting) {
            begun[w] = now;
            ends[w] = now + takes(crew);
            --*waiting;
        }
}

static int first_of(const double *ends, int count) {
    int first = 0;
    for (int w = 1; w < count; w++)
        if (ends[w] < ends[first])
            first = w;
    return first;
}

/* Returns trials per second; sets the mean number of trials in flight. */
static double run(struct crew *crew, double *under_way) {
    int in_flight = 0, done = 0;
    double now = 0, sum = 0;
    random_seed(&crew->random, 1, 1);
    crew->flow = (struct flow){0};
    crew->to_compile = crew->to_judge = 0;
    for (int w = 0; w < WORKERS_MAX; w++)
        crew->compiling[w] = crew->judging[w] = INFINITY;
    while (done < TRIALS) {
        for (int room = capacity(crew); in_flight < room; in_flight++)
            crew->to_compile++;
        employ(now, crew->compiling, crew->begun[0], crew->compilers, &crew->to_compile, compile_s,
               crew);
        employ(now, crew->judging, crew->begun[1], crew->devices, &crew->to_judge, judge_s, crew);
        int compiled = first_of(crew->compiling, crew->compilers);
        int judged = first_of(crew->judging, crew->devices);
        if (crew->compiling[compiled] < crew->judging[judged]) {
            now = crew->compiling[compiled];
            flow_note(&crew->flow.compile, now - crew->begun[0][compiled]);
            crew->compiling[compiled] = INFINITY;
            crew->to_judge++;
        } else {
            now = crew->judging[judged];
            flow_note(&crew->flow.judge, now - crew->begun[1][judged]);
            crew->judging[judged] = INFINITY;
            sum += in_flight--;
            done++;
        }
    }
    *under_way = sum / done;
    return done / now;
}

static void devices_hardly_wait(void **state) {
    (void)state;
    static const double compile_s[] = {0.02, 0.1, 0.4, 1.0};
    static const int devices[] = {1, 2, 8}, compilers[] = {1, 3, 15, 63};
    for (size_t s = 0; s < sizeof compile_s / sizeof *compile_s; s++)
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
            for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
                struct crew crew = {devices[d], compilers[c], .compile_s = compile_s[s]};
                double few, many;
                double rate = run(&crew, &few);
                crew.full = true;
                double best = run(&crew, &many);
                print_message("%.2f s, %d devices, %2d compilers: %5.1f and %5.1f trials/s, %5.1f "
                              "and %5.1f in flight\n",
                              compile_s[s], devices[d], compilers[c], rate, best, few, many);
                assert_true(rate > 0.95 * best);
                assert_true(few <= many);
            }
}

/* One GPU and 63 compile workers, as on an H200: 0.4 s per compilation. */
static void many_cores_are_not_all_used(void **state) {
    (void)state;
    struct crew crew = {1, 63, .compile_s = 0.4};
    double few;
    run(&crew, &few);
    assert_true(few < 30);
}

static void nobody_is_left_out(void **state) {
    (void)state;
    struct flow flow = {0};
    for (int devices = 1; devices <= 8; devices++) {
        assert_int_equal(flow_capacity(&flow, devices, 0), 3 * devices);
        assert_int_equal(flow_capacity(&flow, devices, 1), 3 * devices + 1);
    }
    /* For any recorded durations. */
    static const double seconds[] = {0, 1e-9, 1, 1e9};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            flow = (struct flow){0};
            flow_note(&flow.compile, seconds[i]);
            flow_note(&flow.judge, seconds[j]);
            int room = flow_capacity(&flow, 2, 30);
            assert_in_range(room, 6, 36);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_hardly_wait),
        cmocka_unit_test(many_cores_are_not_all_used),
        cmocka_unit_test(nobody_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
