#include "cli/run_stats.h"

#include "base/memory.h"
#include "run/default_trial.h"
#include "run/run_dir.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* A run that is silent for longer counts as killed: many times the interval of its status. */
static const double silence_limit_s = 60;

struct run_stats *run_stats_open(const char *run_dir, struct error *error) {
    struct run_stats *stats = xcalloc(1, sizeof *stats);
    char *created = NULL;
    stats->store = store_open(run_dir, STORE_READ, error);
    if (stats->store == NULL || run_dir_minimised(stats->store, &stats->minimised, error) < 0 ||
        run_solutions_read(stats->store, &stats->solutions, error) < 0 ||
        store_meta_get(stats->store, "device_name", &stats->device, error) < 0 ||
        store_meta_get(stats->store, "created", &created, error) < 0) {
        run_stats_close(stats);
        return NULL;
    }
    stats->created = created != NULL ? strtod(created, NULL) : 0;
    free(created);
    return stats;
}

static void forget_defaults(struct run_stats *stats) {
    for (int i = 0; i < SOLUTIONS_MAX; i++) {
        free(stats->default_genomes[i]);
        stats->default_genomes[i] = NULL;
    }
}

void run_stats_close(struct run_stats *stats) {
    if (stats == NULL)
        return;
    store_close(stats->store);
    free(stats->device);
    free(stats->champions);
    forget_defaults(stats);
    free(stats);
}

/* ---- outcomes ---- */

