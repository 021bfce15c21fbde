/* parallel: every task is done once, and what goes wrong in one is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate/parallel.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 500 };

struct context {
    int *counts;
    int wrong; /* the task that fails; -1: none */
    bool dies;
};

static int count_up(void *context, int number, struct error *error) {
    const struct context *it = context;
    if (number == it->wrong && it->dies)
        _exit(0x53);
    if (number == it->wrong)
        return error_input(error, "task %d", number);
    it->counts[number]++;
    return 0;
}

static int run(int jobs, int wrong, bool dies, int *done, struct error *error) {
    struct parallel *parallel = parallel_new(TASKS * sizeof(int), error);
    assert_non_null(parallel);
    struct context context = {parallel_results(parallel), wrong, dies};
    const int status = parallel_run(parallel, jobs, TASKS, count_up, &context, error);
    *done = 0;
    for (int i = 0; i < TASKS; i++) {
        assert_in_range(context.counts[i], 0, 1);
        *done += context.counts[i];
    }
    parallel_free(parallel);
    return status;
}

static void every_task_is_done_once(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 5; jobs++) {
        struct error error = {0};
        int done;
        assert_int_equal(run(jobs, -1, false, &done, &error), 0);
        assert_int_equal(done, TASKS);
    }
}

/* The other processes go on, so that only the tasks of one may be missing. */
static void a_failing_task_is_the_error(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 3; jobs++) {
        struct error error = {0};
        int done;
        assert_int_equal(run(jobs, 7, false, &done, &error), -1);
        assert_string_equal(error.text, "task 7");
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_int_equal(done, jobs == 1 ? 7 : TASKS - 1);
    }
}

static void a_process_that_dies_is_an_error(void **state) {
    (void)state;
    struct error error = {0};
    int done;
    assert_int_equal(run(2, 7, true, &done, &error), -1);
    assert_non_null(strstr(error.text, "died"));
    assert_int_equal(done, TASKS - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(a_failing_task_is_the_error),
        cmocka_unit_test(a_process_that_dies_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
