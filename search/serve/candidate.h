/*
 * candidate: what a request of a client asks a server to judge.
 *
 *     struct candidate candidate = {0};
 *     const char *stage;
 *     int status = candidate_read(&candidate, store, solutions, config, request, &stage, &error);
 */
#ifndef EVOTILE_SERVE_CANDIDATE_H
#define EVOTILE_SERVE_CANDIDATE_H

#include "serve/loaded_solutions.h"
#include "solutions/solution_store.h"

/* evaluation_judge.h says what they mean. */
enum serve_level { SERVE_STATIC, SERVE_EMULATED, SERVE_DEVICE, SERVE_CHAMPION, SERVE_LEVELS };
extern const char *const serve_level_names[SERVE_LEVELS];

/* A candidate of a request, as the judge understood it. */
struct candidate {
    char folder[PATH_SIZE]; /* of the solution */
    int goal;
    enum serve_level level;
    bool with_baseline, with_counters; /* what the answer has beside its verdict and figures */
    struct genome genome;
    struct hash hash; /* of all that the answer depends on */
};

/* Reads the solution and the goal alone; what is wrong is an error of kind ERROR_INPUT. */
int candidate_read_place(struct candidate *candidate, struct solution_store *store,
                         const struct config *config, const cJSON *request, struct error *error);
/* Reads all of it. `stage` names what the error is in: "request", "solution" or "genome". */
int candidate_read(struct candidate *candidate, struct solution_store *store,
                   struct loaded_solutions *solutions, const struct config *config,
                   const cJSON *request, const char **stage, struct error *error);

#endif