static struct operator_stats *find_operator(struct run_stats *stats, const char *name) {
    for (int i = 0; i < stats->operator_count; i++)
        if (strncmp(stats->operators[i].name, name, sizeof stats->operators[i].name - 1) == 0)
            return &stats->operators[i];
    if (stats->operator_count == RUN_STATS_OPERATORS_MAX)
        return NULL;
    struct operator_stats *row = &stats->operators[stats->operator_count++];
    *row = (struct operator_stats){0};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

struct outcome_count {
    struct run_stats *stats;
    int64_t last;
    bool again;
};

static int count_trial(void *context, const struct store_tell_summary *news, struct error *error) {
    struct outcome_count *counts = context;
    struct run_stats *stats = counts->stats;
    struct operator_stats *row = find_operator(stats, news->operator_name);
    (void)error;
    counts->last = news->observed > counts->last ? news->observed : counts->last;
    counts->again = counts->again || news->again;
    stats->observed++;
    stats->verdicts[news->verdict]++;
    stats->raced += news->verdict == VERDICT_OK && news->raced;
    if (row != NULL) {
        row->observed += news->verdict != VERDICT_FILTERED && news->verdict != VERDICT_LOST;
        row->ok += news->verdict == VERDICT_OK;
    }
    return 0;
}

/* Counts the outcomes since the last refresh. Returns 1 if there were any, 0, or -1. */
static int count_outcomes(struct run_stats *stats, struct error *error) {
    int64_t after = stats->last_event;
    struct outcome_count counts = {stats, after, false};
    if (store_tells(stats->store, after, count_trial, &counts, error) < 0)
        return -1;
    stats->last_event = counts.last;
    if (after == 0 || !counts.again)
        return counts.last > after;
    /* Trials that are already counted were remeasured: count everything again. */
    stats->observed = stats->raced = stats->last_event = 0;
    memset(stats->verdicts, 0, sizeof stats->verdicts);
    for (int i = 0; i < stats->operator_count; i++)
        stats->operators[i].observed = stats->operators[i].ok = 0;
    return count_outcomes(stats, error);
}

/* ---- champions ---- */

struct champion_walk {
    struct run_stats *stats;
    int seen;
};

static int add_champion(void *context, const struct store_champion *champion, struct error *error) {
    struct champion_walk *walk = context;
    struct run_stats *stats = walk->stats;
    if (walk->seen++ < stats->champion_count)
        return 0;
    stats->champions = xgrow(stats->champions, stats->champion_count, sizeof *stats->champions);
    stats->champions[stats->champion_count++] = *champion;
    const int first = champion->goal - champion->goal % stats->solutions.count;
    if (!stats->goal_chosen && stats->goal != first) {
        stats->goal = first;
        forget_defaults(stats);
    }
    if (champion->previous == champion->trial) /* remeasured, not a new champion */
        return 0;
    struct store_trial *trial = store_trial_read(stats->store, champion->trial, error);
    if (trial == NULL)
        return -1;
    struct operator_stats *row = find_operator(stats, trial->operator_name);
    if (row != NULL)
        row->accepted++;
    store_trial_free(trial);
    return 0;
}

/* ---- the best ---- */

static int add_ranked(void *context, const struct store_trial *trial, struct error *error) {
    struct run_stats *stats = context;
    struct ranked_trial *place = &stats->top[stats->top_count++];
    (void)error;
    place->trial = trial->number;
    place->goal = trial->goal;
    place->score_us = trial->outcome->score_us;
    place->predicted = trial->outcome->predicted;
    snprintf(place->operator_name, sizeof place->operator_name, "%s", trial->operator_name);
    default_trial_differences(stats->default_genomes[trial->goal % stats->solutions.count],
                              trial->genome, place->genome, sizeof place->genome);
    return 0;
}

static int read_top(struct run_stats *stats, struct error *error) {
    for (int i = 0; i < stats->solutions.count; i++) {
        struct store_trial *trial = NULL;
        if (stats->default_genomes[i] == NULL &&
            default_trial_read(stats->store, stats->goal + i, &trial, error) < 0)
            return -1;
        if (trial != NULL)
            stats->default_genomes[i] = xstrdup(trial->genome);
        store_trial_free(trial);
    }
    stats->top_count = 0;
    return store_shared_board(stats->store,
                              run_solutions_goals(&stats->solutions, stats->goal, ALL_SOLUTIONS),
                              RUN_STATS_TOP, 0, add_ranked, stats, error);
}

/* ---- refreshing ---- */

static int read_seconds(struct run_stats *stats, struct error *error) {
    struct store_checkpoint checkpoint;
    int found = store_checkpoint_read(stats->store, &checkpoint, error);
    if (found == 1) {
        stats->seconds = strtod(checkpoint.text, NULL);
        free(checkpoint.text);
    }
    return found < 0 ? -1 : 0;
}

int run_stats_refresh(struct run_stats *stats, struct error *error) {
    struct run_status status;
    struct error unread = {0};
    /* If the status file cannot be read, keep the last one: its age is displayed. */
    if (status_file_read(&status, store_run_dir(stats->store), &unread) == 1) {
        stats->status = status;
        stats->has_status = true;
    }
    struct champion_walk walk = {stats, 0};
    int news = count_outcomes(stats, error);
    if (news <= 0)
        return news;
    return store_champions(stats->store, add_champion, &walk, error) < 0 ||
                   read_top(stats, error) < 0 || read_seconds(stats, error) < 0
               ? -1
               : 0;
}

int run_stats_turn_goal(struct run_stats *stats, int by, struct error *error) {
    const int step = stats->solutions.count, boards = store_goal_count(stats->store) / step;
    stats->goal = ((stats->goal / step + by) % boards + boards) % boards * step;
    stats->goal_chosen = true;
    forget_defaults(stats);
    return read_top(stats, error);
}

double run_stats_silence_s(const struct run_stats *stats) {
    struct timespec now;
    if (!stats->has_status || phase_is_over(stats->status.phase))
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    return fmax(0, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - stats->status.updated);
}

bool run_stats_is_over(const struct run_stats *stats) {
    return !stats->has_status || phase_is_over(stats->status.phase) ||
           (stats->status.phase != PHASE_SANITIZING && stats->status.phase != PHASE_PROFILING &&
            run_stats_silence_s(stats) > silence_limit_s);
}
