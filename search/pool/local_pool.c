/* Starting workers, handling their failures and reading their messages all move the same jobs
   between the same lists, so they stay together in this long file. */
#include "pool/local_pool.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/resource_limits.h"
#include "pool/champion_images.h"
#include "pool/concurrency.h"
#include "pool/device_slots.h"
#include "pool/image_file.h"
#include "pool/job_list.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"
#include "pool/zombie_workers.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
    COMPILE_DEADLINE_S = 120,
    DEVICE_DEADLINE_S = 300,
    START_DEADLINE_S = 120,
    RECYCLE_AFTER_TRIALS = 400, /* restart a worker after so many trials, so that library leaks do
                            not add up overnight */
    EXIT_GRACE_S = 2,           /* for a worker that exits by itself */
    FAILED_STARTS_MAX = 3,      /* in a row, without a worker that became ready */
};

enum stage { STAGE_COMPILE, STAGE_DEVICE, STAGE_COUNT };
static const char *const stage_names[STAGE_COUNT] = {"compile", "device"};

struct worker {
    enum stage stage;
    int slot; /* index of its device slot; device workers only */
    struct process process;
    bool ready;
    bool is_exiting; /* it lost its CUDA context in its last trial and exits by itself */
    struct job *job; /* NULL: idle */
    double deadline; /* for the job, or for becoming ready */
    double since_s;  /* when it was started, became idle or got its job */
    int trials_done;
};

struct local_pool {
    struct pool pool; /* must be first; pool.device describes the first device that was ready */
    struct local_pool_settings settings;
    struct device_slots slots;
    int compile_failed_starts; /* as device_slot.failed_starts */
    int worker_count;
    struct worker workers[LOCAL_POOL_WORKERS_MAX];
    struct job_list waiting[STAGE_COUNT];
    struct job_list finished; /* jobs with their final result */
    struct zombie_workers zombie_workers;
    struct champion_images champions;
    struct concurrency concurrency;
};

/* ---- workers ---- */

/* Interpreter threads of a worker: all cores for the only worker of an emulated device, else
   one. */
static int worker_threads(const struct local_pool_settings *settings, int stage) {
    bool alone = stage == STAGE_DEVICE && settings->device_workers == 1;
    return alone ? resource_limits_read("").cores : 1;
}

/* The device that a worker opens, or that it compiles for. */
static const struct device_info *worker_device(const struct local_pool *local_pool,
                                               const struct worker *worker) {
    return worker->stage == STAGE_DEVICE ? &local_pool->slots.items[worker->slot].info
                                         : &local_pool->pool.device;
}

/* Takes ownership of the line. A dead worker shows as end of file on its pipe. */
static void send_message(struct worker *worker, char *line) {
    process_send(&worker->process, line);
    free(line);
}

static void send_start(const struct local_pool *local_pool, struct worker *worker) {
    const struct local_pool_settings *settings = &local_pool->settings;
    const struct worker_start start = {
        .has_device = worker->stage == STAGE_DEVICE,
        .threads = worker_threads(settings, worker->stage),
        .device = *worker_device(local_pool, worker),
        .config_path = (char *)settings->config_path,
        .template_folder = (char *)settings->template_folder,
    };
    send_message(worker, protocol_print_start(&start));
}

static int start_worker(struct local_pool *local_pool, struct worker *worker, struct error *error) {
    const char *const argv[] = {local_pool->settings.program, POOL_WORKER,
                                stage_names[worker->stage], worker_device(local_pool, worker)->spec,
                                NULL};
    if (process_start(&worker->process, argv, error) < 0)
        return -1;
    worker->ready = worker->is_exiting = false;
    worker->trials_done = 0;
    worker->since_s = clock_seconds();
    worker->deadline = worker->since_s + START_DEADLINE_S;
    send_start(local_pool, worker);
    return 0;
}

static void finish_job(struct local_pool *local_pool, struct job *job) {
    job_list_add(&local_pool->finished, job);
}

