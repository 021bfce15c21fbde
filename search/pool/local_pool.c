#include "pool/local_pool.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/resource_limits.h"
#include "pool/local_pool_internal.h"

#include <math.h>

enum { TRIALS_A_WORKER = 400 };

/* ---- handing out jobs ---- */

static bool can_start_job(struct local_pool *local, const struct worker *worker) {
    const struct device_slot *slot = worker_slot(local, worker);
    return worker->ready && !worker->is_exiting && worker->job == NULL &&
           !(slot != NULL && slot->paused) && !worker_is_blocked(local, worker);
}

/* Gives an idle worker the next job of its stage. */
static int dispatch_job(struct local_pool *local, struct worker *worker, struct error *error) {
    struct job_list *waiting = &local->waiting[worker->stage];
    if (waiting->first == NULL || !can_start_job(local, worker))
        return 0;
    const int limit = local->settings.trials_a_worker;
    if (worker->trials_done >= (limit > 0 ? limit : TRIALS_A_WORKER))
        return worker_replace(local, worker, VERDICT_CRASHED, NULL, 5.0, error);
    worker_start_job(local, worker, job_list_pop(waiting));
    return 0;
}

static int serve_worker(struct local_pool *local, struct worker *worker, bool is_readable,
                        struct error *error) {
    if (worker_is_quarantined(local, worker))
        return 0;
    if (is_readable && worker_read(local, worker, error) < 0)
        return -1;
    if (worker_enforce_deadline(local, worker, error) < 0)
        return -1;
    return dispatch_job(local, worker, error);
}

static int local_pool_descriptors(const struct pool *pool, struct pollfd *polled, int limit) {
    const struct local_pool *local = (const struct local_pool *)pool;
    int count = 0;
    for (int w = 0; w < local->worker_count && count + 2 <= limit; w++) {
        const struct process *process = &local->workers[w].process;
        polled[count++] = (struct pollfd){.fd = process->from, .events = POLLIN}; /* output */
        polled[count++] = (struct pollfd){.fd = process->errors.from, .events = POLLIN};
    }
    return count;
}

