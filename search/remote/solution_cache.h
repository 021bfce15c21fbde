/*
 * solution_cache: the solutions of a server's clients on a worker's host: fetches their files from
 * the queue, and keeps the last ones.
 *
 *     FOLDER/config.json, FOLDER/templates/problem/   the run's own files, which must be there
 *     FOLDER/templates/HASH/NAME/                     a solution
 *
 *     struct solution_cache *cache = solution_cache_new(connection, id, "/tmp/evotile.x");
 *     if (solution_cache_fetch(cache, path, &error) == 0) {
 *         solution_cache_hold(cache, path);
 *         char *folder = solution_cache_folder(cache, path);   // until the solution is judged
 *         free(folder);
 *         solution_cache_release(cache, path);
 *     }
 *     solution_cache_free(cache);
 *
 * What is fetched has at most 64 files and 4 MB (template/solution_files.h), and is written only if
 * it has the hash of its path. Solutions that nothing holds stay within CACHED_MAX and
 * CACHED_BYTES_MAX; then the one that was not used for longest is removed.
 */
#ifndef EVOTILE_REMOTE_SOLUTION_CACHE_H
#define EVOTILE_REMOTE_SOLUTION_CACHE_H

#include "base/path.h"
#include "remote/connection.h"
#include "template/solution_files.h"

enum { CACHED_MAX = 256, CACHED_BYTES_MAX = 256 << 20 };

struct solution_cache;

/* `run` is the run's id. The folder and its files stay the caller's. */
struct solution_cache *solution_cache_new(struct connection *connection, const char *run,
                                          const char *folder);
void solution_cache_free(struct solution_cache *cache);

/* The config of all solutions. */
const char *solution_cache_config(const struct solution_cache *cache);

/* Fetches the solution of a path unless it is there. 0; 1: the server did not answer, try again; -1
   with `error`: it cannot be had, or is not what its hash says. */
int solution_cache_fetch(struct solution_cache *cache, const char *path, struct error *error);
/* Keeps a solution that was fetched, or lets it go. */
void solution_cache_hold(struct solution_cache *cache, const char *path);
void solution_cache_release(struct solution_cache *cache, const char *path);
/* Where it is. The caller frees the text. */
char *solution_cache_folder(const struct solution_cache *cache, const char *path);
/* Takes the folder out of a message, as solution_files_shorten does. */
void solution_cache_shorten(const struct solution_cache *cache, char *text);

#endif
