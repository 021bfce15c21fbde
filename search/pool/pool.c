#include "pool/pool.h"

void pool_free(struct pool *pool) {
    if (pool != NULL)
        pool->backend->free(pool);
}

const struct device_info *pool_device(const struct pool *pool) {
    return &pool->device;
}

int pool_device_count(const struct pool *pool) {
    return pool->backend->device_count != NULL ? pool->backend->device_count(pool) : 0;
}

const struct device_info *pool_device_at(const struct pool *pool, int device) {
    return pool->backend->device_at(pool, device);
}

const char *pool_nvrtc(const struct pool *pool) {
    return pool->nvrtc;
}

int pool_capacity(const struct pool *pool) {
    return pool->backend->capacity(pool);
}

int pool_in_flight(const struct pool *pool) {
    return pool->in_flight;
}

int pool_restarts(const struct pool *pool) {
    return pool->restarts;
}

int pool_list_workers(const struct pool *pool, struct pool_worker *workers, int limit) {
    return pool->backend->list_workers(pool, workers, limit);
}

void pool_pause(struct pool *pool, int device, bool paused) {
    if (pool->backend->pause != NULL)
        pool->backend->pause(pool, device, paused);
}

void pool_submit(struct pool *pool, const struct trial_request *request) {
    pool->in_flight++;
    pool->backend->submit(pool, request);
}

void pool_set_champion(struct pool *pool, const struct trial_champion *champion) {
    pool->backend->set_champion(pool, champion);
}

int pool_poll(struct pool *pool, struct error *error) {
    return pool->backend->poll != NULL ? pool->backend->poll(pool, error) : 0;
}

int pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
              struct error *error) {
    int status = pool->backend->wait(pool, timeout_s, result, error);
    if (status == 1)
        pool->in_flight--;
    return status;
}

int pool_descriptors(const struct pool *pool, struct pollfd *polled, int limit) {
    return pool->backend->descriptors != NULL ? pool->backend->descriptors(pool, polled, limit) : 0;
}
