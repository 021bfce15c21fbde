#include "queue/bridge.h"

#include "base/clock.h"
#include "base/log.h"
#include "queue/server.h"
#include "trial/wire.h"

#include <string.h>
#include <unistd.h>

enum { HELD_MAX = 1024, SERVER_MS = 2000, DRAIN_MS = 200 };

static const double beat_every_s = 2;
static const double send_again_s = 1;
static const double pull_every_s = 0.02;
static const double pull_for_s = 1; /* how long the server keeps a pull request open */

/* A pulled request, leased to this worker until the server has stored its result. */
struct held {
    natsMsg *message;
    int epoch; /* of the connection */
    char mark[QUEUE_MARK_SIZE];
    int64_t number;  /* of the trial */
    double extended; /* clock_seconds: when the lease was last extended */
    char *line;      /* the result; NULL: still running */
    double sent;
};

struct bridge {
    struct link *link;
    const struct description *description;
    struct pool *crew;
    struct beat beat;
    natsInbox *inbox;           /* the reply subject of pull requests */
    natsSubscription *requests; /* of the inbox; NULL: not subscribed */
    int epoch;                  /* of the connection when it subscribed */
    int coming;                 /* requests outstanding from the last pull */
    int held_count;
    struct held held[HELD_MAX];
    double beaten, pulled, busy; /* clock_seconds */
};

struct bridge *bridge_new(struct link *link, const struct description *description,
                          struct pool *crew, const struct queue_place *place) {
    struct bridge *bridge = calloc(1, sizeof *bridge);
    if (bridge == NULL)
        BUG("out of memory");
    bridge->link = link;
    bridge->description = description;
    bridge->crew = crew;
    bridge->beat.place = *place;
    bridge->busy = clock_seconds();
    link_id(bridge->beat.worker);
    if (gethostname(bridge->beat.host, sizeof bridge->beat.host - 1) < 0 ||
        *bridge->beat.host == '\0')
        strcpy(bridge->beat.host, "unknown");
    return bridge;
}

/* ---- leased requests ---- */

static struct held *find_number(struct bridge *bridge, int64_t number) {
    for (int h = 0; h < bridge->held_count; h++)
        if (bridge->held[h].number == number)
            return &bridge->held[h];
    return NULL;
}

static void drop(struct bridge *bridge, struct held *held) {
    natsMsg_Destroy(held->message);
    free(held->line);
    *held = bridge->held[--bridge->held_count];
}

static struct held *hold(struct bridge *bridge, natsMsg *message, const char *mark,
                         int64_t number) {
    struct held *held = &bridge->held[bridge->held_count++];
    *held = (struct held){.message = message,
                          .epoch = bridge->link->epoch,
                          .number = number,
                          .extended = clock_seconds()};
    strcpy(held->mark, mark);
    bridge->busy = held->extended;
    return held;
}

/* True if the connected server process is the one that delivered the request. */
static bool is_of_server(const struct bridge *bridge, const struct held *held) {
    return link_is_up(bridge->link) && held->epoch == bridge->link->epoch;
}

/* Publishes a JetStream acknowledgement (+ACK, -NAK, +WPI, +TERM) of the request. natsMsg_Ack and
   its like accept only messages that the library has fetched itself. */
static void answer(const struct bridge *bridge, natsMsg *message, const char *word) {
    natsConnection_PublishString(bridge->link->connection, natsMsg_GetReply(message), word);
}

/* Acknowledges the request only after the server has stored its result. */
static bool send_result(struct bridge *bridge, struct held *held) {
    jsPubOptions options;
    jsErrCode refused = 0;
    jsPubOptions_Init(&options);
    options.MaxWait = SERVER_MS;
    held->sent = clock_seconds();
    natsMsg *message = link_message("result", bridge->description->id, held->mark, held->line);
    natsStatus status = js_PublishMsg(NULL, bridge->link->js, message, &options, &refused);
    natsMsg_Destroy(message);
    if (status != NATS_OK && refused != 0)
        link_refused(bridge->link, "results", status);
    if (status != NATS_OK)
        return false;
    if (is_of_server(bridge, held))
        answer(bridge, held->message, "+ACK"); /* if lost: the second result is a duplicate */
    drop(bridge, held);
    return true;
}

static void finish(struct bridge *bridge, struct held *held, struct trial_result *result) {
    char device[sizeof result->worker];
    snprintf(device, sizeof device, "%s", result->worker);
    snprintf(result->worker, sizeof result->worker, "%.40s%s%.22s", bridge->beat.host,
             *device != '\0' ? "/" : "", device);
    held->line = wire_print_result(result);
    trial_result_release(result);
    send_result(bridge, held);
}

