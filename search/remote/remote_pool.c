#include "remote/remote_pool.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "pool/protocol.h"
#include "remote/cleanup.h"
#include "remote/connection_internal.h"
#include "remote/file_transfer.h"
#include "remote/outbox.h"
#include "remote/worker_registry.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS_PENDING_MAX = 65536, MODELS_MAX = 16 };

static const double default_ack_wait_s = 30;
static const double periodic_interval_s = 0.1;
static const double abandoned_after_s =
    600; /* then another coordinator's run counts as abandoned */
static const double reconnect_timeout_s = 300; /* a rejected worker restarts for its model's run */

struct remote_pool {
    struct pool pool; /* first */
    struct connection *connection;
    struct outbox *outbox;
    const char *run_dir;
    struct run_description description;
    struct device_info wanted_device;
    bool has_wanted_device;
    int model_pipe, model_count;
    struct device_info announced_models[MODELS_MAX]; /* already announced on the pipe */
    natsSubscription *results, *heartbeats;
    struct worker_registry registry;
    struct error last_warning; /* the last warning about an unidentified worker */
    int epoch;                 /* of the connection when the consumers were created */
    /* clock_seconds of the last periodic work, description update, worker, and result (or check
       for lost results) */
    double last_periodic, last_described, last_worker, last_progress;
};

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

/* Returns true if the message is a valid result of a pending request. */
static bool take_result(struct remote_pool *remote, natsMsg *message, struct trial_result *result) {
    char message_id[MESSAGE_ID_SIZE];
    char *text = message_text(message, message_id);
    struct outbox_request *pending = text != NULL ? outbox_find(remote->outbox, message_id) : NULL;
    bool good = pending != NULL && read_result(pending, text, result);
    free(text);
    if (good) {
        outbox_remove(remote->outbox, pending);
    } else if (pending != NULL) {
        log_warn("a worker's result is damaged: its trial is repeated");
        outbox_renew_id(remote->outbox, pending);
    }
    return good;
}

/* ---- workers ---- */

/* The first acceptable worker fixes the run's platform. */
static bool accept_worker(struct remote_pool *remote, const struct heartbeat *heartbeat,
                          char why[256]) {
    struct run_description *description = &remote->description;
    if (description->has_platform)
        return platform_same(&heartbeat->platform, &description->platform, why);
    if (remote->has_wanted_device &&
        !device_same_model(&remote->wanted_device, &heartbeat->platform.device)) {
        snprintf(why, 256, "its device is %.80s, and the run's %.80s",
                 heartbeat->platform.device.name, remote->wanted_device.name);
        return false;
    }
    description->has_platform = true;
    description->platform = heartbeat->platform;
    remote->last_described = 0;
    return true;
}

/* Writes the model to the pipe once. Returns true if the reader knows of it. */
static bool announce_model(struct remote_pool *remote, const struct device_info *model) {
    if (remote->model_pipe == 0)
        return false;
    for (int m = 0; m < remote->model_count; m++)
        if (device_same_model(&remote->announced_models[m], model))
            return true;
    if (remote->model_count == MODELS_MAX ||
        write(remote->model_pipe, model, sizeof *model) != (ssize_t)sizeof *model)
        return false;
    remote->announced_models[remote->model_count++] = *model;
    return true;
}

static bool is_other_model(const struct remote_pool *remote, const struct device_info *model) {
    return remote->description.has_platform
               ? !device_same_model(model, &remote->description.platform.device)
               : remote->has_wanted_device && !device_same_model(model, &remote->wanted_device);
}

/* `fault`: why the heartbeat is invalid, though its sender is known; NULL: it is valid. */
static void handle_heartbeat(struct remote_pool *remote, const struct heartbeat *heartbeat,
                             const char *fault) {
    char why[256];
    struct remote_worker *worker = worker_registry_find(&remote->registry, heartbeat->worker);
    if (worker == NULL)
        return;
    bool is_new = worker->last_seen == 0;
    bool accepted = fault == NULL && accept_worker(remote, heartbeat, why);
    bool is_for_other_run = fault == NULL && announce_model(remote, &heartbeat->platform.device) &&
                            is_other_model(remote, &heartbeat->platform.device);
    if (!accepted && !worker->rejected && !is_for_other_run)
        log_warn("a worker on %s gets no work from this run: %s", heartbeat->host,
                 fault != NULL ? fault : why);
    if (accepted && is_new)
        log_info("a worker on %s: %d x %s", heartbeat->host, heartbeat->devices,
                 heartbeat->platform.device.name);
    *worker = (struct remote_worker){
        .heartbeat = *heartbeat, .last_seen = clock_seconds(), .rejected = !accepted};
    if (heartbeat->leaving) {
        if (accepted)
            log_info("a worker on %s left", heartbeat->host);
        worker_registry_remove(&remote->registry, worker);
    }
}

