#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "example.h"
#include "store/cache.h"

static struct cache_entry entry_of(int number, unsigned char cubin[4096]) {
    for (int i = 0; i < 4096; i++)
        cubin[i] = (unsigned char)(i * number);
    return (struct cache_entry){.cubin = cubin,
                                .cubin_size = (size_t)(number * 37 % 4097),
                                .ptx = number % 2 ? ".visible .entry k()\n" : "",
                                .log = "ptxas info: 0 bytes spill stores\n",
                                .kernels = number % 3 ? "k<2>\n_Z1kILi2EEvv\n" : ""};
}

static void release_entry(struct cache_entry *entry) {
    free(entry->cubin);
    free(entry->ptx);
    free(entry->log);
    free(entry->kernels);
}

static bool has(struct cache *cache, int number) {
    unsigned char cubin[4096];
    struct cache_entry expected = entry_of(number, cubin), found = {0};
    if (!cache_get(cache, hash_bytes(&number, sizeof number), &found))
        return false;
    assert_int_equal(found.cubin_size, expected.cubin_size);
    assert_memory_equal(found.cubin, expected.cubin, expected.cubin_size);
    assert_string_equal(found.ptx, expected.ptx);
    assert_string_equal(found.log, expected.log);
    assert_string_equal(found.kernels, expected.kernels);
    release_entry(&found);
    return true;
}

static void put(struct cache *cache, int number) {
    unsigned char cubin[4096];
    struct cache_entry entry = entry_of(number, cubin);
    cache_put(cache, hash_bytes(&number, sizeof number), &entry);
}

static void path_of(void **state, int number, char path[PATH_SIZE]) {
    char digits[HASH_TEXT_SIZE];
    hash_print(hash_bytes(&number, sizeof number), digits);
    snprintf(path, PATH_SIZE, "%s/cache/%.2s/%s", (char *)*state, digits, digits);
}

static struct cache *cache_below(void **state, int64_t limit_bytes) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/cache", (char *)*state);
    return cache_new(folder, limit_bytes);
}

static void stored_entries_are_found(void **state) {
    struct cache *cache = cache_below(state, 0);
    assert_false(has(cache, 1));
    for (int number = 0; number < 50; number++)
        put(cache, number);
    cache_free(cache);
    cache = cache_below(state, 0);
    for (int number = 0; number < 50; number++)
        assert_true(has(cache, number));
    assert_false(has(cache, 50));
    cache_free(cache);
}

/* An entry with a changed byte, truncated or extended is not returned, and is deleted. */
static void damaged_entries_are_misses(void **state) {
    struct cache *cache = cache_below(state, 0);
    struct error error = {0};
    char path[PATH_SIZE];
    size_t size;
    put(cache, 3);
    path_of(state, 3, path);
    char *whole = path_read_file(path, 1 << 20, &size, &error);
    assert_non_null(whole);
    char *bytes = malloc(size + 1);
    for (size_t i = 0; i <= 2 * size; i++) {
        memcpy(bytes, whole, size + 1);
        if (i < size)
            bytes[i] ^= 1 << i % 8;
        size_t length = i < size ? size : i == 2 * size ? size + 1 : i - size;
        assert_int_equal(path_write_unsynced(path, bytes, length, &error), 0);
        assert_false(has(cache, 3));
        assert_false(path_exists(path));
    }
    free(bytes);

    /* Neither is an entry in another entry's file. */
    char other[PATH_SIZE];
    path_of(state, 5, other);
    put(cache, 5);
    assert_int_equal(path_write_unsynced(other, whole, size, &error), 0);
    assert_false(has(cache, 5));
    free(whole);
    put(cache, 3);
    assert_true(has(cache, 3));
    cache_free(cache);
}