/* Publishes results that failed to be sent, and extends the leases of the other requests. */
static void tend(struct bridge *bridge) {
    double now = clock_seconds();
    if (!link_is_up(bridge->link))
        return;
    for (int h = bridge->held_count - 1; h >= 0; h--) {
        struct held *held = &bridge->held[h];
        if (held->line != NULL && now - held->sent > send_again_s) {
            if (!send_result(bridge, held))
                return;
        } else if (now - held->extended > bridge->description->patience_s / 3) {
            if (is_of_server(bridge, held))
                answer(bridge, held->message, "+WPI");
            held->extended = now;
        }
    }
}

/* ---- requests ---- */

/* A search only requests genomes of its own template. The protocol's other fields (files, another
   config, a baseline's command) are for processes of one host. */
static bool is_search(const struct trial_request *request) {
    bool plain = request->goal >= 0 && request->goal < CASES_MAX && !request->watched &&
                 !request->profiled && request->duel_blocks == 0 &&
                 request->rival.baseline.count == 0 && request->rival.implementation == NULL &&
                 request->rival.config == NULL && request->rival.template_folder == NULL &&
                 request->rival.goal >= 0 && request->rival.goal < CASES_MAX;
    for (int c = 0; c < CASES_MAX; c++)
        plain = plain && request->sources[c] == NULL && request->rival.sources[c] == NULL;
    return plain;
}

static uint64_t deliveries(natsMsg *message) {
    jsMsgMetaData *data = NULL;
    uint64_t count = natsMsg_GetMetaData(&data, message) == NATS_OK ? data->NumDelivered : 1;
    jsMsgMetaData_Destroy(data);
    return count;
}

/* A dead letter: every worker that had the request vanished. Answers it as crashed without running
   it. */
static void give_up(struct bridge *bridge, struct held *held, const struct trial_request *request) {
    struct trial_result result;
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "%d workers vanished while they had it", QUEUE_DELIVERIES_MAX);
    trial_result_begin(&result, request);
    trial_gate(&result, "worker", false, 0, "%s", reason);
    trial_end(&result, VERDICT_CRASHED, reason);
    finish(bridge, held, &result);
}

/* Takes ownership of the message. */
static void take_request(struct bridge *bridge, natsMsg *message) {
    char mark[QUEUE_MARK_SIZE];
    char later[64];
    struct wire_message read;
    struct error error = {0};
    char *text = link_text(message, mark);
    int status = text != NULL ? wire_read(text, &read, &error) : -1;
    free(text);
    if (status == 0 && read.kind == WIRE_REQUEST && is_search(&read.request)) {
        if (find_number(bridge, read.request.number) == NULL) {
            struct held *held = hold(bridge, message, mark, read.request.number);
            if (deliveries(message) <= QUEUE_DELIVERIES_MAX) {
                pool_submit(bridge->crew, &read.request);
                return;
            }
            give_up(bridge, held, &read.request);
        } else { /* the trial is still running from an earlier delivery or session: retry later */
            snprintf(later, sizeof later, "-NAK {\"delay\":%.0f}",
                     1e9 * bridge->description->patience_s);
            answer(bridge, message, later);
            natsMsg_Destroy(message);
        }
        trial_request_release(&read.request);
        return;
    }
    log_warn("dropped a message on the queue that is not a search request");
    if (status == 0) {
        trial_request_release(&read.request);
        trial_result_release(&read.result);
    }
    answer(bridge, message, "+TERM");
    natsMsg_Destroy(message);
}

static void unsubscribe(struct bridge *bridge) {
    natsSubscription_Destroy(bridge->requests);
    natsInbox_Destroy(bridge->inbox);
    bridge->requests = NULL;
    bridge->inbox = NULL;
    bridge->coming = 0;
}

/* Subscribes again for each server process: pending messages of an earlier one are void. */
static bool subscribe(struct bridge *bridge) {
    if (bridge->requests != NULL && bridge->epoch == bridge->link->epoch)
        return true;
    unsubscribe(bridge);
    bridge->epoch = bridge->link->epoch;
    return natsInbox_Create(&bridge->inbox) == NATS_OK &&
           natsConnection_SubscribeSync(&bridge->requests, bridge->link->connection,
                                        bridge->inbox) == NATS_OK;
}

/* Does not use natsSubscription_Fetch: in libnats 3.4.1 it writes past the end of its list when
   requests of an earlier, timed-out fetch arrive in addition to its own. */
