/*
 * proposals: the engine's strategies for clients that bring their own evaluations. Each client has
 * a search of its own for each solution, goal and strategy that it asks for:
 *
 *     {"type": "ask", "solution": {...}, "goal": 0, "strategy": "auto", "seed": 1, "count": 4}
 *         -> {"genomes": [{"genome": "THREADS=128,...", "made_by": "model"}, ...]}; fewer at the
 * end
 *     {"type": "tell", "solution": {...}, ..., "genome": "THREADS=128,...", "value": 12.5}
 *         -> {"observed": 17, "best": "THREADS=64,...", "best_value": 11.25}
 *
 *     struct proposals *proposals = proposals_new(solutions);
 *     cJSON *answer = proposals_answer(proposals, "client", "folder", 0, request, &error);
 *     proposals_free(proposals);
 */
#ifndef EVOTILE_SERVE_PROPOSALS_H
#define EVOTILE_SERVE_PROPOSALS_H

#include "serve/loaded_solutions.h"

#include <cjson/cJSON.h>

struct proposals;

/* Searches at a time: of one client, and of all. The one that was not used for longest ends. */
enum { SEARCHES_OF_CLIENT_MAX = 8, SEARCHES_MAX = 64 };

/* `solutions` must outlive it. */
struct proposals *proposals_new(const struct loaded_solutions *solutions);
void proposals_free(struct proposals *proposals);

/* Answers a request of type "ask" or "tell"; NULL with `error` if it is wrong. `folder` and `goal`
   say of which candidates. */
cJSON *proposals_answer(struct proposals *proposals, const char *client, const char *folder,
                        int goal, const cJSON *request, struct error *error);

#endif
