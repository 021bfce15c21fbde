#include "cmd/live.h"

#include "cmd/preset.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* A run that is silent for longer counts as killed: many times the interval of its status. */
static const double patience_s = 60;

struct live *live_open(const char *run_dir, struct error *error) {
    struct live *live = calloc(1, sizeof *live);
    char *created = NULL;
    if (live == NULL)
        BUG("out of memory");
    live->store = store_open(run_dir, STORE_READ, error);
    if (live->store == NULL ||
        store_meta_get(live->store, "device_name", &live->device, error) < 0 ||
        store_meta_get(live->store, "created", &created, error) < 0) {
        live_close(live);
        return NULL;
    }
    live->created = created != NULL ? strtod(created, NULL) : 0;
    free(created);
    return live;
}

void live_close(struct live *live) {
    if (live == NULL)
        return;
    store_close(live->store);
    free(live->device);
    free(live->champions);
    free(live->preset);
    free(live);
}

/* ---- outcomes ---- */

static struct live_operator *operator_of(struct live *live, const char *name) {
    for (int i = 0; i < live->operator_count; i++)
        if (strncmp(live->operators[i].name, name, sizeof live->operators[i].name - 1) == 0)
            return &live->operators[i];
    if (live->operator_count == LIVE_OPERATORS_MAX)
        return NULL;
    struct live_operator *row = &live->operators[live->operator_count++];
    *row = (struct live_operator){0};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

struct counting {
    struct live *live;
    int64_t last;
    bool again;
};

static int count_trial(void *context, const struct store_news *news, struct error *error) {
    struct counting *counting = context;
    struct live *live = counting->live;
    struct live_operator *row = operator_of(live, news->operator_name);
    (void)error;
    counting->last = news->told > counting->last ? news->told : counting->last;
    counting->again = counting->again || news->again;
    live->told++;
    live->verdicts[news->verdict]++;
    live->raced += news->verdict == VERDICT_OK && news->raced;
    if (row != NULL) {
        row->told += news->verdict != VERDICT_FILTERED;
        row->ok += news->verdict == VERDICT_OK;
    }
    return 0;
}

/* Counts the outcomes since the last refresh. Returns 1 if there were any, 0, or -1. */
static int take_told(struct live *live, struct error *error) {
    int64_t after = live->last_event;
    struct counting counting = {live, after, false};
    if (store_news(live->store, after, count_trial, &counting, error) < 0)
        return -1;
    live->last_event = counting.last;
    if (after == 0 || !counting.again)
        return counting.last > after;
    /* Trials that are already counted were remeasured: count everything again. */
    live->told = live->raced = live->last_event = 0;
    memset(live->verdicts, 0, sizeof live->verdicts);
    for (int i = 0; i < live->operator_count; i++)
        live->operators[i].told = live->operators[i].ok = 0;
    return take_told(live, error);
}

/* ---- champions ---- */

struct crowning {
    struct live *live;
    int seen;
};

static int take_champion(void *context, const struct store_champion *champion,
                         struct error *error) {
    struct crowning *crowning = context;
    struct live *live = crowning->live;
    if (crowning->seen++ < live->champion_count)
        return 0;
    live->champions = realloc(live->champions, (size_t)crowning->seen * sizeof *live->champions);
    if (live->champions == NULL)
        BUG("out of memory");
    live->champions[live->champion_count++] = *champion;
    if (!live->goal_chosen && live->goal != champion->goal) {
        live->goal = champion->goal;
        free(live->preset);
        live->preset = NULL;
    }
    if (champion->previous == champion->trial) /* remeasured, not a new champion */
        return 0;
    struct store_trial *trial = store_trial_read(live->store, champion->trial, error);
    if (trial == NULL)
        return -1;
    struct live_operator *row = operator_of(live, trial->operator_name);
    if (row != NULL)
        row->crowned++;
    store_trial_free(trial);
    return 0;
}

/* ---- the best ---- */

static int take_place(void *context, const struct store_trial *trial, struct error *error) {
    struct live *live = context;
    struct live_place *place = &live->top[live->top_count++];
    (void)error;
    place->trial = trial->number;
    place->score_us = trial->outcome->score_us;
    place->predicted = trial->outcome->predicted;
    snprintf(place->operator_name, sizeof place->operator_name, "%s", trial->operator_name);
    preset_differences(live->preset, trial->genome, place->genome, sizeof place->genome);
    return 0;
}

static int take_top(struct live *live, struct error *error) {
    struct store_trial *preset = NULL;
    if (live->preset == NULL && preset_trial(live->store, live->goal, &preset, error) < 0)
        return -1;
    if (preset != NULL && (live->preset = strdup(preset->genome)) == NULL)
        BUG("out of memory");
    store_trial_free(preset);
    live->top_count = 0;
    return store_board(live->store, live->goal, LIVE_TOP, 0, take_place, live, error);
}

/* ---- refreshing ---- */

static int take_seconds(struct live *live, struct error *error) {
    struct store_checkpoint checkpoint;
    int found = store_checkpoint_read(live->store, &checkpoint, error);
    if (found == 1) {
        live->seconds = strtod(checkpoint.text, NULL);
        free(checkpoint.text);
    }
    return found < 0 ? -1 : 0;
}

int live_refresh(struct live *live, struct error *error) {
    struct bulletin bulletin;
    struct error unread = {0};
    /* If the status file cannot be read, keep the last one: its age is displayed. */
    if (bulletin_read(&bulletin, store_run_dir(live->store), &unread) == 1) {
        live->bulletin = bulletin;
        live->has_bulletin = true;
    }
    struct crowning crowning = {live, 0};
    int news = take_told(live, error);
    if (news <= 0)
        return news;
    return store_champions(live->store, take_champion, &crowning, error) < 0 ||
                   take_top(live, error) < 0 || take_seconds(live, error) < 0
               ? -1
               : 0;
}

int live_turn(struct live *live, int by, struct error *error) {
    int goals = store_goal_count(live->store);
    live->goal = ((live->goal + by) % goals + goals) % goals;
    live->goal_chosen = true;
    free(live->preset);
    live->preset = NULL;
    return take_top(live, error);
}

double live_silence(const struct live *live) {
    struct timespec now;
    if (!live->has_bulletin || phase_is_over(live->bulletin.phase))
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    return fmax(0, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - live->bulletin.updated);
}

bool live_is_over(const struct live *live) {
    return !live->has_bulletin || phase_is_over(live->bulletin.phase) ||
           (live->bulletin.phase != PHASE_INSPECTING && live_silence(live) > patience_s);
}
