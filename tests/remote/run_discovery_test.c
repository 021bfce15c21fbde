/* Which runs a worker finds on a queue, on a real nats-server. */
#include <signal.h>

#include "remote/example_messages.h"
#include "remote/run_discovery.h"
#include "remote/server.h"

static bool finds_run(struct run_discovery *discovery) {
    struct run_description found;
    struct error error = {0};
    int status = run_discovery_find(discovery, &found, &error);
    if (status < 0)
        fail_msg("%s", error.text);
    if (status == 1)
        run_description_release(&found);
    return status == 1;
}

/* A file that is missing on the queue may be there later: the coordinator restores it. */
static void rejected_run_is_tried_again(void **state) {
    (void)state;
    char folder[] = "/tmp/evotile-discovery-XXXXXX";
    struct run_file files[2];
    struct error error = {0};
    const struct error missing = {ERROR_FAILED, "a file of the run is missing on the queue"};
    assert_non_null(mkdtemp(folder));
    pid_t server = start_server(folder);
    struct connection *connection = connect_to(server, folder);
    if (connection == NULL)
        skip();
    const struct run_description description = example_description(files);
    char *text = run_description_print(&description);
    assert_int_equal(kvStore_PutString(NULL, connection->runs, description.id, text), NATS_OK);
    free(text);
    struct run_discovery *discovery = run_discovery_new(connection);
    assert_true(finds_run(discovery));
    run_discovery_reject(discovery, description.id, &missing);
    assert_false(finds_run(discovery));
    for (int i = 0; i < 1000 && !finds_run(discovery); i++)
        usleep(20000);
    assert_true(finds_run(discovery));
    run_discovery_free(discovery);
    connection_close(connection);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    assert_int_equal(path_remove_tree(folder, &error), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rejected_run_is_tried_again)};
    setenv("EVOTILE_INTERVALS", "run_poll=0.1", 1);
    return cmocka_run_group_tests_name("run_discovery", tests, NULL, NULL);
}
