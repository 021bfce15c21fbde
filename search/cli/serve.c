/* serve: evaluates the solutions of other programs, on a pipe or over HTTP (serve/server.h). */
#include "cli/cli.h"
#include "serve/evaluation_judge.h"
#include "serve/server.h"

#include <signal.h>
#include <unistd.h>

#ifndef EVOTILE_VERSION
#define EVOTILE_VERSION "unknown"
#endif

/* Options that only a listening server has. */
static int check_listening(const struct http_settings *http, struct error *error) {
    if (http->listen != NULL)
        return http_settings_check(http, error);
    if (http->tokens != NULL || http->certificate != NULL || http->key != NULL)
        return error_input(error, "--tokens, --tls-cert and --tls-key are for a server that "
                                  "listens: give --listen HOST:PORT, too");
    return 0;
}

static int check_queue(const struct evaluation_judge_settings *settings, struct error *error) {
    const struct connection_settings *queue = &settings->queue;
    if (queue->url == NULL && (queue->credentials != NULL || queue->authority != NULL ||
                               queue->insecure || settings->redeliver_s > 0))
        return error_input(error, "--credentials, --ca, --insecure and --redeliver are for a "
                                  "server whose workers are on a queue: give --queue URL, too");
    return queue_options_check(queue->url, settings->device, settings->compile_workers, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct evaluation_judge_settings evaluation = {0};
    struct server_settings server = {
        .input = STDIN_FILENO, .output = STDOUT_FILENO, .version = EVOTILE_VERSION};
    int64_t compile_workers = -1;
    const struct option_row rows[] = {
        OPTION("listen", "HOST:PORT", "serve HTTP there instead of the pipe; port 0: any free one",
               &server.http.listen),
        OPTION("tokens", "FILE", "clients and their tokens, a line \"NAME TOKEN\" each",
               &server.http.tokens),
        OPTION("tls-cert", "FILE", "TLS certificate (PEM)", &server.http.certificate),
        OPTION("tls-key", "FILE", "its key (PEM), which only its owner may read", &server.http.key),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX", &evaluation.device),
        OPTION("templates", "DIR", "folder that is searched for templates first",
               &evaluation.templates),
        OPTION("cache", "DIR", "where clients' solutions are stored (default: a temporary folder)",
               &evaluation.folder),
        OPTION("compile-workers", "N",
               "compile processes (default: the cores, less one for each device)",
               &compile_workers),
        QUEUE_OPTIONS(evaluation.queue, evaluation.redeliver_s),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    signal(SIGPIPE, SIG_IGN);
    evaluation.config_path = argv[0];
    evaluation.compile_workers = (int)compile_workers;
    if (check_listening(&server.http, &error) < 0 || check_queue(&evaluation, &error) < 0)
        return error_report(&error);
    struct judge *judge = evaluation_judge_new(&evaluation, &error);
    if (judge == NULL)
        return error_report(&error);
    int result = server_run(judge, &server, &error);
    judge_free(judge);
    return result < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_serve = {
    .name = "serve",
    .arguments = "CONFIG [--listen HOST:PORT] [options]",
    .summary = "evaluate the solutions of other programs",
    VERB_HELP(serve),
    .run = run,
};
