#include "store/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"

struct cache {
    char folder[PATH_SIZE];
    int64_t limit_bytes;
    bool read_only; /* set after the first failed write, which it warned of */
};

static const int64_t default_limit_bytes = INT64_C(4) << 30;

/* ENTRY_BYTES_MAX is far above any kernel: a larger file is not an entry. */
enum { ENTRY_BYTES_MAX = 256 << 20, HEADER_SIZE = 256, TRIM_INTERVAL = 256, STALE_S = 3600 };

/* A file is one header line, then cubin, PTX and log. The header's last hash is over these three.
 */
#define HEADER_FORMAT "evotile-cache 1 %s %zu %zu %zu %s\n"
#define HEADER_SCAN   "evotile-cache 1 %32s %zu %zu %zu %32s%n"

static int find_default_folder(char folder[PATH_SIZE], struct error *error) {
    const char *set = getenv("EVOTILE_CACHE");
    if (set != NULL && set[0] != '\0')
        return path_join(folder, "", set, error);
    set = getenv("XDG_CACHE_HOME");
    if (set != NULL && set[0] != '\0')
        return path_join(folder, set, "evotile", error);
    set = getenv("HOME");
    if (set != NULL && set[0] != '\0')
        return path_join(folder, set, ".cache/evotile", error);
    return error_set(error, "neither EVOTILE_CACHE nor HOME is set");
}

/* Warns once; from then on the cache is read-only. */
static void disable_writes(struct cache *cache, const struct error *error) {
    if (!cache->read_only)
        log_warn("compiled kernels are not cached: %s; set EVOTILE_CACHE to another folder",
                 error->text);
    cache->read_only = true;
}

struct cache *cache_new(const char *folder, int64_t limit_bytes) {
    struct cache *cache = xcalloc(1, sizeof *cache);
    cache->limit_bytes = limit_bytes > 0 ? limit_bytes : default_limit_bytes;
    struct error error = {0};
    if ((folder != NULL ? path_join(cache->folder, "", folder, &error)
                        : find_default_folder(cache->folder, &error)) < 0)
        disable_writes(cache, &error);
    return cache;
}

void cache_free(struct cache *cache) {
    free(cache);
}

const char *cache_folder(const struct cache *cache) {
    struct error ignored;
    if (cache->folder[0] != '\0')
        path_make_folder(cache->folder, &ignored); /* else the first write warns */
    return cache->folder;
}

/* FOLDER/ab/abcdef...: 256 subfolders keep each small. False if the path is too long, or the cache
   has no folder. */
static bool make_entry_path(const struct cache *cache, struct hash hash, char folder[PATH_SIZE],
                            char path[PATH_SIZE]) {
    char digits[HASH_TEXT_SIZE], first[3] = {0};
    hash_print(hash, digits);
    memcpy(first, digits, 2);
    struct error error = {0};
    return cache->folder[0] && path_join(folder, cache->folder, first, &error) == 0 &&
           path_join(path, folder, digits, &error) == 0;
}

static struct hash checksum(const void *cubin, size_t cubin_size, const char *ptx, size_t ptx_size,
                            const char *log, size_t log_size) {
    struct hasher *hasher = hasher_new();
    hasher_add(hasher, cubin, cubin_size);
    hasher_add(hasher, ptx, ptx_size);
    hasher_add(hasher, log, log_size);
    return hasher_finish(hasher);
}

