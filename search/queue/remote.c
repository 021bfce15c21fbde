#include "queue/remote.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "queue/outbox.h"
#include "queue/parcel.h"
#include "queue/remains.h"
#include "queue/roster.h"
#include "queue/server.h"
#include "trial/wire.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS_PENDING_MAX = 65536, MODELS_MAX = 16 };

static const double patience_default_s = 30;
static const double describe_every_s = 5; /* workers leave a run without updates for a minute */
static const double tend_every_s = 0.1;
static const double dead_after_s = 600; /* then another coordinator's run counts as abandoned */
static const double come_back_s = 300;  /* a rejected worker restarts for its model's run */

struct remote {
    struct pool pool; /* first */
    struct link *link;
    struct outbox *outbox;
    const char *run_dir;
    struct description description;
    struct device_info wanted;
    bool has_wanted;
    int news, model_count;
    struct device_info models[MODELS_MAX]; /* already announced on the pipe */
    natsSubscription *results, *beats;
    struct roster roster;
    struct error warned; /* the last warning about an unidentified worker */
    int epoch;           /* of the connection when the consumers were created */
    /* clock_seconds of the last periodic work, description update, worker, and result (or check
       for lost results) */
    double tended, described, lonely, told;
};

static struct remote *remote_of(const struct pool *pool) {
    return (struct remote *)pool;
}

/* ---- results ---- */

/* A result with another trial number, goal or genome is invalid: the search could not use it. */
static bool read_result(const struct sent *sent, const char *text, struct trial_result *result) {
    struct wire_message read;
    struct error error = {0};
    if (wire_read(text, &read, &error) < 0)
        return false;
    if (read.kind == WIRE_RESULT && read.result.number == sent->number &&
        read.result.goal == sent->goal && genome_equal(&read.result.genome, &sent->genome)) {
        trial_result_move(result, &read.result);
        return true;
    }
    trial_request_release(&read.request);
    trial_result_release(&read.result);
    return false;
}

/* Returns true if the message is a valid result of a pending request. */
static bool take_result(struct remote *remote, natsMsg *message, struct trial_result *result) {
    char mark[QUEUE_MARK_SIZE];
    char *text = link_text(message, mark);
    struct sent *sent = text != NULL ? outbox_find(remote->outbox, mark) : NULL;
    bool good = sent != NULL && read_result(sent, text, result);
    free(text);
    if (good) {
        outbox_done(remote->outbox, sent);
    } else if (sent != NULL) {
        log_warn("a worker's result is damaged: its trial is repeated");
        outbox_renew(remote->outbox, sent);
    }
    return good;
}

/* ---- workers ---- */

/* The first acceptable worker fixes the run's platform. */
static bool accept(struct remote *remote, const struct beat *beat, char why[256]) {
    struct description *description = &remote->description;
    if (description->placed)
        return queue_place_same(&beat->place, &description->place, why);
    if (remote->has_wanted && !device_same_model(&remote->wanted, &beat->place.device)) {
        snprintf(why, 256, "its device is %.80s, and the run's %.80s", beat->place.device.name,
                 remote->wanted.name);
        return false;
    }
    description->placed = true;
    description->place = beat->place;
    remote->described = 0;
    return true;
}

/* Writes the model to the pipe once. Returns true if the reader knows of it. */
static bool tell_model(struct remote *remote, const struct device_info *model) {
    if (remote->news == 0)
        return false;
    for (int m = 0; m < remote->model_count; m++)
        if (device_same_model(&remote->models[m], model))
            return true;
    if (remote->model_count == MODELS_MAX ||
        write(remote->news, model, sizeof *model) != (ssize_t)sizeof *model)
        return false;
    remote->models[remote->model_count++] = *model;
    return true;
}

static bool is_other_model(const struct remote *remote, const struct device_info *model) {
    return remote->description.placed
               ? !device_same_model(model, &remote->description.place.device)
               : remote->has_wanted && !device_same_model(model, &remote->wanted);
}

/* `fault`: why the heartbeat is invalid, though its sender is known; NULL: it is valid. */
static void take_beat(struct remote *remote, const struct beat *beat, const char *fault) {
    char why[256];
    struct helper *helper = roster_find(&remote->roster, beat->worker);
    if (helper == NULL)
        return;
    bool is_new = helper->heard == 0;
    bool accepted = fault == NULL && accept(remote, beat, why);
    bool elsewhere = fault == NULL && tell_model(remote, &beat->place.device) &&
                     is_other_model(remote, &beat->place.device);
    if (!accepted && !helper->refused && !elsewhere)
        log_warn("a worker on %s gets no work from this run: %s", beat->host,
                 fault != NULL ? fault : why);
    if (accepted && is_new)
        log_info("a worker on %s: %d x %s", beat->host, beat->devices, beat->place.device.name);
    *helper = (struct helper){.beat = *beat, .heard = clock_seconds(), .refused = !accepted};
    if (beat->leaving) {
        if (accepted)
            log_info("a worker on %s left", beat->host);
        roster_drop(&remote->roster, helper);
    }
}