static void read_heartbeats(struct remote_pool *remote) {
    natsMsg *message;
    while (natsSubscription_NextMsg(&message, remote->heartbeats, 0) == NATS_OK) {
        struct heartbeat heartbeat;
        struct error error = {0};
        int length = natsMsg_GetDataLength(message);
        char *text =
            xstrndup(natsMsg_GetData(message), length <= QUEUE_MESSAGE_MAX ? (size_t)length : 0);
        int status = heartbeat_parse(&heartbeat, text, &error);
        if (*heartbeat.worker != '\0') {
            handle_heartbeat(remote, &heartbeat, status < 0 ? error.text : NULL);
        } else if (strcmp(error.text, remote->last_warning.text) !=
                   0) { /* warns once, not every beat */
            log_warn("a worker gets no work: %s", error.text);
            remote->last_warning = error;
        }
        free(text);
        natsMsg_Destroy(message);
    }
}

static void expire_workers(struct remote_pool *remote) {
    double now = clock_seconds();
    remote->pool.restarts += worker_registry_expire(&remote->registry);
    if (worker_registry_capacity(&remote->registry) > 0 || !connection_is_up(remote->connection))
        remote->last_worker = now;
    else if (now - remote->last_worker > 60) {
        log_warn("no worker for a minute: start `evotile worker --queue`");
        remote->last_worker = now + 600;
    }
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

static int open_run(struct remote_pool *remote, struct error *error) {
    if (file_transfer_list(&remote->description, remote->run_dir, error) < 0 ||
        connection_bind_streams(remote->connection, true, error) < 0 ||
        file_transfer_upload(remote->connection, &remote->description, remote->run_dir, error) < 0)
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
    if (status == NATS_OK &&
        (remote->outbox = outbox_new(remote->connection, remote->description.id, error)) == NULL)
        return -1;
    return status == NATS_OK ? 0
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

/* Republishes requests that were acknowledged but whose results will not arrive, e.g. because the
   server dropped a result as the duplicate of another message with its id. Uploads the run again if
   another coordinator purged it as abandoned. */
static void resend_lost(struct remote_pool *remote) {
    struct error ignored;
    int64_t pending;
    double now = clock_seconds();
    if (now - remote->last_progress < remote->description.ack_wait_s ||
        !connection_is_up(remote->connection))
        return;
    remote->last_progress = now;
    natsStatus status = count_pending(remote, &pending);
    if ((status == NATS_NOT_FOUND ||
         file_transfer_is_purged(remote->connection, &remote->description)) &&
        file_transfer_upload(remote->connection, &remote->description, remote->run_dir, &ignored) ==
            0)
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
    description->champions[at] = *champion;
    description->champion_count += at == description->champion_count;
    remote->last_described = 0;
}

/* Periodic work, at most every periodic_interval_s. */
static void run_periodic_work(struct remote_pool *remote) {
    double now = clock_seconds();
    if (now - remote->last_periodic < periodic_interval_s)
        return;
    remote->last_periodic = now;
    read_heartbeats(remote);
    expire_workers(remote);
    resend_lost(remote);
    if (connection_is_up(remote->connection) &&
        now - remote->last_described > interval_s(INTERVAL_DESCRIBE))
        put_description(remote); /* a failure is retried at the next update */
}

/* Waits at most `timeout_s`, and at most 20 ms, for the next result. */
static natsStatus next_result(struct remote_pool *remote, double timeout_s, natsMsg **message) {
    int64_t timeout_ms = timeout_s > 0.02 ? 20 : timeout_s > 0 ? (int64_t)(timeout_s * 1000) : 0;
    if (connection_is_up(remote->connection) && remote->epoch != remote->connection->epoch &&
        create_consumers(remote) == NATS_OK)
        outbox_resend_all(remote->outbox);
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
    const char *name = path_name(settings->run_dir);
    snprintf(remote->description.name, sizeof remote->description.name, "%.127s",
             *name != '\0' ? name : settings->run_dir);
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