static void ask(struct bridge *bridge, int count) {
    char subject[128];
    char body[64];
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT." QUEUE_TRIALS ".%s",
             bridge->description->id);
    snprintf(body, sizeof body, "{\"batch\":%d,\"expires\":%.0f}", count, 1e9 * pull_for_s);
    bridge->pulled = clock_seconds();
    if (natsConnection_PublishRequestString(bridge->link->connection, subject, bridge->inbox,
                                            body) == NATS_OK)
        bridge->coming = count;
}

/* Pulls as many requests as the pool has room for. Returns true if the pool was idle and this call
   spent its waiting time on the queue instead. */
static bool pull(struct bridge *bridge) {
    int room = pool_capacity(bridge->crew) - pool_in_flight(bridge->crew);
    bool idle = pool_in_flight(bridge->crew) == 0;
    bool waited = idle;
    int64_t timeout_ms = idle ? 100 : 0;
    double since_s = clock_seconds() - bridge->pulled;
    natsMsg *message;
    if (!link_is_up(bridge->link) || !subscribe(bridge))
        return false;
    if (since_s > 2 * pull_for_s) /* the pull request was lost */
        bridge->coming = 0;
    if (room > HELD_MAX - bridge->held_count)
        room = HELD_MAX - bridge->held_count;
    if (room > 0 && bridge->coming == 0 && since_s > pull_every_s) {
        ask(bridge, room);
        timeout_ms = idle ? 100 : 1;
    }
    while (bridge->held_count < HELD_MAX &&
           natsSubscription_NextMsg(&message, bridge->requests, timeout_ms) == NATS_OK) {
        timeout_ms = 0;
        waited = false;
        if (natsMsg_GetReply(message) != NULL) {
            bridge->coming -= bridge->coming > 0;
            take_request(bridge, message);
        } else { /* a status message: the pull request expired */
            bridge->coming = 0;
            natsMsg_Destroy(message);
        }
    }
    return waited;
}

/* ---- requests and results ---- */

int bridge_round(struct bridge *bridge, bool pulling, struct error *error) {
    bool waited = pulling && pull(bridge);
    double timeout_s = waited ? 0 : pull_every_s;
    for (;;) {
        struct trial_result result;
        int got = pool_wait(bridge->crew, timeout_s, &result, error);
        if (got <= 0) {
            tend(bridge);
            bridge_beat(bridge, false);
            return got;
        }
        struct held *held = find_number(bridge, result.number);
        if (held == NULL)
            BUG("the pool returned trial %lld, which was not requested", (long long)result.number);
        finish(bridge, held, &result);
        bridge->busy = clock_seconds();
        timeout_s = 0;
    }
}

int bridge_held(const struct bridge *bridge) {
    return bridge->held_count;
}

double bridge_idle_s(const struct bridge *bridge) {
    return bridge->held_count > 0 ? 0 : clock_seconds() - bridge->busy;
}

void bridge_beat(struct bridge *bridge, bool leaving) {
    char subject[QUEUE_SUBJECT_SIZE];
    double now = clock_seconds();
    if (!leaving && now - bridge->beaten < beat_every_s)
        return;
    bridge->beaten = now;
    bridge->beat.devices = pool_device_count(bridge->crew);
    bridge->beat.capacity = pool_capacity(bridge->crew);
    bridge->beat.in_flight = pool_in_flight(bridge->crew);
    bridge->beat.leaving = leaving;
    char *text = beat_print(&bridge->beat);
    link_subject(subject, "beat", bridge->description->id);
    /* Best effort: if this one is lost, the next may arrive. */
    natsConnection_PublishString(bridge->link->connection, subject, text);
    free(text);
}

void bridge_free(struct bridge *bridge) {
    if (bridge == NULL)
        return;
    bridge_beat(bridge, true);
    while (bridge->held_count > 0) {
        if (is_of_server(bridge, &bridge->held[0]))
            answer(bridge, bridge->held[0].message, "-NAK");
        drop(bridge, &bridge->held[0]);
    }
    natsMsg *message; /* was already in transit when the subscription was drained */
    if (bridge->requests != NULL && natsSubscription_Drain(bridge->requests) == NATS_OK)
        while (natsSubscription_NextMsg(&message, bridge->requests, DRAIN_MS) == NATS_OK) {
            answer(bridge, message, "-NAK");
            natsMsg_Destroy(message);
        }
    unsubscribe(bridge);
    free(bridge);
}