/* Ends the job of a worker that died or was killed, with that as the reason. */
static void end_job(struct local_pool *local_pool, struct job *job, enum verdict verdict,
                    const char *reason) {
    struct trial_result *result = &job->result;
    if (!job->is_compiled)
        trial_result_init(result, &job->request);
    trial_add_gate(result, "worker", false, 0, "%.150s", reason);
    trial_set_verdict(result, verdict, reason);
    finish_job(local_pool, job);
}

/* ---- devices that fail ---- */

/* The kernel of a killed device worker that has not exited may still run: nothing is timed
   beside it. */
static bool is_blocked_by_zombie(const struct local_pool *local_pool, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE &&
           zombie_workers_on_device(&local_pool->zombie_workers, worker->slot);
}

static bool is_quarantined(const struct local_pool *local_pool, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE && local_pool->slots.items[worker->slot].quarantined;
}

/* Takes a device out of service for the reason in `error` and queues its workers' jobs again.
   Returns 0, or -1 if it is the last active device. */
static int quarantine_device(struct local_pool *local_pool, int slot, const struct error *error) {
    if (device_slots_active_count(&local_pool->slots) == 1)
        return -1;
    local_pool->slots.items[slot].quarantined = true;
    log_warn("%s is quarantined, and the search continues on the %d remaining: %s",
             local_pool->slots.items[slot].info.spec, device_slots_active_count(&local_pool->slots),
             error->text);
    for (int w = 0; w < local_pool->worker_count; w++) {
        struct worker *worker = &local_pool->workers[w];
        if (worker->stage != STAGE_DEVICE || worker->slot != slot)
            continue;
        zombie_workers_add(&local_pool->zombie_workers, stage_names[STAGE_DEVICE], slot,
                           process_stop(&worker->process, 0, NULL, 0));
        if (worker->job != NULL)
            job_list_add(&local_pool->waiting[STAGE_DEVICE], worker->job);
        worker->job = NULL;
        worker->ready = false;
        worker->deadline = INFINITY;
    }
    return 0;
}

/* Records a verdict for a device, and quarantines the device if it lost too many trials in a
   row. */
static void record_trial_end(struct local_pool *local_pool, int slot, enum verdict verdict) {
    struct error error = {0};
    if (!local_pool->slots.items[slot].quarantined &&
        device_slots_record_trial(&local_pool->slots, slot, verdict, &error) < 0 &&
        quarantine_device(local_pool, slot, &error) < 0)
        BUG("the last device was quarantined for its crash rate");
}

static int check_zombie_workers(struct local_pool *local_pool, struct error *error) {
    zombie_workers_remove_exited(&local_pool->zombie_workers);
    for (int p = 0; p < local_pool->slots.count; p++)
        if (!local_pool->slots.items[p].quarantined &&
            zombie_workers_check(&local_pool->zombie_workers, p, error) < 0 &&
            quarantine_device(local_pool, p, error) < 0)
            return -1;
    return 0;
}

/* Replaces a worker that exited or must exit. Its job, if any, ends with `verdict`;
   `reason_given` NULL: the reason is how the worker ended. */
static int replace_worker(struct local_pool *local_pool, struct worker *worker,
                          enum verdict verdict, const char *reason_given, double grace_s,
                          struct error *error) {
    char exit_text[128] = "";
    char reason[REASON_SIZE];
    bool has_device = worker->stage == STAGE_DEVICE;
    int *failed_starts = has_device ? &local_pool->slots.items[worker->slot].failed_starts
                                    : &local_pool->compile_failed_starts;
    bool was_ready = worker->ready;
    pid_t zombie_pid = process_stop(&worker->process, grace_s, exit_text, sizeof exit_text);
    zombie_workers_add(&local_pool->zombie_workers, stage_names[worker->stage],
                       has_device ? worker->slot : ZOMBIE_NO_DEVICE, zombie_pid);
    if (worker->job != NULL) {
        snprintf(reason, sizeof reason, "%s", reason_given != NULL ? reason_given : "");
        if (reason_given == NULL)
            snprintf(reason, sizeof reason, "the %s worker was %s", stage_names[worker->stage],
                     exit_text);
        end_job(local_pool, worker->job, verdict, reason);
        worker->job = NULL;
        if (has_device)
            record_trial_end(local_pool, worker->slot, verdict);
    }
    *failed_starts = was_ready ? 0 : *failed_starts + 1;
    if (is_quarantined(local_pool, worker))
        return 0;
    if (*failed_starts < FAILED_STARTS_MAX)
        return start_worker(local_pool, worker, error);
    error_set(error, "the %s worker does not start (%s): try `evotile doctor`",
              stage_names[worker->stage], exit_text);
    return has_device ? quarantine_device(local_pool, worker->slot, error) : -1;
}

