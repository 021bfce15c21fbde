/*
 * example: a run whose trials are functions of their numbers, so that a test knows what must be
 * stored; and a temporary folder for it. For the tests of store/.
 */
#ifndef EVOTILE_TESTS_STORE_EXAMPLE_H
#define EVOTILE_TESTS_STORE_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "outcome/filled.h"
#include "store/proposals.h"

static inline int make_folder(void **state) {
    char *folder = strdup("/tmp/evotile-store-XXXXXX");
    *state = folder;
    return folder != NULL && mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state) {
    struct error error = {0};
    int result = path_remove_tree(*state, &error);
    free(*state);
    return result;
}

static inline struct store *example_create(const char *run_dir, struct error *error) {
    static const struct store_meta meta[] = {{"config", "{ \"template\": \"t\" }\n"},
                                             {"seed", "18446744073709551615"}};
    static const char *const goals[] = {"B=1,S=64", "B=2,S=512"};
    return store_create(run_dir, &(struct store_description){meta, 2, goals, 2}, error);
}

/* A proposal in each state: asked for, answered, passed, decided on. */
static inline int example_proposal(struct store *store, int64_t number, struct error *error) {
    const int state = (int)(number % 4);
    const struct store_proposal proposal = {.number = number,
                                            .parent = "start",
                                            .other = number % 5 == 0 ? "p1" : NULL,
                                            .request = "{\"type\": \"propose\"}",
                                            .answer = state > 0 ? "{\"number\": 1}" : NULL,
                                            .solution = state > 0 ? "p1" : NULL,
                                            .hash = state > 0 ? "0123456789abcdef0123456789abcdef"
                                                              : NULL,
                                            .genome = number % 7 == 0 ? "BLOCK_M=1" : NULL,
                                            .hypothesis = "two loads\nat a time",
                                            .diff = state > 0 ? "-a\n+b\n" : NULL,
                                            .goal = state > 1 ? 1 : NO_GOAL,
                                            .trial = state > 0 ? number : STORE_NO_TRIAL,
                                            .judged = state > 1 ? "{}" : NULL,
                                            .verdict = state > 1 ? "ok" : NULL,
                                            .reason = state > 2 ? "slower" : NULL,
                                            .first_us = state > 1 ? 2.5 : NAN,
                                            .score_us = state > 2 ? 2.25 : NAN,
                                            .ratio = state > 2 ? 1 / 3.0 : NAN,
                                            .low = state > 2 ? 0.25 : NAN,
                                            .high = state > 2 ? 0.5 : NAN,
                                            .decision = state > 2 ? "revert" : NULL,
                                            .turn = state > 2 ? number : 0,
                                            .prompt_tokens = 1000 + number,
                                            .completion_tokens = number,
                                            .cost = number % 2 ? 0.125 : NAN,
                                            .asked = 1.7e9,
                                            .answered = state > 0 ? 1.7e9 + 1 : NAN,
                                            .decided = state > 2 ? 1.7e9 + 2 : NAN};
    return store_put_proposal(store, &proposal, error);
}

static inline int example_goal(int64_t number) {
    return (int)(number % 2);
}

static inline char *example_genome(int64_t number, char genome[64]) {
    snprintf(genome, 64, "BLOCK_M=%lld,WARPS=4", (long long)number);
    return genome;
}

/* Covers every verdict and special floating-point values. `outcome` is zeroed or an earlier
   example. */
static inline void example_outcome(int64_t number, struct outcome *outcome) {
    outcome_release(outcome);
    outcome->verdict = number % 3 ? VERDICT_OK : (enum verdict)(number / 3 % VERDICT_COUNT);
    outcome->raced = number % 7 == 1;
    outcome->predicted = number % 5 == 2;
    if (outcome->verdict != VERDICT_OK)
        snprintf(outcome->reason, sizeof outcome->reason, "reason '%lld' \"\xc3\xa9\"",
                 (long long)number);
    else
        outcome->score_us = 1 + (double)(number * 7919 % 1009) / 3;
    outcome->resources = (struct resources){.registers = (int)number % 255,
                                            .smem_bytes = 49152,
                                            .local_bytes = 8,
                                            .spill_bytes = 12,
                                            .ctas_per_sm = 3,
                                            .occupancy = 1.0 / 3};
    outcome->limited_range = number % 3 == 0;
    snprintf(outcome->checks, sizeof outcome->checks, "cases, %lld inputs", (long long)number);
    snprintf(outcome->uses, sizeof outcome->uses, "%s", number % 2 ? "clock64, gridid" : "");
    outcome->compile_s = 0.1 * (double)number;
    outcome->verify_s = 1e-9;
    outcome->measure_s = 0.3;
    outcome_set_cases(outcome, (int)(number % 4));
    for (int i = 0; i < outcome->case_count; i++) {
        struct case_outcome *it = &outcome->cases[i];
        it->errors = (struct errors){number % 11 == 0 ? NAN : 3e-4, INFINITY, 5e-324};
        it->bound = (struct errors){9e-4, 1.0 / 3, 0.125};
        it->warm = (struct latency){.p10_us = 0.1 + i, .p50_us = 0.2 + i, .p90_us = 0.3 + i};
        it->cold = (struct latency){.p10_us = 1.5, .p50_us = 2.5, .p90_us = i};
        int count = (int)(number * 13 % (SAMPLES_MAX + 1));
        double *warm_us = latency_reserve(&it->warm, count);
        for (int j = 0; j < count; j++)
            warm_us[j] = sqrt((double)(number + i + j));
        it->warm.sample_count = count;
        double *cold_us = latency_reserve(&it->cold, i);
        for (int j = 0; j < i; j++)
            cold_us[j] = 7.0 / (j + 3);
        it->cold.sample_count = i;
        it->ctas = 100 + i;
        it->tflops = 1e2 / 3;
        it->gb_per_s = 1e3 / 7;
        it->ceiling = 0.625;
        it->placements = (struct placements){5, 0.2, 0.25};
        it->energy = (struct energy){41.0 / 3, 0.004, 512.5, 98.25};
    }
    outcome->duel = (struct duel_outcome){.result = (enum duel_result)(number % 4),
                                          .blocks = (int)number % 41,
                                          .ratio = 1 - 1.0 / (double)(number + 2),
                                          .low = 1.0 / 3,
                                          .high = 4.0 / 3};
    outcome->conditions = (struct conditions){.sm_mhz = 1620,
                                              .sm_mhz_low = 345,
                                              .sm_mhz_high = 1980,
                                              .memory_mhz = 3201,
                                              .temperature_c = (int)number % 90,
                                              .power_w = 100.0 / 7,
                                              .slowdowns = number << 32,
                                              .discarded = (int)number % 4};
}

