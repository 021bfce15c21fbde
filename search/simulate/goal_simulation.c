#include "simulate/goal_simulation.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "device/recorded.h"
#include "outcome/outcome.h"
#include "render/table.h"
#include "session/goal_choice.h"
#include "session/share.h"
#include "simulate/parallel.h"
#include "strategy/evolution.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM = 1 };

/* How the goals of a run are searched. */
struct goal_rules {
    bool shares, by_gain;
};

struct goal {
    const struct recorded *recorded;
    struct evolution *evolution;
    double best_us;
    int64_t trials, shared_at;
    uint32_t *rows; /* visited, in order */
    bool exhausted;
};

struct goal_run {
    const struct simulation *simulation;
    struct goal_rules rules;
    struct goal *goals;
    int goal_count;
    int64_t trials;
};

/* ---- one run ---- */

static int open_run(struct goal_run *run, const char *strategy, uint64_t seed,
                    struct error *error) {
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "%s", strategy);
    settings.no_default = true;
    run->goals = xcalloc((size_t)run->goal_count, sizeof *run->goals);
    for (int g = 0; g < run->goal_count; g++) {
        struct goal *goal = &run->goals[g];
        goal->recorded = run->simulation->spaces[g];
        goal->best_us = INFINITY;
        goal->rows = xcalloc((size_t)run->simulation->trials, sizeof *goal->rows);
        goal->evolution =
            evolution_new(goal->recorded->space, &settings, seed, STREAM + (uint64_t)g, error);
        if (goal->evolution == NULL)
            return -1;
    }
    return 0;
}

static void close_run(struct goal_run *run) {
    for (int g = 0; g < run->goal_count; g++) {
        evolution_free(run->goals[g].evolution);
        free(run->goals[g].rows);
    }
    free(run->goals);
}

/* Adds what was visited of another goal, by the text of its genomes: its space may differ. */
static void fill_source(struct source *source, const struct goal *goal, const struct goal *other) {
    char genome[GENOME_TEXT_SIZE];
    for (int64_t i = 0; i < other->trials; i++) {
        const uint32_t row = other->rows[i];
        genome_print(&other->recorded->genomes[row], other->recorded->space, genome);
        source_add(source, goal->recorded->space, genome, other->recorded->times_us[row]);
    }
    source_seal(source);
}

static void share(struct goal_run *run, int g) {
    struct goal *goal = &run->goals[g];
    struct source sources[SHARED_GOALS_MAX] = {0};
    int count = 0;
    const int64_t others = run->trials - goal->trials;
    if (!run->rules.shares || !share_is_due(others, goal->shared_at))
        return;
    goal->shared_at = others;
    for (int other = 0; other < run->goal_count && count < SHARED_GOALS_MAX; other++)
        if (other != g && run->goals[other].trials >= SHARED_RESULTS_MIN) {
            sources[count].distance = 1;
            fill_source(&sources[count++], goal, &run->goals[other]);
        }
    evolution_learn(goal->evolution, sources, count);
    for (int s = 0; s < count; s++)
        source_release(&sources[s]);
}

static int choose_goal(const struct goal_run *run) {
    struct goal_prospect *prospects = xcalloc((size_t)run->goal_count, sizeof *prospects);
    for (int g = 0; g < run->goal_count; g++) {
        const struct goal *goal = &run->goals[g];
        const double gain = run->rules.by_gain && !goal->exhausted
                                ? evolution_expected_gain(goal->evolution)
                                : INFINITY; /* in turn */
        prospects[g] = (struct goal_prospect){.open = !goal->exhausted,
                                              .trials = goal->trials,
                                              .weight = 1,
                                              .seconds = 1,
                                              .gain = isnan(gain) ? INFINITY : gain};
    }
    const int chosen = goal_choose(prospects, run->goal_count);
    free(prospects);
    return chosen;
}

static void try_goal(struct goal_run *run, int g) {
    struct goal *goal = &run->goals[g];
    struct proposal proposal;
    share(run, g);
    goal->exhausted = evolution_ask(goal->evolution, &proposal) != 1;
    if (goal->exhausted)
        return;
    const int64_t row = recorded_find(goal->recorded, &proposal.genome);
    const enum verdict verdict = goal->recorded->verdicts[row];
    const double us = goal->recorded->times_us[row];
    evolution_tell(goal->evolution, run->trials++, &proposal.genome, verdict, us);
    goal->rows[goal->trials++] = (uint32_t)row;
    if (verdict == VERDICT_OK)
        goal->best_us = fmin(goal->best_us, us);
}