/* ---- messages ---- */

/* Keeps the machine code of a job that becomes its goal's champion: the next jobs have duels
   against it. */
static void keep_champion(struct local_pool *local_pool, struct job *job) {
    const struct outcome *outcome = &job->result.outcome;
    const struct trial_request *request = &job->request;
    if (job->images < 0 || outcome->verdict != VERDICT_OK || outcome->predicted ||
        (request->champion_us > 0 && outcome->score_us >= request->champion_us))
        return;
    champion_images_add(&local_pool->champions, request->goal, &request->genome, job->images);
    job->images = -1;
}

/* A device worker's result replaces the compile worker's, but keeps its compile time. */
static void take_result(struct local_pool *local_pool, struct worker *worker,
                        struct trial_result *result) {
    struct job *job = worker->job;
    enum verdict verdict = result->outcome.verdict;
    double now = clock_seconds();
    concurrency_record(worker->stage == STAGE_COMPILE ? &local_pool->concurrency.compile
                                                      : &local_pool->concurrency.evaluate,
                       now - worker->since_s);
    worker->job = NULL;
    worker->deadline = INFINITY; /* an idle worker has no deadline */
    worker->since_s = now;
    worker->trials_done++;
    if (worker->stage == STAGE_COMPILE) {
        trial_result_move(&job->result, result);
        job->is_compiled = true;
        if (verdict == VERDICT_OK)
            job_list_add(&local_pool->waiting[STAGE_DEVICE], job);
        else
            finish_job(local_pool, job);
        return;
    }
    if (job->is_compiled) {
        result->outcome.compile_s = job->result.outcome.compile_s;
        trial_result_release(&job->result);
    }
    trial_result_move(&job->result, result);
    keep_champion(local_pool, job);
    finish_job(local_pool, job);
    worker->is_exiting = !local_pool->pool.device.predicts &&
                         (verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT);
    if (worker->is_exiting)
        worker->deadline = clock_seconds() + EXIT_GRACE_S;
    record_trial_end(local_pool, worker->slot, verdict);
}

static int take_device(struct local_pool *local_pool, int slot, const struct device_info *info,
                       struct error *error) {
    bool first = device_slots_first_active(&local_pool->slots) < 0;
    if (device_slots_describe(&local_pool->slots, slot, info, error) < 0)
        return -1;
    if (first)
        local_pool->pool.device = *info;
    return 0;
}

static int take_message(struct local_pool *local_pool, struct worker *worker, const char *line,
                        struct error *error) {
    struct protocol_message message;
    if (protocol_read(line, &message, error) < 0)
        return -1;
    switch (message.kind) {
    case PROTOCOL_DEVICE:
        worker->ready = true;
        worker->deadline = INFINITY;
        worker->since_s = clock_seconds();
        if (worker->stage == STAGE_DEVICE)
            return take_device(local_pool, worker->slot, &message.device, error);
        local_pool->compile_failed_starts = 0;
        return 0;
    case PROTOCOL_RESULT:
        if (worker->job != NULL && worker->job->request.number == message.result.number)
            take_result(local_pool, worker, &message.result);
        else
            protocol_message_release(&message);
        return 0;
    case PROTOCOL_FAILURE:
        *error = message.failure;
        return worker->stage == STAGE_DEVICE && error->kind != ERROR_INPUT
                   ? quarantine_device(local_pool, worker->slot, error)
                   : -1;
    default:
        protocol_message_release(&message);
        return error_set(error, "a worker sent a message that only the parent sends");
    }
}