static void hear_beats(struct remote *remote) {
    natsMsg *message;
    while (natsSubscription_NextMsg(&message, remote->beats, 0) == NATS_OK) {
        struct beat beat;
        struct error error = {0};
        int length = natsMsg_GetDataLength(message);
        char *text = length <= QUEUE_MESSAGE_MAX ? strndup(natsMsg_GetData(message), (size_t)length)
                                                 : strdup("");
        if (text == NULL)
            BUG("out of memory");
        int status = beat_parse(&beat, text, &error);
        if (*beat.worker != '\0') {
            take_beat(remote, &beat, status < 0 ? error.text : NULL);
        } else if (strcmp(error.text, remote->warned.text) != 0) { /* warns once, not every beat */
            log_warn("a worker gets no work: %s", error.text);
            remote->warned = error;
        }
        free(text);
        natsMsg_Destroy(message);
    }
}

static void look_for_silence(struct remote *remote) {
    double now = clock_seconds();
    remote->pool.restarts += roster_forget(&remote->roster);
    if (roster_capacity(&remote->roster) > 0 || !link_is_up(remote->link))
        remote->lonely = now;
    else if (now - remote->lonely > 60) {
        log_warn("no worker for a minute: start `evotile worker --queue`");
        remote->lonely = now + 600;
    }
}

/* ---- the run on the server ---- */

static natsStatus describe(struct remote *remote) {
    char *text = description_print(&remote->description);
    natsStatus status = kvStore_PutString(NULL, remote->link->runs, remote->description.id, text);
    free(text);
    remote->described = clock_seconds();
    return status;
}

static natsStatus add_consumer(struct remote *remote) {
    char subject[QUEUE_SUBJECT_SIZE];
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    link_subject(subject, "trial", remote->description.id);
    config.Durable = remote->description.id;
    config.FilterSubject = subject;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = (int64_t)(remote->description.patience_s * 1e9);
    config.MaxAckPending = RESULTS_PENDING_MAX;
    config.MaxDeliver = -1;
    js_DeleteConsumer(remote->link->js, QUEUE_TRIALS, remote->description.id, NULL, NULL);
    return js_AddConsumer(NULL, remote->link->js, QUEUE_TRIALS, &config, NULL, NULL);
}

static natsStatus subscribe(struct remote *remote) {
    char subject[QUEUE_SUBJECT_SIZE];
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.ManualAck = true;
    options.Stream = QUEUE_RESULTS;
    options.Config.Durable = remote->description.id;
    options.Config.AckPolicy = js_AckExplicit;
    options.Config.MaxAckPending = RESULTS_PENDING_MAX;
    link_subject(subject, "result", remote->description.id);
    js_DeleteConsumer(remote->link->js, QUEUE_RESULTS, remote->description.id, NULL, NULL);
    natsSubscription_Destroy(remote->results); /* unread messages are delivered again */
    remote->results = NULL;
    return js_SubscribeSync(&remote->results, remote->link->js, subject, NULL, &options, NULL);
}

/* Creates the consumers for the connected server process: one of an earlier process may wait for
   sequence numbers that this one has not reached. */
static natsStatus make_consumers(struct remote *remote) {
    int epoch = link_is_up(remote->link) ? remote->link->epoch : 0;
    natsStatus status = add_consumer(remote);
    if (status == NATS_OK)
        status = subscribe(remote);
    if (status == NATS_OK)
        remote->epoch = epoch;
    return status;
}

static int open_run(struct remote *remote, struct error *error) {
    if (parcel_list(&remote->description, remote->run_dir, error) < 0 ||
        link_bind(remote->link, true, error) < 0 ||
        parcel_put(remote->link, &remote->description, remote->run_dir, error) < 0)
        return -1;
    remains_clear_queues(remote->link, remote->description.id);
    char beats[QUEUE_SUBJECT_SIZE];
    link_subject(beats, "beat", remote->description.id);
    natsStatus status = make_consumers(remote);
    if (status == NATS_OK)
        status = natsConnection_SubscribeSync(&remote->beats, remote->link->connection, beats);
    if (status == NATS_OK)
        status = describe(remote);
    int dead = status == NATS_OK
                   ? remains_clear_dead(remote->link, remote->description.id, dead_after_s)
                   : 0;
    if (dead > 0)
        log_info("removed %d abandoned runs from the queue", dead);
    if (status == NATS_OK &&
        (remote->outbox = outbox_new(remote->link, remote->description.id, error)) == NULL)
        return -1;
    return status == NATS_OK ? 0 : link_fail(status, "the run cannot be put on the queue", error);
}

