/* Starting workers, handling their failures and reading their messages all move the same jobs
   between the same lists, so they stay together in this long file. */
#include "trial/crew.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/share.h"
#include "trial/flights.h"
#include "trial/flow.h"
#include "trial/ghosts.h"
#include "trial/posts.h"
#include "trial/wire.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
    COMPILE_DEADLINE_S = 120,
    DEVICE_DEADLINE_S = 300,
    START_DEADLINE_S = 120,
    RECYCLE_AFTER = 400, /* restart a worker after so many trials, so that library leaks do not
                            add up overnight (a recorded device has none) */
    LEAVE_S = 2,         /* for a worker that exits by itself */
    DEATHS_MAX = 3,      /* in a row, without a worker that became ready */
};

enum stage { STAGE_COMPILE, STAGE_DEVICE, STAGE_COUNT };
static const char *const stage_names[STAGE_COUNT] = {"compile", "device"};

struct worker {
    enum stage stage;
    int post; /* index of its device slot; device workers only */
    struct process process;
    bool ready;
    bool leaving;          /* it lost its CUDA context in its last trial and exits by itself */
    struct flight *flight; /* NULL: idle */
    double deadline;       /* for the job, or for becoming ready */
    double since;          /* when it was started, became idle or got its job */
    int done;
};

struct crew {
    struct pool pool; /* must be first; pool.device describes the first device that was ready */
    struct crew_settings settings;
    struct posts posts;
    int compile_deaths; /* as device_slot.failed_starts */
    int worker_count;
    struct worker workers[CREW_WORKERS_MAX];
    struct flights waiting[STAGE_COUNT];
    struct flights finished; /* jobs with their final result */
    struct ghosts ghosts;
    struct flow flow;
};

/* ---- workers ---- */

/* Interpreter threads of a worker: all cores for the only worker of an emulated device, else
   one. */
static int threads_of(const struct crew_settings *settings, int stage) {
    bool alone = stage == STAGE_DEVICE && settings->device_workers == 1;
    return alone ? share_read("").cores : 1;
}

static int start_worker(struct crew *crew, struct worker *worker, struct error *error) {
    const struct crew_settings *settings = &crew->settings;
    const char *device = worker->stage == STAGE_DEVICE ? crew->posts.items[worker->post].info.spec
                                                       : crew->pool.device.spec;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", threads_of(settings, worker->stage));
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
                                "--threads",
                                threads,
                                NULL};
    if (process_start(&worker->process, argv, error) < 0)
        return -1;
    worker->ready = worker->leaving = false;
    worker->done = 0;
    worker->since = clock_seconds();
    worker->deadline = worker->since + START_DEADLINE_S;
    if (worker->stage == STAGE_COMPILE) { /* a compile worker has no device: send it the one to
                                             compile for */
        char *line = wire_print_device(&crew->pool.device);
        process_send(&worker->process, line);
        free(line);
    }
    return 0;
}

static void finish(struct crew *crew, struct flight *flight) {
    flights_add(&crew->finished, flight);
}

/* Ends the job of a worker that died or was killed, with that as the reason. */
static void end_flight(struct crew *crew, struct flight *flight, enum verdict verdict,
                       const char *reason) {
    struct trial_result *result = &flight->compiled;
    if (!flight->was_compiled)
        trial_result_begin(result, &flight->request);
    trial_gate(result, "worker", false, 0, "%.150s", reason);
    trial_end(result, verdict, reason);
    finish(crew, flight);
}

/* ---- devices that fail ---- */

/* The kernel of a killed device worker that has not exited may still run: nothing is timed
   beside it. */
static bool is_haunted(const struct crew *crew, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE && ghosts_at(&crew->ghosts, worker->post);
}

static bool is_retired(const struct crew *crew, const struct worker *worker) {
    return worker->stage == STAGE_DEVICE && crew->posts.items[worker->post].set_aside;
}

/* Takes a device out of service for the reason in `error` and queues its workers' jobs again.
   Returns 0, or -1 if it is the last active device. */
