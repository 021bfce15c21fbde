#include "remote/outbox.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/memory.h"
#include "pool/protocol.h"

#include <pthread.h>
#include <string.h>

enum { PENDING_MAX = 65536 };

struct outbox {
    struct connection *connection;
    jsCtx *js; /* its own context, with on_publish_ack as handler */
    char run[QUEUE_ID_SIZE], session[QUEUE_ID_SIZE];
    struct solution_uploads *uploads; /* NULL: requests need no files */
    char *solutions_folder;
    int64_t serials;
    int count;
    struct outbox_request *items;
    /* Written by the library's thread: serials of requests that the server has stored. */
    pthread_mutex_t lock;
    int stored_count;
    int64_t *stored;
    char refused[128]; /* the server's last error; empty: none */
};

/* Runs in the library's thread. Failed requests (`bad`) are resent by outbox_send's timeout. */
static void on_publish_ack(jsCtx *js, natsMsg *message, jsPubAck *good, jsPubAckErr *bad,
                           void *context) {
    struct outbox *outbox = context;
    const char *message_id = NULL;
    (void)js;
    if (good != NULL && natsMsgHeader_Get(message, "Nats-Msg-Id", &message_id) == NATS_OK) {
        pthread_mutex_lock(&outbox->lock);
        outbox->stored = xgrow(outbox->stored, outbox->stored_count, sizeof *outbox->stored);
        outbox->stored[outbox->stored_count++] = strtoll(strchr(message_id, '-') + 1, NULL, 10);
        pthread_mutex_unlock(&outbox->lock);
    } else if (bad != NULL && bad->ErrCode != 0 && bad->ErrText != NULL) {
        pthread_mutex_lock(&outbox->lock);
        snprintf(outbox->refused, sizeof outbox->refused, "%s", bad->ErrText);
        pthread_mutex_unlock(&outbox->lock);
    }
    natsMsg_Destroy(message);
}

struct outbox *outbox_new(struct connection *connection, const char *run, struct error *error) {
    struct outbox *outbox = xcalloc(1, sizeof *outbox);
    jsOptions options;
    outbox->connection = connection;
    snprintf(outbox->run, sizeof outbox->run, "%s", run);
    random_id(outbox->session);
    pthread_mutex_init(&outbox->lock, NULL);
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = PENDING_MAX;
    options.PublishAsync.AckHandler = on_publish_ack;
    options.PublishAsync.AckHandlerClosure = outbox;
    natsStatus status = natsConnection_JetStream(&outbox->js, connection->nats, &options);
    if (status == NATS_OK)
        return outbox;
    connection_fail(status, "the queue accepts no requests", error);
    outbox_stop(outbox);
    outbox_free(outbox);
    return NULL;
}

void outbox_stop(struct outbox *outbox) {
    if (outbox == NULL)
        return;
    jsCtx_Destroy(outbox->js);
    outbox->js = NULL;
}

void outbox_free(struct outbox *outbox) {
    if (outbox == NULL)
        return;
    while (outbox->count > 0)
        outbox_remove(outbox, outbox->items);
    pthread_mutex_destroy(&outbox->lock);
    free(outbox->stored);
    free(outbox->items);
    free(outbox->solutions_folder);
    free(outbox);
}

void outbox_set_uploads(struct outbox *outbox, struct solution_uploads *uploads,
                        const char *folder) {
    outbox->uploads = uploads;
    outbox->solutions_folder = xstrdup(folder);
}

/* Replaces this host's names of a candidate's files by those that every host knows, and holds the
   files. */
static void name_solution(struct outbox *outbox, char **config, char **folder,
                          char path[SOLUTION_PATH_SIZE]) {
    size_t length = strlen(outbox->solutions_folder);
    if (*folder == NULL)
        return;
    if (strncmp(*folder, outbox->solutions_folder, length) != 0 || (*folder)[length] != '/' ||
        !solution_files_is_path(*folder + length + 1))
        BUG("%s is not in %s", *folder, outbox->solutions_folder);
    snprintf(path, SOLUTION_PATH_SIZE, "%s", *folder + length + 1);
    solution_uploads_hold(outbox->uploads, path);
    free(*folder);
    free(*config);
    *folder = xstrdup(path);
    *config = xstrdup("config.json");
}

