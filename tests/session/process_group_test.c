/* process_group and gpu_groups: child processes, and the grouping of devices by model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/gpu_groups.h"
#include "session/process_group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void the_first_failure_counts(void **state) {
    (void)state;
    struct process_group group = {0};
    for (int c = 0; c < 3; c++)
        if (process_group_fork(&group) == 0)
            _exit(c == 1 ? 3 : 0);
    assert_false(process_group_wait(&group, NULL));
    assert_int_equal(group.status, 3);
    assert_int_equal(group.left, 0);
}

/* If the system has no more processes, the group fails with a printed error; the program does not
   abort. */
static void a_failed_fork_fails_the_group(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        struct process_group group = {0};
        setrlimit(RLIMIT_NPROC, &none);
        if (geteuid() == 0 && setuid(65534) < 0) /* root has no such limit */
            _exit(77);
        if (process_group_fork(&group) == 0)
            _exit(2);
        _exit(!process_group_wait(&group, NULL) && group.status == 1 && group.left == 0 ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(how), 0);
}

struct child_starter {
    int count;
    struct process_group *group;
};

/* As for runs on a queue: each model that arrives in the pipe starts another child. */
static void start_child_for_model(void *context, const struct device_info *model) {
    struct child_starter *child_starter = context;
    char name[32];
    snprintf(name, sizeof name, "model %d", child_starter->count++);
    assert_string_equal(model->name, name);
    if (process_group_fork(child_starter->group) == 0)
        _exit(0);
}

static void models_are_read_until_the_pipe_closes(void **state) {
    (void)state;
    int pipe_fds[2];
    struct process_group group = {0};
    struct child_starter child_starter = {.group = &group};
    assert_int_equal(pipe(pipe_fds), 0);
    if (process_group_fork(&group) == 0) {
        for (int m = 0; m < 5; m++) {
            struct device_info model = {0};
            snprintf(model.name, sizeof model.name, "model %d", m);
            if (write(pipe_fds[1], &model, sizeof model) != (ssize_t)sizeof model)
                _exit(1);
        }
        _exit(0);
    }
    close(pipe_fds[1]);
    const struct process_group_pipe from = {pipe_fds[0], start_child_for_model, &child_starter};
    assert_false(process_group_wait(&group, &from));
    assert_int_equal(child_starter.count, 5);
    assert_int_equal(group.count, 6);
    assert_int_equal(group.status, 0);
    close(pipe_fds[0]);
}

/* One child keeps sending us the signal until it is terminated; the other only waits. */
static void a_termination_is_forwarded(void **state) {
    int number = *(const int *)*state;
    struct process_group group = {0};
    signal(number, SIG_IGN);
    if (process_group_fork(&group) == 0)
        for (;;)
            pause();
    if (process_group_fork(&group) == 0)
        for (;;) {
            kill(getppid(), number);
            usleep(20000);
        }
    assert_true(process_group_wait(&group, NULL));
    assert_int_not_equal(group.status, 0);
    signal(number, SIG_DFL);
}

static void devices_are_grouped_by_model(void **state) {
    (void)state;
    static struct gpu_groups groups;
    struct device_info h200 = {.name = "NVIDIA H200", .sm_count = 132};
    struct device_info slice = {.name = "NVIDIA H200", .sm_count = 16};
    struct device_info l4 = {.name = "NVIDIA L4, emulated", .sm_count = 58};
    assert_string_equal(gpu_groups_find(&groups, &h200)->label, "nvidia-h200");
    assert_string_equal(gpu_groups_find(&groups, &slice)->label, "nvidia-h200-2");
    assert_string_equal(gpu_groups_find(&groups, &l4)->label, "nvidia-l4-emulated");
    strcpy(h200.spec, "cuda:7"); /* the device's number does not matter */
    assert_ptr_equal(gpu_groups_find(&groups, &h200), &groups.items[0]);
    assert_int_equal(groups.count, 3);
    for (int m = 0; m < 3; m++)
        groups.items[m].device_count = m + 1;
    groups.device_count = 6;
    assert_int_equal(gpu_groups_compile_workers(&groups, 2, 12), 6);
    assert_int_equal(gpu_groups_compile_workers(&groups, 0, 3), 1);
    assert_int_equal(gpu_groups_compile_workers(&groups, 0, 0), 0);
    for (int m = 3; m < DEVICES_MAX; m++) {
        snprintf(l4.name, sizeof l4.name, "model %d", m);
        assert_non_null(gpu_groups_find(&groups, &l4));
    }
    strcpy(l4.name, "one too many");
    assert_null(gpu_groups_find(&groups, &l4));
}

int main(void) {
    int term = SIGTERM, interrupt = SIGINT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(a_failed_fork_fails_the_group),
        cmocka_unit_test(models_are_read_until_the_pipe_closes),
        cmocka_unit_test_prestate(a_termination_is_forwarded, &term),
        {"so_is_an_interruption_of_us_alone", a_termination_is_forwarded, NULL, NULL, &interrupt},
        cmocka_unit_test(devices_are_grouped_by_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
