/* The store's durability under failures: killed processes, concurrent readers and writers, full
   disks, folders that are not writable, network file systems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "example.h"
#include "store/database.h"

/* For child processes: a failed check prints a line and exits with a status that fails the test. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, error.text);        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void wait_for(pid_t child, int expected) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, expected);
}

static void pause_us(long us) {
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* Continues the run: tells trials in flight and asks new ones in batches of changing size, and
   reports after each commit how many events are durable. */
static void write_until_killed(const char *run_dir, int report, int64_t limit) {
    struct error error = {0};
    struct store *store = store_open(run_dir, STORE_WRITE, &error);
    if (store == NULL)
        store = example_create(run_dir, &error);
    CHECK(store != NULL);
    struct store_counts counts;
    CHECK(store_count(store, &counts, &error) == 0);
    int64_t asked = counts.asked, observed = counts.observed;
    while (asked < limit) {
        CHECK(store_begin(store, &error) == 0);
        for (int64_t i = 0; i <= asked % 5; i++) {
            CHECK(example_ask(store, ++asked, &error) > 0);
            while (observed < asked - 3)
                CHECK(example_tell(store, ++observed, &error) > 0);
        }
        CHECK(store_checkpoint(store, hash_bytes("x", strlen("x")), "", &error) == 0);
        CHECK(store_commit(store, &error) == 0);
        int64_t events = store_event_count(store, &error);
        CHECK(report < 0 || write(report, &events, sizeof events) == sizeof events);
    }
    store_close(store);
}

static void sigkill_loses_nothing(void **state) {
    char run_dir[PATH_SIZE];
    struct error error = {0};
    assert_int_equal(path_join(run_dir, *state, "run", &error), 0);
    unsigned random = 12345;
    int64_t durable = 0, events = 0;
    for (int round = 0; round < 50; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* so that the child never blocks on the pipe */
        pid_t child = fork();
        if (child == 0) {
            write_until_killed(run_dir, ends[1], INT64_MAX);
            _exit(1);
        }
        close(ends[1]);
        int64_t reported;
        /* Every other child is killed only after its first commit, even on a slow machine. */
        if (round % 2 && read(ends[0], &reported, sizeof reported) == sizeof reported)
            durable = reported;
        random = random * 1664525u + 1013904223u;
        pause_us(500 + random / 65536 % 20000);
        kill(child, SIGKILL);
        wait_for(child, SIGKILL);
        while (read(ends[0], &reported, sizeof reported) == sizeof reported)
            durable = reported;
        close(ends[0]);

        struct store *store = store_open(run_dir, round % 2 ? STORE_READ : STORE_WRITE, &error);
        if (store == NULL && durable == 0)
            continue; /* killed before the run was created */
        if (store == NULL)
            fail_msg("%s", error.text);
        struct example_walk walk;
        struct store_checkpoint checkpoint = {0};
        if (!example_is_whole(store, &walk, &error))
            fail_msg("round %d: %lld events, %lld asked, %lld told; %s", round,
                     (long long)walk.events, (long long)walk.asked, (long long)walk.observed,
                     walk.broken ? "a trial differs from what was written" : error.text);
        assert_true(walk.events >= durable);
        assert_true(walk.events >= events);
        assert_int_equal(store_checkpoint_read(store, &checkpoint, &error), walk.events > 0);
        assert_int_equal(checkpoint.events, walk.events); /* in the same transaction */
        free(checkpoint.text);
        events = walk.events;
        store_close(store);
    }
    print_message("%lld events over 50 kills\n", (long long)events);
    assert_true(durable > 0);
}