static void close_run(struct remote *remote) {
    if (remote->link == NULL || remote->outbox == NULL || !link_is_up(remote->link))
        return;
    remains_clear(remote->link, remote->description.id);
}

/* Counts messages in both queues, waiting or unacknowledged. Requests are counted first: a result
   is stored before its request is acknowledged, so none is missed in between. */
static natsStatus count_left(struct remote *remote, int64_t *left) {
    static const char *const queues[] = {QUEUE_TRIALS, QUEUE_RESULTS};
    natsStatus status = NATS_OK;
    *left = 0;
    for (int q = 0; q < 2 && status == NATS_OK; q++) {
        jsConsumerInfo *info = NULL;
        status = js_GetConsumerInfo(&info, remote->link->js, queues[q], remote->description.id,
                                    NULL, NULL);
        if (status == NATS_OK)
            *left += (int64_t)info->NumPending + info->NumAckPending;
        jsConsumerInfo_Destroy(info);
    }
    return status;
}

/* Republishes requests that were acknowledged but whose results will not arrive, e.g. because the
   server dropped a result as the duplicate of another message with its id. Uploads the run again if
   another coordinator purged it as abandoned. */
static void look_for_loss(struct remote *remote) {
    struct error ignored;
    int64_t left;
    double now = clock_seconds();
    if (now - remote->told < remote->description.patience_s || !link_is_up(remote->link))
        return;
    remote->told = now;
    natsStatus status = count_left(remote, &left);
    if ((status == NATS_NOT_FOUND || remains_gone(remote->link, remote->description.id)) &&
        parcel_put(remote->link, &remote->description, remote->run_dir, &ignored) == 0)
        status = make_consumers(remote);
    int lost = status == NATS_OK && left == 0 ? outbox_renew_stored(remote->outbox) : 0;
    if (lost > 0)
        log_warn("the results of %d trials were lost on the queue: they are repeated", lost);
}

/* ---- the pool ---- */

static void remote_submit(struct pool *pool, const struct trial_request *request) {
    outbox_add(remote_of(pool)->outbox, request);
}

/* Workers read the champion from the run's description, so requests that already wait for a device
   are compared against it too. */
static void remote_crown(struct pool *pool, const struct trial_champion *champion) {
    struct remote *remote = remote_of(pool);
    struct description *description = &remote->description;
    int at = 0;
    while (at < description->champion_count && description->champions[at].goal != champion->goal)
        at++;
    description->champions[at] = *champion;
    description->champion_count += at == description->champion_count;
    remote->described = 0;
}

/* Periodic work, at most every tend_every_s. */
static void tend(struct remote *remote) {
    double now = clock_seconds();
    if (now - remote->tended < tend_every_s)
        return;
    remote->tended = now;
    hear_beats(remote);
    look_for_silence(remote);
    look_for_loss(remote);
    if (link_is_up(remote->link) && now - remote->described > describe_every_s)
        describe(remote); /* a failure is retried at the next update */
}

/* Waits at most `timeout_s`, and at most 20 ms, for the next result. */
static natsStatus next_result(struct remote *remote, double timeout_s, natsMsg **message) {
    int64_t timeout_ms = timeout_s > 0.02 ? 20 : timeout_s > 0 ? (int64_t)(timeout_s * 1000) : 0;
    if (link_is_up(remote->link) && remote->epoch != remote->link->epoch &&
        make_consumers(remote) == NATS_OK)
        outbox_again(remote->outbox);
    if (remote->results != NULL)
        return natsSubscription_NextMsg(message, remote->results, timeout_ms);
    nats_Sleep(timeout_ms);
    return NATS_TIMEOUT;
}

static int remote_tend(struct pool *pool, struct error *error) {
    struct remote *remote = remote_of(pool);
    (void)error; /* remote_wait reports errors */
    outbox_send(remote->outbox);
    tend(remote);
    return 0;
}

