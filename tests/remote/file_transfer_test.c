/* Files on a key-value store that this file invents: its functions replace those of the NATS
   library. */
#include "remote/file_transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/random.h"
#include "remote/connection_internal.h"

enum { ENTRIES_MAX = 64, CHUNK_MAX = 1 << 20 };

/* ---- the server ---- */

struct entry {
    char key[128];
    char *bytes;
    int length;
};

static struct {
    int count;
    struct entry entries[ENTRIES_MAX];
    natsStatus answer; /* NATS_OK, or what every call returns */
} server;

static struct entry *find_entry(const char *key) {
    for (int e = 0; e < server.count; e++)
        if (strcmp(server.entries[e].key, key) == 0)
            return &server.entries[e];
    return NULL;
}

natsStatus kvStore_Put(uint64_t *revision, kvStore *store, const char *key, const void *bytes,
                       int length) {
    (void)revision, (void)store;
    if (server.answer != NATS_OK)
        return server.answer;
    assert_in_range(length, 1, CHUNK_MAX); /* a server's default limit */
    struct entry *entry = find_entry(key);
    if (entry == NULL) {
        assert_in_range(server.count, 0, ENTRIES_MAX - 1);
        entry = &server.entries[server.count++];
        snprintf(entry->key, sizeof entry->key, "%s", key);
    }
    free(entry->bytes);
    entry->bytes = xmalloc((size_t)length);
    memcpy(entry->bytes, bytes, (size_t)length);
    entry->length = length;
    return NATS_OK;
}

natsStatus kvStore_Get(kvEntry **found, kvStore *store, const char *key) {
    (void)store;
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

/* ---- a run's folder ---- */

#define CONFIG "{\"template\": \"a\"}"

static struct connection connection;
static char from[PATH_SIZE], to[PATH_SIZE];
static struct run_description description;
static const int sizes[] = {0, 1, (512 << 10) - 1, 512 << 10, (512 << 10) + 1, 1 << 20, 1300000};
enum { FILES = sizeof sizes / sizeof *sizes };

static void write_file(const char *folder, const char *name, const char *bytes, size_t length) {
    struct error error = {0};
    char path[PATH_SIZE], parent[PATH_SIZE];
    if (path_join(path, folder, name, &error) < 0 || path_parent(parent, path, &error) < 0 ||
        path_make_folder(parent, &error) < 0 || path_write_file(path, bytes, length, &error) < 0)
        fail_msg("%s", error.text);
}

static int open_folders(void **state) {
    (void)state;
    struct error error = {0};
    struct random random;
    char *bytes = xmalloc(1 << 21);
    const char *temporary = getenv("TMPDIR");
    snprintf(from, sizeof from, "%s/evotile-transfer-XXXXXX", temporary ? temporary : "/tmp");
    strcpy(to, from);
    assert_non_null(mkdtemp(from));
    assert_non_null(mkdtemp(to));
    random_seed(&random, 1, 1);
    write_file(from, "config.json", CONFIG, strlen(CONFIG));
    for (int f = 0; f < FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "template/a/%d/kernel.cu", f);
        for (int i = 0; i < sizes[f]; i++)
            bytes[i] = (char)random_below(&random, 256);
        write_file(from, name, bytes, (size_t)sizes[f]);
    }
    write_file(from, "run.db", "not sent", 8);
    free(bytes);
    description = (struct run_description){.id = "0123456789abcdef"};
    static const char *const names[] = {"config.json", "template", NULL};
    if (file_transfer_list(&description, from, names, &error) < 0 ||
        file_transfer_upload(&connection, &description, from, &error) < 0)
        fail_msg("%s", error.text);
    return 0;
}

static int remove_folders(void **state) {
    (void)state;
    struct error error = {0};
    run_description_release(&description);
    for (int e = 0; e < server.count; e++)
        free(server.entries[e].bytes);
    memset(&server, 0, sizeof server);
    return path_remove_tree(from, &error) < 0 || path_remove_tree(to, &error) < 0 ? -1 : 0;
}

static char *read_file(const char *folder, const char *name, size_t *size) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, folder, name, &error), 0);
    return path_exists(path) ? path_read_file(path, 1 << 22, size, &error) : NULL;
}

static int download(struct error *error) {
    *error = (struct error){0};
    return file_transfer_download(&connection, &description, to, error);
}

/* Whether a file arrived; it must then be the one that was sent. */
static bool has_arrived(const struct run_file *file) {
    size_t size, sent_size;
    char *bytes = read_file(to, file->path, &size);
    if (bytes == NULL)
        return false;
    char *sent = read_file(from, file->path, &sent_size);
    assert_int_equal(size, sent_size);
    assert_memory_equal(bytes, sent, size);
    free(bytes);
    free(sent);
    return true;
}

