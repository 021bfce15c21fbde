#include "remote/remote_pool_internal.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "pool/protocol.h"
#include "remote/cleanup.h"
#include "remote/file_transfer.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS_PENDING_MAX = 65536 };

static const double default_ack_wait_s = 30;
static const double periodic_interval_s = 0.1;
static const double abandoned_after_s =
    600; /* then another coordinator's run counts as abandoned */
static const double reconnect_timeout_s = 300; /* a rejected worker restarts for its model's run */

static struct remote_pool *remote_pool_of(const struct pool *pool) {
    return (struct remote_pool *)pool;
}

/* ---- results ---- */

/* A result with another trial number, goal or genome is invalid: the search could not use it. */
static bool read_result(const struct outbox_request *pending, const char *text,
                        struct trial_result *result) {
    struct protocol_message read;
    struct error error = {0};
    if (protocol_read(text, &read, &error) < 0)
        return false;
    if (read.kind == PROTOCOL_RESULT && read.result.number == pending->number &&
        read.result.goal == pending->goal && genome_equal(&read.result.genome, &pending->genome)) {
        trial_result_move(result, &read.result);
        return true;
    }
    protocol_message_release(&read);
    return false;
}

/* The files may be what was lost: for the next request they are stored again. */
static void renew_uploads(struct remote_pool *remote, const struct outbox_request *pending) {
    for (int s = 0; s < 2 && remote->uploads != NULL; s++)
        if (*pending->solutions[s] != '\0')
            solution_uploads_renew(remote->uploads, pending->solutions[s]);
}

/* The result of a request whose files cannot be read: 1 if there is one. */
static int take_refused(struct remote_pool *remote, struct trial_result *result) {
    struct outbox_request *pending = outbox_refused(remote->outbox);
    if (pending == NULL)
        return 0;
    const struct trial_request request = {
        .number = pending->number, .goal = pending->goal, .genome = pending->genome};
    *result = (struct trial_result){0};
    trial_result_init(result, &request);
    trial_set_verdict(result, VERDICT_LOST, pending->refused);
    outbox_remove(remote->outbox, pending);
    return 1;
}

/* Returns true if the message is a valid result of a pending request. */
static bool take_result(struct remote_pool *remote, natsMsg *message, struct trial_result *result) {
    char message_id[MESSAGE_ID_SIZE];
    char *text = message_text(message, message_id);
    struct outbox_request *pending = text != NULL ? outbox_find(remote->outbox, message_id) : NULL;
    bool good = pending != NULL && read_result(pending, text, result);
    free(text);
    if (good) {
        if (result->outcome.verdict == VERDICT_LOST)
            renew_uploads(remote, pending);
        outbox_remove(remote->outbox, pending);
    } else if (pending != NULL) {
        log_warn("a worker's result is damaged: its trial is repeated");
        outbox_renew_id(remote->outbox, pending);
    }
    return good;
}

/* ---- the run on the server ---- */

static natsStatus put_description(struct remote_pool *remote) {
    char *text = run_description_print(&remote->description);
    natsStatus status =
        kvStore_PutString(NULL, remote->connection->runs, remote->description.id, text);
    free(text);
    remote->last_described = clock_seconds();
    return status;
}

static natsStatus create_request_consumer(struct remote_pool *remote) {
    char subject[QUEUE_SUBJECT_SIZE];
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    subject_print(subject, "trial", remote->description.id);
    config.Durable = remote->description.id;
    config.FilterSubject = subject;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = (int64_t)(remote->description.ack_wait_s * 1e9);
    config.MaxAckPending = RESULTS_PENDING_MAX;
    config.MaxDeliver = -1;
    js_DeleteConsumer(remote->connection->js, QUEUE_TRIALS, remote->description.id, NULL, NULL);
    return js_AddConsumer(NULL, remote->connection->js, QUEUE_TRIALS, &config, NULL, NULL);
}

static natsStatus subscribe_results(struct remote_pool *remote) {
    char subject[QUEUE_SUBJECT_SIZE];
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.ManualAck = true;
    options.Stream = QUEUE_RESULTS;
    options.Config.Durable = remote->description.id;
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.MaxAckPending = RESULTS_PENDING_MAX;
    subject_print(subject, "result", remote->description.id);
    js_DeleteConsumer(remote->connection->js, QUEUE_RESULTS, remote->description.id, NULL, NULL);
    natsSubscription_Destroy(remote->results); /* unread messages are delivered again */
    remote->results = NULL;
    return js_SubscribeSync(&remote->results, remote->connection->js, subject, NULL, &options,
                            NULL);
}

