#include "base/sandbox.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
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

enum sandbox_state sandbox_enter(bool may_exec) {
    struct sock_filter with_exec[] = {PROLOGUE, REFUSED_CALLS, RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter without_exec[] = {PROLOGUE, REFUSED_CALLS, REFUSE_CALL(SYS_execve),
                                         REFUSE_CALL(SYS_execveat), RETURN(SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {
        .len = (unsigned short)(may_exec ? sizeof with_exec / sizeof *with_exec
                                         : sizeof without_exec / sizeof *without_exec),
        .filter = may_exec ? with_exec : without_exec,
    };
    /* Without it the filter would need CAP_SYS_ADMIN. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        return SANDBOX_NONE;
    return SANDBOX_ENTERED;
}

#else

enum sandbox_state sandbox_enter(bool may_exec) {
    (void)may_exec;
    return SANDBOX_NONE;
}

#endif
