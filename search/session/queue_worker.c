#include "session/queue_worker.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "device/nvrtc.h"
#include "pool/local_pool.h"
#include "remote/consumer.h"
#include "remote/file_transfer.h"
#include "remote/run_discovery.h"
#include "remote/solution_cache.h"
#include "session/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The only state that a signal handler can reach. */
static volatile sig_atomic_t signals;

static void count_signal(int number) {
    (void)number;
    signals = signals + 1;
}

struct queue_worker {
    const struct queue_worker_settings *settings;
    struct connection *connection;
    struct run_discovery *discovery;
    double last_work_s; /* clock_seconds */
};

static bool must_stop(const struct queue_worker *worker) {
    return signals > 0 || (worker->settings->idle_s > 0 &&
                           clock_seconds() - worker->last_work_s > worker->settings->idle_s);
}

static void sleep_s(double seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

/* ---- working for one run ---- */

/* A run's folder, with what is judged there. */
struct working {
    char folder[PATH_SIZE];
    struct solution_cache *solutions; /* of a server; NULL: of a search */
};

static struct pool *open_local_pool(const struct queue_worker *worker,
                                    const struct working *working,
                                    const struct run_description *description,
                                    struct error *error) {
    int64_t compile_workers = worker->settings->compile_workers;
    /* What a server's workers load first; NULL: a search's load the run's own template. */
    char *first = working->solutions != NULL
                      ? solution_cache_folder(working->solutions, description->solution)
                      : NULL;
    struct config *config =
        first != NULL ? config_from_file(solution_cache_config(working->solutions), first, error)
                      : run_dir_read_config(working->folder, error);
    struct pool *local_pool = NULL;
    /* Only a compile worker is kept from reading other files (pool/worker_main.c), which what a
       server's clients send must not. */
    if (first != NULL && compile_workers == 0)
        compile_workers = 1;
    if (config != NULL) {
        const struct local_pool_settings settings = {
            .config_path = config->path,
            .template_folder = first != NULL ? first : config->template_folder,
            .devices = worker->settings->devices,
            .device_workers = (int)worker->settings->device_workers};
        local_pool = session_open_local_pool(config, &settings, compile_workers, error);
    }
    config_free(config);
    free(first);
    return local_pool;
}

static int describe_environment(const struct pool *local_pool, struct platform *platform,
                                struct error *error) {
    *platform = (struct platform){.device = *pool_device(local_pool), .method = TRIAL_METHOD};
    struct nvrtc *nvrtc = nvrtc_open(error);
    if (nvrtc == NULL)
        return -1;
    snprintf(platform->nvrtc, sizeof platform->nvrtc, "%s", nvrtc_version(nvrtc));
    nvrtc_close(nvrtc);
    return 0;
}

/* Returns 1 if the coordinator has accepted a worker of our kind, so that we may take trials; 0 if
   it has not decided yet; -1 if it accepted another kind. */
static int is_accepted(const struct run_description *description, const struct platform *platform,
                       struct error *error) {
    char why[256];
    if (!description->has_platform)
        return 0;
    return platform_same(platform, &description->platform, why)
               ? 1
               : error_set(error, "here, the %s", why);
}

static int serve_run(struct queue_worker *worker, struct run_description *description,
                     const struct working *working, struct pool *local_pool, struct error *error) {
    struct platform platform;
    double polled_s = 0;
    if (describe_environment(local_pool, &platform, error) < 0)
        return -1;
    struct consumer *consumer =
        consumer_new(worker->connection, description, local_pool, &platform, working->solutions);
    int ours = 0;
    int status = 0;
    while (status == 0 && !must_stop(worker)) {
        if (clock_seconds() - polled_s > (ours == 1 ? interval_s(INTERVAL_RUN_POLL) : 0.2) &&
            connection_is_up(worker->connection)) {
            struct run_description now;
            int there = run_discovery_read(worker->discovery, description->id, &now, error);
            polled_s = clock_seconds();
            if (there == 1) {
                ours = is_accepted(&now, &platform, error);
                for (int c = 0; c < now.champion_count; c++)
                    pool_set_champion(local_pool, &now.champions[c]);
                run_description_release(&now);
            }
            status = there < 0 || ours < 0 ? -1 : 0;
            if (there == 0 &&
                connection_is_up(
                    worker->connection)) /* the run ended, or its coordinator is gone */
                break;
        }
        if (status == 0)
            status = consumer_poll(consumer, ours == 1, error);
        if (consumer_idle_s(consumer) == 0)
            worker->last_work_s = clock_seconds();
    }
    consumer_free(consumer);
    return status;
}

/* Returns as file_transfer_download does. */
static int fetch_files(const struct queue_worker *worker, struct working *working,
                       const struct run_description *description, struct error *error) {
    int status = file_transfer_download(worker->connection, description, working->folder, error);
    if (status != 0 || *description->solution == '\0')
        return status;
    working->solutions = solution_cache_new(worker->connection, description->id, working->folder);
    status = solution_cache_fetch(working->solutions, description->solution, error);
    if (status == 0) /* workers that are replaced read it again */
        solution_cache_hold(working->solutions, description->solution);
    return status;
}

/* Returns 0 when the run has no more work; 1 if its files cannot be fetched now: try again later;
   -1, with the reason in `error`, if this host cannot work for it. */
static int work_for_run(struct queue_worker *worker, struct run_description *description,
                        struct error *error) {
    struct working working = {.solutions = NULL};
    struct pool *local_pool = NULL;
    const char *temporary = getenv("TMPDIR");
    snprintf(working.folder, sizeof working.folder, "%s/evotile.XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(working.folder) == NULL)
        return error_set(error, "cannot make %s: %s", working.folder, strerror(errno));
    int status = fetch_files(worker, &working, description, error);
    if (status == 0 && (local_pool = open_local_pool(worker, &working, description, error)) == NULL)
        status = -1;
    if (status == 0) {
        log_info("working for run %s, \"%s\", on %d x %s", description->id, description->name,
                 pool_device_count(local_pool), pool_device(local_pool)->name);
        worker->last_work_s = clock_seconds();
        status = serve_run(worker, description, &working, local_pool, error);
    }
    if (status == 0)
        log_info("run %s has no more work", description->id);
    pool_free(local_pool);
    solution_cache_free(working.solutions);
    path_remove_tree(working.folder, &(struct error){0});
    return status;
}

/* Reports a missing device at the start, not when the first run arrives. */
static int check_devices(const char *devices, struct error *error) {
    struct device_list list;
    struct device_info info;
    if (device_list_read(&list, devices, error) < 0)
        return -1;
    for (int d = 0; d < list.count; d++)
        if (device_describe(list.specs[d], &info, error) < 0)
            return -1;
    return 0;
}

int queue_worker_run(const struct queue_worker_settings *settings, struct error *error) {
    struct sigaction action = {.sa_handler = count_signal};
    if (check_devices(settings->devices, error) < 0)
        return -1;
    struct queue_worker *worker = xcalloc(1, sizeof *worker);
    worker->settings = settings;
    worker->last_work_s = clock_seconds();
    signals = 0; /* those of an earlier call do not stop this one */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    worker->connection = connection_open(&settings->connection, error);
    int status = worker->connection != NULL ? 0 : -1;
    if (status == 0) {
        worker->discovery = run_discovery_new(worker->connection);
        log_info("waiting for a run");
    }
    struct error last_warning = {0};
    while (status == 0 && !must_stop(worker)) {
        struct run_description description;
        struct error why = {0};
        int found = connection_is_up(worker->connection)
                        ? run_discovery_find(worker->discovery, &description, &why)
                        : 0;
        if (found < 0 &&
            strcmp(why.text, last_warning.text) != 0) { /* may be temporary: keep polling */
            log_warn("%s", why.text);
            last_warning = why;
        }
        int last_work_s = found == 1 ? work_for_run(worker, &description, &why) : 1;
        if (last_work_s < 0)
            run_discovery_reject(worker->discovery, description.id, &why);
        if (found == 1)
            run_description_release(&description);
        if (last_work_s == 1)
            sleep_s(interval_s(INTERVAL_RUN_POLL) / 4);
    }
    run_discovery_free(worker->discovery);
    connection_close(worker->connection);
    free(worker);
    return status;
}
