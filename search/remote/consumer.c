#include "remote/consumer.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "pool/protocol.h"
#include "remote/connection_internal.h"

#include <string.h>
#include <unistd.h>

enum { HELD_MAX = 1024, SERVER_MS = 2000, DRAIN_MS = 200, SOLUTIONS_MAX_OF_REQUEST = 2 };

static const double pull_interval_s = 0.02;
static const double fetch_limit_s = 60; /* how long a request waits for its solutions' files */
static const double pull_expires_s = 1; /* how long the server keeps a pull request open */

/* A pulled request, leased to this worker until the server has stored its result. */
struct held_request {
    natsMsg *message;
    int epoch; /* of the connection */
    char message_id[MESSAGE_ID_SIZE];
    int64_t number;        /* of the trial */
    double lease_extended; /* clock_seconds: when the lease was last extended */
    char *result_line;     /* the result; NULL: still running */
    double result_sent;
    bool waits;                   /* for its solutions' files: the pool does not have it yet */
    struct trial_request request; /* while it waits: owned */
    double since;                 /* clock_seconds */
    int solution_count;
    char solutions[SOLUTIONS_MAX_OF_REQUEST][SOLUTION_PATH_SIZE]; /* held in the cache */
};

struct consumer {
    struct connection *connection;
    const struct run_description *description;
    struct pool *local_pool;
    struct solution_cache *solutions; /* NULL: of a search */
    struct heartbeat heartbeat;
    natsInbox *inbox;           /* the reply subject of pull requests */
    natsSubscription *requests; /* of the inbox; NULL: not subscribed */
    int epoch;                  /* of the connection when it subscribed */
    int outstanding;            /* requests outstanding from the last pull */
    int held_count;
    struct held_request held[HELD_MAX];
    double heartbeat_sent, pull_sent, last_busy; /* clock_seconds */
};

struct consumer *consumer_new(struct connection *connection,
                              const struct run_description *description, struct pool *local_pool,
                              const struct platform *platform, struct solution_cache *solutions) {
    struct consumer *consumer = xcalloc(1, sizeof *consumer);
    consumer->solutions = solutions;
    consumer->connection = connection;
    consumer->description = description;
    consumer->local_pool = local_pool;
    consumer->heartbeat.platform = *platform;
    consumer->last_busy = clock_seconds();
    random_id(consumer->heartbeat.worker);
    if (gethostname(consumer->heartbeat.host, sizeof consumer->heartbeat.host - 1) < 0 ||
        *consumer->heartbeat.host == '\0')
        strcpy(consumer->heartbeat.host, "unknown");
    return consumer;
}

/* ---- leased requests ---- */

static struct held_request *find_held(struct consumer *consumer, int64_t number) {
    for (int h = 0; h < consumer->held_count; h++)
        if (consumer->held[h].number == number)
            return &consumer->held[h];
    return NULL;
}

static void drop_held(struct consumer *consumer, struct held_request *held) {
    for (int s = 0; s < held->solution_count; s++)
        solution_cache_release(consumer->solutions, held->solutions[s]);
    if (held->waits)
        trial_request_release(&held->request);
    natsMsg_Destroy(held->message);
    free(held->result_line);
    *held = consumer->held[--consumer->held_count];
}

static struct held_request *hold_request(struct consumer *consumer, natsMsg *message,
                                         const char *message_id, int64_t number) {
    struct held_request *held = &consumer->held[consumer->held_count++];
    *held = (struct held_request){.message = message,
                                  .epoch = consumer->connection->epoch,
                                  .number = number,
                                  .lease_extended = clock_seconds(),
                                  .since = clock_seconds()};
    strcpy(held->message_id, message_id);
    consumer->last_busy = held->lease_extended;
    return held;
}

/* True if the connected server process is the one that delivered the request. */
static bool is_from_current_server(const struct consumer *consumer,
                                   const struct held_request *held) {
    return connection_is_up(consumer->connection) && held->epoch == consumer->connection->epoch;
}

