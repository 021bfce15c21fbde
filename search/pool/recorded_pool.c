#include "pool/recorded_pool.h"

#include "base/memory.h"
#include "pool/job_list.h"

#include <string.h>

enum { TRIALS_PER_WORKER = 3 }; /* as in a pool of processes without compile workers */

struct recorded_pool {
    struct pool pool;
    struct recorded *recorded;
    int workers;
    struct job_list jobs; /* the first one is running */
};

static struct recorded_pool *recorded_pool_of(const struct pool *pool) {
    return (struct recorded_pool *)pool;
}

static void recorded_pool_free(struct pool *pool) {
    struct recorded_pool *recorded_pool = recorded_pool_of(pool);
    job_list_release(&recorded_pool->jobs);
    recorded_free(recorded_pool->recorded);
    free(recorded_pool);
}

static int recorded_pool_device_count(const struct pool *pool) {
    (void)pool;
    return 1;
}

static const struct device_info *recorded_pool_device_at(const struct pool *pool, int device) {
    (void)device;
    return &pool->device;
}

static int recorded_pool_capacity(const struct pool *pool) {
    return TRIALS_PER_WORKER * recorded_pool_of(pool)->workers;
}

static int recorded_pool_list_workers(const struct pool *pool, struct pool_worker *workers,
                                      int limit) {
    const struct recorded_pool *recorded_pool = recorded_pool_of(pool);
    for (int w = 0; w < recorded_pool->workers && w < limit; w++)
        workers[w] = (struct pool_worker){.role = "device", .state = POOL_IDLE, .trial = -1};
    return recorded_pool->workers;
}

static void recorded_pool_submit(struct pool *pool, const struct trial_request *request) {
    job_list_add(&recorded_pool_of(pool)->jobs, job_new(request));
}

static void recorded_pool_set_champion(struct pool *pool, const struct trial_champion *champion) {
    struct job *running = recorded_pool_of(pool)->jobs.first;
    if (running != NULL)
        job_update_champions(running->next, champion);
}

static void look_up(const struct recorded *recorded, const struct trial_request *request,
                    struct trial_result *result) {
    int64_t row = recorded_find(recorded, &request->genome);
    struct outcome *outcome = &result->outcome;
    if (row < 0)
        BUG("trial %lld is not a row of the recorded space", (long long)request->number);
    trial_result_init(result, request);
    snprintf(result->worker, sizeof result->worker, "recorded");
    if (request->opponent.present) /* recorded times decide without a duel */
        result->opponent = request->opponent.trial;
    outcome->verdict = recorded->verdicts[row];
    outcome_set_cases(outcome, 1);
    trial_add_gate(result, "recorded", outcome->verdict == VERDICT_OK, 0, "row %lld",
                   (long long)row);
    if (outcome->verdict != VERDICT_OK) {
        snprintf(outcome->reason, sizeof outcome->reason, "recorded as %s",
                 verdict_cache_name(outcome->verdict));
        return;
    }
    double us = recorded->times_us[row];
    outcome->score_us = us;
    struct latency *warm = &outcome->cases[0].warm;
    warm->p10_us = warm->p50_us = warm->p90_us = *latency_reserve(warm, 1) = us;
    warm->sample_count = 1;
}

static int recorded_pool_wait(struct pool *pool, double timeout_s, struct trial_result *result,
                              struct error *error) {
    struct recorded_pool *recorded_pool = recorded_pool_of(pool);
    (void)timeout_s;
    (void)error;
    struct job *job = job_list_pop(&recorded_pool->jobs);
    if (job == NULL)
        return 0;
    look_up(recorded_pool->recorded, &job->request, result);
    job_free(job);
    return 1;
}

static const struct pool_backend recorded_pool_backend = {
    .free = recorded_pool_free,
    .device_count = recorded_pool_device_count,
    .device_at = recorded_pool_device_at,
    .capacity = recorded_pool_capacity,
    .list_workers = recorded_pool_list_workers,
    .submit = recorded_pool_submit,
    .set_champion = recorded_pool_set_champion,
    .wait = recorded_pool_wait,
};

struct pool *recorded_pool_new(struct recorded *recorded, int workers) {
    struct recorded_pool *recorded_pool = xcalloc(1, sizeof *recorded_pool);
    struct device_info *info = &recorded_pool->pool.device;
    recorded_pool->pool.backend = &recorded_pool_backend;
    recorded_pool->recorded = recorded_retain(recorded);
    recorded_pool->workers = workers > 0 ? workers : 1;
    if (device_describe(RECORDED_DEVICE, info, &(struct error){0}) < 0)
        BUG("there is no device " RECORDED_DEVICE);
    if (*recorded->device_name != '\0')
        snprintf(info->name, sizeof info->name, "%.100s, recorded", recorded->device_name);
    return &recorded_pool->pool;
}