void outbox_add(struct outbox *outbox, const struct trial_request *request) {
    struct trial_request copy = *request;
    outbox->items = xgrow(outbox->items, outbox->count, sizeof *outbox->items);
    struct outbox_request *pending = &outbox->items[outbox->count++];
    *pending = (struct outbox_request){.serial = outbox->serials++,
                                       .number = request->number,
                                       .goal = request->goal,
                                       .genome = request->genome};
    if (outbox->uploads != NULL) {
        struct trial_opponent *opponent = &copy.opponent;
        name_solution(outbox, &copy.config, &copy.template_folder, pending->solutions[0]);
        name_solution(outbox, &opponent->config, &opponent->template_folder, pending->solutions[1]);
    }
    pending->line = protocol_print_request(&copy);
    trial_request_release(&copy);
}

static struct outbox_request *find_by_serial(struct outbox *outbox, int64_t serial) {
    for (int i = 0; i < outbox->count; i++)
        if (outbox->items[i].serial == serial)
            return &outbox->items[i];
    return NULL;
}

static void apply_acknowledgements(struct outbox *outbox) {
    pthread_mutex_lock(&outbox->lock);
    while (outbox->stored_count > 0) {
        struct outbox_request *pending =
            find_by_serial(outbox, outbox->stored[--outbox->stored_count]);
        if (pending != NULL)
            pending->stored = true;
    }
    if (*outbox->refused != '\0')
        connection_warn_rejected(outbox->connection, "requests", outbox->refused);
    *outbox->refused = '\0';
    pthread_mutex_unlock(&outbox->lock);
}

/* Whether the files that the request needs are on the queue. */
static bool send_solutions(struct outbox *outbox, struct outbox_request *pending) {
    struct error error;
    int status = pending->refused != NULL ? 1 : 0;
    for (int s = 0; s < 2 && status == 0; s++)
        if (*pending->solutions[s] != '\0')
            status = solution_uploads_send(outbox->uploads, pending->solutions[s], &error);
    if (status < 0)
        pending->refused = xstrdup(error.text);
    return status == 0;
}

void outbox_send(struct outbox *outbox) {
    char message_id[MESSAGE_ID_SIZE];
    double now = clock_seconds();
    apply_acknowledgements(outbox);
    for (int i = 0; i < outbox->count; i++) {
        struct outbox_request *pending = &outbox->items[i];
        if (!send_solutions(outbox, pending) || pending->stored ||
            (pending->last_published > 0 &&
             now - pending->last_published < interval_s(INTERVAL_REQUEST_RESEND)))
            continue;
        snprintf(message_id, sizeof message_id, "%s-%lld", outbox->session,
                 (long long)pending->serial);
        natsMsg *message = message_new("trial", outbox->run, message_id, pending->line);
        js_PublishMsgAsync(outbox->js, &message, NULL);
        natsMsg_Destroy(message);
        pending->last_published = now;
    }
}

struct outbox_request *outbox_find(struct outbox *outbox, const char *message_id) {
    size_t length = strlen(outbox->session);
    return strncmp(message_id, outbox->session, length) == 0 && message_id[length] == '-'
               ? find_by_serial(outbox, strtoll(message_id + length + 1, NULL, 10))
               : NULL;
}

void outbox_remove(struct outbox *outbox, struct outbox_request *pending) {
    for (int s = 0; s < 2; s++)
        if (*pending->solutions[s] != '\0')
            solution_uploads_release(outbox->uploads, pending->solutions[s]);
    free(pending->line);
    free(pending->refused);
    *pending = outbox->items[--outbox->count];
}

struct outbox_request *outbox_refused(struct outbox *outbox) {
    for (int i = 0; i < outbox->count; i++)
        if (outbox->items[i].refused != NULL)
            return &outbox->items[i];
    return NULL;
}

void outbox_resend_all(struct outbox *outbox) {
    apply_acknowledgements(outbox);
    for (int i = 0; i < outbox->count; i++) {
        outbox->items[i].stored = false;
        outbox->items[i].last_published = 0;
    }
}

void outbox_renew_id(struct outbox *outbox, struct outbox_request *pending) {
    pending->serial = outbox->serials++;
    pending->stored = false;
    pending->last_published = 0;
}

int outbox_renew_acknowledged(struct outbox *outbox) {
    int count = 0;
    apply_acknowledgements(outbox);
    for (int i = 0; i < outbox->count; i++)
        if (outbox->items[i].stored) {
            outbox_renew_id(outbox, &outbox->items[i]);
            count++;
        }
    return count;
}