/* Creates the consumers for the connected server process: one of an earlier process may wait for
   sequence numbers that this one has not reached. */
static natsStatus create_consumers(struct remote_pool *remote) {
    int epoch = connection_is_up(remote->connection) ? remote->connection->epoch : 0;
    natsStatus status = create_request_consumer(remote);
    if (status == NATS_OK)
        status = subscribe_results(remote);
    if (status == NATS_OK)
        remote->epoch = epoch;
    return status;
}

static int list_files(struct remote_pool *remote, struct error *error) {
    static const char *const of_search[] = {"config.json", "template", NULL};
    const char *of_server[] = {"config.json", "templates/problem", "templates/lib", NULL};
    char library[PATH_SIZE];
    if (*remote->description.solution == '\0')
        return file_transfer_list(&remote->description, remote->run_dir, of_search, error);
    if (path_join(library, remote->run_dir, of_server[2], error) < 0)
        return -1;
    of_server[2] = path_is_dir(library) ? of_server[2] : NULL;
    return file_transfer_list(&remote->description, remote->run_dir, of_server, error);
}

/* A server's first solution stays on the queue, for workers that come later. */
static int open_uploads(struct remote_pool *remote, struct error *error) {
    char folder[PATH_SIZE];
    const char *path = remote->description.solution;
    if (*path == '\0')
        return 0;
    if (path_join(folder, remote->run_dir, "templates", error) < 0)
        return -1;
    remote->uploads = solution_uploads_new(remote->connection, remote->description.id, folder);
    solution_uploads_hold(remote->uploads, path);
    int status = solution_uploads_send(remote->uploads, path, error);
    return status <= 0 ? status : error_set(error, "the queue accepts no files");
}

static int open_outbox(struct remote_pool *remote, struct error *error) {
    char folder[PATH_SIZE];
    remote->outbox = outbox_new(remote->connection, remote->description.id, error);
    if (remote->outbox == NULL || path_join(folder, remote->run_dir, "templates", error) < 0)
        return -1;
    if (remote->uploads != NULL)
        outbox_set_uploads(remote->outbox, remote->uploads, folder);
    return 0;
}

static int open_run(struct remote_pool *remote, struct error *error) {
    if (list_files(remote, error) < 0 ||
        connection_bind_streams(remote->connection, true, error) < 0 ||
        file_transfer_upload(remote->connection, &remote->description, remote->run_dir, error) <
            0 ||
        open_uploads(remote, error) < 0)
        return -1;
    cleanup_queues(remote->connection, remote->description.id);
    char heartbeats[QUEUE_SUBJECT_SIZE];
    subject_print(heartbeats, "beat", remote->description.id);
    natsStatus status = create_consumers(remote);
    if (status == NATS_OK)
        status =
            natsConnection_SubscribeSync(&remote->heartbeats, remote->connection->nats, heartbeats);
    if (status == NATS_OK)
        status = put_description(remote);
    int abandoned = status == NATS_OK ? cleanup_abandoned(remote->connection,
                                                          remote->description.id, abandoned_after_s)
                                      : 0;
    if (abandoned > 0)
        log_info("removed %d abandoned runs from the queue", abandoned);
    return status == NATS_OK ? open_outbox(remote, error)
                             : connection_fail(status, "the run cannot be put on the queue", error);
}

static void close_run(struct remote_pool *remote) {
    if (remote->connection == NULL || remote->outbox == NULL ||
        !connection_is_up(remote->connection))
        return;
    cleanup_run(remote->connection, remote->description.id);
}

/* Counts messages in both queues, waiting or unacknowledged. Requests are counted first: a result
   is stored before its request is acknowledged, so none is missed in between. */
static natsStatus count_pending(struct remote_pool *remote, int64_t *pending) {
    static const char *const queues[] = {QUEUE_TRIALS, QUEUE_RESULTS};
    natsStatus status = NATS_OK;
    *pending = 0;
    for (int q = 0; q < 2 && status == NATS_OK; q++) {
        jsConsumerInfo *info = NULL;
        status = js_GetConsumerInfo(&info, remote->connection->js, queues[q],
                                    remote->description.id, NULL, NULL);
        if (status == NATS_OK)
            *pending += (int64_t)info->NumPending + info->NumAckPending;
        jsConsumerInfo_Destroy(info);
    }
    return status;
}