/* Publishes a JetStream acknowledgement (+ACK, -NAK, +WPI, +TERM) of the request. natsMsg_Ack and
   its like accept only messages that the library has fetched itself. */
static void send_ack(const struct consumer *consumer, natsMsg *message, const char *word) {
    natsConnection_PublishString(consumer->connection->nats, natsMsg_GetReply(message), word);
}

/* Acknowledges the request only after the server has stored its result. */
static bool send_result(struct consumer *consumer, struct held_request *held) {
    jsPubOptions options;
    jsErrCode refused = 0;
    jsPubOptions_Init(&options);
    options.MaxWait = SERVER_MS;
    held->result_sent = clock_seconds();
    natsMsg *message =
        message_new("result", consumer->description->id, held->message_id, held->result_line);
    natsStatus status = js_PublishMsg(NULL, consumer->connection->js, message, &options, &refused);
    natsMsg_Destroy(message);
    if (status != NATS_OK && refused != 0)
        connection_warn_rejected(consumer->connection, "results", connection_last_error(status));
    if (status != NATS_OK)
        return false;
    if (is_from_current_server(consumer, held))
        send_ack(consumer, held->message, "+ACK"); /* if lost: the second result is a duplicate */
    drop_held(consumer, held);
    return true;
}

static void finish_request(struct consumer *consumer, struct held_request *held,
                           struct trial_result *result) {
    char device[sizeof result->worker];
    if (consumer->solutions != NULL) {
        solution_cache_shorten(consumer->solutions, result->outcome.reason);
        for (int g = 0; g < result->gate_count; g++)
            solution_cache_shorten(consumer->solutions, result->gates[g].text);
    }
    snprintf(device, sizeof device, "%s", result->worker);
    snprintf(result->worker, sizeof result->worker, "%.40s%s%.22s", consumer->heartbeat.host,
             *device != '\0' ? "/" : "", device);
    held->result_line = protocol_print_result(result);
    trial_result_release(result);
    send_result(consumer, held);
}

/* Publishes results that failed to be sent, and extends the leases of the other requests. */
static void refresh_held(struct consumer *consumer) {
    double now = clock_seconds();
    if (!connection_is_up(consumer->connection))
        return;
    for (int h = consumer->held_count - 1; h >= 0; h--) {
        struct held_request *held = &consumer->held[h];
        if (held->result_line != NULL &&
            now - held->result_sent > interval_s(INTERVAL_RESULT_RESEND)) {
            if (!send_result(consumer, held))
                return;
        } else if (now - held->lease_extended > consumer->description->ack_wait_s / 3) {
            if (is_from_current_server(consumer, held))
                send_ack(consumer, held->message, "+WPI");
            held->lease_extended = now;
        }
    }
}

/* ---- requests ---- */

/* The protocol's other fields (files, a baseline's command) are for processes of one host. */
static bool names_no_file(const struct trial_request *request) {
    bool plain = request->goal >= 0 && request->goal < GOALS_MAX && !request->under_tool &&
                 !request->profiled && request->duel_blocks == 0 &&
                 request->opponent.baseline.count == 0 &&
                 request->opponent.implementation == NULL && request->opponent.goal >= 0 &&
                 request->opponent.goal < GOALS_MAX;
    for (int c = 0; c < CASES_MAX; c++)
        plain = plain && request->sources[c] == NULL && request->opponent.sources[c] == NULL &&
                request->cubins[c] == NULL && request->opponent.cubins[c] == NULL;
    return plain;
}

/* A search only requests genomes of its own template. */
static bool is_search_request(const struct trial_request *request) {
    return names_no_file(request) && request->level == LEVEL_TIMED && !request->diagnosed &&
           request->config == NULL && request->template_folder == NULL &&
           request->opponent.config == NULL && request->opponent.template_folder == NULL;
}

