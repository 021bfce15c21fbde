#include "trial/pool.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "trial/wire.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 256,
    COMPILE_DEADLINE_S = 120,
    DEVICE_DEADLINE_S = 300,
    START_DEADLINE_S = 120,
    RECYCLE_AFTER = 400, /* trials of one worker: what a library leaks does not add up overnight */
    LEAVE_S = 2,         /* for a worker that ends by itself */
    DEATHS_MAX = 3,      /* in a row, before a worker was ready */
    GHOSTS_MAX = 8,
    GHOST_PATIENCE_S = 600,
};

enum stage { STAGE_COMPILE, STAGE_DEVICE, STAGE_COUNT };
static const char *const stage_names[STAGE_COUNT] = {"compile", "device"};

/* A trial on its way; a list of them is a queue. */
struct flight {
    struct flight *next;
    struct trial_request request;
    struct trial_result compiled; /* what the compile worker said */
    bool was_compiled;
};

struct queue {
    struct flight *first, **end;
};

struct worker {
    enum stage stage;
    struct process process;
    bool ready;
    bool leaving;          /* it lost its GPU with its last trial, and ends by itself */
    struct flight *flight; /* NULL: idle */
    double deadline;       /* for the flight, or for getting ready */
    double since;          /* when it was started, became idle or got its flight */
    int done;
};

/* A worker that was killed and has not gone: a driver that clears up after a hang can hold it. */
struct ghost {
    enum stage stage;
    pid_t process;
    double since;
};

struct pool {
    struct pool_settings settings;
    struct device_info device;
    bool device_known;
    int worker_count;
    struct worker workers[WORKERS_MAX];
    struct queue waiting[STAGE_COUNT];
    struct queue finished; /* flights whose `compiled` is the final result */
    struct ghost ghosts[GHOSTS_MAX];
    int ghost_count;
    int in_flight, restarts;
    bool paused;
    int deaths; /* in a row before being ready */
};

static void queue_add(struct queue *queue, struct flight *flight) {
    flight->next = NULL;
    *queue->end = flight;
    queue->end = &flight->next;
}

static struct flight *queue_take(struct queue *queue) {
    struct flight *flight = queue->first;
    if (flight == NULL)
        return NULL;
    queue->first = flight->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    return flight;
}

/* ---- workers ---- */

static int start_worker(struct pool *pool, struct worker *worker, struct error *error) {
    const struct pool_settings *settings = &pool->settings;
    /* Once it is known which device "auto" means, it stays that one. */
    const char *device = pool->device_known ? pool->device.spec : settings->device;
    const char *const argv[] = {settings->program,
                                "worker",
                                "--role",
                                stage_names[worker->stage],
                                "--config",
                                settings->config_path,
                                "--template",
                                settings->template_folder,
                                "--device",
                                device,
                                NULL};
    if (process_start(&worker->process, argv, error) < 0)
        return -1;
    worker->ready = worker->leaving = false;
    worker->done = 0;
    worker->since = clock_seconds();
    worker->deadline = worker->since + START_DEADLINE_S;
    if (worker->stage == STAGE_COMPILE) { /* it has no device of its own to describe */
        char *line = wire_print_device(&pool->device);
        process_send(&worker->process, line);
        free(line);
    }
    return 0;
}

static void finish(struct pool *pool, struct flight *flight) {
    queue_add(&pool->finished, flight);
}

/* The trial that a worker had ends here, for a reason that is the worker's end. */
static void end_flight(struct pool *pool, struct flight *flight, enum verdict verdict,
                       const char *reason) {
    struct trial_result *result = &flight->compiled;
    if (!flight->was_compiled)
        *result = (struct trial_result){.number = flight->request.number,
                                        .goal = flight->request.goal,
                                        .genome = flight->request.genome,
                                        .rival = -1};
    trial_gate(result, "worker", false, 0, "%.150s", reason);
    trial_end(result, verdict, reason);
    finish(pool, flight);
}

/* ---- ghosts ---- */

static void warn_of(enum stage stage, pid_t process) {
    log_warn("the %s worker, process %ld, was killed and has not gone yet", stage_names[stage],
             (long)process);
}

static int give_up(const struct ghost *ghost, struct error *error) {
    return error_set(error,
                     "the %s worker, process %ld, was killed %.0f s ago and has not gone: the GPU "
                     "hangs; see nvidia-smi, reset it or start the machine anew, then `evotile "
                     "resume`",
                     stage_names[ghost->stage], (long)ghost->process,
                     clock_seconds() - ghost->since);
}

