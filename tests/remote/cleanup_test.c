/* The cleanup of runs, on a real nats-server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/cleanup.h"
#include "remote/server.h"

static const char *const streams[] = {"KV_" QUEUE_RUNS, "KV_" QUEUE_FILES, QUEUE_TRIALS,
                                      QUEUE_RESULTS};

/* Stores a run's files; if `described`, also its description and, in both queues, a message and a
   consumer. */
static void store_run(struct connection *connection, const char *id, bool described) {
    static const char *const kinds[] = {"trial", "result"};
    char key[128], subject[QUEUE_SUBJECT_SIZE];
    for (int chunk = 0; chunk < 3; chunk++) {
        snprintf(key, sizeof key, "%s.abc.%d", id, chunk);
        assert_int_equal(kvStore_PutString(NULL, connection->files, key, "text"), NATS_OK);
    }
    for (int q = 0; q < 2 && described; q++) {
        jsConsumerConfig config;
        jsConsumerConfig_Init(&config);
        subject_print(subject, kinds[q], id);
        config.Durable = id;
        config.FilterSubject = subject;
        config.AckPolicy = js_AckExplicit;
        assert_int_equal(js_Publish(NULL, connection->js, subject, "{}", 2, NULL, NULL), NATS_OK);
        assert_int_equal(js_AddConsumer(NULL, connection->js, streams[2 + q], &config, NULL, NULL),
                         NATS_OK);
    }
    if (described)
        assert_int_equal(kvStore_PutString(NULL, connection->runs, id, "{}"), NATS_OK);
}

/* Counts the run's subjects and consumers in all streams. */
static int count_entries(struct connection *connection, const char *id) {
    int count = 0;
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++) {
        jsStreamInfo *info = NULL;
        jsConsumerInfo *consumer = NULL;
        jsOptions options;
        jsOptions_Init(&options);
        options.Stream.Info.SubjectsFilter = ">";
        assert_int_equal(js_GetStreamInfo(&info, connection->js, streams[s], &options, NULL),
                         NATS_OK);
        for (int i = 0; info->State.Subjects != NULL && i < info->State.Subjects->Count; i++)
            count += strstr(info->State.Subjects->List[i].Subject, id) != NULL;
        count +=
            js_GetConsumerInfo(&consumer, connection->js, streams[s], id, NULL, NULL) == NATS_OK;
        jsConsumerInfo_Destroy(consumer);
        jsStreamInfo_Destroy(info);
    }
    return count;
}

static int64_t stored_ns(kvStore *store, const char *key) {
    kvEntry *entry = NULL;
    assert_int_equal(kvStore_Get(&entry, store, key), NATS_OK);
    int64_t when_ns = kvEntry_Created(entry);
    kvEntry_Destroy(entry);
    return when_ns;
}

static void check_cleanup(struct connection *connection) {
    static const char abandoned[] = "00000000000000d1", undescribed[] = "00000000000000d2",
                      live[] = "00000000000000a1", recent[] = "00000000000000a2",
                      current[] = "00000000000000b1";
    store_run(connection, abandoned, true);
    store_run(connection, undescribed,
              false); /* its coordinator died before it stored the description */
    store_run(connection, live, true);
    usleep(100000);
    store_run(connection, recent,
              false); /* the same, but its files are too recent to be abandoned */
    assert_int_equal(kvStore_PutString(NULL, connection->runs, live, "{}"), NATS_OK);
    store_run(connection, current, true);
    assert_int_equal(kvStore_PutString(NULL, connection->files, "elsewhere", "text"), NATS_OK);

    int64_t now_ns = stored_ns(connection->runs, current);
    int64_t old_ns = stored_ns(connection->files, "00000000000000d2.abc.2");
    int64_t new_ns = stored_ns(connection->files, "00000000000000a2.abc.2");
    double between_s = 1e-9 * ((double)now_ns - ((double)old_ns + (double)new_ns) / 2);
    assert_int_equal(count_entries(connection, abandoned), 3 + 3 + 2);
    assert_int_equal(cleanup_abandoned(connection, current, between_s), 2);
    assert_int_equal(count_entries(connection, abandoned), 0);
    assert_int_equal(count_entries(connection, undescribed), 0);
    assert_int_equal(count_entries(connection, live), 8);
    assert_int_equal(count_entries(connection, recent), 3);
    assert_int_equal(count_entries(connection, current), 8);
    assert_int_equal(cleanup_abandoned(connection, current, between_s), 0);

    cleanup_queues(connection, live);
    assert_int_equal(count_entries(connection, live), 4);
    cleanup_run(connection, live);
    assert_int_equal(count_entries(connection, live), 0);
    assert_int_equal(count_entries(connection, current), 8);
    assert_int_equal(count_entries(connection, "elsewhere"), 1);
}

static void abandoned_runs_are_purged_and_nothing_else(void **state) {
    (void)state;
    char folder[] = "/tmp/evotile.XXXXXX";
    struct error error = {0};
    assert_non_null(mkdtemp(folder));
    pid_t server = start_server(folder);
    struct connection *connection = connect_to(server, folder);
    if (connection != NULL) {
        check_cleanup(connection);
        connection_close(connection);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    path_remove_tree(folder, &error);
    if (connection == NULL)
        skip(); /* make deps-test */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(abandoned_runs_are_purged_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