/* A server names the config of its run, and a solution by its hash. */
static bool is_solution(const char *config, const char *folder) {
    return config != NULL && folder != NULL && strcmp(config, "config.json") == 0 &&
           solution_files_is_path(folder);
}

static bool is_server_request(const struct trial_request *request) {
    const struct trial_opponent *opponent = &request->opponent;
    return names_no_file(request) && is_solution(request->config, request->template_folder) &&
           (!opponent->present || is_solution(opponent->config, opponent->template_folder));
}

static uint64_t delivery_count(natsMsg *message) {
    jsMsgMetaData *data = NULL;
    uint64_t count = natsMsg_GetMetaData(&data, message) == NATS_OK ? data->NumDelivered : 1;
    jsMsgMetaData_Destroy(data);
    return count;
}

/* A dead letter: every worker that had the request vanished. Answers it as crashed without running
   it. */
static void finish_as_crashed(struct consumer *consumer, struct held_request *held,
                              const struct trial_request *request) {
    struct trial_result result;
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "%d workers vanished while they had it", QUEUE_DELIVERIES_MAX);
    trial_result_init(&result, request);
    trial_add_gate(&result, "worker", false, 0, "%s", reason);
    trial_set_verdict(&result, VERDICT_CRASHED, reason);
    finish_request(consumer, held, &result);
}

/* Ends a request whose solution cannot be had. */
static void finish_as_lost(struct consumer *consumer, struct held_request *held,
                           const char *reason) {
    struct trial_result result = {0};
    trial_result_init(&result, &held->request);
    trial_add_gate(&result, "worker", false, 0, "%.150s", reason);
    trial_set_verdict(&result, VERDICT_LOST, reason);
    finish_request(consumer, held, &result);
}

/* Has the files of a solution here, and names them as this host has them. Returns as
   solution_cache_fetch does. */
static int take_solution(struct consumer *consumer, struct held_request *held, char **config,
                         char **folder, struct error *error) {
    if (*folder == NULL || !solution_files_is_path(*folder)) /* there is none, or it is here */
        return 0;
    int status = solution_cache_fetch(consumer->solutions, *folder, error);
    if (status != 0)
        return status;
    char *path = held->solutions[held->solution_count++];
    snprintf(path, SOLUTION_PATH_SIZE, "%s", *folder);
    solution_cache_hold(consumer->solutions, path);
    free(*config);
    free(*folder);
    *config = xstrdup(solution_cache_config(consumer->solutions));
    *folder = solution_cache_folder(consumer->solutions, path);
    return 0;
}

/* Gives a request to the pool once the files of its solutions are here. */
static void start_request(struct consumer *consumer, struct held_request *held) {
    struct trial_request *request = &held->request;
    struct trial_opponent *opponent = &request->opponent;
    struct error error = {0};
    int status = take_solution(consumer, held, &request->config, &request->template_folder, &error);
    if (status == 0)
        status =
            take_solution(consumer, held, &opponent->config, &opponent->template_folder, &error);
    if (status == 1 && clock_seconds() - held->since > fetch_limit_s)
        status = error_set(&error,
                           "the queue did not give the files of a solution within %.0f s: ask "
                           "again",
                           fetch_limit_s);
    if (status == 0) {
        held->waits = false;
        pool_submit(consumer->local_pool, request);
    } else if (status < 0) {
        log_warn("trial %lld: %s", (long long)held->number, error.text);
        finish_as_lost(consumer, held, error.text);
    }
}

static int count_waiting(const struct consumer *consumer) {
    int count = 0;
    for (int h = 0; h < consumer->held_count; h++)
        count += consumer->held[h].waits && consumer->held[h].result_line == NULL;
    return count;
}