static int set_aside(struct crew *crew, int post, const struct error *error) {
    if (posts_left(&crew->posts) == 1)
        return -1;
    crew->posts.items[post].set_aside = true;
    log_warn("%s is quarantined, and the search continues on the %d remaining: %s",
             crew->posts.items[post].info.spec, posts_left(&crew->posts), error->text);
    for (int w = 0; w < crew->worker_count; w++) {
        struct worker *worker = &crew->workers[w];
        if (worker->stage != STAGE_DEVICE || worker->post != post)
            continue;
        ghosts_add(&crew->ghosts, stage_names[STAGE_DEVICE], post,
                   process_stop(&worker->process, 0, NULL, 0));
        if (worker->flight != NULL)
            flights_add(&crew->waiting[STAGE_DEVICE], worker->flight);
        worker->flight = NULL;
        worker->ready = false;
        worker->deadline = INFINITY;
    }
    return 0;
}

/* Records a verdict for a device, and quarantines the device if it lost too many trials in a
   row. */
static void note_end(struct crew *crew, int post, enum verdict verdict) {
    struct error error = {0};
    if (!crew->posts.items[post].set_aside && posts_note(&crew->posts, post, verdict, &error) < 0 &&
        set_aside(crew, post, &error) < 0)
        BUG("the last device was quarantined for its crash rate");
}

static int look_for_ghosts(struct crew *crew, struct error *error) {
    ghosts_look(&crew->ghosts);
    for (int p = 0; p < crew->posts.count; p++)
        if (!crew->posts.items[p].set_aside && ghosts_check(&crew->ghosts, p, error) < 0 &&
            set_aside(crew, p, error) < 0)
            return -1;
    return 0;
}

/* Replaces a worker that exited or must exit. Its job, if any, ends with `verdict`;
   `reason_given` NULL: the reason is how the worker ended. */
static int replace_worker(struct crew *crew, struct worker *worker, enum verdict verdict,
                          const char *why, double patience_s, struct error *error) {
    char how[128] = "";
    char reason[REASON_SIZE];
    bool has_device = worker->stage == STAGE_DEVICE;
    int *deaths = has_device ? &crew->posts.items[worker->post].deaths : &crew->compile_deaths;
    bool was_ready = worker->ready;
    pid_t left = process_stop(&worker->process, patience_s, how, sizeof how);
    ghosts_add(&crew->ghosts, stage_names[worker->stage], has_device ? worker->post : GHOST_NOWHERE,
               left);
    if (worker->flight != NULL) {
        snprintf(reason, sizeof reason, "%s", why != NULL ? why : "");
        if (why == NULL)
            snprintf(reason, sizeof reason, "the %s worker was %s", stage_names[worker->stage],
                     how);
        end_flight(crew, worker->flight, verdict, reason);
        worker->flight = NULL;
        if (has_device)
            note_end(crew, worker->post, verdict);
    }
    *deaths = was_ready ? 0 : *deaths + 1;
    if (is_retired(crew, worker))
        return 0;
    if (*deaths < DEATHS_MAX)
        return start_worker(crew, worker, error);
    error_set(error, "the %s worker does not start (%s): try `evotile doctor`",
              stage_names[worker->stage], how);
    return has_device ? set_aside(crew, worker->post, error) : -1;
}

/* ---- messages ---- */

/* A device worker's result replaces the compile worker's, but keeps its compile time. */
static void take_result(struct crew *crew, struct worker *worker, struct trial_result *result) {
    struct flight *flight = worker->flight;
    double now = clock_seconds();
    flow_note(worker->stage == STAGE_COMPILE ? &crew->flow.compile : &crew->flow.judge,
              now - worker->since);
    worker->flight = NULL;
    worker->deadline = INFINITY; /* an idle worker has no deadline */
    worker->since = now;
    worker->done++;
    if (worker->stage == STAGE_COMPILE) {
        trial_result_move(&flight->compiled, result);
        flight->was_compiled = true;
        if (result->outcome.verdict == VERDICT_OK)
            flights_add(&crew->waiting[STAGE_DEVICE], flight);
        else
            finish(crew, flight);
        return;
    }
    if (flight->was_compiled) {
        result->outcome.compile_s = flight->compiled.outcome.compile_s;
        trial_result_release(&flight->compiled);
    }
    trial_result_move(&flight->compiled, result);
    finish(crew, flight);
    worker->leaving = !crew->pool.device.predicts && (result->outcome.verdict == VERDICT_CRASHED ||
                                                      result->outcome.verdict == VERDICT_TIMEOUT);
    if (worker->leaving)
        worker->deadline = clock_seconds() + LEAVE_S;
    note_end(crew, worker->post, result->outcome.verdict);
}