static int leave_behind(struct pool *pool, enum stage stage, pid_t process, struct error *error) {
    if (process == 0)
        return 0;
    if (pool->ghost_count == GHOSTS_MAX)
        return give_up(&pool->ghosts[0], error);
    warn_of(stage, process);
    pool->ghosts[pool->ghost_count++] = (struct ghost){stage, process, clock_seconds()};
    return 0;
}

static int look_for_ghosts(struct pool *pool, struct error *error) {
    for (int g = pool->ghost_count - 1; g >= 0; g--) {
        struct ghost *ghost = &pool->ghosts[g];
        double age_s = clock_seconds() - ghost->since;
        if (process_is_gone(ghost->process)) {
            log_info("process %ld went, %.0f s after it was killed", (long)ghost->process, age_s);
            *ghost = pool->ghosts[--pool->ghost_count];
        } else if (age_s > GHOST_PATIENCE_S) {
            return give_up(ghost, error);
        }
    }
    return 0;
}

/* The kernel of a device worker that has not gone may still run: nothing is timed beside it. */
static bool is_haunted(const struct pool *pool, enum stage stage) {
    for (int g = 0; g < pool->ghost_count; g++)
        if (pool->ghosts[g].stage == STAGE_DEVICE)
            return stage == STAGE_DEVICE;
    return false;
}

/* Puts another in the place of a worker that ended or must end, at once. */
static int replace_worker(struct pool *pool, struct worker *worker, enum verdict verdict,
                          const char *why, double patience_s, struct error *error) {
    char how[128] = "";
    char reason[REASON_SIZE];
    bool was_ready = worker->ready;
    pid_t left = process_stop(&worker->process, patience_s, how, sizeof how);
    if (worker->flight != NULL) {
        snprintf(reason, sizeof reason, "%s", why != NULL ? why : "");
        if (why == NULL)
            snprintf(reason, sizeof reason, "the %s worker was %s", stage_names[worker->stage],
                     how);
        end_flight(pool, worker->flight, verdict, reason);
        worker->flight = NULL;
    }
    if (leave_behind(pool, worker->stage, left, error) < 0)
        return -1;
    pool->deaths = was_ready ? 0 : pool->deaths + 1;
    if (pool->deaths >= DEATHS_MAX)
        return error_set(error, "the %s worker does not start (%s): try `evotile doctor`",
                         stage_names[worker->stage], how);
    return start_worker(pool, worker, error);
}

/* ---- messages ---- */

/* What the device worker reports stands beside what the compile worker did before it. */
static void take_result(struct pool *pool, struct worker *worker, struct trial_result *result) {
    struct flight *flight = worker->flight;
    worker->flight = NULL;
    worker->deadline = INFINITY; /* an idle worker has none */
    worker->since = clock_seconds();
    worker->done++;
    if (worker->stage == STAGE_COMPILE) {
        flight->compiled = *result;
        flight->was_compiled = true;
        if (result->outcome.verdict == VERDICT_OK)
            queue_add(&pool->waiting[STAGE_DEVICE], flight);
        else
            finish(pool, flight);
        return;
    }
    if (flight->was_compiled) {
        result->outcome.compile_s = flight->compiled.outcome.compile_s;
        trial_result_release(&flight->compiled);
    }
    flight->compiled = *result;
    finish(pool, flight);
    worker->leaving = !pool->device.predicts && (result->outcome.verdict == VERDICT_CRASHED ||
                                                 result->outcome.verdict == VERDICT_TIMEOUT);
    if (worker->leaving)
        worker->deadline = clock_seconds() + LEAVE_S;
}

static int take_message(struct pool *pool, struct worker *worker, const char *line,
                        struct error *error) {
    struct wire_message message;
    if (wire_read(line, &message, error) < 0)
        return -1;
    switch (message.kind) {
    case WIRE_DEVICE:
        worker->ready = true;
        worker->deadline = INFINITY;
        worker->since = clock_seconds();
        pool->deaths = 0;
        if (worker->stage == STAGE_DEVICE) {
            pool->device = message.device;
            pool->device_known = true;
        }
        return 0;
    case WIRE_RESULT:
        if (worker->flight != NULL && worker->flight->request.number == message.result.number)
            take_result(pool, worker, &message.result);
        else
            trial_result_release(&message.result);
        return 0;
    case WIRE_FAILURE:
        *error = message.failure;
        return -1;
    default:
        trial_request_release(&message.request);
        return error_set(error, "a worker sent what only we send");
    }
}

