/*
 * server: a nats-server of a test's own.
 *
 *     pid_t server = start_server(folder);
 *     struct connection *connection = connect_to(server, folder);
 */
#ifndef EVOTILE_TESTS_REMOTE_SERVER_H
#define EVOTILE_TESTS_REMOTE_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "base/process.h"
#include "remote/connection_internal.h"

static inline pid_t start_server(const char *folder) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    process_die_with_parent();
    execlp("nats-server", "nats-server", "-js", "-sd", folder, "-a", "127.0.0.1", "-p", "-1",
           "--ports_file_dir", folder, "-l", "/dev/null", NULL);
    _exit(1);
}

/* NULL: there is no nats-server. */
static inline struct connection *connect_to(pid_t server, const char *folder) {
    char path[PATH_SIZE];
    char url[64] = "";
    struct error error = {0};
    snprintf(path, sizeof path, "%s/nats-server_%d.ports", folder, (int)server);
    while (*url == '\0') {
        char *text = path_exists(path) ? path_read_file(path, 4096, NULL, &error) : NULL;
        const char *at = text != NULL ? strstr(text, "nats://") : NULL;
        if (at != NULL && strchr(at, '"') != NULL)
            snprintf(url, sizeof url, "%.*s", (int)strcspn(at, "\""), at);
        free(text);
        if (waitpid(server, NULL, WNOHANG) != 0)
            return NULL;
        usleep(20000);
    }
    const struct connection_settings settings = {.url = url};
    struct connection *connection = connection_open(&settings, &error);
    if (connection == NULL || connection_bind_streams(connection, true, &error) < 0)
        fail_msg("%s", error.text);
    return connection;
}

#endif
