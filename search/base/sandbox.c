#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)

enum { X32_SYSCALL_BIT = 0x40000000 }; /* the x32 calls have other numbers */

#define LOAD(field)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action)    BPF_STMT(BPF_RET | BPF_K, action)
#define REFUSE            RETURN(SECCOMP_RET_ERRNO | EPERM)
#define SKIP_UNLESS(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1)
#define REFUSE_CALL(call) SKIP_UNLESS(call), REFUSE

#define PROLOGUE                                                                                   \
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0), REFUSE, LOAD(nr),    \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_SYSCALL_BIT, 0, 1), REFUSE

/* LeakSanitizer stops the process's threads by ptrace. */
#if defined(__SANITIZE_ADDRESS__)
#define REFUSED_CALLS                                                                              \
    REFUSE_CALL(SYS_socket), REFUSE_CALL(SYS_socketpair), REFUSE_CALL(SYS_io_uring_setup),         \
        REFUSE_CALL(SYS_process_vm_writev)
#else
#define REFUSED_CALLS                                                                              \
    REFUSE_CALL(SYS_socket), REFUSE_CALL(SYS_socketpair), REFUSE_CALL(SYS_io_uring_setup),         \
        REFUSE_CALL(SYS_process_vm_writev), REFUSE_CALL(SYS_ptrace)
#endif

static bool restrict_calls(bool may_exec) {
    struct sock_filter with_exec[] = {PROLOGUE, REFUSED_CALLS, RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter without_exec[] = {PROLOGUE, REFUSED_CALLS, REFUSE_CALL(SYS_execve),
                                         REFUSE_CALL(SYS_execveat), RETURN(SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {
        .len = (unsigned short)(may_exec ? sizeof with_exec / sizeof *with_exec
                                         : sizeof without_exec / sizeof *without_exec),
        .filter = may_exec ? with_exec : without_exec,
    };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool has_calls(void) {
    return prctl(PR_GET_SECCOMP) >= 0;
}

#else

static bool restrict_calls(bool may_exec) {
    (void)may_exec;
    return false;
}

static bool has_calls(void) {
    return false;
}

#endif

/* ---- files ---- */

/* linux/landlock.h of this build may be older than the kernel: the numbers of the calls, the rights
   of its first version (all but executing and reading), and two later ones. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, RULE_PATH_BENEATH = 1 };
enum { GET_VERSION = 1 };
#define RIGHT_WRITE_FILE UINT64_C(0x2)
#define RIGHT_READ_FILE  UINT64_C(0x4)
#define RIGHT_READ_DIR   UINT64_C(0x8)
#define RIGHTS_FIRST     UINT64_C(0x1ff2)
#define RIGHT_REFER      UINT64_C(0x2000) /* version 2 */
#define RIGHT_TRUNCATE   UINT64_C(0x4000) /* version 3 */

struct landlock_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static uint64_t all_rights(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, GET_VERSION);
    return version < 1 ? 0
                       : RIGHTS_FIRST | (version > 1 ? RIGHT_REFER : 0) |
                             (version > 2 ? RIGHT_TRUNCATE : 0);
}

static bool allow_below(int rules, const char *path, uint64_t rights) {
    struct stat status;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return true;
    if (fstat(file, &status) == 0 && !S_ISDIR(status.st_mode))
        rights &= RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_READ_FILE;
    if (rights == 0) {
        close(file);
        return true;
    }
    const struct landlock_rule rule = {.allowed = rights, .parent = file};
    bool ok = syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0) == 0;
    close(file);
    return ok;
}

static bool restrict_rights(uint64_t rights, const char *const *folders) {
    int rules = rights != 0 ? (int)syscall(CREATE_RULESET, &rights, sizeof rights, 0) : -1;
    bool ok = rules >= 0;
    for (int i = 0; ok && folders[i] != NULL; i++)
        ok = allow_below(rules, folders[i], rights);
    ok = ok && syscall(RESTRICT_SELF, rules, 0) == 0;
    if (rules >= 0)
        close(rules);
    return ok;
}

/* ---- the thread that stays outside ---- */

enum { OPENED_PATH_SIZE = 64 };

struct open_request {
    char path[OPENED_PATH_SIZE];
    int flags;
};

struct open_answer {
    int file, error;
};

/* A sandbox belongs to the process. Zeros: no thread, files are opened directly. */
static struct { int to, from, requests, answers; /* ends of two pipes */ } outside;

static void *serve_outside(void *unused) {
    struct open_request request;
    while (read(outside.requests, &request, sizeof request) == sizeof request) {
        struct open_answer answer = {-1, EACCES};
        request.path[OPENED_PATH_SIZE - 1] = '\0';
        if (strncmp(request.path, "/proc/", strlen("/proc/")) == 0 &&
            strstr(request.path, "/fd/") != NULL)
            answer.file = open(request.path, request.flags | O_CLOEXEC);
        answer.error = answer.file < 0 && errno != 0 ? errno : answer.error;
        if (write(outside.answers, &answer, sizeof answer) != sizeof answer)
            break;
    }
    return unused;
}

static bool start_outside(void) {
    int requests[2], answers[2];
    pthread_t thread;
    if (pipe2(requests, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
        return false;
    outside.requests = requests[0];
    outside.to = requests[1];
    outside.from = answers[0];
    outside.answers = answers[1];
    if (pthread_create(&thread, NULL, serve_outside, NULL) == 0 && pthread_detach(thread) == 0)
        return true;
    outside.to = 0;
    return false;
}

int sandbox_open(const char *path, int flags) {
    struct open_request request = {.flags = flags};
    struct open_answer answer;
    if (outside.to == 0)
        return open(path, flags | O_CLOEXEC);
    snprintf(request.path, sizeof request.path, "%s", path);
    if (write(outside.to, &request, sizeof request) != sizeof request ||
        read(outside.from, &answer, sizeof answer) != sizeof answer)
        return -1;
    errno = answer.error;
    return answer.file;
}

/* ---- all of it ---- */

int sandbox_enter(bool may_exec, const char *const *folders) {
    int parts = 0;
    /* Without it a filter and a domain would need CAP_SYS_ADMIN. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return 0;
    if (folders != NULL && start_outside() && restrict_rights(all_rights(), folders))
        parts |= SANDBOX_FILES;
    return restrict_calls(may_exec) ? parts | SANDBOX_CALLS : parts;
}

bool sandbox_restrict_reading(const char *const *folders) {
    return all_rights() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           restrict_rights(RIGHT_READ_FILE | RIGHT_READ_DIR, folders);
}

int sandbox_available(void) {
    return (has_calls() ? SANDBOX_CALLS : 0) | (all_rights() != 0 ? SANDBOX_FILES : 0);
}