static int remote_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                       struct error *error) {
    struct remote *remote = remote_of(pool);
    double end = clock_seconds() + timeout_s;
    double left_s;
    outbox_send(remote->outbox);
    do {
        natsMsg *message = NULL;
        tend(remote);
        left_s = end - clock_seconds();
        natsStatus status = next_result(remote, left_s, &message);
        if (status == NATS_OK) {
            bool taken = take_result(remote, message, result);
            natsMsg_Ack(message, NULL);
            natsMsg_Destroy(message);
            if (taken) {
                remote->told = clock_seconds();
                return 1;
            }
        } else if (status != NATS_TIMEOUT) {
            return link_fail(status, "cannot read results from the queue's server", error);
        }
    } while (left_s > 0);
    return 0;
}

static int remote_capacity(const struct pool *pool) {
    int capacity = roster_capacity(&remote_of(pool)->roster);
    return capacity > 0 ? capacity : 1; /* a returning worker finds a request */
}

static int remote_look(const struct pool *pool, struct pool_worker *workers, int limit) {
    return roster_look(&remote_of(pool)->roster, workers, limit);
}

/* The pool has no devices on this host. */
static int remote_device_count(const struct pool *pool) {
    (void)pool;
    return 0;
}

static const struct device_info *remote_device_at(const struct pool *pool, int device) {
    BUG("device %d of a pool on other hosts: %s", device, pool->device.name);
}

static void remote_pause(struct pool *pool, int device, bool paused) {
    (void)paused;
    remote_device_at(pool, device);
}

static void remote_free(struct pool *pool) {
    struct remote *remote = remote_of(pool);
    close_run(remote);
    natsSubscription_Destroy(remote->results);
    natsSubscription_Destroy(remote->beats);
    outbox_stop(remote->outbox);
    link_close(remote->link);
    outbox_free(remote->outbox);
    description_release(&remote->description);
    roster_release(&remote->roster);
    free(remote);
}

static const struct pool_backend remote_backend = {
    .free = remote_free,
    .device_count = remote_device_count,
    .device_at = remote_device_at,
    .capacity = remote_capacity,
    .look = remote_look,
    .pause = remote_pause,
    .submit = remote_submit,
    .crown = remote_crown,
    .tend = remote_tend,
    .wait = remote_wait,
};

/* `stop_signals`: the signals that stop waiting. */
static int wait_for_worker(struct remote *remote, const char *url, const sigset_t *ends,
                           struct error *error) {
    struct trial_result unexpected;
    double begun = clock_seconds();
    /* A worker that another run rejected has announced the model. */
    bool announced = remote->news != 0 && remote->has_wanted;
    if (!announced)
        log_info("waiting for a worker: start `evotile worker --queue %s` on each host with a GPU",
                 strchr(url, '@') != NULL ? "URL" : url);
    while (!remote->description.placed) {
        if (remote_wait(&remote->pool, 0.1, &unexpected, error) < 0)
            return -1;
        if (sigtimedwait(ends, NULL, &(struct timespec){0}) > 0)
            return error_set(error, "stopped before a worker connected");
        if (announced && clock_seconds() - begun > come_back_s)
            return error_set(error, "the worker with %s has left, and no other connected",
                             remote->wanted.name);
    }
    remote->pool.device = remote->description.place.device;
    snprintf(remote->pool.nvrtc, sizeof remote->pool.nvrtc, "%s", remote->description.place.nvrtc);
    return 0;
}

struct pool *remote_new(const struct remote_settings *settings, struct error *error) {
    struct remote *remote = calloc(1, sizeof *remote);
    sigset_t ends, before;
    if (remote == NULL)
        BUG("out of memory");
    remote->pool.backend = &remote_backend;
    remote->has_wanted = settings->wanted != NULL;
    if (settings->wanted != NULL)
        remote->wanted = *settings->wanted;
    remote->news = settings->news;
    remote->run_dir = settings->run_dir;
    remote->lonely = remote->told = clock_seconds();
    remote->description.patience_s =
        settings->patience_s > 0 ? settings->patience_s : patience_default_s;
    snprintf(remote->description.id, QUEUE_ID_SIZE, "%s", settings->id);
    const char *name = path_name(settings->run_dir);
    snprintf(remote->description.name, sizeof remote->description.name, "%.127s",
             *name != '\0' ? name : settings->run_dir);
    /* Handles these signals here, since no handler is installed yet: the run must be removed from
       the queue before the process exits. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    remote->link = link_open(&settings->link, error);
    bool good = remote->link != NULL && open_run(remote, error) == 0 &&
                wait_for_worker(remote, settings->link.url, &ends, error) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (good)
        return &remote->pool;
    pool_free(&remote->pool);
    return NULL;
}
