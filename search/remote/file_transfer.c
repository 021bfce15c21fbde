#include "remote/file_transfer.h"

#include "base/memory.h"
#include "base/path.h"
#include "remote/chunks.h"

#include <string.h>

static const size_t file_max = (size_t)1 << 30;

/* The caller frees the bytes; NULL with `error`. */
static char *read_run_file(const char *folder, const char *name, size_t *size,
                           struct error *error) {
    char path[PATH_SIZE];
    return path_join(path, folder, name, error) == 0 ? path_read_file(path, file_max, size, error)
                                                     : NULL;
}

/* ---- listing ---- */

static int add_file(struct run_description *description, const char *folder, const char *name,
                    struct error *error) {
    size_t size;
    struct run_file file = {0};
    if (strlen(name) >= sizeof file.path || description->file_count == QUEUE_FILES_MAX)
        return error_input(error,
                           "%s/%s: a queue takes names of less than %d bytes and at most %d files",
                           folder, name, QUEUE_PATH_SIZE, QUEUE_FILES_MAX);
    char *bytes = read_run_file(folder, name, &size, error);
    if (bytes == NULL)
        return -1;
    strcpy(file.path, name);
    file.bytes = (int64_t)size;
    file.hash = hash_bytes(bytes, size);
    free(bytes);
    description->files =
        xgrow(description->files, description->file_count, sizeof *description->files);
    description->files[description->file_count++] = file;
    return 0;
}

static int add_tree(struct run_description *description, const char *folder, const char *below,
                    struct error *error) {
    char path[PATH_SIZE];
    char name[PATH_SIZE];
    char **names;
    int count;
    if (path_join(path, folder, below, error) < 0)
        return -1;
    if (!path_is_dir(path))
        return add_file(description, folder, below, error);
    if (path_list(path, &names, &count, error) < 0)
        return -1;
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        status = path_join(name, below, names[i], error);
        if (status == 0)
            status = add_tree(description, folder, name, error);
    }
    path_list_free(names, count);
    return status;
}

int file_transfer_list(struct run_description *description, const char *folder,
                       const char *const *names, struct error *error) {
    int status = 0;
    for (; *names != NULL && status == 0; names++)
        status = add_tree(description, folder, *names, error);
    return status;
}

/* ---- uploading ---- */

static int upload_file(struct connection *connection, const struct run_description *description,
                       const struct run_file *file, const char *folder, struct error *error) {
    char digits[HASH_TEXT_SIZE];
    size_t size;
    char *bytes = read_run_file(folder, file->path, &size, error);
    if (bytes == NULL)
        return -1;
    natsStatus status =
        chunks_put(connection, description->id, hash_print(file->hash, digits), bytes, size, NULL);
    free(bytes);
    return status == NATS_OK ? 0 : connection_fail(status, "the queue accepts no files", error);
}

int file_transfer_upload(struct connection *connection, const struct run_description *description,
                         const char *folder, struct error *error) {
    for (int f = 0; f < description->file_count; f++)
        if (upload_file(connection, description, &description->files[f], folder, error) < 0)
            return -1;
    return 0;
}

bool file_transfer_is_purged(struct connection *connection,
                             const struct run_description *description) {
    char key[CHUNK_KEY_SIZE], digits[HASH_TEXT_SIZE];
    kvEntry *entry = NULL;
    chunk_key(key, description->id, hash_print(description->files[0].hash, digits), 0);
    natsStatus status = kvStore_Get(&entry, connection->files, key);
    kvEntry_Destroy(entry);
    return status == NATS_NOT_FOUND;
}

/* ---- downloading ---- */

/* Returns as file_transfer_download does. */
static int download_chunk(struct connection *connection, const struct run_description *description,
                          const struct run_file *file, int64_t chunk, char *to,
                          struct error *error) {
    char digits[HASH_TEXT_SIZE];
    kvEntry *entry = NULL;
    int64_t left = file->bytes - chunk * CHUNK_BYTES;
    int64_t length = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    int status = chunk_get(connection, description->id, hash_print(file->hash, digits), chunk,
                           &entry, error);
    if (status != 0)
        return status;
    int got = kvEntry_ValueLen(entry);
    if (got == length)
        memcpy(to, kvEntry_Value(entry), (size_t)length);
    kvEntry_Destroy(entry);
    return got == length
               ? 0
               : error_set(error, "a file of the run is damaged on the queue: %s has %d bytes",
                           digits, got);
}

static int download_file(struct connection *connection, const struct run_description *description,
                         const struct run_file *file, const char *folder, struct error *error) {
    char path[PATH_SIZE];
    char parent[PATH_SIZE];
    char *bytes = xmalloc((size_t)file->bytes + 1);
    int status = 0;
    for (int64_t at = 0; at < file->bytes && status == 0; at += CHUNK_BYTES)
        status = download_chunk(connection, description, file, at / CHUNK_BYTES, bytes + at, error);
    if (status == 0 && !hash_equal(hash_bytes(bytes, (size_t)file->bytes), file->hash))
        status = error_set(error, "%s of the run is damaged on the queue", file->path);
    if (status == 0 &&
        (path_join(path, folder, file->path, error) < 0 || path_parent(parent, path, error) < 0 ||
         path_make_folder(parent, error) < 0 ||
         path_write_unsynced(path, bytes, (size_t)file->bytes, error) < 0))
        status = -1;
    free(bytes);
    return status;
}

int file_transfer_download(struct connection *connection, const struct run_description *description,
                           const char *folder, struct error *error) {
    int status = 0;
    for (int f = 0; f < description->file_count && status == 0; f++)
        status = download_file(connection, description, &description->files[f], folder, error);
    return status;
}
