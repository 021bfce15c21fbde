/* Clients' solutions between a server's folder and a worker's, on a key-value store that this file
   invents: its functions replace those of the NATS library. */
#include "remote/solution_cache.h"
#include "remote/solution_uploads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"
#include "remote/chunks.h"

enum { ENTRIES_MAX = 512 };

/* ---- the server ---- */

struct entry {
    char key[128];
    char *bytes;
    int length;
    uint64_t revision;
};

static struct {
    int count, got, put;
    uint64_t revisions;
    struct entry entries[ENTRIES_MAX];
    natsStatus answer; /* NATS_OK, or what every call returns */
} server;

static struct connection connection = {.was_up = true};

static struct entry *find_entry(const char *key) {
    for (int e = 0; e < server.count; e++)
        if (strcmp(server.entries[e].key, key) == 0)
            return &server.entries[e];
    return NULL;
}

natsConnStatus natsConnection_Status(natsConnection *nats) {
    (void)nats;
    return NATS_CONN_STATUS_CONNECTED;
}

natsStatus natsConnection_GetConnectedServerId(natsConnection *nats, char *id, size_t size) {
    (void)nats;
    snprintf(id, size, "one server");
    return NATS_OK;
}

natsStatus kvStore_Put(uint64_t *revision, kvStore *store, const char *key, const void *bytes,
                       int length) {
    (void)store;
    if (server.answer != NATS_OK)
        return server.answer;
    assert_in_range(length, 1, 1 << 20); /* a server's default limit */
    struct entry *entry = find_entry(key);
    if (entry == NULL) {
        assert_in_range(server.count, 0, ENTRIES_MAX - 1);
        entry = &server.entries[server.count++];
        *entry = (struct entry){.bytes = NULL};
        snprintf(entry->key, sizeof entry->key, "%s", key);
    }
    free(entry->bytes);
    entry->bytes = xmalloc((size_t)length);
    memcpy(entry->bytes, bytes, (size_t)length);
    entry->length = length;
    entry->revision = *revision = ++server.revisions;
    server.put++;
    return NATS_OK;
}

natsStatus kvStore_Get(kvEntry **found, kvStore *store, const char *key) {
    (void)store;
    server.got++;
    *found = (kvEntry *)find_entry(key);
    return server.answer != NATS_OK ? server.answer : *found != NULL ? NATS_OK : NATS_NOT_FOUND;
}

int kvEntry_ValueLen(kvEntry *entry) {
    return ((struct entry *)entry)->length;
}

const void *kvEntry_Value(kvEntry *entry) {
    return ((struct entry *)entry)->bytes;
}

void kvEntry_Destroy(kvEntry *entry) {
    (void)entry;
}

natsStatus js_DeleteMsg(jsCtx *js, const char *stream, uint64_t number, jsOptions *options,
                        jsErrCode *refused) {
    (void)js, (void)options, (void)refused;
    assert_string_equal(stream, "KV_evotile_files");
    for (int e = 0; e < server.count; e++)
        if (server.entries[e].revision == number) {
            free(server.entries[e].bytes);
            server.entries[e] = server.entries[--server.count];
            return NATS_OK;
        }
    return NATS_NOT_FOUND;
}

/* ---- both folders ---- */

#define RUN "0123456789abcdef"

static char sender[PATH_SIZE], receiver[PATH_SIZE];
static struct solution_uploads *uploads;
static struct solution_cache *cache;

static void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static void make_folder(char folder[PATH_SIZE]) {
    struct error error = {0};
    char problem[PATH_SIZE];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, PATH_SIZE, "%s/evotile-solutions-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    must(path_join(problem, folder, "templates/problem", &error), &error);
    must(path_make_folder(problem, &error), &error);
}

static int open_both(void **state) {
    (void)state;
    char templates[PATH_SIZE];
    memset(&server, 0, sizeof server);
    setenv("EVOTILE_INTERVALS", "request_resend=0", 1);
    make_folder(sender);
    make_folder(receiver);
    snprintf(templates, sizeof templates, "%.4000s/templates", sender);
    uploads = solution_uploads_new(&connection, RUN, templates);
    cache = solution_cache_new(&connection, RUN, receiver);
    return 0;
}

static int close_both(void **state) {
    (void)state;
    struct error error = {0};
    solution_uploads_free(uploads);
    solution_cache_free(cache);
    for (int e = 0; e < server.count; e++)
        free(server.entries[e].bytes);
    must(path_remove_tree(sender, &error), &error);
    must(path_remove_tree(receiver, &error), &error);
    return 0;
}

/* A solution in the sender's folder, with a kernel of so many letters. */
static void add_solution(char path[SOLUTION_PATH_SIZE], int number, size_t letters) {
    struct error error = {0};
    char templates[PATH_SIZE];
    char *kernel = xcalloc(1, letters + 32);
    int length = sprintf(kernel, "// %d\n", number);
    memset(kernel + length, '"', letters); /* two bytes of JSON */
    cJSON *files = cJSON_CreateObject();
    cJSON_AddStringToObject(files, "solution.json", "{}");
    cJSON_AddStringToObject(files, "kernel.cu", kernel);
    solution_files_path("mine", files, path);
    snprintf(templates, sizeof templates, "%.4000s/templates", sender);
    must(solution_files_write(templates, path, files, &error), &error);
    cJSON_Delete(files);
    free(kernel);
}

