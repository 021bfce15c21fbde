/*
 * readers: everything that reads a run's store, run once, for tests that damage run.db. Each reader
 * succeeds or fails with one line; `see` receives the lines.
 *
 *     read_everything("results/demo", see, &context);
 */
#ifndef EVOTILE_TESTS_STORE_READERS_H
#define EVOTILE_TESTS_STORE_READERS_H

#include <stdlib.h>
#include <string.h>

#include "analysis/run_data.h"
#include "store/proposals.h"

/* Receives the error of a reader that failed. */
typedef void seen_error(void *context, const struct error *error);

static inline int read_trial_row(void *context, const struct store_trial *trial,
                                 struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += strlen(trial->genome) + strlen(trial->operator_name);
    if (trial->observed != 0 && trial->outcome != NULL)
        for (int c = 0; c < trial->outcome->case_count; c++)
            for (int i = 0; i < trial->outcome->cases[c].warm.sample_count; i++)
                *sum += trial->outcome->cases[c].warm.samples_us[i] > 1;
    return 0;
}

static inline int read_event_row(void *context, const struct store_event *event,
                                 struct error *error) {
    return read_trial_row(context, &event->trial, error);
}

static inline int read_tell_row(void *context, const struct store_tell_summary *tell,
                                struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += strlen(tell->operator_name) + strlen(verdict_name(tell->verdict));
    return 0;
}

static inline int read_operator_row(void *context, const char *operator_name, int goal,
                                    int64_t observed, int64_t ok, struct error *error) {
    (void)goal;
    size_t *sum = context;
    (void)error;
    *sum += strlen(operator_name) + (observed > ok);
    return 0;
}

static inline int read_score_row(void *context, int64_t trial, int goal, const char *genome,
                                 enum verdict verdict, double score_us, struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += strlen(genome) + strlen(verdict_name(verdict)) + (score_us > goal) + (trial > 0);
    return 0;
}

static inline int read_reason_row(void *context, enum verdict verdict, const char *reason,
                                  int64_t count, struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += strlen(verdict_name(verdict)) + strlen(reason) + (count > 1);
    return 0;
}

static inline int read_champion_row(void *context, const struct store_champion *champion,
                                    struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += champion->previous < champion->trial;
    return 0;
}

static inline int read_proposal_row(void *context, const struct store_proposal *proposal,
                                    struct error *error) {
    size_t *sum = context;
    (void)error;
    *sum += strlen(proposal->parent) + strlen(proposal->request) + (proposal->ratio > 1);
    return 0;
}

/* Calls `see` for a status below 0 and clears the error. */
static inline void pass_error(int64_t status, struct error *error, seen_error *see, void *context) {
    if (status >= 0)
        return;
    see(context, error);
    *error = (struct error){0};
}

static inline void read_single_trials(struct store *store, seen_error *see, void *context) {
    struct error error = {0};
    for (int64_t number = 0; number < 24; number++) {
        struct store_trial *trial = store_trial_read(store, number, &error);
        pass_error(trial == NULL && strstr(error.text, "has no trial") == NULL ? -1 : 0, &error,
                   see, context);
        store_trial_free(trial);
        struct key key = {0};
        int status = store_key_read(store, number, &key, &error);
        pass_error(strstr(error.text, "has no key") != NULL ? 0 : status, &error, see, context);
        key_release(&key);
    }
}

static inline void read_run_data(const char *run_dir, seen_error *see, void *context) {
    struct error error = {0};
    struct run_data *run = run_data_read(run_dir, &error);
    pass_error(run == NULL ? -1 : 0, &error, see, context);
    run_data_free(run);
}

static inline void read_everything(const char *run_dir, seen_error *see, void *context) {
    struct error error = {0};
    struct store *store = store_open(run_dir, STORE_READ, &error);
    size_t sum = 0;
    if (store == NULL) {
        see(context, &error);
        return;
    }
    pass_error(store_events(store, 0, read_event_row, &sum, &error), &error, see, context);
    pass_error(store_in_flight(store, read_trial_row, &sum, &error), &error, see, context);
    pass_error(store_trials(store, read_trial_row, &sum, &error), &error, see, context);
    for (int goal = 0; goal < store_goal_count(store); goal++) {
        pass_error(store_board(store, goal, 0, 0, read_trial_row, &sum, &error), &error, see,
                   context);
        pass_error(store_ranked(store, goal, 1, &error) == -2 ? -1 : 0, &error, see, context);
    }
    read_single_trials(store, see, context);
    struct store_counts counts;
    pass_error(store_count(store, &counts, &error), &error, see, context);
    pass_error(store_tells(store, 0, read_tell_row, &sum, &error), &error, see, context);
    pass_error(store_operators(store, read_operator_row, &sum, &error), &error, see, context);
    pass_error(store_scores(store, read_score_row, &sum, &error), &error, see, context);
    pass_error(store_reasons(store, 10, read_reason_row, &sum, &error), &error, see, context);
    pass_error(store_champions(store, read_champion_row, &sum, &error), &error, see, context);
    pass_error(store_proposals(store, read_proposal_row, &sum, &error), &error, see, context);
    struct store_checkpoint checkpoint = {0};
    pass_error(store_checkpoint_read(store, &checkpoint, &error), &error, see, context);
    free(checkpoint.text);
    static const char *const names[] = {"created", "config", "seed", "device_info"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *value = NULL;
        pass_error(store_meta_get(store, names[i], &value, &error), &error, see, context);
        free(value);
    }
    store_close(store);
    read_run_data(run_dir, see, context);
}

#endif