/* What the server's process or another coordinator may have taken away. */
static int upload_again(struct remote_pool *remote) {
    struct error ignored;
    if (file_transfer_upload(remote->connection, &remote->description, remote->run_dir, &ignored) <
        0)
        return -1;
    if (remote->uploads != NULL)
        solution_uploads_renew(remote->uploads, NULL);
    return 0;
}

/* Republishes requests that were acknowledged but whose results will not arrive, e.g. because the
   server dropped a result as the duplicate of another message with its id. Uploads the run again if
   another coordinator purged it as abandoned. */
static void resend_lost(struct remote_pool *remote) {
    int64_t pending;
    double now = clock_seconds();
    if (now - remote->last_progress < remote->description.ack_wait_s ||
        !connection_is_up(remote->connection))
        return;
    remote->last_progress = now;
    natsStatus status = count_pending(remote, &pending);
    if ((status == NATS_NOT_FOUND ||
         file_transfer_is_purged(remote->connection, &remote->description)) &&
        upload_again(remote) == 0)
        status = create_consumers(remote);
    int lost = status == NATS_OK && pending == 0 ? outbox_renew_acknowledged(remote->outbox) : 0;
    if (lost > 0)
        log_warn("the results of %d trials were lost on the queue: they are repeated", lost);
}

/* ---- the pool ---- */

static void remote_pool_submit(struct pool *pool, const struct trial_request *request) {
    outbox_add(remote_pool_of(pool)->outbox, request);
}

/* Workers read the champion from the run's description, so requests that already wait for a device
   are compared against it too. */
static void remote_pool_set_champion(struct pool *pool, const struct trial_champion *champion) {
    struct remote_pool *remote = remote_pool_of(pool);
    struct run_description *description = &remote->description;
    int at = 0;
    while (at < description->champion_count && description->champions[at].goal != champion->goal)
        at++;
    if (at == description->champion_count) {
        description->champions =
            xgrow(description->champions, (size_t)at, sizeof *description->champions);
        description->champion_count++;
    }
    description->champions[at] = *champion;
    remote->last_described = 0;
}

/* Periodic work, at most every periodic_interval_s. */
static void run_periodic_work(struct remote_pool *remote) {
    struct error ignored;
    double now = clock_seconds();
    if (now - remote->last_periodic < periodic_interval_s)
        return;
    remote->last_periodic = now;
    remote_pool_read_heartbeats(remote);
    remote_pool_expire_workers(remote);
    resend_lost(remote);
    if (remote->uploads != NULL)
        solution_uploads_send(remote->uploads, remote->description.solution, &ignored);
    if (connection_is_up(remote->connection) &&
        now - remote->last_described > interval_s(INTERVAL_DESCRIBE))
        put_description(remote); /* a failure is retried at the next update */
}

/* Waits at most `timeout_s`, and at most 20 ms, for the next result. */
static natsStatus next_result(struct remote_pool *remote, double timeout_s, natsMsg **message) {
    int64_t timeout_ms = timeout_s > 0.02 ? 20 : timeout_s > 0 ? (int64_t)(timeout_s * 1000) : 0;
    if (connection_is_up(remote->connection) && remote->epoch != remote->connection->epoch &&
        create_consumers(remote) == NATS_OK) {
        outbox_resend_all(remote->outbox);
        if (remote->uploads != NULL)
            solution_uploads_renew(remote->uploads, NULL);
    }
    if (remote->results != NULL)
        return natsSubscription_NextMsg(message, remote->results, timeout_ms);
    nats_Sleep(timeout_ms);
    return NATS_TIMEOUT;
}

static int remote_pool_poll(struct pool *pool, struct error *error) {
    struct remote_pool *remote = remote_pool_of(pool);
    (void)error; /* remote_pool_wait reports errors */
    outbox_send(remote->outbox);
    run_periodic_work(remote);
    return 0;
}

static int remote_pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                            struct error *error) {
    struct remote_pool *remote = remote_pool_of(pool);
    double end = clock_seconds() + timeout_s;
    double left_s;
    outbox_send(remote->outbox);
    if (take_refused(remote, result) == 1)
        return 1;
    do {
        natsMsg *message = NULL;
        run_periodic_work(remote);
        left_s = end - clock_seconds();
        natsStatus status = next_result(remote, left_s, &message);
        if (status == NATS_OK) {
            bool taken = take_result(remote, message, result);
            natsMsg_Ack(message, NULL);
            natsMsg_Destroy(message);
            if (taken) {
                remote->last_progress = clock_seconds();
                return 1;
            }
        } else if (status != NATS_TIMEOUT) {
            return connection_fail(status, "cannot read results from the queue's server", error);
        }
    } while (left_s > 0);
    return 0;
}