static void *copy_bytes(const char *bytes, size_t size) {
    char *copy = xmalloc(size + 1);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

/* Fills `entry` from a file's bytes if their header matches `hash` and their checksum is right. */
static bool decode_entry(struct hash hash, const char *bytes, size_t size,
                         struct cache_entry *entry) {
    char key[HASH_TEXT_SIZE], checksum_text[HASH_TEXT_SIZE];
    size_t cubin_size, ptx_size, log_size;
    int header = 0;
    struct hash found;
    if (sscanf(bytes, HEADER_SCAN, key, &cubin_size, &ptx_size, &log_size, checksum_text,
               &header) != 5 ||
        header == 0 || bytes[header] != '\n' || !hash_parse(&found, key) ||
        !hash_equal(found, hash) || !hash_parse(&found, checksum_text))
        return false;
    size_t rest = size - (size_t)header - 1;
    if (cubin_size > rest || ptx_size > rest - cubin_size ||
        log_size != rest - cubin_size - ptx_size)
        return false;
    const char *cubin = bytes + header + 1, *ptx = cubin + cubin_size, *log = ptx + ptx_size;
    if (!hash_equal(found, checksum(cubin, cubin_size, ptx, ptx_size, log, log_size)))
        return false;
    *entry = (struct cache_entry){.cubin = copy_bytes(cubin, cubin_size),
                                  .cubin_size = cubin_size,
                                  .ptx = copy_bytes(ptx, ptx_size),
                                  .log = copy_bytes(log, log_size)};
    return true;
}

bool cache_get(struct cache *cache, struct hash hash, struct cache_entry *entry) {
    char folder[PATH_SIZE], path[PATH_SIZE];
    if (!make_entry_path(cache, hash, folder, path))
        return false;
    struct error error = {0};
    size_t size;
    char *bytes = path_read_file(path, ENTRY_BYTES_MAX, &size, &error);
    if (bytes == NULL)
        return false;
    bool valid = decode_entry(hash, bytes, size, entry);
    free(bytes);
    if (!valid)
        unlink(path);
    else /* many file systems do not update the access time by themselves */
        utimensat(AT_FDCWD, path, (struct timespec[2]){{0, UTIME_NOW}, {0, UTIME_OMIT}}, 0);
    return valid;
}

struct aged_entry {
    char *path;
    int64_t size;
    struct timespec used;
};

static int compare_age(const void *a, const void *b) {
    const struct timespec *first = &((const struct aged_entry *)a)->used;
    const struct timespec *second = &((const struct aged_entry *)b)->used;
    if (first->tv_sec != second->tv_sec)
        return first->tv_sec < second->tv_sec ? -1 : 1;
    return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

struct entry_list {
    struct aged_entry *list;
    int count;
    int64_t bytes;
};

/* Adds the entries of one subfolder, and removes stale temporary files of killed writers. */
static void scan_folder(struct entry_list *entries, const char *folder) {
    char **names;
    int count;
    struct error error = {0};
    if (path_list(folder, &names, &count, &error) < 0)
        return;
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        struct stat status;
        struct hash hash;
        if (path_join(path, folder, names[i], &error) < 0 || stat(path, &status) < 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (!hash_parse(&hash, names[i])) {
            if (names[i][0] == '.' && status.st_mtime < time(NULL) - STALE_S)
                unlink(path);
            continue;
        }
        entries->list = xgrow(entries->list, entries->count, sizeof *entries->list);
        char *copy = xstrdup(path);
        entries->list[entries->count++] =
            (struct aged_entry){.path = copy, .size = status.st_size, .used = status.st_atim};
        entries->bytes += status.st_size;
    }
    path_list_free(names, count);
}

/* Evicts the least recently used entries down to nine tenths of the limit. If another process trims
   concurrently, more is evicted than needed, and is compiled again. */
static void evict_entries(struct cache *cache) {
    char **names;
    int count;
    struct error error = {0};
    if (path_list(cache->folder, &names, &count, &error) < 0)
        return;
    struct entry_list entries = {0};
    for (int i = 0; i < count; i++) {
        char folder[PATH_SIZE];
        /* Only our own subfolders: EVOTILE_CACHE may point to any folder. */
        if (strlen(names[i]) == 2 && strspn(names[i], "0123456789abcdef") == 2 &&
            path_join(folder, cache->folder, names[i], &error) == 0)
            scan_folder(&entries, folder);
    }
    path_list_free(names, count);
    if (entries.bytes > cache->limit_bytes) {
        qsort(entries.list, (size_t)entries.count, sizeof entries.list[0], compare_age);
        int64_t target = cache->limit_bytes / 10 * 9;
        for (int i = 0; i < entries.count && entries.bytes > target; i++) {
            unlink(entries.list[i].path);
            entries.bytes -= entries.list[i].size;
        }
    }
    for (int i = 0; i < entries.count; i++)
        free(entries.list[i].path);
    free(entries.list);
}

void cache_put(struct cache *cache, struct hash hash, const struct cache_entry *entry) {
    char folder[PATH_SIZE], path[PATH_SIZE];
    if (cache->read_only || !make_entry_path(cache, hash, folder, path))
        return;
    const char *ptx = entry->ptx != NULL ? entry->ptx : "",
               *log = entry->log != NULL ? entry->log : "";
    size_t ptx_size = strlen(ptx), log_size = strlen(log);
    char digits[HASH_TEXT_SIZE], checksum_text[HASH_TEXT_SIZE];
    hash_print(hash, digits);
    hash_print(checksum(entry->cubin, entry->cubin_size, ptx, ptx_size, log, log_size),
               checksum_text);
    size_t size = HEADER_SIZE + entry->cubin_size + ptx_size + log_size;
    if (size > ENTRY_BYTES_MAX)
        return;
    char *bytes = xmalloc(size);
    int header = snprintf(bytes, HEADER_SIZE, HEADER_FORMAT, digits, entry->cubin_size, ptx_size,
                          log_size, checksum_text);
    char *end = bytes + header;
    if (entry->cubin_size > 0)
        memcpy(end, entry->cubin, entry->cubin_size);
    end += entry->cubin_size;
    memcpy(end, ptx, ptx_size);
    end += ptx_size;
    memcpy(end, log, log_size);
    end += log_size;

    struct error error = {0};
    if (path_make_folder(folder, &error) < 0 ||
        path_write_unsynced(path, bytes, (size_t)(end - bytes), &error) < 0)
        disable_writes(cache, &error);
    free(bytes);
    /* Pseudo-random instead of a counter, so that short-lived processes trim too. */
    if (hash.low % TRIM_INTERVAL == 0)
        evict_entries(cache);
}