static void send_solution(const char *path) {
    struct error error = {0};
    solution_uploads_hold(uploads, path);
    must(solution_uploads_send(uploads, path, &error) == 0 ? 0 : -1, &error);
}

static int fetch(const char *path, struct error *error) {
    *error = (struct error){0};
    return solution_cache_fetch(cache, path, error);
}

/* How many solutions the worker has on its disk. */
static int count_fetched(void) {
    struct error error = {0};
    char templates[PATH_SIZE], **names;
    int count;
    snprintf(templates, sizeof templates, "%.4000s/templates", receiver);
    must(path_list(templates, &names, &count, &error), &error);
    path_list_free(names, count);
    return count - 1; /* without the problem */
}

static bool is_fetched(const char *path) {
    char *folder = solution_cache_folder(cache, path);
    bool is = path_exists(folder);
    free(folder);
    return is;
}

/* ---- tests ---- */

/* Also where the last chunk would be full. */
static void solutions_of_every_size_arrive(void **state) {
    (void)state;
    struct error error;
    char path[SOLUTION_PATH_SIZE];
    static const char rest[] = "{\"kernel.cu\":\"// 1\\n\",\"solution.json\":\"{}\"}";
    const size_t chunk = (CHUNK_BYTES - strlen(rest)) / 2;
    const size_t sizes[] = {0, 100, chunk - 1, chunk, chunk + 1, 1 << 20, SOLUTION_BYTES_MAX - 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        add_solution(path, 1, sizes[i]);
        send_solution(path);
        if (fetch(path, &error) != 0)
            fail_msg("%s", error.text);
        assert_true(is_fetched(path));
    }
}

/* Stored once, and fetched once, however often it is asked for. */
static void a_solution_travels_once(void **state) {
    (void)state;
    struct error error;
    char path[SOLUTION_PATH_SIZE];
    add_solution(path, 1, 0);
    for (int i = 0; i < 3; i++) {
        send_solution(path);
        assert_int_equal(fetch(path, &error), 0);
    }
    assert_int_equal(server.put, 1);
    assert_int_equal(server.got, 1);
}

static void expect_refused(const char *path, const char *words) {
    struct error error;
    assert_int_equal(fetch(path, &error), -1);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
    assert_false(is_fetched(path));
}

/* Each chunk is changed in one letter, cut, missing, or another solution's. */
static void other_files_are_refused(void **state) {
    (void)state;
    struct error error;
    char path[SOLUTION_PATH_SIZE], other[SOLUTION_PATH_SIZE];
    add_solution(path, 1, 400 << 10);
    add_solution(other, 2, 0);
    send_solution(path);
    send_solution(other);
    assert_int_equal(server.count, 3);
    for (int e = 0; e < 2; e++)
        for (int damage = 0; damage < 6; damage++) {
            struct entry *entry = &server.entries[e], whole = *entry;
            char *bytes = xmalloc((size_t)whole.length);
            memcpy(bytes, whole.bytes, (size_t)whole.length);
            if (damage == 4) { /* files that are right in themselves */
                entry->bytes = server.entries[2].bytes;
                entry->length = server.entries[2].length;
            } else {
                entry->bytes = bytes;
            }
            bytes[whole.length / 2] ^= damage == 0 ? 2 : 0;
            entry->length -= damage == 1;
            entry->length = damage == 5 ? 1 : entry->length;
            entry->key[0] = damage == 2 ? 'x' : entry->key[0];
            if (damage == 3)
                bytes[0] = '[';
            expect_refused(path, damage == 2 ? "are missing" : "do not have its hash");
            free(bytes);
            *entry = whole;
        }
    assert_int_equal(fetch(path, &error), 0);
    assert_true(is_fetched(path));
}

/* Chunks that never end, as a spoiled store could have them. */
static void what_is_too_large_is_not_read_to_its_end(void **state) {
    (void)state;
    static const char path[] = "00000000000000000000000000000000/mine";
    char *bytes = xcalloc(1, CHUNK_BYTES);
    uint64_t revision;
    for (int chunk = 0; chunk < 100; chunk++) {
        char key[CHUNK_KEY_SIZE];
        chunk_key(key, RUN, "00000000000000000000000000000000", chunk);
        assert_int_equal(kvStore_Put(&revision, NULL, key, bytes, CHUNK_BYTES), NATS_OK);
    }
    expect_refused(path, "larger than 4 MB");
    assert_true(server.got < 100);
    free(bytes);
}

