#include "queue/outbox.h"

#include "base/clock.h"
#include "trial/wire.h"

#include <pthread.h>
#include <string.h>

enum { PENDING_MAX = 65536 };

static const double again_s = 5;

struct outbox {
    struct link *link;
    jsCtx *js; /* its own context, with on_publish_ack as handler */
    char run[QUEUE_ID_SIZE], session[QUEUE_ID_SIZE];
    int64_t serials;
    int count, room;
    struct sent *items;
    /* Written by the library's thread: serials of requests that the server has stored. */
    pthread_mutex_t lock;
    int stored_count, stored_room;
    int64_t *stored;
    char refused[128]; /* the server's last error; empty: none */
};

static void *grown(void *items, int count, size_t size) {
    void *more = realloc(items, (size_t)count * size);
    if (more == NULL)
        BUG("out of memory");
    return more;
}

/* Runs in the library's thread. Failed requests (`bad`) are resent by outbox_send's timeout. */
static void on_stored(jsCtx *js, natsMsg *message, jsPubAck *good, jsPubAckErr *bad,
                      void *context) {
    struct outbox *outbox = context;
    const char *mark = NULL;
    (void)js;
    if (good != NULL && natsMsgHeader_Get(message, "Nats-Msg-Id", &mark) == NATS_OK) {
        pthread_mutex_lock(&outbox->lock);
        if (outbox->stored_count == outbox->stored_room) {
            outbox->stored_room = 2 * outbox->stored_room + 64;
            outbox->stored = grown(outbox->stored, outbox->stored_room, sizeof *outbox->stored);
        }
        outbox->stored[outbox->stored_count++] = strtoll(strchr(mark, '-') + 1, NULL, 10);
        pthread_mutex_unlock(&outbox->lock);
    } else if (bad != NULL && bad->ErrCode != 0 && bad->ErrText != NULL) {
        pthread_mutex_lock(&outbox->lock);
        snprintf(outbox->refused, sizeof outbox->refused, "%s", bad->ErrText);
        pthread_mutex_unlock(&outbox->lock);
    }
    natsMsg_Destroy(message);
}

struct outbox *outbox_new(struct link *link, const char *run, struct error *error) {
    struct outbox *outbox = calloc(1, sizeof *outbox);
    jsOptions options;
    if (outbox == NULL)
        BUG("out of memory");
    outbox->link = link;
    snprintf(outbox->run, sizeof outbox->run, "%s", run);
    link_id(outbox->session);
    pthread_mutex_init(&outbox->lock, NULL);
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = PENDING_MAX;
    options.PublishAsync.AckHandler = on_stored;
    options.PublishAsync.AckHandlerClosure = outbox;
    natsStatus status = natsConnection_JetStream(&outbox->js, link->connection, &options);
    if (status == NATS_OK)
        return outbox;
    link_fail(status, "the queue accepts no requests", error);
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
        outbox_done(outbox, outbox->items);
    pthread_mutex_destroy(&outbox->lock);
    free(outbox->stored);
    free(outbox->items);
    free(outbox);
}

void outbox_add(struct outbox *outbox, const struct trial_request *request) {
    struct trial_request ours = *request;
    if (outbox->count == outbox->room) {
        outbox->room = 2 * outbox->room + 64;
        outbox->items = grown(outbox->items, outbox->room, sizeof *outbox->items);
    }
    outbox->items[outbox->count++] = (struct sent){.serial = outbox->serials++,
                                                   .number = request->number,
                                                   .goal = request->goal,
                                                   .genome = request->genome,
                                                   .line = wire_print_request(request)};
    trial_request_release(&ours);
}

static struct sent *find_serial(struct outbox *outbox, int64_t serial) {
    for (int i = 0; i < outbox->count; i++)
        if (outbox->items[i].serial == serial)
            return &outbox->items[i];
    return NULL;
}

static void note_stored(struct outbox *outbox) {
    pthread_mutex_lock(&outbox->lock);
    while (outbox->stored_count > 0) {
        struct sent *sent = find_serial(outbox, outbox->stored[--outbox->stored_count]);
        if (sent != NULL)
            sent->stored = true;
    }
    if (*outbox->refused != '\0')
        link_refused_for(outbox->link, "requests", outbox->refused);
    *outbox->refused = '\0';
    pthread_mutex_unlock(&outbox->lock);
}

void outbox_send(struct outbox *outbox) {
    char mark[QUEUE_MARK_SIZE];
    double now = clock_seconds();
    note_stored(outbox);
    for (int i = 0; i < outbox->count; i++) {
        struct sent *sent = &outbox->items[i];
        if (sent->stored || (sent->published > 0 && now - sent->published < again_s))
            continue;
        snprintf(mark, sizeof mark, "%s-%lld", outbox->session, (long long)sent->serial);
        natsMsg *message = link_message("trial", outbox->run, mark, sent->line);
        js_PublishMsgAsync(outbox->js, &message, NULL);
        natsMsg_Destroy(message);
        sent->published = now;
    }
}

struct sent *outbox_find(struct outbox *outbox, const char *mark) {
    size_t length = strlen(outbox->session);
    return strncmp(mark, outbox->session, length) == 0 && mark[length] == '-'
               ? find_serial(outbox, strtoll(mark + length + 1, NULL, 10))
               : NULL;
}

void outbox_done(struct outbox *outbox, struct sent *sent) {
    free(sent->line);
    *sent = outbox->items[--outbox->count];
}

void outbox_again(struct outbox *outbox) {
    note_stored(outbox);
    for (int i = 0; i < outbox->count; i++) {
        outbox->items[i].stored = false;
        outbox->items[i].published = 0;
    }
}

void outbox_renew(struct outbox *outbox, struct sent *sent) {
    sent->serial = outbox->serials++;
    sent->stored = false;
    sent->published = 0;
}

int outbox_renew_stored(struct outbox *outbox) {
    int count = 0;
    note_stored(outbox);
    for (int i = 0; i < outbox->count; i++)
        if (outbox->items[i].stored) {
            outbox_renew(outbox, &outbox->items[i]);
            count++;
        }
    return count;
}
