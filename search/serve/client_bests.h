/*
 * client_bests: the best score that each client's candidates have at each goal, of those that
 * passed a champion's final checks. A candidate that is faster must pass them, too; a slower one
 * gains its client nothing by cheating.
 *
 *     struct client_bests *bests = client_bests_new();
 *     double us = client_bests_us(bests, "laptop", 0);  // 0: none yet
 *     client_bests_add(bests, "laptop", 0, 6.1);
 *     client_bests_free(bests);
 *
 * Of more than CLIENT_BESTS_MAX the one that was not used for longest is forgotten: that client's
 * next candidate is checked in full.
 */
#ifndef EVOTILE_SERVE_CLIENT_BESTS_H
#define EVOTILE_SERVE_CLIENT_BESTS_H

enum { CLIENT_BESTS_MAX = 1024 };

struct client_bests;

struct client_bests *client_bests_new(void);
void client_bests_free(struct client_bests *bests);
/* The best score in microseconds; 0: there is none. */
double client_bests_us(struct client_bests *bests, const char *client, int goal);
/* Counts a score if it is the best. */
void client_bests_add(struct client_bests *bests, const char *client, int goal, double score_us);

#endif
