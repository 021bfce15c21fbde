#include "serve/client_bests.h"

#include "base/memory.h"
#include "serve/tasks.h"

#include <stdlib.h>
#include <string.h>

struct best {
    char client[CLIENT_NAME_SIZE]; /* empty: a free place */
    int goal;
    double score_us;
    long used; /* when it was used last, in uses */
};

struct client_bests {
    long uses;
    struct best items[CLIENT_BESTS_MAX];
};

struct client_bests *client_bests_new(void) {
    return xcalloc(1, sizeof(struct client_bests));
}

void client_bests_free(struct client_bests *bests) {
    free(bests);
}

static struct best *find_best(struct client_bests *bests, const char *client, int goal) {
    for (int i = 0; i < CLIENT_BESTS_MAX; i++) {
        struct best *best = &bests->items[i];
        if (best->goal == goal && strcmp(best->client, client) == 0) {
            best->used = ++bests->uses;
            return best;
        }
    }
    return NULL;
}

double client_bests_us(struct client_bests *bests, const char *client, int goal) {
    const struct best *best = find_best(bests, client, goal);
    return best != NULL ? best->score_us : 0;
}

/* A free place was never used. */
static struct best *make_room(struct client_bests *bests) {
    struct best *oldest = &bests->items[0];
    for (int i = 1; i < CLIENT_BESTS_MAX; i++)
        if (bests->items[i].used < oldest->used)
            oldest = &bests->items[i];
    return oldest;
}

void client_bests_add(struct client_bests *bests, const char *client, int goal, double score_us) {
    struct best *best = find_best(bests, client, goal);
    if (best == NULL) {
        best = make_room(bests);
        *best = (struct best){.goal = goal, .score_us = score_us, .used = ++bests->uses};
        strcpy(best->client, client);
    }
    if (score_us < best->score_us)
        best->score_us = score_us;
}
