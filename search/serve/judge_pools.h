/*
 * judge_pools: where a server's trials run: a pool of its device, on this host or behind a queue,
 * and one of the emulated device with the same architecture, on this host, unless the device is
 * emulated itself.
 *
 *     struct judge_pools pools = {.count = 0};
 *     if (judge_pools_open(&pools, store, config, &settings, &error) == 0)
 *         pool_submit(judge_pools_emulated(&pools), request);
 *     judge_pools_free(&pools);
 */
#ifndef EVOTILE_SERVE_JUDGE_POOLS_H
#define EVOTILE_SERVE_JUDGE_POOLS_H

#include "pool/pool.h"
#include "serve/evaluation_judge.h"
#include "solutions/solution_store.h"

enum { JUDGE_POOLS_MAX = 2 };

struct judge_pools {
    int count;
    struct pool *items[JUDGE_POOLS_MAX];
};

/* Starts the workers, or waits for one on the queue. Also after a failure the caller frees them. */
int judge_pools_open(struct judge_pools *pools, struct solution_store *store,
                     const struct config *config, const struct evaluation_judge_settings *settings,
                     struct error *error);
void judge_pools_free(struct judge_pools *pools);

struct pool *judge_pools_device(const struct judge_pools *pools);
struct pool *judge_pools_emulated(const struct judge_pools *pools);

/* True if the workers are not busy enough. */
bool judge_pools_have_room(const struct judge_pools *pools);
int judge_pools_poll(struct judge_pools *pools, struct error *error);
int judge_pools_descriptors(const struct judge_pools *pools, struct pollfd *polled, int limit);
/* Adds what they count to a server's metrics. */
void judge_pools_add_metrics(const struct judge_pools *pools, cJSON *metrics);

#endif
