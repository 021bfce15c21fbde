#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "pool/zombie_workers.h"

/* A child that runs until it is killed. */
static pid_t start_child(void) {
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child;
}

/* Kills a child and waits until it has exited, without reaping it. */
static void end_child(pid_t child) {
    siginfo_t info;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void zombie_blocks_its_device_until_it_exits(void **state) {
    (void)state;
    struct zombie_workers zombies = {0};
    pid_t device = start_child(), compiler = start_child();
    zombie_workers_add(&zombies, "device", 3, 0); /* it exited in time */
    assert_int_equal(zombies.count, 0);
    zombie_workers_add(&zombies, "device", 3, device);
    zombie_workers_add(&zombies, "compile", ZOMBIE_NO_DEVICE, compiler);
    zombie_workers_remove_exited(&zombies);
    assert_true(zombie_workers_on_device(&zombies, 3));
    assert_false(zombie_workers_on_device(&zombies, 0));
    end_child(device);
    zombie_workers_remove_exited(&zombies);
    assert_false(zombie_workers_on_device(&zombies, 3));
    assert_int_equal(zombies.count, 1);
    assert_int_equal(zombies.items[0].pid, compiler);
    end_child(compiler);
    zombie_workers_remove_exited(&zombies);
    assert_int_equal(zombies.count, 0);
}

static void device_is_given_up_after_ten_minutes(void **state) {
    (void)state;
    struct error error = {0};
    struct zombie_workers zombies = {0};
    pid_t child = start_child();
    zombie_workers_add(&zombies, "device", 1, child);
    assert_int_equal(zombie_workers_check(&zombies, 1, &error), 0);
    zombies.items[0].killed_at_s = clock_seconds() - 590;
    assert_int_equal(zombie_workers_check(&zombies, 1, &error), 0);
    zombies.items[0].killed_at_s = clock_seconds() - 601;
    assert_int_equal(zombie_workers_check(&zombies, 0, &error), 0); /* another device */
    assert_int_equal(zombie_workers_check(&zombies, 1, &error), -1);
    assert_non_null(strstr(error.text, "nvidia-smi"));
    end_child(child);
    zombie_workers_remove_exited(&zombies);
}

static void full_list_drops_the_oldest(void **state) {
    (void)state;
    struct zombie_workers zombies = {0};
    for (int i = 0; i <= ZOMBIE_WORKERS_MAX; i++)
        zombie_workers_add(&zombies, "device", i, getpid());
    assert_int_equal(zombies.count, ZOMBIE_WORKERS_MAX);
    assert_false(zombie_workers_on_device(&zombies, 0));
    assert_true(zombie_workers_on_device(&zombies, 1));
    assert_true(zombie_workers_on_device(&zombies, ZOMBIE_WORKERS_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zombie_blocks_its_device_until_it_exits),
        cmocka_unit_test(device_is_given_up_after_ten_minutes),
        cmocka_unit_test(full_list_drops_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
