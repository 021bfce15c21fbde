/*
 * recorded_pool: a pool that answers from the table of a recorded space, without processes.
 *
 *     struct pool *pool = recorded_pool_new(recorded, 1);
 *     pool_submit(pool, &request);                           // pool/pool.h
 *     while (pool_wait(pool, 0, &result, &error) == 1)
 *         trial_result_release(&result);
 *     pool_free(pool);
 *
 * Results come in the order of the requests. A recorded time needs no duel: a result counts as
 * compared with the champion of its request.
 */
#ifndef EVOTILE_POOL_RECORDED_POOL_H
#define EVOTILE_POOL_RECORDED_POOL_H

#include "device/recorded.h"
#include "pool/pool.h"

/* `workers`: the workers of a pool of processes that it replaces, for its capacity; 0: one. Becomes
   an owner of `recorded` (recorded_retain). */
struct pool *recorded_pool_new(struct recorded *recorded, int workers);

#endif
