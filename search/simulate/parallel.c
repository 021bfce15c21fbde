#include "simulate/parallel.h"

#include "base/memory.h"
#include "base/process.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct parallel {
    size_t bytes; /* of all of it */
    atomic_int next;
    atomic_flag has_error;
    struct error error; /* of the first task that failed */
    max_align_t results[];
};

struct parallel *parallel_new(size_t result_bytes, struct error *error) {
    const size_t bytes = sizeof(struct parallel) + result_bytes;
    struct parallel *parallel =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (parallel == MAP_FAILED) {
        error_set(error, "%zu bytes of results: %s: simulate fewer at once", result_bytes,
                  strerror(errno));
        return NULL;
    }
    parallel->bytes = bytes;
    return parallel;
}

void parallel_free(struct parallel *parallel) {
    if (parallel != NULL)
        munmap(parallel, parallel->bytes);
}

void *parallel_results(struct parallel *parallel) {
    return parallel->results;
}

static int do_tasks(struct parallel *parallel, int count, parallel_task *task, void *context) {
    struct error error = {0};
    int number;
    while ((number = atomic_fetch_add(&parallel->next, 1)) < count)
        if (task(context, number, &error) < 0) {
            if (!atomic_flag_test_and_set(&parallel->has_error))
                parallel->error = error;
            return 1;
        }
    return 0;
}

int parallel_run(struct parallel *parallel, int jobs, int count, parallel_task *task, void *context,
                 struct error *error) {
    pid_t *children = xcalloc((size_t)jobs, sizeof *children); /* the caller may have others */
    int started = 0;
    bool failed = false;
    fflush(NULL);
    for (; started < jobs; started++) {
        children[started] = fork();
        if (children[started] == 0) {
            process_die_with_parent();
            _exit(do_tasks(parallel, count, task, context));
        }
        if (children[started] < 0)
            break;
    }
    if (started == 0)
        error_set(error, "cannot start a process: %s", strerror(errno));
    for (int i = 0; i < started; i++) {
        int status = -1;
        while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
            ;
        failed = failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    free(children);
    if (started == 0)
        return -1;
    if (!failed)
        return 0;
    if (parallel->error.kind == ERROR_NONE)
        return error_set(error, "a simulating process died");
    *error = parallel->error;
    return -1;
}
