/*
 * live: what `watch` knows of a run, kept up to date from the outside: of its store what came since
 * the last look, and the bulletin. It reads only, and never holds the run up.
 *
 *     struct live *live = live_open("results/night", &error);
 *     while (live_refresh(live, &error) == 0)
 *         ... show live->told, live->top, live->bulletin ...; sleep(1);
 *     live_close(live);
 *
 * The first look costs some 0.2 s on 200,000 trials, each later one only what is new. What is
 * pointed to is the live's own, until its next refresh.
 */
#ifndef EVOTILE_CMD_LIVE_H
#define EVOTILE_CMD_LIVE_H

#include "cmd/bulletin.h"
#include "store/store.h"

enum { LIVE_TOP = 10, LIVE_OPERATORS_MAX = 32, LIVE_GENOME_SIZE = 1024 };

struct live_operator {
    char name[32];
    int64_t told, ok, crowned;
};

/* One of the best of the goal that is looked at. */
struct live_place {
    int64_t trial;
    double score_us;
    bool predicted;
    char operator_name[32];
    char genome[LIVE_GENOME_SIZE]; /* where it differs from the default */
};

struct live {
    struct store *store;
    char *device;   /* its name; NULL: not known */
    double created; /* seconds since 1970 */
    double seconds; /* searched so far, by the store */

    bool has_bulletin;
    struct bulletin bulletin;

    int64_t last_event, told, raced, verdicts[VERDICT_COUNT];
    int operator_count;
    struct live_operator operators[LIVE_OPERATORS_MAX];
    int champion_count;
    struct store_champion *champions; /* of all goals, in order */

    int goal;         /* that is looked at */
    bool goal_chosen; /* by somebody; else it is the one that gained last */
    int top_count;
    struct live_place top[LIVE_TOP];
    char *preset; /* the goal's default genome; NULL: it was not tried */
};

struct live *live_open(const char *run_dir, struct error *error);
void live_close(struct live *live);

/* Takes in what is new. */
int live_refresh(struct live *live, struct error *error);

/* Looks at another goal, `by` further on, round and round. */
int live_turn(struct live *live, int by, struct error *error);

/* How long ago the run last said something, in seconds; 0 where it has ended or has no bulletin. */
double live_silence(const struct live *live);
/* Whether nothing more is to be expected: it has ended, never had a bulletin, or has said nothing
   for so long that it must have been killed. */
bool live_is_over(const struct live *live);

#endif
