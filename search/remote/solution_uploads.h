/*
 * solution_uploads: the files of clients' solutions on a server's queue, from which workers fetch
 * them (remote/solution_cache.h). Private to remote_pool.c and outbox.c.
 *
 *     solution_uploads_hold(uploads, path);              // until the solution is judged
 *     while (solution_uploads_send(uploads, path, &error) == 1)
 *         ...;                                           // the queue cannot be reached
 *     solution_uploads_release(uploads, path);
 *
 * Solutions that nothing holds stay for the next request, within UPLOADS_MAX and
 * UPLOADS_BYTES_MAX; then the one that was not used for longest is deleted from the queue.
 */
#ifndef EVOTILE_REMOTE_SOLUTION_UPLOADS_H
#define EVOTILE_REMOTE_SOLUTION_UPLOADS_H

#include "remote/connection_internal.h"
#include "template/solution_files.h"

enum { UPLOADS_MAX = 64, UPLOADS_BYTES_MAX = 64 << 20 };

struct solution_uploads;

/* `folder` has the solutions by their paths (template/solution_files.h). */
struct solution_uploads *solution_uploads_new(struct connection *connection, const char *run,
                                              const char *folder);
void solution_uploads_free(struct solution_uploads *uploads);

void solution_uploads_hold(struct solution_uploads *uploads, const char *path);
void solution_uploads_release(struct solution_uploads *uploads, const char *path);

/* Stores the files of a held solution on the queue, unless they are there. 0; 1: not now, try
   again; -1 with `error`: they cannot be read. */
int solution_uploads_send(struct solution_uploads *uploads, const char *path, struct error *error);
/* The queue may have lost the files of that path, or of all with NULL: they are stored again. */
void solution_uploads_renew(struct solution_uploads *uploads, const char *path);

#endif
