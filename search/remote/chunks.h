/*
 * chunks: values of any size in the key-value store of files, cut into pieces that a NATS server
 * takes: ID.HASH.0, ID.HASH.1 ... of a run's id and the value's hash. Private to file_transfer.c,
 * solution_uploads.c and solution_cache.c.
 *
 *     if (chunks_put(connection, id, digits, bytes, size, NULL) == NATS_OK) {
 *         kvEntry *entry;
 *         if (chunk_get(connection, id, digits, 0, &entry, &error) == 0)
 *             kvEntry_Destroy(entry);
 *     }
 */
#ifndef EVOTILE_REMOTE_CHUNKS_H
#define EVOTILE_REMOTE_CHUNKS_H

#include "base/hash.h"
#include "remote/connection_internal.h"

/* A NATS server accepts messages of at most 1 MB by default (max_payload). */
enum { CHUNK_BYTES = 512 << 10, CHUNK_KEY_SIZE = 96 };

void chunk_key(char key[CHUNK_KEY_SIZE], const char *id, const char *digits, int64_t chunk);

/* `revisions` gets the revision of each chunk; it may be NULL. */
natsStatus chunks_put(struct connection *connection, const char *id, const char *digits,
                      const char *bytes, size_t size, uint64_t *revisions);

/* 0 with an entry, which the caller destroys; -1 with `error`: it is missing; 1: the server did not
   answer, retry. */
int chunk_get(struct connection *connection, const char *id, const char *digits, int64_t chunk,
              kvEntry **entry, struct error *error);

#endif