static int hear(struct pool *pool, struct worker *worker, struct error *error) {
    char *line;
    process_fill(&worker->process);
    while ((line = process_line(&worker->process)) != NULL)
        if (take_message(pool, worker, line, error) < 0)
            return -1;
    if (!worker->process.ended)
        return 0;
    /* A device worker leaves by itself after a hang or a lost context; that trial has its result.
     */
    pool->restarts++;
    return replace_worker(pool, worker, VERDICT_CRASHED, NULL, 1.0, error);
}

static double stage_deadline(const struct pool *pool, enum stage stage) {
    if (pool->settings.deadline_s > 0)
        return pool->settings.deadline_s;
    return stage == STAGE_COMPILE ? COMPILE_DEADLINE_S : DEVICE_DEADLINE_S;
}

static int enforce_deadline(struct pool *pool, struct worker *worker, struct error *error) {
    char reason[REASON_SIZE];
    if (clock_seconds() < worker->deadline)
        return 0;
    if (!worker->ready && is_haunted(pool, worker->stage)) { /* who waits for the driver as well */
        worker->deadline = clock_seconds() + START_DEADLINE_S;
        return 0;
    }
    pool->restarts++;
    snprintf(reason, sizeof reason, "the %s worker was killed after %g s",
             stage_names[worker->stage], stage_deadline(pool, worker->stage));
    return replace_worker(pool, worker, VERDICT_TIMEOUT, reason, 0, error);
}

/* Gives an idle worker the next trial that waits for its kind. */
static int employ(struct pool *pool, struct worker *worker, struct error *error) {
    if (!worker->ready || worker->leaving || worker->flight != NULL ||
        (pool->paused && worker->stage == STAGE_DEVICE) || is_haunted(pool, worker->stage) ||
        pool->waiting[worker->stage].first == NULL)
        return 0;
    if (worker->done >= RECYCLE_AFTER)
        return replace_worker(pool, worker, VERDICT_CRASHED, NULL, 5.0, error);
    worker->flight = queue_take(&pool->waiting[worker->stage]);
    worker->since = clock_seconds();
    worker->deadline = worker->since + stage_deadline(pool, worker->stage);
    char *line = wire_print_request(&worker->flight->request);
    process_send(&worker->process, line); /* a dead worker is noticed by its end of file */
    free(line);
    return 0;
}