static int take_device(struct crew *crew, int post, const struct device_info *info,
                       struct error *error) {
    bool first = posts_first(&crew->posts) < 0;
    if (posts_take(&crew->posts, post, info, error) < 0)
        return -1;
    if (first)
        crew->pool.device = *info;
    return 0;
}

static int take_message(struct crew *crew, struct worker *worker, const char *line,
                        struct error *error) {
    struct wire_message message;
    if (wire_read(line, &message, error) < 0)
        return -1;
    switch (message.kind) {
    case WIRE_DEVICE:
        worker->ready = true;
        worker->deadline = INFINITY;
        worker->since = clock_seconds();
        if (worker->stage == STAGE_DEVICE)
            return take_device(crew, worker->post, &message.device, error);
        crew->compile_deaths = 0;
        return 0;
    case WIRE_RESULT:
        if (worker->flight != NULL && worker->flight->request.number == message.result.number)
            take_result(crew, worker, &message.result);
        else
            trial_result_release(&message.result);
        return 0;
    case WIRE_FAILURE:
        *error = message.failure;
        return worker->stage == STAGE_DEVICE && error->kind != ERROR_INPUT
                   ? set_aside(crew, worker->post, error)
                   : -1;
    default:
        trial_request_release(&message.request);
        return error_set(error, "a worker sent a message that only the parent sends");
    }
}

static int hear(struct crew *crew, struct worker *worker, struct error *error) {
    char *line;
    process_fill(&worker->process);
    while (!is_retired(crew, worker) && (line = process_line(&worker->process)) != NULL)
        if (take_message(crew, worker, line, error) < 0)
            return -1;
    if (!worker->process.ended || is_retired(crew, worker))
        return 0;
    /* A device worker exits by itself after a hang or a lost context; that trial already has its
       result. */
    crew->pool.restarts++;
    return replace_worker(crew, worker, VERDICT_CRASHED, NULL, 1.0, error);
}

static double stage_deadline(const struct crew *crew, enum stage stage) {
    if (crew->settings.deadline_s > 0)
        return crew->settings.deadline_s;
    return stage == STAGE_COMPILE ? COMPILE_DEADLINE_S : DEVICE_DEADLINE_S;
}

static int enforce_deadline(struct crew *crew, struct worker *worker, struct error *error) {
    char reason[REASON_SIZE];
    if (clock_seconds() < worker->deadline)
        return 0;
    if (!worker->ready && is_haunted(crew, worker)) { /* the replacement waits for the driver,
                                                         too */
        worker->deadline = clock_seconds() + START_DEADLINE_S;
        return 0;
    }
    crew->pool.restarts++;
    snprintf(reason, sizeof reason, "the %s worker was killed after %g s",
             stage_names[worker->stage], stage_deadline(crew, worker->stage));
    return replace_worker(crew, worker, VERDICT_TIMEOUT, reason, 0, error);
}

/* Gives an idle worker the next job of its stage. */
static int employ(struct crew *crew, struct worker *worker, struct error *error) {
    if (!worker->ready || worker->leaving || worker->flight != NULL ||
        (worker->stage == STAGE_DEVICE && crew->posts.items[worker->post].paused) ||
        is_haunted(crew, worker) || crew->waiting[worker->stage].first == NULL)
        return 0;
    if (worker->done >= RECYCLE_AFTER && strcmp(crew->pool.device.spec, "recorded") != 0)
        return replace_worker(crew, worker, VERDICT_CRASHED, NULL, 5.0, error);
    worker->flight = flights_take(&crew->waiting[worker->stage]);
    worker->since = clock_seconds();
    worker->deadline = worker->since + stage_deadline(crew, worker->stage);
    char *line = wire_print_request(&worker->flight->request);
    process_send(&worker->process, line); /* a dead worker shows as end of file on its pipe */
    free(line);
    return 0;
}