/* Waits up to the timeout for messages, and serves every worker once. */
static int poll_once(struct local_pool *local, double timeout_s, struct error *error) {
    struct pollfd polled[2 * LOCAL_POOL_WORKERS_MAX];
    if (local_pool_check_zombies(local, error) < 0)
        return -1;
    int count = local_pool_descriptors(&local->pool, polled, 2 * LOCAL_POOL_WORKERS_MAX);
    int ready_count = poll(polled, (nfds_t)count, (int)(timeout_s * 1000));
    for (int w = 0; w < local->worker_count; w++) {
        bool is_readable =
            ready_count > 0 && (polled[2 * w].revents != 0 || polled[2 * w + 1].revents != 0);
        if (serve_worker(local, &local->workers[w], is_readable, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- starting ---- */

static int add_workers(struct local_pool *local, enum stage stage, int slot, int count,
                       struct error *error) {
    for (int i = 0; i < count; i++) {
        struct worker *worker = &local->workers[local->worker_count++];
        *worker = (struct worker){
            .stage = stage, .slot = slot, .process = {.to = -1, .from = -1, .errors.from = -1}};
        if (worker_spawn(local, worker, error) < 0)
            return -1;
    }
    return 0;
}

static int add_device_workers(struct local_pool *local, int count, struct error *error) {
    for (int p = 0; p < local->slots.count; p++)
        if (add_workers(local, STAGE_DEVICE, p, count, error) < 0)
            return -1;
    return 0;
}

/* The first worker of each device says what device it is, which decides how many more follow. */
static int add_other_workers(struct local_pool *local, struct error *error) {
    int per_device = local->settings.device_workers, devices = local->slots.count;
    int compilers = local->settings.compile_workers;
    while (!device_slots_all_described(&local->slots))
        if (poll_once(local, 0.1, error) < 0)
            return -1;
    if (per_device == 0)
        per_device =
            local->pool.device.predicts && devices == 1 ? resource_limits_read("").cores : 1;
    if (devices * per_device + compilers > LOCAL_POOL_WORKERS_MAX)
        return error_input(error,
                           "%d device workers and %d compile workers are more than the %d that a "
                           "local pool can have: ask for fewer",
                           devices * per_device, compilers, LOCAL_POOL_WORKERS_MAX);
    if (add_device_workers(local, per_device - 1, error) < 0)
        return -1;
    return add_workers(local, STAGE_COMPILE, ZOMBIE_NO_DEVICE, compilers, error);
}

/* ---- the pool ---- */

static struct local_pool *local_pool_of(const struct pool *pool) {
    return (struct local_pool *)pool;
}

static void local_pool_free(struct pool *pool) {
    struct local_pool *local = local_pool_of(pool);
    for (int w = 0; w < local->worker_count; w++) {
        struct worker *worker = &local->workers[w];
        worker_stop(local, worker, worker->job == NULL ? 2.0 : 0, NULL);
        if (worker->job != NULL)
            job_free(worker->job);
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        job_list_release(&local->waiting[stage]);
    job_list_release(&local->finished);
    champion_images_release(&local->champions);
    free((char *)local->settings.program);
    free((char *)local->settings.config_path);
    free((char *)local->settings.template_folder);
    free(local);
}

static int local_pool_device_count(const struct pool *pool) {
    return local_pool_of(pool)->slots.count;
}

static const struct device_info *local_pool_device_at(const struct pool *pool, int device) {
    return &local_pool_of(pool)->slots.items[device].info;
}

static int local_pool_capacity(const struct pool *pool) {
    const struct local_pool *local = local_pool_of(pool);
    int workers[STAGE_COUNT] = {0};
    for (int w = 0; w < local->worker_count; w++)
        workers[local->workers[w].stage] += !worker_is_quarantined(local, &local->workers[w]);
    return concurrency_limit(&local->concurrency, workers[STAGE_DEVICE], workers[STAGE_COMPILE]);
}

static int local_pool_list_workers(const struct pool *pool, struct pool_worker *workers,
                                   int limit) {
    const struct local_pool *local = local_pool_of(pool);
    int count = 0;
    for (int w = 0; w < local->worker_count; w++) {
        const struct worker *worker = &local->workers[w];
        if (worker_is_quarantined(local, worker) || count++ >= limit)
            continue;
        workers[count - 1] = (struct pool_worker){
            .role = stage_names[worker->stage],
            .state = worker->job != NULL  ? POOL_BUSY
                     : worker->is_exiting ? POOL_EXITING
                     : worker->ready      ? POOL_IDLE
                                          : POOL_STARTING,
            .trial = worker->job != NULL ? worker->job->request.number : -1,
            .since_s = clock_seconds() - worker->since_s,
        };
    }
    return count;
}

static void local_pool_pause(struct pool *pool, int device, bool paused) {
    local_pool_of(pool)->slots.items[device].paused = paused;
}

static void local_pool_submit(struct pool *pool, const struct trial_request *request) {
    struct local_pool *local = local_pool_of(pool);
    job_list_add(
        &local->waiting[local->settings.compile_workers > 0 ? STAGE_COMPILE : STAGE_DEVICE],
        job_new(request));
}

static void local_pool_set_champion(struct pool *pool, const struct trial_champion *champion) {
    struct local_pool *local = local_pool_of(pool);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        job_update_champions(local->waiting[stage].first, champion);
    for (int w = 0; w < local->worker_count; w++)
        if (local->workers[w].stage == STAGE_COMPILE) /* its job waits for a device yet */
            job_update_champions(local->workers[w].job, champion);
}

static int local_pool_poll(struct pool *pool, struct error *error) {
    struct local_pool *local = local_pool_of(pool);
    /* With a single worker, results are consumed one at a time, so that the champion that each
       trial is compared against does not depend on timing. */
    if (local->worker_count == 1 && local->finished.first != NULL)
        return 0;
    return poll_once(local, 0, error);
}

static int local_pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                           struct error *error) {
    struct local_pool *local = local_pool_of(pool);
    double end = clock_seconds() + timeout_s;
    do {
        struct job *job = job_list_pop(&local->finished);
        if (job != NULL) {
            trial_result_move(result, &job->result);
            job_free(job);
            return 1;
        }
        if (poll_once(local, fmax(0, fmin(0.1, end - clock_seconds())), error) < 0)
            return -1;
    } while (local->finished.first != NULL || clock_seconds() < end);
    return 0;
}

static const struct pool_backend local_pool_backend = {
    .free = local_pool_free,
    .device_count = local_pool_device_count,
    .device_at = local_pool_device_at,
    .capacity = local_pool_capacity,
    .list_workers = local_pool_list_workers,
    .pause = local_pool_pause,
    .submit = local_pool_submit,
    .set_champion = local_pool_set_champion,
    .poll = local_pool_poll,
    .wait = local_pool_wait,
    .descriptors = local_pool_descriptors,
};

struct pool *local_pool_start(const struct local_pool_settings *settings, struct error *error) {
    struct device_list list;
    if (device_list_read(&list, settings->devices, error) < 0)
        return NULL;
    struct local_pool *local = xcalloc(1, sizeof *local);
    local->pool.backend = &local_pool_backend;
    local->settings = *settings;
    local->settings.program = xstrdup(settings->program);
    local->settings.config_path = xstrdup(settings->config_path);
    local->settings.template_folder = xstrdup(settings->template_folder);
    local->settings.devices = NULL; /* the device slots have them */
    device_slots_init(&local->slots, &list);
    champion_images_init(&local->champions);
    if (add_device_workers(local, 1, error) == 0)
        return &local->pool;
    pool_free(&local->pool);
    return NULL;
}

int local_pool_finish_start(struct pool *pool, struct error *error) {
    return add_other_workers(local_pool_of(pool), error);
}

struct pool *local_pool_new(const struct local_pool_settings *settings, struct error *error) {
    struct pool *pool = local_pool_start(settings, error);
    if (pool == NULL || local_pool_finish_start(pool, error) == 0)
        return pool;
    pool_free(pool);
    return NULL;
}
