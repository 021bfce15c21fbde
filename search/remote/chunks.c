#include "remote/chunks.h"

#include <stdio.h>

void chunk_key(char key[CHUNK_KEY_SIZE], const char *id, const char *digits, int64_t chunk) {
    snprintf(key, CHUNK_KEY_SIZE, "%s.%s.%lld", id, digits, (long long)chunk);
}

natsStatus chunks_put(struct connection *connection, const char *id, const char *digits,
                      const char *bytes, size_t size, uint64_t *revisions) {
    natsStatus status = NATS_OK;
    for (size_t at = 0, chunk = 0; at < size && status == NATS_OK; at += CHUNK_BYTES, chunk++) {
        char key[CHUNK_KEY_SIZE];
        size_t length = size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES;
        chunk_key(key, id, digits, (int64_t)chunk);
        status = kvStore_Put(revisions != NULL ? &revisions[chunk] : NULL, connection->files, key,
                             bytes + at, (int)length);
    }
    return status;
}

int chunk_get(struct connection *connection, const char *id, const char *digits, int64_t chunk,
              kvEntry **entry, struct error *error) {
    char key[CHUNK_KEY_SIZE];
    chunk_key(key, id, digits, chunk);
    natsStatus status = kvStore_Get(entry, connection->files, key);
    if (status == NATS_NOT_FOUND)
        return connection_fail(status, "a file of the run is missing on the queue", error);
    return status == NATS_OK ? 0 : 1;
}