static int read_messages(struct local_pool *local_pool, struct worker *worker,
                         struct error *error) {
    char *line;
    process_read_output(&worker->process);
    while (!is_quarantined(local_pool, worker) &&
           (line = process_next_line(&worker->process)) != NULL)
        if (take_message(local_pool, worker, line, error) < 0)
            return -1;
    if (!worker->process.ended || is_quarantined(local_pool, worker))
        return 0;
    /* A device worker exits by itself after a hang or a lost context; that trial already has its
       result. */
    local_pool->pool.restarts++;
    return replace_worker(local_pool, worker, VERDICT_CRASHED, NULL, 1.0, error);
}

static double stage_deadline(const struct local_pool *local_pool, enum stage stage) {
    if (local_pool->settings.deadline_s > 0)
        return local_pool->settings.deadline_s;
    return stage == STAGE_COMPILE ? COMPILE_DEADLINE_S : DEVICE_DEADLINE_S;
}

static int enforce_deadline(struct local_pool *local_pool, struct worker *worker,
                            struct error *error) {
    char reason[REASON_SIZE];
    if (clock_seconds() < worker->deadline)
        return 0;
    if (!worker->ready && is_blocked_by_zombie(local_pool, worker)) { /* the replacement waits for
                                                         the driver, too */
        worker->deadline = clock_seconds() + START_DEADLINE_S;
        return 0;
    }
    local_pool->pool.restarts++;
    snprintf(reason, sizeof reason, "the %s worker was killed after %g s",
             stage_names[worker->stage], stage_deadline(local_pool, worker->stage));
    return replace_worker(local_pool, worker, VERDICT_TIMEOUT, reason, 0, error);
}

/* Names the files of machine code: a compile worker fills the job's; a device worker uses it. */
static void send_images(struct local_pool *local_pool, struct worker *worker) {
    struct job *job = worker->job;
    const struct trial_opponent *opponent = &job->request.opponent;
    struct worker_images images = {.candidate = ""};
    int champion = -1;
    if (worker->stage == STAGE_COMPILE && job->images < 0)
        job->images = image_file_new();
    if (worker->stage == STAGE_DEVICE && opponent->present && opponent->config == NULL)
        champion = champion_images_find(&local_pool->champions, opponent->goal, &opponent->genome);
    if (job->images >= 0)
        image_file_path(job->images, images.candidate);
    if (champion >= 0)
        image_file_path(champion, images.champion);
    if (job->images >= 0 || champion >= 0)
        send_message(worker, protocol_print_images(&images));
}

/* Gives an idle worker the next job of its stage. */
static int dispatch_job(struct local_pool *local_pool, struct worker *worker, struct error *error) {
    if (!worker->ready || worker->is_exiting || worker->job != NULL ||
        (worker->stage == STAGE_DEVICE && local_pool->slots.items[worker->slot].paused) ||
        is_blocked_by_zombie(local_pool, worker) ||
        local_pool->waiting[worker->stage].first == NULL)
        return 0;
    if (worker->trials_done >= RECYCLE_AFTER_TRIALS)
        return replace_worker(local_pool, worker, VERDICT_CRASHED, NULL, 5.0, error);
    worker->job = job_list_pop(&local_pool->waiting[worker->stage]);
    worker->since_s = clock_seconds();
    worker->deadline = worker->since_s + stage_deadline(local_pool, worker->stage);
    send_images(local_pool, worker);
    send_message(worker, protocol_print_request(&worker->job->request));
    return 0;
}

