#include "run/forecast.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/statistics.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* Shorter runs say little of either. */
enum { TRIALS_MIN = 50 };

enum { NEAR_BEST_FACTOR = 4, NEAR_BEST_MIN = 100 };
static const double near_best = 1.03;

int64_t forecast_near_best(const struct store_champion *champions, int count, int goal,
                           int goal_count) {
    double score_us = 0;
    int64_t last = 0;
    for (int i = 0; i < count; i++)
        if (champions[i].goal == goal &&
            (score_us == 0 || score_us > near_best * champions[i].score_us)) {
            score_us = champions[i].score_us;
            last = champions[i].trial;
        }
    int64_t least = NEAR_BEST_MIN * (int64_t)goal_count;
    return NEAR_BEST_FACTOR * last > least ? NEAR_BEST_FACTOR * last : least;
}

/* What earlier runs took. */
struct earlier_runs {
    int run_count, goal_count;
    double *trials_per_s;    /* of the runs */
    double *near_best_after; /* of their goals */
};

struct champion_list {
    int count;
    struct store_champion *items;
};

static int add_champion(void *context, const struct store_champion *champion, struct error *error) {
    struct champion_list *list = context;
    (void)error;
    list->items = xgrow(list->items, list->count, sizeof *list->items);
    list->items[list->count++] = *champion;
    return 0;
}

/* The first trial of a goal within 3 % of its last champion; 0 if it has none. */
static int64_t first_near_best(const struct champion_list *list, int goal) {
    double last_us = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].goal == goal)
            last_us = list->items[i].score_us;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].goal == goal && list->items[i].score_us <= near_best * last_us)
            return list->items[i].trial + 1;
    return 0;
}

static int add_goals(struct store *store, struct earlier_runs *earlier, struct error *error) {
    struct champion_list list = {0};
    int status = store_champions(store, add_champion, &list, error),
        goals = store_goal_count(store);
    for (int g = 0; g < goals && status == 0; g++) {
        double trials = (double)first_near_best(&list, g) / goals;
        if (trials == 0)
            continue;
        earlier->near_best_after =
            xgrow(earlier->near_best_after, earlier->goal_count, sizeof *earlier->near_best_after);
        earlier->near_best_after[earlier->goal_count++] = trials;
    }
    free(list.items);
    return status;
}

static bool has_meta(struct store *store, const char *name, const char *value) {
    struct error ignored = {0};
    char *found = NULL;
    bool same = store_meta_get(store, name, &found, &ignored) == 1 && strcmp(found, value) == 0;
    free(found);
    return same;
}

/* Adds a run whose search time and trials are known. */
static int add_run(struct store *store, struct earlier_runs *earlier, struct error *error) {
    struct store_checkpoint checkpoint;
    struct store_counts counts;
    int found = store_checkpoint_read(store, &checkpoint, error);
    if (found <= 0 || store_count(store, &counts, error) < 0)
        return found < 0 ? -1 : 0;
    double seconds = strtod(checkpoint.text, NULL);
    free(checkpoint.text);
    if (!(seconds > 0) || counts.observed < TRIALS_MIN)
        return 0;
    earlier->trials_per_s =
        xgrow(earlier->trials_per_s, earlier->run_count, sizeof *earlier->trials_per_s);
    earlier->trials_per_s[earlier->run_count++] = (double)counts.observed / seconds;
    return add_goals(store, earlier, error);
}

int forecast_from_runs(struct forecast *forecast, const char *folder, const char *run_dir,
                       const char *template_name, const char *device_name, struct error *error) {
    struct earlier_runs earlier = {0};
    struct error ignored = {0};
    char path[PATH_SIZE];
    char **names;
    int count;
    *forecast = (struct forecast){0};
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], path_name(run_dir)) == 0 ||
            path_join(path, folder, names[i], &ignored) < 0 || store_holds_run(path, &ignored) != 1)
            continue;
        struct store *store = store_open(path, STORE_READ, &ignored);
        if (store != NULL && has_meta(store, "template", template_name) &&
            has_meta(store, "device_name", device_name))
            add_run(store, &earlier, &ignored);
        store_close(store);
    }
    path_list_free(names, count);
    forecast->runs = earlier.run_count;
    if (earlier.run_count > 0)
        forecast->trials_per_s = statistics_percentile(earlier.trials_per_s, earlier.run_count, 50);
    if (earlier.goal_count > 0)
        forecast->near_best_after =
            statistics_percentile(earlier.near_best_after, earlier.goal_count, 50);
    free(earlier.trials_per_s);
    free(earlier.near_best_after);
    return 0;
}

void forecast_print(const struct forecast *forecast, int64_t budget_trials, double budget_s,
                    int goal_count, char text[FORECAST_SIZE]) {
    double rate = forecast->trials_per_s, trials = rate * budget_s;
    double near_best_trials = forecast->near_best_after * goal_count;
    char duration[DURATION_SIZE];
    if (budget_trials > 0 && (budget_s == 0 || trials > (double)budget_trials))
        trials = (double)budget_trials;
    text[0] = '\0';
    text_append(text, FORECAST_SIZE, "%.*f trials/s", rate < 1 ? 2 : 1, rate);
    if (trials > 0)
        text_append(text, FORECAST_SIZE, ", about %.0f trials in %s", trials,
                    clock_print_duration(trials / rate, duration));
    if (trials > 0 && goal_count > 1)
        text_append(text, FORECAST_SIZE, " (%.0f trials, %s a goal)", trials / goal_count,
                    clock_print_duration(trials / rate / goal_count, duration));
    if (near_best_trials > 0 && (trials == 0 || near_best_trials < trials))
        text_append(text, FORECAST_SIZE, "; within 3 %% of the best in some %s",
                    clock_print_duration(near_best_trials / rate, duration));
    else if (near_best_trials > 0)
        text_append(text, FORECAST_SIZE,
                    "; too few to come within 3 %% of the best: that takes some %.0f",
                    near_best_trials);
}