static void second_writer_is_rejected(void **state) {
    struct error error = {0};
    int ends[2];
    char byte = 0, pid[32];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store *store = example_create(*state, &error);
        CHECK(store != NULL && write(ends[1], &byte, 1) == 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    snprintf(pid, sizeof pid, "process %ld ", (long)child);
    assert_null(store_open(*state, STORE_WRITE, &error));
    assert_non_null(strstr(error.text, pid));
    error.text[0] = '\0';
    assert_null(example_create(*state, &error));
    assert_non_null(strstr(error.text, pid));

    /* A reader can open it; and a writer too, once the lock's holder is dead. */
    struct store *reader = store_open(*state, STORE_READ, &error);
    assert_non_null(reader);
    store_close(reader);
    kill(child, SIGKILL);
    wait_for(child, SIGKILL);
    struct store *store = store_open(*state, STORE_WRITE, &error);
    assert_non_null(store);
    store_close(store);
    close(ends[0]);
    close(ends[1]);
}

static void readers_see_whole_batches(void **state) {
    struct error error = {0};
    store_close(example_create(*state, &error));
    pid_t child = fork();
    if (child == 0) {
        write_until_killed(*state, -1, 2000);
        _exit(0);
    }
    /* One reader stays open, another is opened for each round. */
    struct store *persistent_reader = store_open(*state, STORE_READ, &error);
    assert_non_null(persistent_reader);
    int64_t before = 0;
    int status = 0, rounds = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct store *new_reader = store_open(*state, STORE_READ, &error);
        if (new_reader == NULL)
            fail_msg("%s", error.text);
        struct store *stores[] = {persistent_reader, new_reader};
        for (int i = 0; i < 2; i++) {
            struct example_walk walk = {0};
            assert_int_equal(store_events(stores[i], 0, example_walk_row, &walk, &error), 0);
            assert_false(walk.broken);
            assert_true(walk.events >= before);
            before = walk.events;
        }
        store_close(new_reader);
        rounds++;
    }
    assert_int_equal(status, 0);
    struct example_walk walk;
    assert_true(example_is_whole(persistent_reader, &walk, &error));
    assert_int_equal(walk.asked, 2000);
    store_close(persistent_reader);
    print_message("%d looks while 2000 trials were written\n", rounds);
    assert_true(rounds > 0);
}

/* Writes until the disk is full; afterwards exactly the committed trials are stored. */
static void fill_the_disk(const char *run_dir, void (*fill_disk)(const char *),
                          void (*free_disk)(const char *)) {
    struct error error = {0};
    struct store *store = example_create(run_dir, &error);
    CHECK(store != NULL);
    int64_t asked = 0, durable = 0;
    int failed = 0;
    for (int round = 0; round < 100000 && !failed; round++) {
        if (round == 20)
            fill_disk(run_dir);
        failed = store_begin(store, &error);
        for (int i = 0; i < 10 && !failed; i++) {
            failed = example_ask(store, asked + 1, &error) < 0;
            if (!failed)
                failed = example_tell(store, ++asked, &error) < 0;
        }
        failed = failed || store_commit(store, &error) < 0;
        if (!failed)
            durable = asked;
    }
    CHECK(failed && durable >= 200);
    CHECK(strstr(error.text, "run.db") && strstr(error.text, "free some space"));
    store_rollback(store); /* it has rolled back already: no effect */
    store_close(store);

    struct error ignored = {0};
    char other[PATH_SIZE];
    CHECK(path_join(other, run_dir, "other", &error) == 0);
    store_close(example_create(other, &ignored)); /* may fail for lack of space; must not crash */

    free_disk(run_dir);
    store = store_open(run_dir, STORE_WRITE, &error);
    CHECK(store != NULL);
    struct example_walk walk;
    CHECK(example_is_whole(store, &walk, &error));
    CHECK(walk.asked == durable && walk.observed == durable);
    CHECK(store_begin(store, &error) == 0 && example_ask(store, durable + 1, &error) > 0 &&
          store_commit(store, &error) == 0);
    store_close(store);
}

static void limit_files(const char *run_dir) {
    (void)run_dir;
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void free_files(const char *run_dir) {
    (void)run_dir;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void file_size_limit_is_reported(void **state) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        fill_the_disk(*state, limit_files, free_files);
        _exit(0);
    }
    wait_for(child, 0);
}

static void filler_path(const char *run_dir, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/../filler", run_dir);
}

static void take_space(const char *run_dir) {
    char path[PATH_SIZE];
    static const char block[4096];
    filler_path(run_dir, path);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(file, block, sizeof block) > 0)
        ;
    close(file);
}

static void give_space(const char *run_dir) {
    char path[PATH_SIZE];
    filler_path(run_dir, path);
    unlink(path);
}

