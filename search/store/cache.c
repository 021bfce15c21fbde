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

/* A file is one header line, then its parts: cubin, PTX, log and names of kernels. The header's
   last hash is over these. */
enum { PART_COUNT = 4 };
#define HEADER_FORMAT "evotile-cache 2 %s %zu %zu %zu %zu %s\n"
#define HEADER_SCAN   "evotile-cache 2 %32s %zu %zu %zu %zu %32s%n"

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

static struct hash checksum(const char *const parts[PART_COUNT], const size_t sizes[PART_COUNT]) {
    struct hasher *hasher = hasher_new();
    for (int i = 0; i < PART_COUNT; i++)
        hasher_add(hasher, parts[i], sizes[i]);
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
    size_t sizes[PART_COUNT];
    const char *parts[PART_COUNT];
    int header = 0;
    struct hash found;
    if (sscanf(bytes, HEADER_SCAN, key, &sizes[0], &sizes[1], &sizes[2], &sizes[3], checksum_text,
               &header) != 6 ||
        header == 0 || bytes[header] != '\n' || !hash_parse(&found, key) ||
        !hash_equal(found, hash) || !hash_parse(&found, checksum_text))
        return false;
    size_t rest = size - (size_t)header - 1;
    const char *at = bytes + header + 1;
    for (int i = 0; i < PART_COUNT; i++) {
        if (sizes[i] > rest)
            return false;
        parts[i] = at;
        at += sizes[i];
        rest -= sizes[i];
    }
    if (rest > 0 || !hash_equal(found, checksum(parts, sizes)))
        return false;
    *entry = (struct cache_entry){.cubin = copy_bytes(parts[0], sizes[0]),
                                  .cubin_size = sizes[0],
                                  .ptx = copy_bytes(parts[1], sizes[1]),
                                  .log = copy_bytes(parts[2], sizes[2]),
                                  .kernels = copy_bytes(parts[3], sizes[3])};
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
    const char *const parts[PART_COUNT] = {entry->cubin, entry->ptx, entry->log, entry->kernels};
    size_t sizes[PART_COUNT] = {entry->cubin_size}, size = HEADER_SIZE;
    char digits[HASH_TEXT_SIZE], checksum_text[HASH_TEXT_SIZE];
    for (int i = 0; i < PART_COUNT; i++) {
        sizes[i] = i == 0 ? sizes[i] : parts[i] != NULL ? strlen(parts[i]) : 0;
        size += sizes[i];
    }
    if (size > ENTRY_BYTES_MAX)
        return;
    hash_print(hash, digits);
    hash_print(checksum(parts, sizes), checksum_text);
    char *bytes = xmalloc(size);
    char *end = bytes + snprintf(bytes, HEADER_SIZE, HEADER_FORMAT, digits, sizes[0], sizes[1],
                                 sizes[2], sizes[3], checksum_text);
    for (int i = 0; i < PART_COUNT; i++) {
        if (sizes[i] > 0)
            memcpy(end, parts[i], sizes[i]);
        end += sizes[i];
    }

    struct error error = {0};
    if (path_make_folder(folder, &error) < 0 ||
        path_write_unsynced(path, bytes, (size_t)(end - bytes), &error) < 0)
        disable_writes(cache, &error);
    free(bytes);
    /* Pseudo-random instead of a counter, so that short-lived processes trim too. */
    if (hash.low % TRIM_INTERVAL == 0)
        evict_entries(cache);
}