static inline void example_key(int64_t number, struct key *key) {
    char genome[64];
    for (int part = 0; part < KEY_PART_COUNT; part++)
        key_set(key, part, key_part_name(part));
    key_set(key, KEY_GENOME, example_genome(number, genome));
    key_set(key, KEY_OPTIONS, number % 2 ? "-use_fast_math" : "");
}

static inline int64_t example_ask(struct store *store, int64_t number, struct error *error) {
    char genome[64];
    return store_ask(store,
                     &(struct store_ask){.number = number,
                                         .goal = example_goal(number),
                                         .genome = example_genome(number, genome),
                                         .parent_a = number - 2 < 1 ? STORE_NO_TRIAL : number - 2,
                                         .parent_b = STORE_NO_TRIAL,
                                         .operator_name = "mutate"},
                     error);
}

static inline int64_t example_tell(struct store *store, int64_t number, struct error *error) {
    struct outcome outcome = {0};
    struct key key = {0};
    example_outcome(number, &outcome);
    example_key(number, &key);
    int64_t event =
        store_tell(store, number, &outcome, number % 6 == 0 ? NULL : &key, "cuda:0", error);
    key_release(&key);
    outcome_release(&outcome);
    return event;
}

/* True if the trial equals what example_ask and example_tell wrote. */
static inline bool example_matches(const struct store_trial *trial) {
    char genome[64];
    int64_t number = trial->number;
    if (trial->goal != example_goal(number) ||
        strcmp(trial->genome, example_genome(number, genome)) != 0 ||
        trial->parent_a != (number - 2 < 1 ? STORE_NO_TRIAL : number - 2) ||
        trial->parent_b != STORE_NO_TRIAL || strcmp(trial->operator_name, "mutate") != 0 ||
        trial->asked < 1 || trial->issued < 1e9)
        return false;
    if (trial->observed == 0)
        return trial->finished == 0 && trial->outcome == NULL && trial->worker == NULL &&
               !trial->has_key;
    if (trial->finished < 1e9 || strcmp(trial->worker, "cuda:0") != 0 ||
        trial->has_key != (number % 6 != 0))
        return false;
    if (trial->outcome == NULL)
        return true;

    struct outcome expected = {0};
    example_outcome(number, &expected);
    bool matches = outcomes_equal(trial->outcome, &expected);
    outcome_release(&expected);
    return matches;
}

/* Checks store_events: numbers without gaps, each trial asked once and observed at most once after.
 */
struct example_walk {
    int64_t events, asked, observed;
    bool broken;
};

static inline int example_walk_row(void *context, const struct store_event *event,
                                   struct error *error) {
    (void)error;
    struct example_walk *walk = context;
    if (event->number != ++walk->events || !example_matches(&event->trial) ||
        (event->observed ? event->trial.observed : event->trial.asked) != event->number ||
        (event->observed && (event->trial.asked >= event->number || event->trial.outcome == NULL)))
        walk->broken = true;
    if (event->observed)
        walk->observed++;
    else if (event->trial.number != ++walk->asked) /* the tests ask 1, 2, 3 ... */
        walk->broken = true;
    return 0;
}

/* False if the run differs from what the example wrote, or is incomplete. */
static inline bool example_is_whole(struct store *store, struct example_walk *walk,
                                    struct error *error) {
    *walk = (struct example_walk){0};
    struct store_counts counts;
    return store_events(store, 0, example_walk_row, walk, error) == 0 && !walk->broken &&
           walk->events == store_event_count(store, error) &&
           store_count(store, &counts, error) == 0 && counts.asked == walk->asked &&
           counts.observed == walk->observed && walk->asked + walk->observed == walk->events;
}

#endif
