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
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
    if ((sandbox_enter(may_exec, NULL) & SANDBOX_CALLS) == 0)
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

/* The line of the first thing that is not as it should be; 0: none. */
static int try_files(const char *allowed, const char *forbidden, int parent_file) {
    char inside[256], outside[256], path[64];
    const char *const folders[] = {allowed, "/dev/null", "/no/such/folder", NULL};
    snprintf(inside, sizeof inside, "%s/new", allowed);
    snprintf(outside, sizeof outside, "%s/old", forbidden);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), parent_file);
    if ((sandbox_enter(false, folders) & SANDBOX_FILES) == 0)
        return NO_SANDBOX;
    int file = open(inside, O_WRONLY | O_CREAT, 0600);
    if (file < 0 || write(file, "x", 1) != 1 || unlink(inside) != 0)
        return 11;
    if (open("/dev/null", O_WRONLY) < 0 || open(outside, O_RDONLY) < 0)
        return 12;
    if (open(outside, O_WRONLY) >= 0 || errno != EACCES)
        return 13;
    if (unlink(outside) == 0 || truncate(outside, 0) == 0)
        return 14;
    snprintf(outside, sizeof outside, "%s/new", forbidden);
    if (open(outside, O_WRONLY | O_CREAT, 0600) >= 0 || mkdir(outside, 0700) == 0 ||
        symlink("/etc", outside) == 0)
        return 15;
    /* What the parent has open, and nothing else, goes through the thread outside. */
    file = sandbox_open(path, O_WRONLY | O_TRUNC);
    if (file < 0 || write(file, "seen", 4) != 4)
        return 16;
    snprintf(outside, sizeof outside, "%s/old", forbidden);
    if (sandbox_open(outside, O_WRONLY) >= 0)
        return 17;
    /* Reading: below the folders, from now on. */
    const char *const read[] = {allowed, "/dev/null", NULL};
    if (!sandbox_restrict_reading(read))
        return 18;
    if (open(outside, O_RDONLY) >= 0 || errno != EACCES || open(forbidden, O_RDONLY) >= 0)
        return 19;
    file = open(inside, O_RDWR | O_CREAT, 0600);
    if (file < 0 || unlink(inside) != 0 || open("/dev/null", O_RDONLY) < 0)
        return 20;
    return open(allowed, O_RDONLY) >= 0 ? 0 : 21;
}

static void files_are_written_below_the_folders_alone(void **state) {
    (void)state;
    char allowed[] = "/tmp/evotile-sandbox-XXXXXX", forbidden[] = "/tmp/evotile-sandbox-XXXXXX";
    char path[64], seen[5] = "";
    int status;
    assert_true(mkdtemp(allowed) != NULL && mkdtemp(forbidden) != NULL);
    snprintf(path, sizeof path, "%s/old", forbidden);
    int old = open(path, O_WRONLY | O_CREAT, 0600);
    int memory = memfd_create("test", MFD_CLOEXEC);
    assert_true(old >= 0 && memory >= 0);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(try_files(allowed, forbidden, memory));
    assert_int_equal(waitpid(child, &status, 0), child);
    bool is_whole = access(path, F_OK) == 0;
    unlink(path);
    rmdir(allowed);
    rmdir(forbidden);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_SANDBOX)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(is_whole);
    assert_int_equal(pread(memory, seen, 4, 0), 4);
    assert_string_equal(seen, "seen");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_written_below_the_folders_alone),
        cmocka_unit_test(nothing_reaches_the_network),
        cmocka_unit_test(programs_may_start_where_they_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
