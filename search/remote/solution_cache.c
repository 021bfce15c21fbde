#include "remote/solution_cache.h"

#include "base/memory.h"
#include "remote/chunks.h"

#include <stdlib.h>
#include <string.h>

/* As JSON, a letter has at most six bytes. */
enum { TEXT_BYTES_MAX = 6 * (SOLUTION_BYTES_MAX + SOLUTION_FILES_MAX * NAME_SIZE) + (1 << 16) };

struct cached {
    char path[SOLUTION_PATH_SIZE];
    int holds;
    uint64_t last_used;
    int64_t bytes;
};

struct solution_cache {
    struct connection *connection;
    char run[QUEUE_ID_SIZE];
    char templates[PATH_SIZE], config[PATH_SIZE];
    uint64_t uses;
    int count;
    struct cached *items;
};

struct solution_cache *solution_cache_new(struct connection *connection, const char *run,
                                          const char *folder) {
    struct solution_cache *cache = xcalloc(1, sizeof *cache);
    cache->connection = connection;
    snprintf(cache->run, sizeof cache->run, "%s", run);
    snprintf(cache->templates, sizeof cache->templates, "%s/templates", folder);
    snprintf(cache->config, sizeof cache->config, "%s/config.json", folder);
    return cache;
}

void solution_cache_free(struct solution_cache *cache) {
    if (cache != NULL)
        free(cache->items);
    free(cache);
}

const char *solution_cache_config(const struct solution_cache *cache) {
    return cache->config;
}

/* ---- how many stay ---- */

static struct cached *find_cached(const struct solution_cache *cache, const char *path) {
    for (int i = 0; i < cache->count; i++)
        if (strcmp(cache->items[i].path, path) == 0)
            return &cache->items[i];
    return NULL;
}

static struct cached *find_oldest(const struct solution_cache *cache) {
    struct cached *oldest = NULL;
    for (int i = 0; i < cache->count; i++) {
        struct cached *one = &cache->items[i];
        if (one->holds == 0 && (oldest == NULL || one->last_used < oldest->last_used))
            oldest = one;
    }
    return oldest;
}

/* Makes room for one more of that size. */
static int make_room(struct solution_cache *cache, int64_t bytes, struct error *error) {
    struct cached *oldest;
    for (int i = 0; i < cache->count; i++)
        bytes += cache->items[i].bytes;
    while ((cache->count >= CACHED_MAX || bytes > CACHED_BYTES_MAX) &&
           (oldest = find_oldest(cache)) != NULL) {
        if (solution_files_remove(cache->templates, oldest->path, error) < 0)
            return -1;
        bytes -= oldest->bytes;
        *oldest = cache->items[--cache->count];
    }
    return 0;
}

void solution_cache_hold(struct solution_cache *cache, const char *path) {
    find_cached(cache, path)->holds++;
}

void solution_cache_release(struct solution_cache *cache, const char *path) {
    find_cached(cache, path)->holds--;
}

char *solution_cache_folder(const struct solution_cache *cache, const char *path) {
    struct error ignored;
    char *folder = xmalloc(PATH_SIZE);
    if (path_join(folder, cache->templates, path, &ignored) < 0)
        BUG("%s is not cached", path);
    return folder;
}

void solution_cache_shorten(const struct solution_cache *cache, char *text) {
    solution_files_shorten(cache->templates, text);
}

/* ---- fetching ---- */

/* Appends chunks until one is not full. Returns as solution_cache_fetch does. */
static int fetch_text(struct solution_cache *cache, const char *path, char **text, size_t *size,
                      struct error *error) {
    char digits[HASH_TEXT_SIZE];
    int length = CHUNK_BYTES;
    snprintf(digits, sizeof digits, "%s", path);
    for (int chunk = 0; length == CHUNK_BYTES; chunk++) {
        kvEntry *entry = NULL;
        int status = chunk_get(cache->connection, cache->run, digits, chunk, &entry, error);
        if (status < 0)
            return error_set(error,
                             "the files of the solution %s are missing on the queue: ask "
                             "again",
                             path);
        if (status > 0)
            return 1;
        length = kvEntry_ValueLen(entry);
        if (length <= CHUNK_BYTES && *size + (size_t)length <= TEXT_BYTES_MAX) {
            *text = xrealloc(*text, *size + (size_t)length + 1);
            memcpy(*text + *size, kvEntry_Value(entry), (size_t)length);
            *size += (size_t)length;
            (*text)[*size] = '\0';
        } else {
            length = -1;
        }
        kvEntry_Destroy(entry);
    }
    return length >= 0 ? 0
                       : error_set(error, "the files of the solution %s are larger than %d MB",
                                   path, SOLUTION_BYTES_MAX >> 20);
}

/* Whether the text is an object with the files of the path, and no others. */
static bool is_solution(const cJSON *files, const char *path) {
    char found[SOLUTION_PATH_SIZE];
    struct error ignored;
    const char *name = path + HASH_TEXT_SIZE;
    if (!cJSON_IsObject(files) || solution_files_check(name, files, &ignored) < 0)
        return false;
    solution_files_path(name, files, found);
    return strcmp(found, path) == 0;
}

static int write_solution(struct solution_cache *cache, const char *path, const char *text,
                          size_t size, struct error *error) {
    cJSON *files = cJSON_ParseWithLength(text, size);
    int status = is_solution(files, path) ? 0
                                          : error_set(error,
                                                      "the files of the solution %s are damaged on "
                                                      "the queue: they do not have its hash; ask "
                                                      "again",
                                                      path);
    if (status == 0)
        status = make_room(cache, (int64_t)size, error);
    if (status == 0)
        status = solution_files_write(cache->templates, path, files, error);
    cJSON_Delete(files);
    return status;
}

int solution_cache_fetch(struct solution_cache *cache, const char *path, struct error *error) {
    struct cached *one = find_cached(cache, path);
    char *text = NULL;
    size_t size = 0;
    if (one != NULL) {
        one->last_used = ++cache->uses;
        return 0;
    }
    int status = fetch_text(cache, path, &text, &size, error);
    if (status == 0)
        status = write_solution(cache, path, text, size, error);
    free(text);
    if (status != 0)
        return status;
    cache->items = xgrow(cache->items, cache->count, sizeof *cache->items);
    cache->items[cache->count] =
        (struct cached){.last_used = ++cache->uses, .bytes = (int64_t)size};
    snprintf(cache->items[cache->count++].path, SOLUTION_PATH_SIZE, "%s", path);
    return 0;
}