static void a_silent_server_is_asked_again(void **state) {
    (void)state;
    struct error error = {0};
    char path[SOLUTION_PATH_SIZE];
    add_solution(path, 1, 0);
    solution_uploads_hold(uploads, path);
    server.answer = NATS_TIMEOUT;
    assert_int_equal(solution_uploads_send(uploads, path, &error), 1);
    assert_int_equal(fetch(path, &error), 1);
    server.answer = NATS_OK;
    double end_s = clock_seconds() + 10; /* it is left alone for as long as it held the caller up */
    while (solution_uploads_send(uploads, path, &error) != 0 && clock_seconds() < end_s)
        ;
    assert_int_equal(fetch(path, &error), 0);
}

static void what_cannot_be_read_is_an_error(void **state) {
    (void)state;
    struct error error = {0};
    static const char path[] = "00000000000000000000000000000000/mine";
    solution_uploads_hold(uploads, path);
    assert_int_equal(solution_uploads_send(uploads, path, &error), -1);
    assert_non_null(strstr(error.text, path));
}

static void lost_files_are_stored_again(void **state) {
    (void)state;
    struct error error = {0};
    char paths[2][SOLUTION_PATH_SIZE];
    for (int i = 0; i < 2; i++) {
        add_solution(paths[i], i, 0);
        send_solution(paths[i]);
    }
    solution_uploads_renew(uploads, paths[0]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(solution_uploads_send(uploads, paths[i], &error), 0);
    assert_int_equal(server.put, 3);
    solution_uploads_renew(uploads, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(solution_uploads_send(uploads, paths[i], &error), 0);
    assert_int_equal(server.put, 5);
    assert_int_equal(server.count, 2);
}

/* On the queue: those that are held, and the last ones. */
static void old_uploads_are_deleted(void **state) {
    (void)state;
    char first[SOLUTION_PATH_SIZE], path[SOLUTION_PATH_SIZE], second[SOLUTION_PATH_SIZE];
    add_solution(first, 0, 300 << 10); /* two chunks */
    send_solution(first);
    for (int i = 1; i <= UPLOADS_MAX + 3; i++) {
        add_solution(path, i, 0);
        send_solution(path);
        solution_uploads_release(uploads, path);
        if (i == 1)
            strcpy(second, path);
    }
    assert_int_equal(server.count, UPLOADS_MAX + 1);
    send_solution(second); /* it was deleted: it is stored again */
    assert_int_equal(server.put, 2 + UPLOADS_MAX + 3 + 1);
    solution_uploads_release(uploads, second);
    solution_uploads_release(uploads, first);
    add_solution(path, -1, 0);
    send_solution(path);
    solution_uploads_release(uploads, path);
    assert_int_equal(server.count, UPLOADS_MAX); /* both chunks of the first are gone */
}

/* The bytes count, too: of ten with 8 MB of JSON each, those stay that make 64 MB. */
static void large_uploads_are_deleted_sooner(void **state) {
    (void)state;
    char path[SOLUTION_PATH_SIZE];
    for (int i = 0; i < 10; i++) {
        add_solution(path, i, SOLUTION_BYTES_MAX - 20);
        send_solution(path);
        solution_uploads_release(uploads, path);
    }
    int64_t bytes = 0;
    for (int e = 0; e < server.count; e++)
        bytes += server.entries[e].length;
    assert_true(bytes <= UPLOADS_BYTES_MAX && bytes > UPLOADS_BYTES_MAX / 2);
}

/* With the worker: one that is held stays, the oldest of the others goes. */
static void old_solutions_make_room(void **state) {
    (void)state;
    struct error error;
    char first[SOLUTION_PATH_SIZE], second[SOLUTION_PATH_SIZE], path[SOLUTION_PATH_SIZE];
    for (int i = 0; i <= CACHED_MAX; i++) {
        char *to = i == 0 ? first : i == 1 ? second : path;
        add_solution(to, i, 0);
        send_solution(to);
        assert_int_equal(fetch(to, &error), 0);
        if (i == 0)
            solution_cache_hold(cache, first);
    }
    assert_int_equal(count_fetched(), CACHED_MAX);
    assert_true(is_fetched(first));
    assert_false(is_fetched(second));
    solution_cache_release(cache, first);
    assert_int_equal(fetch(second, &error), 0);
    assert_int_equal(count_fetched(), CACHED_MAX);
    assert_false(is_fetched(first));
}

int main(void) {
#define TRANSFER_TEST(test) cmocka_unit_test_setup_teardown(test, open_both, close_both)
    const struct CMUnitTest tests[] = {
        TRANSFER_TEST(solutions_of_every_size_arrive),
        TRANSFER_TEST(a_solution_travels_once),
        TRANSFER_TEST(other_files_are_refused),
        TRANSFER_TEST(what_is_too_large_is_not_read_to_its_end),
        TRANSFER_TEST(a_silent_server_is_asked_again),
        TRANSFER_TEST(what_cannot_be_read_is_an_error),
        TRANSFER_TEST(lost_files_are_stored_again),
        TRANSFER_TEST(old_uploads_are_deleted),
        TRANSFER_TEST(large_uploads_are_deleted_sooner),
        TRANSFER_TEST(old_solutions_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
