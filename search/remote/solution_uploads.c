#include "remote/solution_uploads.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "remote/chunks.h"

#include <stdlib.h>
#include <string.h>

struct upload {
    char path[SOLUTION_PATH_SIZE], digits[HASH_TEXT_SIZE];
    int holds;
    uint64_t last_used;
    bool stored;
    int epoch; /* of the connection when it was stored */
    int64_t bytes;
    int chunk_count;
    uint64_t *revisions; /* owned: of its chunks */
};

struct solution_uploads {
    struct connection *connection;
    char run[QUEUE_ID_SIZE];
    char *folder;
    uint64_t uses;
    double retry; /* clock_seconds: after a failure */
    int count;
    struct upload *items;
};

struct solution_uploads *solution_uploads_new(struct connection *connection, const char *run,
                                              const char *folder) {
    struct solution_uploads *uploads = xcalloc(1, sizeof *uploads);
    uploads->connection = connection;
    uploads->folder = xstrdup(folder);
    snprintf(uploads->run, sizeof uploads->run, "%s", run);
    return uploads;
}

void solution_uploads_free(struct solution_uploads *uploads) {
    if (uploads == NULL)
        return;
    for (int i = 0; i < uploads->count; i++)
        free(uploads->items[i].revisions);
    free(uploads->items);
    free(uploads->folder);
    free(uploads);
}

/* ---- how many stay ---- */

static struct upload *find_upload(const struct solution_uploads *uploads, const char *path) {
    for (int i = 0; i < uploads->count; i++)
        if (strcmp(uploads->items[i].path, path) == 0)
            return &uploads->items[i];
    return NULL;
}

/* Deletes each chunk by its number: nats-server 2.9.10 goes on counting what is purged by subject
   as used space. A number of another server process may be another message's. */
static void delete_chunks(struct solution_uploads *uploads, const struct upload *upload) {
    for (int c = 0; c < upload->chunk_count; c++)
        if (upload->revisions[c] > 0 && connection_is_up(uploads->connection) &&
            upload->epoch == uploads->connection->epoch)
            js_DeleteMsg(uploads->connection->js, "KV_" QUEUE_FILES, upload->revisions[c], NULL,
                         NULL);
}

static struct upload *find_oldest(const struct solution_uploads *uploads) {
    struct upload *oldest = NULL;
    for (int i = 0; i < uploads->count; i++) {
        struct upload *upload = &uploads->items[i];
        if (upload->holds == 0 && (oldest == NULL || upload->last_used < oldest->last_used))
            oldest = upload;
    }
    return oldest;
}

static void remove_surplus(struct solution_uploads *uploads) {
    int64_t bytes = 0;
    struct upload *oldest;
    for (int i = 0; i < uploads->count; i++)
        bytes += uploads->items[i].bytes;
    while ((uploads->count > UPLOADS_MAX || bytes > UPLOADS_BYTES_MAX) &&
           (oldest = find_oldest(uploads)) != NULL) {
        bytes -= oldest->bytes;
        delete_chunks(uploads, oldest);
        free(oldest->revisions);
        *oldest = uploads->items[--uploads->count];
    }
}

void solution_uploads_hold(struct solution_uploads *uploads, const char *path) {
    struct upload *upload = find_upload(uploads, path);
    if (upload == NULL) {
        uploads->items = xgrow(uploads->items, uploads->count, sizeof *uploads->items);
        upload = &uploads->items[uploads->count++];
        *upload = (struct upload){.stored = false};
        snprintf(upload->path, sizeof upload->path, "%s", path);
        snprintf(upload->digits, sizeof upload->digits, "%s", path);
    }
    upload->holds++;
    upload->last_used = ++uploads->uses;
}

void solution_uploads_release(struct solution_uploads *uploads, const char *path) {
    find_upload(uploads, path)->holds--;
    remove_surplus(uploads);
}

/* ---- storing them ---- */

/* The files as a JSON object, whose last chunk is not full: its reader does not know its size. */
static char *print_files(const struct solution_uploads *uploads, const char *path, size_t *size,
                         struct error *error) {
    char folder[PATH_SIZE];
    cJSON *files = path_join(folder, uploads->folder, path, error) == 0
                       ? solution_files_read(folder, error)
                       : NULL;
    if (files == NULL)
        return NULL;
    char *text = json_print_line(files);
    *size = strlen(text);
    if (*size % CHUNK_BYTES == 0) {
        text = xrealloc(text, *size + 2);
        strcpy(text + (*size)++, "\n");
    }
    return text;
}

static natsStatus store_files(struct solution_uploads *uploads, struct upload *upload,
                              const char *text, size_t size) {
    upload->chunk_count = (int)((size + CHUNK_BYTES - 1) / CHUNK_BYTES);
    free(upload->revisions);
    upload->revisions = xcalloc((size_t)upload->chunk_count, sizeof *upload->revisions);
    upload->bytes = (int64_t)size;
    upload->epoch = uploads->connection->epoch;
    return chunks_put(uploads->connection, uploads->run, upload->digits, text, size,
                      upload->revisions);
}

int solution_uploads_send(struct solution_uploads *uploads, const char *path, struct error *error) {
    struct upload *upload = find_upload(uploads, path);
    size_t size;
    if (upload->stored)
        return 0;
    if (clock_seconds() < uploads->retry || !connection_is_up(uploads->connection))
        return 1;
    char *text = print_files(uploads, path, &size, error);
    if (text == NULL)
        return -1;
    double start = clock_seconds();
    natsStatus status = store_files(uploads, upload, text, size);
    free(text);
    upload->stored = status == NATS_OK;
    if (upload->stored)
        return 0;
    /* A server that is silent holds the caller up for seconds: most of the time is the caller's. */
    uploads->retry =
        clock_seconds() + interval_s(INTERVAL_REQUEST_RESEND) + 4 * (clock_seconds() - start);
    if (connection_is_up(uploads->connection))
        connection_warn_rejected(uploads->connection, "files", connection_last_error(status));
    return 1;
}

void solution_uploads_renew(struct solution_uploads *uploads, const char *path) {
    for (int i = 0; i < uploads->count; i++)
        if (path == NULL || strcmp(uploads->items[i].path, path) == 0)
            uploads->items[i].stored = false;
}