static int remote_pool_capacity(const struct pool *pool) {
    int capacity = worker_registry_capacity(&remote_pool_of(pool)->registry);
    return capacity > 0 ? capacity : 1; /* a returning worker finds a request */
}

static int remote_pool_list_workers(const struct pool *pool, struct pool_worker *workers,
                                    int limit) {
    return worker_registry_list(&remote_pool_of(pool)->registry, workers, limit);
}

static void remote_pool_free(struct pool *pool) {
    struct remote_pool *remote = remote_pool_of(pool);
    close_run(remote);
    natsSubscription_Destroy(remote->results);
    natsSubscription_Destroy(remote->heartbeats);
    outbox_stop(remote->outbox);
    connection_close(remote->connection);
    outbox_free(remote->outbox);
    solution_uploads_free(remote->uploads);
    run_description_release(&remote->description);
    worker_registry_release(&remote->registry);
    free(remote);
}

static const struct pool_backend remote_pool_backend = {
    .free = remote_pool_free,
    .capacity = remote_pool_capacity,
    .list_workers = remote_pool_list_workers,
    .submit = remote_pool_submit,
    .set_champion = remote_pool_set_champion,
    .poll = remote_pool_poll,
    .wait = remote_pool_wait,
};

/* `stop_signals`: the signals that stop waiting. */
static int wait_for_worker(struct remote_pool *remote, const char *url,
                           const sigset_t *stop_signals, struct error *error) {
    struct trial_result unexpected;
    double started_s = clock_seconds();
    /* A worker that another run rejected has announced the model. */
    bool announced = remote->model_pipe != 0 && remote->has_wanted_device;
    if (!announced)
        log_info("waiting for a worker: start `evotile worker --queue %s` on each host with a GPU",
                 strchr(url, '@') != NULL ? "URL" : url);
    while (!remote->description.has_platform) {
        int got = remote_pool_wait(&remote->pool, 0.1, &unexpected, error);
        if (got < 0)
            return -1;
        if (got > 0)
            trial_result_release(&unexpected);
        if (sigtimedwait(stop_signals, NULL, &(struct timespec){0}) > 0)
            return error_set(error, "stopped before a worker connected");
        if (announced && clock_seconds() - started_s > reconnect_timeout_s)
            return error_set(error, "the worker with %s has left, and no other connected",
                             remote->wanted_device.name);
    }
    remote->pool.device = remote->description.platform.device;
    snprintf(remote->pool.nvrtc, sizeof remote->pool.nvrtc, "%s",
             remote->description.platform.nvrtc);
    return 0;
}

struct pool *remote_pool_new(const struct remote_pool_settings *settings, struct error *error) {
    struct remote_pool *remote = xcalloc(1, sizeof *remote);
    sigset_t stop_signals, before;
    remote->pool.backend = &remote_pool_backend;
    remote->has_wanted_device = settings->wanted_device != NULL;
    if (settings->wanted_device != NULL)
        remote->wanted_device = *settings->wanted_device;
    remote->model_pipe = settings->model_pipe;
    remote->run_dir = settings->run_dir;
    remote->last_worker = remote->last_progress = clock_seconds();
    remote->description.ack_wait_s =
        settings->ack_wait_s > 0 ? settings->ack_wait_s : default_ack_wait_s;
    snprintf(remote->description.id, QUEUE_ID_SIZE, "%s", settings->id);
    const char *name = settings->name != NULL ? settings->name : path_name(settings->run_dir);
    snprintf(remote->description.name, sizeof remote->description.name, "%.127s",
             *name != '\0' ? name : settings->run_dir);
    if (settings->solution != NULL) /* HASH/NAME, its last two parts */
        snprintf(remote->description.solution, SOLUTION_PATH_SIZE, "%s",
                 settings->solution + strlen(settings->run_dir) + strlen("/templates/"));
    /* Handles these signals here, since no handler is installed yet: the run must be removed from
       the queue before the process exits. */
    sigemptyset(&stop_signals);
    sigaddset(&stop_signals, SIGINT);
    sigaddset(&stop_signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop_signals, &before);
    remote->connection = connection_open(&settings->connection, error);
    bool good = remote->connection != NULL && open_run(remote, error) == 0 &&
                wait_for_worker(remote, settings->connection.url, &stop_signals, error) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good)
        return &remote->pool;
    pool_free(&remote->pool);
    return NULL;
}
