#include "cmd/preset.h"

#include <string.h>

struct first_ask {
    int goal;
    int64_t trial;
};

static int note_first(void *context, const struct store_event *event, struct error *error) {
    struct first_ask *first = context;
    (void)error;
    if (event->told || event->trial.goal != first->goal)
        return 0;
    if (strcmp(event->trial.operator_name, "default") == 0)
        first->trial = event->trial.number;
    return 1;
}

int preset_trial(struct store *store, int goal, struct store_trial **trial, struct error *error) {
    struct first_ask first = {goal, STORE_NO_TRIAL};
    *trial = NULL;
    if (store_events(store, 0, note_first, &first, error) < 0)
        return -1;
    if (first.trial == STORE_NO_TRIAL)
        return 0;
    *trial = store_trial_read(store, first.trial, error);
    return *trial != NULL ? 0 : -1;
}
