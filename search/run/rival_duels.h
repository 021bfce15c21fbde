/* rival_duels: which solution is the best for a set of cases. When a search of several solutions
 * ends, the champions of rival goals (config.h) that are near each other run duels; the winner and
 * the duels are stored with the run as "rivals:G", G being the first of the goals:
 *
 *     {"goal": 1, "trial": 40, "duels": [
 *        {"goal": 0, "trial": 12, "ratio": 1.22, "low": 1.21, "high": 1.24}]}
 *
 *     struct rival_duels rivals;
 *     if (rival_duels_read(store, config, goal, &rivals, &error) < 0)
 *         return -1;
 *     printf("goal %d\n", rivals.goal);
 */
#ifndef EVOTILE_RUN_RIVAL_DUELS_H
#define EVOTILE_RUN_RIVAL_DUELS_H

#include "config/config.h"
#include "store/store.h"

struct rival_duels {
    int goal;      /* the winner's */
    int64_t trial; /* its champion */
    int count;     /* of the duels; 0: it is the best by its own timing alone */
    struct rival_duel {
        int goal;                /* of the loser */
        int64_t trial;           /* its champion */
        double ratio, low, high; /* the loser's time over the winner's, with its 99 % interval */
    } duels[SOLUTIONS_MAX];
};

/* The best of the goal's rivals: by their duels as long as the champions are those that ran them,
   else by score. Returns 1; 0 if no rival has a champion; -1 if what is stored is damaged. */
int rival_duels_read(struct store *store, const struct config *config, int goal,
                     struct rival_duels *rivals, struct error *error);
/* Writes in a transaction of its own: none may be open. */
int rival_duels_write(struct store *store, int first_goal, const struct rival_duels *rivals,
                      struct error *error);

#endif