/* One round: hear whoever speaks within the timeout, then keep everyone busy. */
static int go_round(struct pool *pool, double timeout_s, struct error *error) {
    struct pollfd polled[WORKERS_MAX];
    if (look_for_ghosts(pool, error) < 0)
        return -1;
    for (int w = 0; w < pool->worker_count; w++)
        polled[w] = (struct pollfd){.fd = pool->workers[w].process.from, .events = POLLIN};
    int heard = poll(polled, (nfds_t)pool->worker_count, (int)(timeout_s * 1000));
    for (int w = 0; w < pool->worker_count; w++) {
        struct worker *worker = &pool->workers[w];
        if (heard > 0 && polled[w].revents != 0 && hear(pool, worker, error) < 0)
            return -1;
        if (enforce_deadline(pool, worker, error) < 0 || employ(pool, worker, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- the pool ---- */

static int add_worker(struct pool *pool, enum stage stage, struct error *error) {
    struct worker *worker = &pool->workers[pool->worker_count];
    if (pool->worker_count == WORKERS_MAX)
        return error_input(error, "more than %d workers", WORKERS_MAX);
    *worker = (struct worker){.stage = stage, .process = {.to = -1, .from = -1}};
    if (start_worker(pool, worker, error) < 0)
        return -1;
    pool->worker_count++;
    return 0;
}

static int start_all(struct pool *pool, struct error *error) {
    int device_workers = pool->settings.device_workers;
    if (add_worker(pool, STAGE_DEVICE, error) < 0)
        return -1;
    while (!pool->device_known)
        if (go_round(pool, 0.1, error) < 0)
            return -1;
    if (device_workers == 0)
        device_workers = pool->device.predicts ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 1;
    for (int i = 1; i < device_workers; i++)
        if (add_worker(pool, STAGE_DEVICE, error) < 0)
            return -1;
    for (int i = 0; i < pool->settings.compile_workers; i++)
        if (add_worker(pool, STAGE_COMPILE, error) < 0)
            return -1;
    return 0;
}

static const char *own_copy(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL)
        BUG("out of memory");
    return copy;
}

struct pool *pool_new(const struct pool_settings *settings, struct error *error) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        BUG("out of memory");
    pool->settings = *settings;
    pool->settings.program = own_copy(settings->program);
    pool->settings.config_path = own_copy(settings->config_path);
    pool->settings.template_folder = own_copy(settings->template_folder);
    pool->settings.device = own_copy(settings->device);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        pool->waiting[stage].end = &pool->waiting[stage].first;
    pool->finished.end = &pool->finished.first;
    if (start_all(pool, error) == 0)
        return pool;
    pool_free(pool);
    return NULL;
}

static void drop(struct flight *flight) {
    trial_request_release(&flight->request);
    trial_result_release(&flight->compiled);
    free(flight);
}

void pool_free(struct pool *pool) {
    struct flight *flight;
    if (pool == NULL)
        return;
    for (int w = 0; w < pool->worker_count; w++) {
        struct worker *worker = &pool->workers[w];
        pid_t left = process_stop(&worker->process, worker->flight == NULL ? 2.0 : 0, NULL, 0);
        if (left != 0)
            warn_of(worker->stage, left);
        if (worker->flight != NULL)
            drop(worker->flight);
    }
    for (int g = 0; g < pool->ghost_count; g++)
        if (!process_is_gone(pool->ghosts[g].process))
            warn_of(pool->ghosts[g].stage, pool->ghosts[g].process);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        while ((flight = queue_take(&pool->waiting[stage])) != NULL)
            drop(flight);
    while ((flight = queue_take(&pool->finished)) != NULL)
        drop(flight);
    free((char *)pool->settings.program);
    free((char *)pool->settings.config_path);
    free((char *)pool->settings.template_folder);
    free((char *)pool->settings.device);
    free(pool);
}

const struct device_info *pool_device(const struct pool *pool) {
    return &pool->device;
}

int pool_capacity(const struct pool *pool) {
    int device_workers = 0;
    for (int w = 0; w < pool->worker_count; w++)
        device_workers += pool->workers[w].stage == STAGE_DEVICE;
    /* Each worker has one; each device worker finds another two compiled when it is done. */
    return pool->worker_count + 2 * device_workers;
}

int pool_in_flight(const struct pool *pool) {
    return pool->in_flight;
}

int pool_restarts(const struct pool *pool) {
    return pool->restarts;
}

int pool_look(const struct pool *pool, struct pool_worker *workers, int limit) {
    for (int w = 0; w < pool->worker_count && w < limit; w++) {
        const struct worker *worker = &pool->workers[w];
        workers[w] = (struct pool_worker){
            .role = stage_names[worker->stage],
            .state = worker->flight != NULL ? POOL_BUSY
                     : worker->leaving      ? POOL_LEAVING
                     : worker->ready        ? POOL_IDLE
                                            : POOL_STARTING,
            .trial = worker->flight != NULL ? worker->flight->request.number : -1,
            .since_s = clock_seconds() - worker->since,
        };
    }
    return pool->worker_count;
}

void pool_pause(struct pool *pool, bool paused) {
    pool->paused = paused;
}

void pool_submit(struct pool *pool, const struct trial_request *request) {
    struct flight *flight = calloc(1, sizeof *flight);
    if (flight == NULL)
        BUG("out of memory");
    flight->request = *request;
    queue_add(&pool->waiting[pool->settings.compile_workers > 0 ? STAGE_COMPILE : STAGE_DEVICE],
              flight);
    pool->in_flight++;
}

int pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
              struct error *error) {
    double end = clock_seconds() + timeout_s;
    do {
        struct flight *flight = queue_take(&pool->finished);
        if (flight != NULL) {
            *result = flight->compiled;
            flight->compiled = (struct trial_result){0};
            drop(flight);
            pool->in_flight--;
            return 1;
        }
        if (go_round(pool, fmax(0, fmin(0.1, end - clock_seconds())), error) < 0)
            return -1;
    } while (pool->finished.first != NULL || clock_seconds() < end);
    return 0;
}