/* Mounts a private 4 MB tmpfs in the child; skips the test if that is not permitted. */
static void full_disk_is_reported(void **state) {
    pid_t child = fork();
    if (child == 0) {
        char run_dir[PATH_SIZE];
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", *state, "tmpfs", 0, "size=4m") < 0)
            _exit(77);
        snprintf(run_dir, sizeof run_dir, "%s/run", (char *)*state);
        fill_the_disk(run_dir, take_space, give_space);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void unwritable_folders_are_errors(void **state) {
    struct error error = {0};
    assert_null(example_create("/proc/evotile/run", &error));
    assert_non_null(strstr(error.text, "/proc/evotile"));
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, *state, "file", &error), 0);
    assert_int_equal(path_write_file(path, "", 0, &error), 0);
    assert_null(example_create(path, &error));
    assert_null(store_open(path, STORE_WRITE, &error));
    if (geteuid() == 0)
        return; /* root can write everywhere */
    assert_int_equal(chmod(*state, 0500), 0);
    assert_null(example_create(*state, &error));
    assert_non_null(strstr(error.text, "permission"));
    assert_int_equal(chmod(*state, 0700), 0);
}

static void journal_mode(struct store *store, char mode[16]) {
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(store->database, "PRAGMA journal_mode", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    snprintf(mode, 16, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

/* Opens for writing as store_open does on a network file system. */
static struct store *open_on_network(const char *run_dir) {
    struct error error = {0};
    struct store *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    store->mode = STORE_WRITE;
    store->lock.file = -1;
    CHECK(path_join(store->run_dir, "", run_dir, &error) == 0);
    CHECK(path_join(store->path, run_dir, "run.db", &error) == 0);
    CHECK(database_open(store, "NFS", &error) == 0);
    return store;
}

/* A run killed on a local disk, with its write-ahead log, can be opened on a network file system.
 */
static void network_file_system_has_no_write_ahead_log(void **state) {
    struct error error = {0};
    pid_t child = fork();
    if (child == 0) {
        struct store *store = example_create(*state, &error);
        char mode[16];
        journal_mode(store, mode);
        CHECK(strcmp(mode, "wal") == 0);
        CHECK(store_begin(store, &error) == 0 && example_ask(store, 1, &error) == 1 &&
              store_commit(store, &error) == 0);
        kill(getpid(), SIGKILL);
    }
    wait_for(child, SIGKILL);

    struct store *store = open_on_network(*state);
    char mode[16];
    journal_mode(store, mode);
    assert_string_equal(mode, "truncate");
    assert_int_equal(store_event_count(store, &error), 1);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_meta_set(store, "a", "b", &error), 0);
    assert_int_equal(store_commit(store, &error), 0);

    struct store *reader = store_open(*state, STORE_READ, &error); /* concurrently */
    assert_non_null(reader);
    struct example_walk walk;
    assert_true(example_is_whole(reader, &walk, &error));
    assert_int_equal(walk.events, 1);
    store_close(reader);
    store_close(store);
}

/* A writer killed in a batch that had already changed the file: the next process rolls it back,
   even a reader. */
static void reader_rolls_back_an_unfinished_batch(void **state) {
    struct error error = {0};
    struct store *store = example_create(*state, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(example_ask(store, 1, &error), 1);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
    pid_t child = fork();
    if (child == 0) {
        store = open_on_network(*state);
        store->goal_count = 2;
        store->events = 1;
        CHECK(database_run(store, "PRAGMA cache_size = 5", &error) == 0);
        CHECK(store_begin(store, &error) == 0);
        for (int64_t number = 2; number < 500; number++)
            CHECK(example_ask(store, number, &error) > 0 &&
                  example_tell(store, number, &error) > 0);
        kill(getpid(), SIGKILL);
    }
    wait_for(child, SIGKILL);
    char journal[PATH_SIZE];
    assert_int_equal(path_join(journal, *state, "run.db-journal", &error), 0);
    assert_true(path_exists(journal));
    store = store_open(*state, STORE_READ, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    struct example_walk walk;
    assert_true(example_is_whole(store, &walk, &error));
    assert_int_equal(walk.events, 1);
    store_close(store);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(sigkill_loses_nothing),
        TEST(second_writer_is_rejected),
        TEST(readers_see_whole_batches),
        TEST(file_size_limit_is_reported),
        TEST(full_disk_is_reported),
        TEST(unwritable_folders_are_errors),
        TEST(network_file_system_has_no_write_ahead_log),
        TEST(reader_rolls_back_an_unfinished_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
