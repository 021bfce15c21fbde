/* The workers of a remote pool: which of them get work, and which are gone. */
#include "remote/remote_pool_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

/* The first acceptable worker fixes the run's platform. */
static bool accept_worker(struct remote_pool *remote, const struct heartbeat *heartbeat,
                          char why[256]) {
    struct run_description *description = &remote->description;
    if (description->has_platform)
        return platform_same(&heartbeat->platform, &description->platform, why);
    if (remote->has_wanted_device &&
        !device_same_model(&remote->wanted_device, &heartbeat->platform.device)) {
        snprintf(why, 256, "its device is %.80s, and the run's %.80s",
                 heartbeat->platform.device.name, remote->wanted_device.name);
        return false;
    }
    description->has_platform = true;
    description->platform = heartbeat->platform;
    remote->last_described = 0;
    return true;
}

/* Writes the model to the pipe once. Returns true if the reader knows of it. */
static bool announce_model(struct remote_pool *remote, const struct device_info *model) {
    if (remote->model_pipe == 0)
        return false;
    for (int m = 0; m < remote->model_count; m++)
        if (device_same_model(&remote->announced_models[m], model))
            return true;
    if (remote->model_count == MODELS_MAX ||
        write(remote->model_pipe, model, sizeof *model) != (ssize_t)sizeof *model)
        return false;
    remote->announced_models[remote->model_count++] = *model;
    return true;
}

static bool is_other_model(const struct remote_pool *remote, const struct device_info *model) {
    return remote->description.has_platform
               ? !device_same_model(model, &remote->description.platform.device)
               : remote->has_wanted_device && !device_same_model(model, &remote->wanted_device);
}

/* `fault`: why the heartbeat is invalid, though its sender is known; NULL: it is valid. */
static void handle_heartbeat(struct remote_pool *remote, const struct heartbeat *heartbeat,
                             const char *fault) {
    char why[256];
    struct remote_worker *worker = worker_registry_find(&remote->registry, heartbeat->worker);
    if (worker == NULL)
        return;
    bool is_new = worker->last_seen == 0;
    bool accepted = fault == NULL && accept_worker(remote, heartbeat, why);
    bool is_for_other_run = fault == NULL && announce_model(remote, &heartbeat->platform.device) &&
                            is_other_model(remote, &heartbeat->platform.device);
    if (!accepted && !worker->rejected && !is_for_other_run)
        log_warn("a worker on %s gets no work from this run: %s", heartbeat->host,
                 fault != NULL ? fault : why);
    if (accepted && is_new)
        log_info("a worker on %s: %d x %s", heartbeat->host, heartbeat->devices,
                 heartbeat->platform.device.name);
    *worker = (struct remote_worker){
        .heartbeat = *heartbeat, .last_seen = clock_seconds(), .rejected = !accepted};
    if (heartbeat->leaving) {
        if (accepted)
            log_info("a worker on %s left", heartbeat->host);
        worker_registry_remove(&remote->registry, worker);
    }
}

void remote_pool_read_heartbeats(struct remote_pool *remote) {
    natsMsg *message;
    while (natsSubscription_NextMsg(&message, remote->heartbeats, 0) == NATS_OK) {
        struct heartbeat heartbeat;
        struct error error = {0};
        int length = natsMsg_GetDataLength(message);
        char *text =
            xstrndup(natsMsg_GetData(message), length <= QUEUE_MESSAGE_MAX ? (size_t)length : 0);
        int status = heartbeat_parse(&heartbeat, text, &error);
        if (*heartbeat.worker != '\0') {
            handle_heartbeat(remote, &heartbeat, status < 0 ? error.text : NULL);
        } else if (strcmp(error.text, remote->last_warning.text) !=
                   0) { /* warns once, not every beat */
            log_warn("a worker gets no work: %s", error.text);
            remote->last_warning = error;
        }
        free(text);
        natsMsg_Destroy(message);
    }
}

void remote_pool_expire_workers(struct remote_pool *remote) {
    double now = clock_seconds();
    remote->pool.restarts += worker_registry_expire(&remote->registry);
    if (worker_registry_capacity(&remote->registry) > 0 || !connection_is_up(remote->connection))
        remote->last_worker = now;
    else if (now - remote->last_worker > 60) {
        log_warn("no worker for a minute: start `evotile worker --queue`");
        remote->last_worker = now + 600;
    }
}