/* From the end: a request that ends makes room. */
static void start_waiting(struct consumer *consumer) {
    for (int h = consumer->held_count - 1; h >= 0 && connection_is_up(consumer->connection); h--)
        if (consumer->held[h].waits && consumer->held[h].result_line == NULL)
            start_request(consumer, &consumer->held[h]);
}

/* Reads a request that the coordinator can send; else the message is not for this worker. */
static bool read_request(const struct consumer *consumer, natsMsg *message,
                         char message_id[MESSAGE_ID_SIZE], struct trial_request *request) {
    struct protocol_message read;
    struct error error = {0};
    char *text = message_text(message, message_id);
    bool good = text != NULL && protocol_read(text, &read, &error) == 0;
    free(text);
    if (good && read.kind == PROTOCOL_REQUEST &&
        (consumer->solutions != NULL ? is_server_request : is_search_request)(&read.request)) {
        *request = read.request;
        return true;
    }
    if (good)
        protocol_message_release(&read);
    log_warn("dropped a message on the queue that is not a %s request",
             consumer->solutions != NULL ? "server's" : "search");
    return false;
}

/* Takes ownership of the message. */
static void take_request(struct consumer *consumer, natsMsg *message) {
    char message_id[MESSAGE_ID_SIZE];
    char answer[64] = "+TERM";
    struct trial_request request = {0};
    bool good = read_request(consumer, message, message_id, &request);
    if (good && find_held(consumer, request.number) == NULL) {
        struct held_request *held = hold_request(consumer, message, message_id, request.number);
        if (delivery_count(message) <= QUEUE_DELIVERIES_MAX) {
            held->request = request;
            held->waits = true;
            start_request(consumer, held);
            return;
        }
        finish_as_crashed(consumer, held, &request);
    } else {
        if (good) /* the trial still runs from an earlier delivery or session: retry later */
            snprintf(answer, sizeof answer, "-NAK {\"delay\":%.0f}",
                     1e9 * consumer->description->ack_wait_s);
        send_ack(consumer, message, answer);
        natsMsg_Destroy(message);
    }
    trial_request_release(&request);
}

static void unsubscribe_requests(struct consumer *consumer) {
    natsSubscription_Destroy(consumer->requests);
    natsInbox_Destroy(consumer->inbox);
    consumer->requests = NULL;
    consumer->inbox = NULL;
    consumer->outstanding = 0;
}

/* Subscribes again for each server process: pending messages of an earlier one are void. */
static bool subscribe_requests(struct consumer *consumer) {
    if (consumer->requests != NULL && consumer->epoch == consumer->connection->epoch)
        return true;
    unsubscribe_requests(consumer);
    consumer->epoch = consumer->connection->epoch;
    return natsInbox_Create(&consumer->inbox) == NATS_OK &&
           natsConnection_SubscribeSync(&consumer->requests, consumer->connection->nats,
                                        consumer->inbox) == NATS_OK;
}

/* Does not use natsSubscription_Fetch: in libnats 3.4.1 it writes past the end of its list when
   requests of an earlier, timed-out fetch arrive in addition to its own. */
static void send_pull_request(struct consumer *consumer, int count) {
    char subject[128];
    char body[64];
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT." QUEUE_TRIALS ".%s",
             consumer->description->id);
    snprintf(body, sizeof body, "{\"batch\":%d,\"expires\":%.0f}", count, 1e9 * pull_expires_s);
    consumer->pull_sent = clock_seconds();
    if (natsConnection_PublishRequestString(consumer->connection->nats, subject, consumer->inbox,
                                            body) == NATS_OK)
        consumer->outstanding = count;
}

/* Pulls as many requests as the pool has room for. Returns true if the pool was idle and this call
   spent its waiting time on the queue instead. */
