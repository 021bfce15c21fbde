#include "cmd/surveys.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "cmd/images.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 1024 };
static const double between_lines_s = 10;

/* Memory that the processes share. */
struct shared {
    atomic_int next, done;
    atomic_flag complained;
    struct error error;
    struct survey surveys[]; /* sparse: each has room for many cases, most pages stay untouched */
};

struct surveys {
    struct shared *shared;
    size_t bytes;
    int count;
    const struct config *config;
    const struct device_info *info;
    const struct survey_order *orders;
};

static int work(struct surveys *surveys, bool tells) {
    struct shared *shared = surveys->shared;
    struct error error = {0};
    struct cache *cache = cache_new(NULL, 0);
    const struct image_cache images = images_cached(cache);
    struct surveyor *surveyor = surveyor_new(surveys->config, surveys->info, &images, &error);
    double told = clock_seconds();
    int status = surveyor != NULL ? 0 : -1;
    for (int i; status == 0 && (i = atomic_fetch_add(&shared->next, 1)) < surveys->count;) {
        const struct survey_order *order = &surveys->orders[i];
        status = surveyor_look(surveyor, order->goal, &order->genome, &shared->surveys[i], &error);
        int done = atomic_fetch_add(&shared->done, 1) + 1;
        if (!tells || clock_seconds() - told < between_lines_s)
            continue;
        told = clock_seconds();
        log_info("traced %d of %d genomes", done, surveys->count);
    }
    if (status < 0 && !atomic_flag_test_and_set(&shared->complained))
        shared->error = error;
    surveyor_free(surveyor);
    cache_free(cache);
    return status < 0;
}

static int start(struct surveys *surveys, int jobs, struct error *error) {
    pid_t children[JOBS_MAX]; /* wait for these only: the caller may have other children */
    int started = 0;
    bool failed = false;
    fflush(NULL);
    for (; started < jobs && started < JOBS_MAX; started++) {
        pid_t child = fork();
        if (child == 0) {
            process_die_with_parent();
            _exit(work(surveys, started == 0));
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
    if (surveys->shared->error.kind == ERROR_NONE)
        return error_set(error, "a process that traced genomes died");
    *error = surveys->shared->error;
    return -1;
}

struct surveys *surveys_take(const struct config *config, const struct device_info *info,
                             const struct survey_order *orders, int count, int jobs,
                             struct error *error) {
    struct surveys *surveys = calloc(1, sizeof *surveys);
    if (surveys == NULL)
        BUG("out of memory");
    *surveys =
        (struct surveys){.bytes = sizeof(struct shared) + (size_t)count * sizeof(struct survey),
                         .count = count,
                         .config = config,
                         .info = info,
                         .orders = orders};
    surveys->shared = mmap(NULL, surveys->bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (surveys->shared == MAP_FAILED) {
        surveys->shared = NULL;
        error_set(error, "cannot map memory for %d genomes: %s: use fewer", count, strerror(errno));
    } else if (start(surveys, jobs, error) == 0) {
        return surveys;
    }
    surveys_free(surveys);
    return NULL;
}

void surveys_free(struct surveys *surveys) {
    if (surveys == NULL)
        return;
    if (surveys->shared != NULL)
        munmap(surveys->shared, surveys->bytes);
    free(surveys);
}

const struct survey *surveys_of(const struct surveys *surveys, int order) {
    const struct survey *survey = &surveys->shared->surveys[order];
    return survey->verdict == VERDICT_OK && survey->case_count > 0 ? survey : NULL;
}
