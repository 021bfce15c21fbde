#include "serve/judge_pools.h"

#include "base/json.h"
#include "remote/remote_pool.h"
#include "session/session.h"

#include <stdio.h>

/* The compilers of the emulated device beside a GPU's. They are apart from what runs kernels: only
   they are kept from reading other files (pool/worker_main.c). */
enum { EMULATED_COMPILE_WORKERS = 2 };

/* ---- opening ---- */

/* The solution that workers load first; those that are replaced read it again. */
static int hold_first_solution(struct solution_store *store, const struct config *config,
                               char folder[PATH_SIZE], struct error *error) {
    if (solution_store_find(store, config_goal_solution(config, 0), folder, error) < 0)
        return -1;
    solution_store_hold(store, folder);
    return 0;
}

static struct pool *open_local_pool(const struct solution_store *store, const char *folder,
                                    const char *program, const char *devices, int compile_workers,
                                    struct error *error) {
    char own[PATH_SIZE];
    struct device_list list;
    if (path_program(own, error) < 0 || device_list_read(&list, devices, error) < 0)
        return NULL;
    const struct local_pool_settings settings = {
        .program = program != NULL ? program : own,
        .config_path = solution_store_config(store),
        .template_folder = folder,
        .devices = devices,
        .compile_workers =
            compile_workers >= 0 ? compile_workers : default_compile_workers(list.count)};
    return local_pool_new(&settings, error);
}

static struct pool *open_remote_pool(const struct solution_store *store, const char *folder,
                                     const struct config *config,
                                     const struct evaluation_judge_settings *settings,
                                     struct error *error) {
    char id[QUEUE_ID_SIZE];
    const struct remote_pool_settings remote = {.connection = settings->queue,
                                                .run_dir = solution_store_folder(store),
                                                .solution = folder,
                                                .name = config->shapes->name,
                                                .id = id,
                                                .ack_wait_s = settings->redeliver_s};
    random_id(id);
    return remote_pool_new(&remote, error);
}

static int add_pool(struct judge_pools *pools, struct pool *pool) {
    if (pool == NULL)
        return -1;
    pools->items[pools->count++] = pool;
    return 0;
}

int judge_pools_open(struct judge_pools *pools, struct solution_store *store,
                     const struct config *config, const struct evaluation_judge_settings *settings,
                     struct error *error) {
    char emulated[32], folder[PATH_SIZE];
    const char *device = settings->device != NULL ? settings->device : config->device;
    if (hold_first_solution(store, config, folder, error) < 0)
        return -1;
    struct pool *first = settings->queue.url != NULL
                             ? open_remote_pool(store, folder, config, settings, error)
                             : open_local_pool(store, folder, settings->program, device,
                                               settings->compile_workers, error);
    if (add_pool(pools, first) < 0)
        return -1;
    if (pool_device(first)->predicts)
        return 0;
    snprintf(emulated, sizeof emulated, "emulated:sm_%d", pool_device(first)->compute_capability);
    return add_pool(pools, open_local_pool(store, folder, settings->program, emulated,
                                           EMULATED_COMPILE_WORKERS, error));
}

void judge_pools_free(struct judge_pools *pools) {
    while (pools->count > 0)
        pool_free(pools->items[--pools->count]);
}

/* ---- using them ---- */

struct pool *judge_pools_device(const struct judge_pools *pools) {
    return pools->items[0];
}

struct pool *judge_pools_emulated(const struct judge_pools *pools) {
    return pools->items[pools->count - 1];
}

/* As many trials as keep the workers busy, and a few that wait. */
bool judge_pools_have_room(const struct judge_pools *pools) {
    int limit = 0, running = 0;
    for (int i = 0; i < pools->count; i++) {
        limit += pool_capacity(pools->items[i]);
        running += pool_in_flight(pools->items[i]);
    }
    return running < 2 * limit;
}

int judge_pools_poll(struct judge_pools *pools, struct error *error) {
    int status = 0;
    for (int i = 0; i < pools->count && status == 0; i++)
        status = pool_poll(pools->items[i], error);
    return status;
}

int judge_pools_descriptors(const struct judge_pools *pools, struct pollfd *polled, int limit) {
    int count = 0;
    for (int i = 0; i < pools->count; i++)
        count += pool_descriptors(pools->items[i], polled + count, limit - count);
    return count;
}

/* A queue's workers are listed by their devices. */
static int count_devices(const struct pool *pool) {
    int here = pool_device_count(pool);
    return here > 0 ? here : pool_list_workers(pool, NULL, 0);
}

void judge_pools_add_metrics(const struct judge_pools *pools, cJSON *metrics) {
    int running = 0, restarts = 0;
    for (int i = 0; i < pools->count; i++) {
        running += pool_in_flight(pools->items[i]);
        restarts += pool_restarts(pools->items[i]);
    }
    json_add(metrics, "trials_in_flight=%d worker_restarts_total=%d devices=%d", running, restarts,
             count_devices(judge_pools_device(pools)));
}