/* ---- tests ---- */

/* Of every size around that of a chunk; nothing else of the folder. */
static void files_arrive_as_they_were(void **state) {
    (void)state;
    struct error error;
    assert_int_equal(description.file_count, 1 + FILES);
    if (download(&error) != 0)
        fail_msg("%s", error.text);
    for (int f = 0; f < description.file_count; f++)
        assert_true(has_arrived(&description.files[f]));
    size_t size;
    assert_null(read_file(to, "run.db", &size));
}

/* Each chunk in turn is changed in one bit, shorter, longer or missing: no file that differs is
   written. */
static void damaged_chunk_is_not_written(void **state) {
    (void)state;
    struct error error;
    for (int e = 0; e < server.count; e++)
        for (int damage = 0; damage < 4; damage++) {
            struct entry *entry = &server.entries[e];
            struct entry whole = *entry;
            char *bytes = xcalloc(1, (size_t)whole.length + 1);
            memcpy(bytes, whole.bytes, (size_t)whole.length);
            entry->bytes = bytes;
            bytes[whole.length / 2] ^= damage == 0 ? 0x10 : 0;
            entry->length += damage == 1 ? -1 : damage == 2 ? 1 : 0;
            entry->key[0] = damage == 3 ? 'x' : entry->key[0];
            assert_int_equal(download(&error), -1);
            assert_non_null(strstr(error.text, damage == 3 ? "is missing" : "is damaged"));
            for (int f = 0; f < description.file_count; f++)
                has_arrived(&description.files[f]);
            free(bytes);
            *entry = whole;
        }
    assert_int_equal(download(&error), 0);
}

/* A purge in the middle of an upload leaves only the chunks that were stored after it. */
static void partial_purge_is_noticed(void **state) {
    (void)state;
    struct error error;
    assert_false(file_transfer_is_purged(&connection, &description));
    for (int e = 0; e < server.count; e++) {
        char first = server.entries[e].key[0];
        server.entries[e].key[0] = 'x';
        assert_true(file_transfer_is_purged(&connection, &description));
        server.entries[e].key[0] = e + 1 < server.count ? 'x' : first;
    }
    assert_true(file_transfer_is_purged(&connection, &description));
    server.answer = NATS_TIMEOUT;
    assert_false(file_transfer_is_purged(&connection, &description));
    server.answer = NATS_OK;
    assert_int_equal(file_transfer_upload(&connection, &description, from, &error), 0);
    assert_false(file_transfer_is_purged(&connection, &description));
}

/* The description says another size or another hash than the chunks have. */
static void wrong_description_is_noticed(void **state) {
    (void)state;
    struct error error;
    for (int f = 0; f < description.file_count; f++) {
        struct run_file *file = &description.files[f];
        const struct run_file right = *file;
        file->bytes++;
        assert_int_equal(download(&error), -1);
        *file = right;
        file->hash = hash_bytes("another", 7);
        assert_int_equal(download(&error), -1);
        *file = right;
    }
    assert_int_equal(download(&error), 0);
}

static void silent_server_is_asked_again(void **state) {
    (void)state;
    struct error error;
    server.answer = NATS_TIMEOUT;
    assert_int_equal(download(&error), 1);
    assert_int_equal(file_transfer_upload(&connection, &description, from, &error), -1);
    assert_non_null(strstr(error.text, "the queue accepts no files"));
    server.answer = NATS_OK;
    assert_int_equal(download(&error), 0);
}

/* A run keeps its keys apart from another run's with the same files. */
static void runs_do_not_share_files(void **state) {
    (void)state;
    struct error error;
    int count = server.count;
    strcpy(description.id, "fedcba9876543210");
    assert_int_equal(download(&error), -1);
    assert_int_equal(file_transfer_upload(&connection, &description, from, &error), 0);
    assert_int_equal(server.count, 2 * count);
    assert_int_equal(download(&error), 0);
}

int main(void) {
#define TRANSFER_TEST(test) cmocka_unit_test_setup_teardown(test, open_folders, remove_folders)
    const struct CMUnitTest tests[] = {
        TRANSFER_TEST(partial_purge_is_noticed),     TRANSFER_TEST(files_arrive_as_they_were),
        TRANSFER_TEST(damaged_chunk_is_not_written), TRANSFER_TEST(wrong_description_is_noticed),
        TRANSFER_TEST(silent_server_is_asked_again), TRANSFER_TEST(runs_do_not_share_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
