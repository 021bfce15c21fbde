/* run_solutions: the solutions that a run searches. The goals of the same cases, one for each
 * solution, share a board: a rank is that of all their trials together, or, of one solution, of
 * its own.
 *
 *     struct run_solutions solutions;
 *     int chosen = ALL_SOLUTIONS;
 *     if (run_solutions_read(store, &solutions, &error) < 0 ||
 *         (name != NULL && run_solutions_find(&solutions, run, name, &chosen, &error) < 0))
 *         return -1;
 *     struct goal_range goals = run_solutions_goals(&solutions, goal, chosen);
 *     int64_t best = store_shared_ranked(store, goals, 1, &error);
 */
#ifndef EVOTILE_RUN_RUN_SOLUTIONS_H
#define EVOTILE_RUN_RUN_SOLUTIONS_H

#include "config/config.h"
#include "store/store.h"

enum { ALL_SOLUTIONS = -1 };

struct run_solutions {
    int count; /* goals of the same cases: 1 if the run searches one solution */
    char names[SOLUTIONS_MAX][NAME_SIZE]; /* empty if the template has one, nameless */
    int reference; /* the one to whose default genome the board's ratios are */
};

/* A run of an earlier version does not store them: its config is read. */
int run_solutions_read(struct store *store, struct run_solutions *solutions, struct error *error);

/* What the config of a new run stores for it. */
enum { SOLUTIONS_TEXT_SIZE = SOLUTIONS_MAX * NAME_SIZE };
#define SOLUTIONS_META        "solutions"
#define DEFAULT_SOLUTION_META "default_solution"
void run_solutions_print(const struct config *config, char text[SOLUTIONS_TEXT_SIZE]);

/* Finds the solution of that name; an error names the nearest one. `run` is named in it. */
int run_solutions_find(const struct run_solutions *solutions, const char *run, const char *name,
                       int *chosen, struct error *error);

/* The goals that share the board of a goal's cases; with `chosen`, that solution's alone. */
struct goal_range run_solutions_goals(const struct run_solutions *solutions, int goal, int chosen);

/* The solution of a goal; NULL if the run searches one. */
const char *run_solutions_name(const struct run_solutions *solutions, int goal);

/* The name under which a run stores the reason of a hint, "rule:1": of several solutions each has
   hints of its own, "vector/rule:1". `solution` may be NULL. */
enum { HINT_META_SIZE = NAME_SIZE + 24 };
void run_solutions_hint(const char *solution, const char *hint, char name[HINT_META_SIZE]);

/* Why the run's search leaves a goal out (session/left_out.h), as the run stores it under the name
   of LEFT_OUT_META and the goal's number: returns 1, with a text that the caller frees; 0, if it is
   searched; or -1. */
#define LEFT_OUT_META "left_out:%d"
int run_solutions_left_out(struct store *store, int goal, char **why, struct error *error);

/* The name of a goal without its solution. */
void run_solutions_cases(const struct run_solutions *solutions, const struct store *store, int goal,
                         char name[CASE_NAME_SIZE]);

#endif