static bool pull_requests(struct consumer *consumer) {
    int room = pool_capacity(consumer->local_pool) - pool_in_flight(consumer->local_pool) -
               count_waiting(consumer);
    bool idle = pool_in_flight(consumer->local_pool) == 0;
    bool waited = idle;
    int64_t timeout_ms = idle ? 100 : 0;
    double since_s = clock_seconds() - consumer->pull_sent;
    natsMsg *message;
    if (!connection_is_up(consumer->connection) || !subscribe_requests(consumer))
        return false;
    if (since_s > 2 * pull_expires_s) /* the pull request was lost */
        consumer->outstanding = 0;
    if (room > HELD_MAX - consumer->held_count)
        room = HELD_MAX - consumer->held_count;
    if (room > 0 && consumer->outstanding == 0 && since_s > pull_interval_s) {
        send_pull_request(consumer, room);
        timeout_ms = idle ? 100 : 1;
    }
    while (consumer->held_count < HELD_MAX &&
           natsSubscription_NextMsg(&message, consumer->requests, timeout_ms) == NATS_OK) {
        timeout_ms = 0;
        waited = false;
        if (natsMsg_GetReply(message) != NULL) {
            consumer->outstanding -= consumer->outstanding > 0;
            take_request(consumer, message);
        } else { /* a status message: the pull request expired */
            consumer->outstanding = 0;
            natsMsg_Destroy(message);
        }
    }
    return waited;
}

/* ---- requests and results ---- */

/* At most every interval; immediately if `leaving`. */
static void send_heartbeat(struct consumer *consumer, bool leaving) {
    char subject[QUEUE_SUBJECT_SIZE];
    double now = clock_seconds();
    if (!leaving && now - consumer->heartbeat_sent < interval_s(INTERVAL_HEARTBEAT))
        return;
    consumer->heartbeat_sent = now;
    consumer->heartbeat.devices = pool_device_count(consumer->local_pool);
    consumer->heartbeat.capacity = pool_capacity(consumer->local_pool);
    consumer->heartbeat.in_flight = pool_in_flight(consumer->local_pool);
    consumer->heartbeat.leaving = leaving;
    char *text = heartbeat_print(&consumer->heartbeat);
    subject_print(subject, "beat", consumer->description->id);
    /* Best effort: if this one is lost, the next may arrive. */
    natsConnection_PublishString(consumer->connection->nats, subject, text);
    free(text);
}

int consumer_poll(struct consumer *consumer, bool pulling, struct error *error) {
    start_waiting(consumer);
    bool waited = pulling && pull_requests(consumer);
    double timeout_s = waited ? 0 : pull_interval_s;
    for (;;) {
        struct trial_result result;
        int got = pool_wait(consumer->local_pool, timeout_s, &result, error);
        if (got <= 0) {
            refresh_held(consumer);
            send_heartbeat(consumer, false);
            return got;
        }
        struct held_request *held = find_held(consumer, result.number);
        if (held == NULL)
            BUG("the pool returned trial %lld, which was not requested", (long long)result.number);
        finish_request(consumer, held, &result);
        consumer->last_busy = clock_seconds();
        timeout_s = 0;
    }
}

double consumer_idle_s(const struct consumer *consumer) {
    return consumer->held_count > 0 ? 0 : clock_seconds() - consumer->last_busy;
}

void consumer_free(struct consumer *consumer) {
    if (consumer == NULL)
        return;
    send_heartbeat(consumer, true);
    while (consumer->held_count > 0) {
        if (is_from_current_server(consumer, &consumer->held[0]))
            send_ack(consumer, consumer->held[0].message, "-NAK");
        drop_held(consumer, &consumer->held[0]);
    }
    natsMsg *message; /* was already in transit when the subscription was drained */
    if (consumer->requests != NULL && natsSubscription_Drain(consumer->requests) == NATS_OK)
        while (natsSubscription_NextMsg(&message, consumer->requests, DRAIN_MS) == NATS_OK) {
            send_ack(consumer, message, "-NAK");
            natsMsg_Destroy(message);
        }
    unsubscribe_requests(consumer);
    free(consumer);
}
