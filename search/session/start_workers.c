/* Starts the workers of a session: a local pool, or a connection to the workers on a queue. */
#include "base/resource_limits.h"
#include "pool/recorded_pool.h"
#include "remote/remote_pool.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Memory of one compile worker. Compile workers get half of the memory, and all cores but one for
   each device worker. */
static const int64_t compile_worker_bytes = INT64_C(512) << 20;

int default_compile_workers(int devices) {
    const struct resource_limits share = resource_limits_read("");
    int64_t memory_workers = share.memory_bytes / 2 / compile_worker_bytes;
    int workers =
        share.cores - devices < memory_workers ? share.cores - devices : (int)memory_workers;
    workers = workers < LOCAL_POOL_WORKERS_MAX / 2 ? workers : LOCAL_POOL_WORKERS_MAX / 2;
    return workers > 1 ? workers : 1;
}

struct pool *session_open_local_pool(const struct config *config,
                                     const struct local_pool_settings *settings,
                                     int64_t compile_workers, struct error *error) {
    char program[PATH_SIZE];
    struct device_list list;
    struct local_pool_settings filled = *settings;
    if (config->shapes->recorded != NULL)
        return recorded_pool_new(config->shapes->recorded, settings->device_workers);
    if (path_program(program, error) < 0 || device_list_read(&list, settings->devices, error) < 0)
        return NULL;
    filled.program = program;
    filled.compile_workers =
        compile_workers >= 0 ? (int)compile_workers : default_compile_workers(list.count);
    return local_pool_new(&filled, error);
}

/* The run's id on its queue: created once and stored, so that it is the same after a resume. */
static int find_queue_id(struct session *session, struct error *error) {
    char *known = NULL;
    if (session->store != NULL && store_meta_get(session->store, "queue_id", &known, error) < 0)
        return -1;
    if (known != NULL)
        snprintf(session->queue_id, sizeof session->queue_id, "%s", known);
    else
        random_id(session->queue_id);
    free(known);
    return 0;
}

/* Refuses a search for energy where none is counted, before a trial costs anything. */
static int check_minimised(const struct session *session, struct error *error) {
    const struct device_info *device = pool_device(session->pool);
    if (!minimised_needs_energy(session->config->minimise) || device->counts_energy)
        return 0;
    return error_input(error,
                       "%s: \"minimise\": \"%s\" needs a GPU that counts its energy, and %s does "
                       "not: use another --device, or remove the key",
                       session->config->path, minimised_name(session->config->minimise),
                       device->name);
}

int session_start_workers(struct session *session, const char *config_path,
                          const char *template_folder, const char *devices,
                          const struct device_info *wanted_device, struct error *error) {
    if (session->settings.queue.url != NULL) {
        const struct remote_pool_settings settings = {
            .connection = session->settings.queue,
            .run_dir = session->run_dir,
            .id = session->queue_id,
            .ack_wait_s = session->settings.queue_patience_s,
            .wanted_device = wanted_device,
            .model_pipe = session->settings.queue_model_pipe};
        if (find_queue_id(session, error) < 0)
            return -1;
        session->pool = remote_pool_new(&settings, error);
        return session->pool != NULL ? check_minimised(session, error) : -1;
    }
    const bool apart = session->folders[0] != NULL;
    const struct local_pool_settings settings = {
        .config_path = apart ? session->solution_config : config_path,
        .template_folder = apart ? session->folders[0] : template_folder,
        .devices = devices};
    session->pool = session_open_local_pool(session->config, &settings,
                                            session->settings.compile_workers, error);
    return session->pool != NULL ? check_minimised(session, error) : -1;
}