static bool all_are_near(const struct goal_run *run, double percent) {
    for (int g = 0; g < run->goal_count; g++)
        if (run->goals[g].best_us > run->goals[g].recorded->best_us * (1 + percent / 100))
            return false;
    return true;
}

/* Trials until every goal is near its optimum; INFINITY: more than allowed. NAN on an error. */
static double run_goals(const struct simulation *simulation, struct goal_rules rules,
                        const char *strategy, uint64_t seed, double percent, struct error *error) {
    struct goal_run run = {
        .simulation = simulation, .rules = rules, .goal_count = simulation->space_count};
    int goal = open_run(&run, strategy, seed, error);
    bool near = false;
    const bool opened = goal == 0;
    while (opened && !near && goal >= 0 && run.trials < simulation->trials) {
        goal = choose_goal(&run);
        if (goal >= 0)
            try_goal(&run, goal);
        near = all_are_near(&run, percent);
    }
    const double trials = !opened ? NAN : near ? (double)run.trials : INFINITY;
    close_run(&run);
    return trials;
}

/* ---- all runs ---- */

enum { RULES = 4 };

struct goal_runs {
    const struct simulation *simulation;
    double percent;
    double *trials; /* by strategy, rules and seed */
};

static struct goal_rules rules_of(int number) {
    return (struct goal_rules){.shares = number >= 2, .by_gain = number % 2 == 1};
}

static int run_number(void *context, int number, struct error *error) {
    const struct goal_runs *runs = context;
    const struct simulation *simulation = runs->simulation;
    const int row = number / simulation->seeds, seed = number % simulation->seeds;
    runs->trials[number] =
        run_goals(simulation, rules_of(row % RULES), simulation->strategies[row / RULES],
                  simulation->first_seed + (uint64_t)seed, runs->percent, error);
    return isnan(runs->trials[number]) ? -1 : 0;
}

static void add_row(struct table *table, const struct goal_runs *runs, int row) {
    const struct simulation *simulation = runs->simulation;
    const struct goal_rules rules = rules_of(row % RULES);
    double *trials = runs->trials + row * simulation->seeds, sum = 0;
    int missed = 0;
    for (int seed = 0; seed < simulation->seeds; seed++) {
        missed += isinf(trials[seed]);
        trials[seed] = fmin(trials[seed], simulation->trials); /* a missed one counts as all */
        sum += trials[seed];
    }
    table_add(table, "%s %s %s %.0f %.1f %d", simulation->strategies[row / RULES],
              rules.shares ? "shared" : "apart", rules.by_gain ? "by gain" : "in turn",
              statistics_median(trials, simulation->seeds), sum / simulation->seeds, missed);
}

static int run_all(struct goal_runs *runs, struct parallel **parallel, struct error *error) {
    const struct simulation *simulation = runs->simulation;
    const int count = simulation->strategy_count * RULES * simulation->seeds;
    *parallel = parallel_new((size_t)count * sizeof *runs->trials, error);
    if (*parallel == NULL)
        return -1;
    runs->trials = parallel_results(*parallel);
    return parallel_run(*parallel, simulation->jobs, count, run_number, runs, error);
}

int goal_simulation_print(const struct simulation *simulation, double percent, bool json,
                          struct error *error) {
    static const struct table_column columns[] = {
        {.name = "strategy", .heading = "strategy"},
        {.name = "goals", .heading = "goals"},
        {.name = "next", .heading = "the next"},
        {.name = "trials_median", .heading = "trials until all\nare near, median", .right = true},
        {.name = "trials_mean", .heading = "mean", .right = true},
        {.name = "missed", .heading = "runs\nthat end before", .right = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    struct goal_runs runs = {.simulation = simulation, .percent = percent};
    struct parallel *parallel;
    const int status = run_all(&runs, &parallel, error);
    for (int row = 0; row < RULES * simulation->strategy_count && status == 0; row++)
        add_row(table, &runs, row);
    parallel_free(parallel);
    if (status == 0 && json) {
        cJSON *root = cJSON_CreateObject();
        json_add(root, "trials=%d seeds=%d within_percent=%g", simulation->trials,
                 simulation->seeds, percent);
        cJSON_AddItemToObject(root, "goals", table_json(table));
        table_print_json(root, stdout);
    } else if (status == 0) {
        table_print(table, TABLE_TEXT, stdout);
    }
    table_free(table);
    return status;
}