static void processes_share_a_cache(void **state) {
    pid_t children[4];
    for (int i = 0; i < 4; i++)
        if ((children[i] = fork()) == 0) {
            struct cache *cache = cache_below(state, 0);
            for (int round = 0; round < 100; round++) {
                put(cache, round % 10);
                unsigned char cubin[4096];
                int number = round % 10;
                struct cache_entry expected = entry_of(number, cubin), found = {0};
                if (!cache_get(cache, hash_bytes(&number, sizeof number), &found) ||
                    found.cubin_size != expected.cubin_size ||
                    memcmp(found.cubin, expected.cubin, found.cubin_size) != 0)
                    _exit(1);
                release_entry(&found);
            }
            cache_free(cache);
            _exit(0);
        }
    for (int i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static int64_t bytes_below(const char *folder) {
    struct error error = {0};
    char **names, path[PATH_SIZE];
    int count;
    int64_t bytes = 0;
    assert_int_equal(path_list(folder, &names, &count, &error), 0);
    for (int i = 0; i < count; i++) {
        struct stat status;
        assert_int_equal(path_join(path, folder, names[i], &error), 0);
        assert_int_equal(stat(path, &status), 0);
        bytes += S_ISDIR(status.st_mode) ? bytes_below(path) : status.st_size;
    }
    path_list_free(names, count);
    return bytes;
}

/* Above the limit, the least recently used entries are evicted; recently used entries and files
   that are not the cache's stay. */
static void least_recently_used_is_evicted(void **state) {
    struct cache *cache = cache_below(state, 100000);
    struct error error = {0};
    char path[PATH_SIZE], stale_file[PATH_SIZE], foreign_file[PATH_SIZE];
    put(cache, 1);
    put(cache, 2);
    for (int number = 1; number <= 2; number++) {
        path_of(state, number, path);
        struct timespec times[2] = {{1000, 0}, {1000, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    assert_true(has(cache, 2)); /* updates its access time */
    path_of(state, 1, path);
    assert_int_equal(path_parent(stale_file, path, &error), 0);
    assert_int_equal(path_join(stale_file, stale_file, ".half.1.2", &error), 0);
    assert_int_equal(path_write_unsynced(stale_file, "x", 1, &error), 0);
    struct timespec times[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, stale_file, times, 0), 0);
    snprintf(foreign_file, sizeof foreign_file, "%s/cache/mine.txt", (char *)*state);
    assert_int_equal(path_write_unsynced(foreign_file, "x", 1, &error), 0);

    /* One put in 256 (by its hash) evicts: with 3000 puts some do. */
    for (int number = 10; number < 3010; number++) {
        put(cache, number);
        if (number % 10 == 0)
            assert_true(has(cache, 2));
    }
    assert_false(path_exists(path));
    assert_false(path_exists(stale_file));
    assert_true(path_exists(foreign_file));
    assert_true(bytes_below(*state) < 3000 * 2000 / 2);
    cache_free(cache);
}

/* A folder that is not writable is reported once on stderr, and nothing fails. */
static void unwritable_folder_warns_once(void **state) {
    (void)state;
    int saved = dup(STDERR_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    struct cache *cache = cache_new("/proc/evotile", 0);
    for (int number = 0; number < 5; number++) {
        put(cache, number);
        assert_false(has(cache, number));
    }
    cache_free(cache);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    char text[4096];
    ssize_t length = read(ends[0], text, sizeof text - 1);
    assert_true(length > 0);
    text[length] = '\0';
    close(ends[0]);
    assert_non_null(strstr(text, "EVOTILE_CACHE"));
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
}

static void environment_selects_the_folder(void **state) {
    struct error error = {0};
    char path[PATH_SIZE];
    static const char *const variables[] = {"EVOTILE_CACHE", "XDG_CACHE_HOME", "HOME"};
    static const char *const folders[] = {"", "/evotile", "/.cache/evotile"};
    for (int i = 2; i >= 0; i--) { /* the last one set takes precedence */
        char value[PATH_SIZE];
        snprintf(value, sizeof value, "%s/%d", (char *)*state, i);
        if (i == 2)
            unsetenv(variables[0]), unsetenv(variables[1]);
        setenv(variables[i], value, 1);
        struct cache *cache = cache_new(NULL, 0);
        put(cache, 1);
        assert_true(has(cache, 1));
        cache_free(cache);
        assert_int_equal(path_join(path, value, folders[i][0] ? folders[i] + 1 : ".", &error), 0);
        assert_true(path_is_dir(path));
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(stored_entries_are_found),     TEST(damaged_entries_are_misses),
        TEST(processes_share_a_cache),      TEST(least_recently_used_is_evicted),
        TEST(unwritable_folder_warns_once), TEST(environment_selects_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
