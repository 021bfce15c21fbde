/* process_group and gpu_groups: child processes, and the grouping of devices by model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/fleet.h"
#include "cmd/models.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void the_first_failure_counts(void **state) {
    (void)state;
    struct fleet fleet = {0};
    for (int c = 0; c < 3; c++)
        if (fleet_fork(&fleet) == 0)
            _exit(c == 1 ? 3 : 0);
    assert_false(fleet_wait(&fleet, NULL));
    assert_int_equal(fleet.status, 3);
    assert_int_equal(fleet.left, 0);
}

/* If the system has no more processes, the group fails with a printed error; the program does not
   abort. */
static void without_a_process_the_fleet_has_failed(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        struct fleet fleet = {0};
        setrlimit(RLIMIT_NPROC, &none);
        if (geteuid() == 0 && setuid(65534) < 0) /* root has no such limit */
            _exit(77);
        if (fleet_fork(&fleet) == 0)
            _exit(2);
        _exit(!fleet_wait(&fleet, NULL) && fleet.status == 1 && fleet.left == 0 ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(how), 0);
}

struct heard {
    int count;
    struct fleet *fleet;
};

/* As for runs on a queue: each model that arrives in the pipe starts another child. */
static void hear(void *context, const struct device_info *model) {
    struct heard *heard = context;
    char name[32];
    snprintf(name, sizeof name, "model %d", heard->count++);
    assert_string_equal(model->name, name);
    if (fleet_fork(heard->fleet) == 0)
        _exit(0);
}

static void news_are_heard_until_all_have_closed(void **state) {
    (void)state;
    int news[2];
    struct fleet fleet = {0};
    struct heard heard = {.fleet = &fleet};
    assert_int_equal(pipe(news), 0);
    if (fleet_fork(&fleet) == 0) {
        for (int m = 0; m < 5; m++) {
            struct device_info model = {0};
            snprintf(model.name, sizeof model.name, "model %d", m);
            if (write(news[1], &model, sizeof model) != (ssize_t)sizeof model)
                _exit(1);
        }
        _exit(0);
    }
    close(news[1]);
    const struct fleet_news from = {news[0], hear, &heard};
    assert_false(fleet_wait(&fleet, &from));
    assert_int_equal(heard.count, 5);
    assert_int_equal(fleet.count, 6);
    assert_int_equal(fleet.status, 0);
    close(news[0]);
}

/* One child keeps sending us the signal until it is terminated; the other only waits. */
static void a_termination_is_passed_on(void **state) {
    int number = *(const int *)*state;
    struct fleet fleet = {0};
    signal(number, SIG_IGN);
    if (fleet_fork(&fleet) == 0)
        for (;;)
            pause();
    if (fleet_fork(&fleet) == 0)
        for (;;) {
            kill(getppid(), number);
            usleep(20000);
        }
    assert_true(fleet_wait(&fleet, NULL));
    assert_int_not_equal(fleet.status, 0);
    signal(number, SIG_DFL);
}

static void models_are_told_apart(void **state) {
    (void)state;
    static struct models models;
    struct device_info h200 = {.name = "NVIDIA H200", .sm_count = 132};
    struct device_info slice = {.name = "NVIDIA H200", .sm_count = 16};
    struct device_info l4 = {.name = "NVIDIA L4, emulated", .sm_count = 58};
    assert_string_equal(models_find(&models, &h200)->label, "nvidia-h200");
    assert_string_equal(models_find(&models, &slice)->label, "nvidia-h200-2");
    assert_string_equal(models_find(&models, &l4)->label, "nvidia-l4-emulated");
    strcpy(h200.spec, "cuda:7"); /* the device's number does not matter */
    assert_ptr_equal(models_find(&models, &h200), &models.items[0]);
    assert_int_equal(models.count, 3);
    for (int m = 0; m < 3; m++)
        models.items[m].device_count = m + 1;
    models.device_count = 6;
    assert_int_equal(models_compile_workers(&models, 2, 12), 6);
    assert_int_equal(models_compile_workers(&models, 0, 3), 1);
    assert_int_equal(models_compile_workers(&models, 0, 0), 0);
    for (int m = 3; m < DEVICES_MAX; m++) {
        snprintf(l4.name, sizeof l4.name, "model %d", m);
        assert_non_null(models_find(&models, &l4));
    }
    strcpy(l4.name, "one too many");
    assert_null(models_find(&models, &l4));
}

int main(void) {
    int term = SIGTERM, interrupt = SIGINT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(without_a_process_the_fleet_has_failed),
        cmocka_unit_test(news_are_heard_until_all_have_closed),
        cmocka_unit_test_prestate(a_termination_is_passed_on, &term),
        {"so_is_an_interruption_of_us_alone", a_termination_is_passed_on, NULL, NULL, &interrupt},
        cmocka_unit_test(models_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
