#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox.h"

enum { NO_SANDBOX = 100 };

static void *nothing(void *argument) {
    return argument;
}

static bool is_refused(long result) {
    return result == -1 && errno == EPERM;
}

/* The line of the first thing that is not as it should be; 0: none. */
static int try_all(bool may_exec) {
    char *const words[] = {"true", NULL};
    char *const no_environment[] = {NULL};
    pthread_t thread;
    if (sandbox_enter(may_exec) == SANDBOX_NONE)
        return NO_SANDBOX;
    if (!is_refused(socket(AF_INET, SOCK_STREAM, 0)) || !is_refused(socket(AF_UNIX, SOCK_DGRAM, 0)))
        return 1;
    if (!is_refused(socket(AF_NETLINK, SOCK_RAW, 0)))
        return 2;
    if (!is_refused(syscall(SYS_io_uring_setup, 1, NULL)))
        return 3;
#if !defined(__SANITIZE_ADDRESS__)
    if (!is_refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)))
        return 4;
#endif
    if (!is_refused(syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0)))
        return 5;
    /* What a worker does. */
    FILE *file = tmpfile();
    if (file == NULL || fputs("text", file) < 0 || fclose(file) != 0)
        return 6;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 7;
    int child = fork(), status = -1; /* a child has it, too */
    if (child == 0)
        _exit(is_refused(socket(AF_INET, SOCK_STREAM, 0)) ? 0 : 1);
    if (waitpid(child, &status, 0) != child || status != 0)
        return 8;
    if (!may_exec)
        return is_refused(execve("/bin/true", words, no_environment)) ? 0 : 9;
    execve("/bin/true", words, no_environment); /* its exit status is 0 */
    return 10;
}

static void expect_refused(bool may_exec) {
    int status;
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(try_all(may_exec));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_SANDBOX)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void nothing_reaches_the_network(void **state) {
    (void)state;
    expect_refused(false);
}

static void programs_may_start_where_they_are_needed(void **state) {
    (void)state;
    expect_refused(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_reaches_the_network),
        cmocka_unit_test(programs_may_start_where_they_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
