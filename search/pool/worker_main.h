/*
 * worker_main: a pool's child process. local_pool and tool_runner start it as `evotile pool-worker`
 * and talk to it over its standard input and output (pool/protocol.h): it reads a start message,
 * answers with its device, then reads requests and answers each with a result, until the end of its
 * input.
 *
 *     const char *const argv[] = {program, POOL_WORKER, "device", "cuda:0", NULL};
 *     process_start(&child, argv, &error);                      // the parent
 *     process_send(&child, protocol_print_start(&start));
 *
 *     if (strcmp(argv[1], POOL_WORKER) == 0)                    // the child's main()
 *         return worker_main(&cache, folder);
 *
 * A compile worker has no device: it compiles for the one of the start message. It, and the worker
 * of an emulated device, are in a sandbox (base/sandbox.h).
 */
#ifndef EVOTILE_POOL_WORKER_MAIN_H
#define EVOTILE_POOL_WORKER_MAIN_H

#include "device/nvrtc.h"

/* The first argument of a worker. The others, its role and device, are for readers of `ps`. */
#define POOL_WORKER "pool-worker"

/* Returns the exit status: 0 at the end of the input, 1 after a failure, which was sent. `cache` of
   compiled kernels may be NULL; `cache_folder` is where it writes. */
int worker_main(const struct image_cache *cache, const char *cache_folder);

#endif