/* Waits up to the timeout for messages, reads them, enforces deadlines and dispatches jobs. */
static int go_round(struct crew *crew, double timeout_s, struct error *error) {
    struct pollfd polled[CREW_WORKERS_MAX];
    if (look_for_ghosts(crew, error) < 0)
        return -1;
    for (int w = 0; w < crew->worker_count; w++)
        polled[w] = (struct pollfd){.fd = crew->workers[w].process.from, .events = POLLIN};
    int heard = poll(polled, (nfds_t)crew->worker_count, (int)(timeout_s * 1000));
    for (int w = 0; w < crew->worker_count; w++) {
        struct worker *worker = &crew->workers[w];
        if (is_retired(crew, worker))
            continue;
        if (heard > 0 && polled[w].revents != 0 && hear(crew, worker, error) < 0)
            return -1;
        if (enforce_deadline(crew, worker, error) < 0 || employ(crew, worker, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- the pool ---- */

static struct crew *crew_of(const struct pool *pool) {
    return (struct crew *)pool;
}

static void add_worker(struct crew *crew, enum stage stage, int post) {
    if (crew->worker_count == CREW_WORKERS_MAX)
        BUG("more than %d workers in a local pool", CREW_WORKERS_MAX);
    crew->workers[crew->worker_count++] =
        (struct worker){.stage = stage, .post = post, .process = {.to = -1, .from = -1}};
}

static int start_from(struct crew *crew, int first, struct error *error) {
    for (int w = first; w < crew->worker_count; w++)
        if (start_worker(crew, &crew->workers[w], error) < 0)
            return -1;
    return 0;
}

static int start_all(struct crew *crew, struct error *error) {
    int device_workers = crew->settings.device_workers;
    for (int p = 0; p < crew->posts.count; p++)
        add_worker(crew, STAGE_DEVICE, p);
    if (start_from(crew, 0, error) < 0)
        return -1;
    while (!posts_all_known(&crew->posts))
        if (go_round(crew, 0.1, error) < 0)
            return -1;
    int first = crew->worker_count;
    if (device_workers == 0)
        device_workers =
            crew->pool.device.predicts && crew->posts.count == 1 ? share_read("").cores : 1;
    if (crew->posts.count * device_workers + crew->settings.compile_workers > CREW_WORKERS_MAX)
        return error_input(error,
                           "%d device workers and %d compile workers are more than the %d that a "
                           "local pool can have: ask for fewer",
                           crew->posts.count * device_workers, crew->settings.compile_workers,
                           CREW_WORKERS_MAX);
    for (int p = 0; p < crew->posts.count; p++)
        for (int i = 1; i < device_workers; i++)
            add_worker(crew, STAGE_DEVICE, p);
    for (int i = 0; i < crew->settings.compile_workers; i++)
        add_worker(crew, STAGE_COMPILE, 0);
    return start_from(crew, first, error);
}

static void crew_free(struct pool *pool) {
    struct crew *crew = crew_of(pool);
    for (int w = 0; w < crew->worker_count; w++) {
        struct worker *worker = &crew->workers[w];
        pid_t left = process_stop(&worker->process, worker->flight == NULL ? 2.0 : 0, NULL, 0);
        ghosts_add(&crew->ghosts, stage_names[worker->stage], worker->post, left);
        if (worker->flight != NULL)
            flight_free(worker->flight);
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        flights_release(&crew->waiting[stage]);
    flights_release(&crew->finished);
    free((char *)crew->settings.program);
    free((char *)crew->settings.config_path);
    free((char *)crew->settings.template_folder);
    free(crew);
}

static int crew_device_count(const struct pool *pool) {
    return crew_of(pool)->posts.count;
}

static const struct device_info *crew_device_at(const struct pool *pool, int device) {
    return &crew_of(pool)->posts.items[device].info;
}

static int crew_capacity(const struct pool *pool) {
    const struct crew *crew = crew_of(pool);
    int workers[STAGE_COUNT] = {0};
    for (int w = 0; w < crew->worker_count; w++)
        workers[crew->workers[w].stage] += !is_retired(crew, &crew->workers[w]);
    return flow_capacity(&crew->flow, workers[STAGE_DEVICE], workers[STAGE_COMPILE]);
}

static int crew_look(const struct pool *pool, struct pool_worker *workers, int limit) {
    const struct crew *crew = crew_of(pool);
    int count = 0;
    for (int w = 0; w < crew->worker_count; w++) {
        const struct worker *worker = &crew->workers[w];
        if (is_retired(crew, worker) || count++ >= limit)
            continue;
        workers[count - 1] = (struct pool_worker){
            .role = stage_names[worker->stage],
            .state = worker->flight != NULL ? POOL_BUSY
                     : worker->leaving      ? POOL_LEAVING
                     : worker->ready        ? POOL_IDLE
                                            : POOL_STARTING,
            .trial = worker->flight != NULL ? worker->flight->request.number : -1,
            .since_s = clock_seconds() - worker->since,
        };
    }
    return count;
}

static void crew_pause(struct pool *pool, int device, bool paused) {
    crew_of(pool)->posts.items[device].paused = paused;
}

static void crew_submit(struct pool *pool, const struct trial_request *request) {
    struct crew *crew = crew_of(pool);
    flights_add(&crew->waiting[crew->settings.compile_workers > 0 ? STAGE_COMPILE : STAGE_DEVICE],
                flight_new(request));
}

/* Champions only improve, so a lower score is the newer one. */
static void face(struct flight *flight, const struct trial_champion *champion) {
    if (flight != NULL && flight->request.goal == champion->goal &&
        !(flight->request.champion_us > 0 && flight->request.champion_us <= champion->score_us))
        trial_request_face(&flight->request, champion);
}

static void crew_crown(struct pool *pool, const struct trial_champion *champion) {
    struct crew *crew = crew_of(pool);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        for (struct flight *flight = crew->waiting[stage].first; flight != NULL;
             flight = flight->next)
            face(flight, champion);
    for (int w = 0; w < crew->worker_count; w++)
        if (crew->workers[w].stage == STAGE_COMPILE)
            face(crew->workers[w].flight, champion);
}

static int crew_tend(struct pool *pool, struct error *error) {
    struct crew *crew = crew_of(pool);
    /* With a single worker, results are consumed one at a time, so that the champion that each
       trial is compared against does not depend on timing. */
    if (crew->worker_count == 1 && crew->finished.first != NULL)
        return 0;
    return go_round(crew, 0, error);
}

static int crew_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                     struct error *error) {
    struct crew *crew = crew_of(pool);
    double end = clock_seconds() + timeout_s;
    do {
        struct flight *flight = flights_take(&crew->finished);
        if (flight != NULL) {
            trial_result_move(result, &flight->compiled);
            flight_free(flight);
            return 1;
        }
        if (go_round(crew, fmax(0, fmin(0.1, end - clock_seconds())), error) < 0)
            return -1;
    } while (crew->finished.first != NULL || clock_seconds() < end);
    return 0;
}

static const struct pool_backend crew_backend = {
    .free = crew_free,
    .device_count = crew_device_count,
    .device_at = crew_device_at,
    .capacity = crew_capacity,
    .look = crew_look,
    .pause = crew_pause,
    .submit = crew_submit,
    .crown = crew_crown,
    .tend = crew_tend,
    .wait = crew_wait,
};

static const char *own_copy(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL)
        BUG("out of memory");
    return copy;
}

struct pool *crew_new(const struct crew_settings *settings, struct error *error) {
    struct device_list list;
    if (device_list_read(&list, settings->devices, error) < 0)
        return NULL;
    struct crew *crew = calloc(1, sizeof *crew);
    if (crew == NULL)
        BUG("out of memory");
    crew->pool.backend = &crew_backend;
    crew->settings = *settings;
    crew->settings.program = own_copy(settings->program);
    crew->settings.config_path = own_copy(settings->config_path);
    crew->settings.template_folder = own_copy(settings->template_folder);
    crew->settings.devices = NULL; /* the device slots have them */
    posts_init(&crew->posts, &list);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        flights_init(&crew->waiting[stage]);
    flights_init(&crew->finished);
    if (start_all(crew, error) == 0)
        return &crew->pool;
    pool_free(&crew->pool);
    return NULL;
}
