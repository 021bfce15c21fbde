#include "session/traces.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "pool/settings.h"
#include "session/image_cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 1024 };
static const double log_interval_s = 10;

/* Memory that the processes share. */
struct shared_traces {
    atomic_int next, done;
    atomic_flag has_error;
    struct error error;
    struct trace traces[]; /* sparse: each has room for many cases, most pages stay untouched */
};

struct traces {
    struct shared_traces *shared;
    size_t bytes;
    int count;
    const struct config *config;
    const struct device_info *info;
    const struct trace_request *requests;
};

static int trace_genomes(struct traces *traces, bool logs_progress) {
    struct shared_traces *shared = traces->shared;
    struct error error = {0};
    struct cache *cache = cache_new(NULL, 0);
    const struct image_cache images = image_cache_on_disk(cache);
    struct evaluation_settings settings;
    evaluation_settings_from_config(&settings, traces->config);
    struct tracer *tracer = tracer_new(&settings, traces->info, &images, &error);
    double logged_s = clock_seconds();
    int status = tracer != NULL ? 0 : -1;
    for (int i; status == 0 && (i = atomic_fetch_add(&shared->next, 1)) < traces->count;) {
        const struct trace_request *request = &traces->requests[i];
        status = tracer_run(tracer, request->goal, &request->genome, &shared->traces[i], &error);
        int done = atomic_fetch_add(&shared->done, 1) + 1;
        if (!logs_progress || clock_seconds() - logged_s < log_interval_s)
            continue;
        logged_s = clock_seconds();
        log_info("traced %d of %d genomes", done, traces->count);
    }
    if (status < 0 && !atomic_flag_test_and_set(&shared->has_error))
        shared->error = error;
    tracer_free(tracer);
    evaluation_settings_release(&settings);
    cache_free(cache);
    return status < 0;
}

static int run_processes(struct traces *traces, int jobs, struct error *error) {
    pid_t children[JOBS_MAX]; /* wait for these only: the caller may have other children */
    int started = 0;
    bool failed = false;
    fflush(NULL);
    for (; started < jobs && started < JOBS_MAX; started++) {
        pid_t child = fork();
        if (child == 0) {
            process_die_with_parent();
            _exit(trace_genomes(traces, started == 0));
        }
        if (child < 0)
            break;
        children[started] = child;
    }
    if (started == 0)
        return error_set(error, "cannot start a process: %s", strerror(errno));
    for (int i = 0; i < started; i++) {
        int status = -1;
        while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
            ;
        failed = failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    if (!failed)
        return 0;
    if (traces->shared->error.kind == ERROR_NONE)
        return error_set(error, "a process that traced genomes died");
    *error = traces->shared->error;
    return -1;
}

struct traces *traces_collect(const struct config *config, const struct device_info *info,
                              const struct trace_request *requests, int count, int jobs,
                              struct error *error) {
    struct traces *traces = xcalloc(1, sizeof *traces);
    *traces = (struct traces){.bytes = sizeof(struct shared_traces) +
                                       (size_t)count * sizeof(struct trace),
                              .count = count,
                              .config = config,
                              .info = info,
                              .requests = requests};
    traces->shared = mmap(NULL, traces->bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (traces->shared == MAP_FAILED) {
        traces->shared = NULL;
        error_set(error, "cannot map memory for %d genomes: %s: use fewer", count, strerror(errno));
    } else if (run_processes(traces, jobs, error) == 0) {
        return traces;
    }
    traces_free(traces);
    return NULL;
}

void traces_free(struct traces *traces) {
    if (traces == NULL)
        return;
    if (traces->shared != NULL)
        munmap(traces->shared, traces->bytes);
    free(traces);
}

const struct trace *traces_at(const struct traces *traces, int request) {
    const struct trace *survey = &traces->shared->traces[request];
    return survey->verdict == VERDICT_OK && survey->case_count > 0 ? survey : NULL;
}