/* Waits up to the timeout for messages, reads them, enforces deadlines and dispatches jobs. */
static int poll_once(struct local_pool *local_pool, double timeout_s, struct error *error) {
    struct pollfd polled[LOCAL_POOL_WORKERS_MAX];
    if (check_zombie_workers(local_pool, error) < 0)
        return -1;
    for (int w = 0; w < local_pool->worker_count; w++)
        polled[w] = (struct pollfd){.fd = local_pool->workers[w].process.from, .events = POLLIN};
    int ready_count = poll(polled, (nfds_t)local_pool->worker_count, (int)(timeout_s * 1000));
    for (int w = 0; w < local_pool->worker_count; w++) {
        struct worker *worker = &local_pool->workers[w];
        if (is_quarantined(local_pool, worker))
            continue;
        if (ready_count > 0 && polled[w].revents != 0 &&
            read_messages(local_pool, worker, error) < 0)
            return -1;
        if (enforce_deadline(local_pool, worker, error) < 0 ||
            dispatch_job(local_pool, worker, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- the pool ---- */

static struct local_pool *local_pool_of(const struct pool *pool) {
    return (struct local_pool *)pool;
}

static void add_worker(struct local_pool *local_pool, enum stage stage, int slot) {
    if (local_pool->worker_count == LOCAL_POOL_WORKERS_MAX)
        BUG("more than %d workers in a local pool", LOCAL_POOL_WORKERS_MAX);
    local_pool->workers[local_pool->worker_count++] =
        (struct worker){.stage = stage, .slot = slot, .process = {.to = -1, .from = -1}};
}

static int start_workers_from(struct local_pool *local_pool, int first, struct error *error) {
    for (int w = first; w < local_pool->worker_count; w++)
        if (start_worker(local_pool, &local_pool->workers[w], error) < 0)
            return -1;
    return 0;
}

static int start_all_workers(struct local_pool *local_pool, struct error *error) {
    int device_workers = local_pool->settings.device_workers;
    for (int p = 0; p < local_pool->slots.count; p++)
        add_worker(local_pool, STAGE_DEVICE, p);
    if (start_workers_from(local_pool, 0, error) < 0)
        return -1;
    while (!device_slots_all_described(&local_pool->slots))
        if (poll_once(local_pool, 0.1, error) < 0)
            return -1;
    int first = local_pool->worker_count;
    if (device_workers == 0)
        device_workers = local_pool->pool.device.predicts && local_pool->slots.count == 1
                             ? resource_limits_read("").cores
                             : 1;
    if (local_pool->slots.count * device_workers + local_pool->settings.compile_workers >
        LOCAL_POOL_WORKERS_MAX)
        return error_input(error,
                           "%d device workers and %d compile workers are more than the %d that a "
                           "local pool can have: ask for fewer",
                           local_pool->slots.count * device_workers,
                           local_pool->settings.compile_workers, LOCAL_POOL_WORKERS_MAX);
    for (int p = 0; p < local_pool->slots.count; p++)
        for (int i = 1; i < device_workers; i++)
            add_worker(local_pool, STAGE_DEVICE, p);
    for (int i = 0; i < local_pool->settings.compile_workers; i++)
        add_worker(local_pool, STAGE_COMPILE, 0);
    return start_workers_from(local_pool, first, error);
}

static void local_pool_free(struct pool *pool) {
    struct local_pool *local_pool = local_pool_of(pool);
    for (int w = 0; w < local_pool->worker_count; w++) {
        struct worker *worker = &local_pool->workers[w];
        pid_t zombie_pid = process_stop(&worker->process, worker->job == NULL ? 2.0 : 0, NULL, 0);
        zombie_workers_add(&local_pool->zombie_workers, stage_names[worker->stage], worker->slot,
                           zombie_pid);
        if (worker->job != NULL)
            job_free(worker->job);
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        job_list_release(&local_pool->waiting[stage]);
    job_list_release(&local_pool->finished);
    champion_images_release(&local_pool->champions);
    free((char *)local_pool->settings.program);
    free((char *)local_pool->settings.config_path);
    free((char *)local_pool->settings.template_folder);
    free(local_pool);
}

static int local_pool_device_count(const struct pool *pool) {
    return local_pool_of(pool)->slots.count;
}

static const struct device_info *local_pool_device_at(const struct pool *pool, int device) {
    return &local_pool_of(pool)->slots.items[device].info;
}

static int local_pool_capacity(const struct pool *pool) {
    const struct local_pool *local_pool = local_pool_of(pool);
    int workers[STAGE_COUNT] = {0};
    for (int w = 0; w < local_pool->worker_count; w++)
        workers[local_pool->workers[w].stage] +=
            !is_quarantined(local_pool, &local_pool->workers[w]);
    return concurrency_limit(&local_pool->concurrency, workers[STAGE_DEVICE],
                             workers[STAGE_COMPILE]);
}

static int local_pool_list_workers(const struct pool *pool, struct pool_worker *workers,
                                   int limit) {
    const struct local_pool *local_pool = local_pool_of(pool);
    int count = 0;
    for (int w = 0; w < local_pool->worker_count; w++) {
        const struct worker *worker = &local_pool->workers[w];
        if (is_quarantined(local_pool, worker) || count++ >= limit)
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
    struct local_pool *local_pool = local_pool_of(pool);
    job_list_add(&local_pool->waiting[local_pool->settings.compile_workers > 0 ? STAGE_COMPILE
                                                                               : STAGE_DEVICE],
                 job_new(request));
}

static void local_pool_set_champion(struct pool *pool, const struct trial_champion *champion) {
    struct local_pool *local_pool = local_pool_of(pool);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        job_update_champions(local_pool->waiting[stage].first, champion);
    for (int w = 0; w < local_pool->worker_count; w++)
        if (local_pool->workers[w].stage == STAGE_COMPILE) /* its job waits for a device yet */
            job_update_champions(local_pool->workers[w].job, champion);
}

static int local_pool_poll(struct pool *pool, struct error *error) {
    struct local_pool *local_pool = local_pool_of(pool);
    /* With a single worker, results are consumed one at a time, so that the champion that each
       trial is compared against does not depend on timing. */
    if (local_pool->worker_count == 1 && local_pool->finished.first != NULL)
        return 0;
    return poll_once(local_pool, 0, error);
}

static int local_pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                           struct error *error) {
    struct local_pool *local_pool = local_pool_of(pool);
    double end = clock_seconds() + timeout_s;
    do {
        struct job *job = job_list_pop(&local_pool->finished);
        if (job != NULL) {
            trial_result_move(result, &job->result);
            job_free(job);
            return 1;
        }
        if (poll_once(local_pool, fmax(0, fmin(0.1, end - clock_seconds())), error) < 0)
            return -1;
    } while (local_pool->finished.first != NULL || clock_seconds() < end);
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
};

static const char *copy_text(const char *text) {
    char *copy = xstrdup(text);
    return copy;
}

struct pool *local_pool_new(const struct local_pool_settings *settings, struct error *error) {
    struct device_list list;
    if (device_list_read(&list, settings->devices, error) < 0)
        return NULL;
    struct local_pool *local_pool = xcalloc(1, sizeof *local_pool);
    local_pool->pool.backend = &local_pool_backend;
    local_pool->settings = *settings;
    local_pool->settings.program = copy_text(settings->program);
    local_pool->settings.config_path = copy_text(settings->config_path);
    local_pool->settings.template_folder = copy_text(settings->template_folder);
    local_pool->settings.devices = NULL; /* the device slots have them */
    device_slots_init(&local_pool->slots, &list);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        job_list_init(&local_pool->waiting[stage]);
    job_list_init(&local_pool->finished);
    champion_images_init(&local_pool->champions);
    if (start_all_workers(local_pool, error) == 0)
        return &local_pool->pool;
    pool_free(&local_pool->pool);
    return NULL;
}
