#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "example.h"

static struct store *create(const char *run_dir) {
    struct error error = {0};
    struct store *store = example_create(run_dir, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

static struct store *open_run(const char *run_dir, enum store_mode mode) {
    struct error error = {0};
    struct store *store = store_open(run_dir, mode, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

/* Adds trials 1 to `count`, told in another order than asked; the last two stay in flight. */
static void fill(struct store *store, int64_t count) {
    struct error error = {0};
    assert_int_equal(store_begin(store, &error), 0);
    int64_t event = store_event_count(store, &error);
    for (int64_t number = 1; number <= count; number++) {
        assert_int_equal(example_ask(store, number, &error), ++event);
        if (number % 2 == 0 && number > 2) {
            assert_int_equal(example_tell(store, number - 2, &error), ++event);
            assert_int_equal(example_tell(store, number - 3, &error), ++event);
        }
    }
    assert_int_equal(store_commit(store, &error), 0);
}

static void trials_round_trip(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 200);
    for (int reopened = 0; reopened < 3; reopened++) {
        struct example_walk walk;
        assert_true(example_is_whole(store, &walk, &error));
        assert_int_equal(walk.asked, 200);
        assert_int_equal(walk.observed, 198);
        for (int64_t number = 1; number <= 200; number++) {
            struct store_trial *trial = store_trial_read(store, number, &error);
            assert_non_null(trial);
            assert_int_equal(trial->number, number);
            assert_true(example_matches(trial));
            assert_int_equal(trial->observed != 0, number <= 198);
            store_trial_free(trial);
        }
        assert_int_equal(error.kind, ERROR_NONE);
        store_close(store);
        store = open_run(*state, reopened == 0 ? STORE_READ : STORE_WRITE);
    }
    assert_null(store_trial_read(store, 201, &error));
    assert_non_null(strstr(error.text, "no trial 201"));
    store_close(store);
}

static void meta_and_goals(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_meta_set(store, "device", "emulated:sm_89", &error), 0);
    assert_int_equal(store_meta_set(store, "device", "cuda:0", &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);

    store = open_run(*state, STORE_READ);
    static const char *const rows[][2] = {{"config", "{ \"template\": \"t\" }\n"},
                                          {"seed", "18446744073709551615"},
                                          {"device", "cuda:0"}};
    char *value;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_meta_get(store, rows[i][0], &value, &error), 1);
        assert_string_equal(value, rows[i][1]);
        free(value);
    }
    assert_int_equal(store_meta_get(store, "created", &value, &error), 1);
    free(value);
    assert_int_equal(store_meta_get(store, "weather", &value, &error), 0);
    assert_null(value);
    assert_int_equal(store_goal_count(store), 2);
    assert_string_equal(store_goal_name(store, 1), "B=2,S=512");
    assert_string_equal(store_run_dir(store), *state);
    store_close(store);
}

static void keys_keep_their_parts(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 20);
    for (int64_t number = 1; number <= 20; number++) {
        struct key found = {0}, expected = {0};
        struct key_difference differences[KEY_PART_COUNT];
        example_key(number, &expected);
        bool has = number <= 18 && number % 6 != 0;
        assert_int_equal(store_key_read(store, number, &found, &error), has ? 0 : -1);
        if (has) {
            assert_int_equal(key_compare(&found, &expected, differences), 0);
            struct store_trial *trial = store_trial_read(store, number, &error);
            assert_true(hash_equal(trial->key, key_hash(&expected)));
            store_trial_free(trial);
        }
        key_release(&found);
        key_release(&expected);
    }
    store_close(store);
}

/* A rollback leaves no event number, no setting and no trial behind. */
static void rollback_discards_the_batch(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(store_begin(store, &error), 0);
        assert_int_equal(example_ask(store, 1, &error), 1);
        assert_int_equal(example_tell(store, 1, &error), 2);
        assert_int_equal(store_event_count(store, &error), 2);
        if (round == 1)
            store_rollback(store);
        else if (round == 0)
            store_close(store), store = open_run(*state, STORE_WRITE);
        else
            assert_int_equal(store_commit(store, &error), 0);
        assert_int_equal(store_event_count(store, &error), round == 2 ? 2 : 0);
    }
    struct key key = {0};
    assert_int_equal(store_key_read(store, 1, &key, &error), 0);
    key_release(&key);
    store_close(store);
}

struct observed_again {
    int64_t events, first, again;
    double first_us, again_us;
    int first_cases, again_cases;
};

static int note_observed_again(void *context, const struct store_event *event,
                               struct error *error) {
    (void)error;
    struct observed_again *observed_again = context;
    assert_int_equal(event->number, ++observed_again->events);
    if (!event->observed || event->trial.number != 4)
        return 0;
    assert_int_equal(event->trial.observed, event->number);
    *(event->again ? &observed_again->again : &observed_again->first) = event->number;
    *(event->again ? &observed_again->again_us : &observed_again->first_us) =
        event->trial.outcome->score_us;
    *(event->again ? &observed_again->again_cases : &observed_again->first_cases) =
        event->trial.outcome->case_count;
    return 0;
}

/* Both outcomes stay at their events, with their cases; the board shows the latest. */
static void repeated_trial_keeps_earlier_outcome(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    struct key key = {0};
    static struct outcome outcome, was;
    fill(store, 20);
    int64_t events = store_event_count(store, &error);
    example_key(4, &key);
    key_set(&key, KEY_DRIVER, "580.95");
    example_outcome(4, &was);
    example_outcome(7, &outcome); /* it has three cases; trial 4 had none */
    outcome.score_us = 0.5;
    outcome.raced = false;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(store_begin(store, &error), 0);
        assert_int_equal(store_tell_again(store, 4, &outcome, &key, "cuda:0", &error), events + 1);
        if (round == 0)
            store_rollback(store);
        else
            assert_int_equal(store_commit(store, &error), 0);
    }
    for (int reopened = 0; reopened < 2; reopened++) {
        struct observed_again observed_again = {0};
        struct key found = {0};
        struct store_counts counts;
        assert_int_equal(store_events(store, 0, note_observed_again, &observed_again, &error), 0);
        assert_int_equal(observed_again.events, events + 1);
        assert_int_equal(observed_again.again, events + 1);
        assert_true(observed_again.first_us == was.score_us && observed_again.again_us == 0.5);
        assert_int_equal(observed_again.first_cases, was.case_count);
        assert_int_equal(observed_again.again_cases, 3);
        assert_int_equal(store_ranked(store, 0, 1, &error), 4);
        assert_int_equal(store_key_read(store, 4, &found, &error), 0);
        assert_string_equal(found.parts[KEY_DRIVER], "580.95");
        key_release(&found);
        assert_int_equal(store_count(store, &counts, &error), 0);
        assert_int_equal(counts.observed, 18);
        store_close(store);
        store = open_run(*state, STORE_WRITE);
    }
    key_release(&key);
    store_close(store);
}

static int64_t outdated_for(struct store *store, const char *driver) {
    struct error error = {0};
    struct key present = {0};
    struct store_counts counts;
    example_key(1, &present);
    key_set(&present, KEY_DRIVER, driver);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_outdate(store, &present, &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    assert_int_equal(store_count(store, &counts, &error), 0);
    key_release(&present);
    return counts.outdated;
}

/* With another driver no trial is on the board; with the original driver all of them are. */
static void other_drivers_trials_are_outdated(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 20);
    int64_t best = store_ranked(store, 1, 1, &error);
    assert_int_not_equal(best, STORE_NO_TRIAL);
    assert_int_equal(outdated_for(store, "driver"), 0);
    assert_int_equal(outdated_for(store, "another"), 15); /* of 18, every sixth has no key */
    struct store_trial *trial = store_trial_read(store, best, &error);
    assert_true(trial->outdated);
    store_trial_free(trial);
    assert_int_equal(store_ranked(store, 1, 1, &error), STORE_NO_TRIAL);
    struct key key = {0};
    static struct outcome outcome;
    example_key(5, &key);
    key_set(&key, KEY_DRIVER, "another");
    example_outcome(5, &outcome);
    assert_int_equal(store_begin(store, &error), 0);
    assert_true(store_tell_again(store, 5, &outcome, &key, "cuda:0", &error) > 0);
    assert_int_equal(store_commit(store, &error), 0);
    assert_int_equal(store_ranked(store, 1, 1, &error), 5);
    assert_int_equal(store_ranked(store, 1, 2, &error), STORE_NO_TRIAL);
    assert_int_equal(outdated_for(store, "driver"), 1);
    key_release(&key);
    store_close(store);
}

struct seen {
    int count, limit;
    int64_t numbers[500];
    double score_us;
};

static int see(void *context, const struct store_trial *trial, struct error *error) {
    (void)error;
    struct seen *seen = context;
    seen->numbers[seen->count++] = trial->number;
    if (trial->outcome) {
        assert_int_equal(trial->outcome->verdict, VERDICT_OK);
        assert_false(trial->outcome->raced);
        assert_true(trial->outcome->score_us >= seen->score_us);
        seen->score_us = trial->outcome->score_us;
        assert_true(example_matches(trial));
    }
    return seen->count == seen->limit;
}

static void board_is_in_order(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 400);
    struct store_counts counts;
    assert_int_equal(store_count(store, &counts, &error), 0);
    int rows = 0;
    for (int goal = 0; goal < 2; goal++) {
        struct seen all = {0}, some = {0}, stopped = {.limit = 3};
        assert_int_equal(store_board(store, goal, 0, 0, see, &all, &error), 0);
        assert_int_equal(store_board(store, goal, 10, 0, see, &some, &error), 0);
        assert_int_equal(store_board(store, goal, 0, 0, see, &stopped, &error), 0);
        assert_int_equal(some.count, 10);
        assert_int_equal(stopped.count, 3);
        assert_memory_equal(all.numbers, some.numbers, 10 * sizeof all.numbers[0]);
        for (int rank = 1; rank <= all.count; rank++) {
            assert_int_equal(all.numbers[rank - 1] % 2, goal);
            assert_int_equal(store_ranked(store, goal, rank, &error), all.numbers[rank - 1]);
        }
        assert_int_equal(store_ranked(store, goal, all.count + 1, &error), STORE_NO_TRIAL);
        assert_int_equal(store_ranked(store, goal, 0, &error), STORE_NO_TRIAL);
        rows += all.count;
    }
    assert_int_equal(rows, counts.verdicts[VERDICT_OK] - counts.raced);
    assert_true(rows > 100);

    /* The board that both goals share has all rows in one order, and its ranks. */
    const struct goal_range both = {0, 1};
    struct seen shared = {0}, few = {0};
    assert_int_equal(store_shared_board(store, both, 0, 0, see, &shared, &error), 0);
    assert_int_equal(store_shared_board(store, both, 10, 0, see, &few, &error), 0);
    assert_int_equal(shared.count, rows);
    assert_int_equal(few.count, 10);
    assert_memory_equal(shared.numbers, few.numbers, 10 * sizeof few.numbers[0]);
    bool mixed = false;
    for (int rank = 1; rank <= rows; rank++) {
        assert_int_equal(store_shared_ranked(store, both, rank, &error), shared.numbers[rank - 1]);
        mixed = mixed || shared.numbers[rank - 1] % 2 != shared.numbers[0] % 2;
    }
    assert_true(mixed);
    assert_int_equal(store_shared_ranked(store, both, rows + 1, &error), STORE_NO_TRIAL);
    assert_int_equal(store_shared_ranked(store, both, 0, &error), STORE_NO_TRIAL);

    struct seen flying = {0};
    assert_int_equal(store_in_flight(store, see, &flying, &error), 0);
    assert_int_equal(flying.count, 2);
    assert_int_equal(flying.numbers[0], 399);
    assert_int_equal(flying.numbers[1], 400);
    store_close(store);
}

/* Of equal scores the earlier trial ranks first, so that a second equal one is no champion. */
static void equal_scores_rank_by_number(void **state) {
    static const int64_t numbers[] = {6, 2, 8, 4};
    struct error error = {0};
    struct store *store = create(*state);
    struct outcome outcome = {.score_us = 5};
    assert_int_equal(store_begin(store, &error), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(example_ask(store, numbers[i], &error) > 0);
        assert_true(store_tell(store, numbers[i], &outcome, NULL, "cuda:0", &error) > 0);
    }
    assert_int_equal(store_commit(store, &error), 0);
    for (int rank = 1; rank <= 4; rank++)
        assert_int_equal(store_ranked(store, 0, rank, &error), 2 * rank);
    store_close(store);
}

static void one_process_writes(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    assert_null(store_open(*state, STORE_WRITE, &error));
    assert_non_null(strstr(error.text, "open for writing"));
    struct store *reader = open_run(*state, STORE_READ);
    store_close(reader);
    store_close(store);
    store_close(open_run(*state, STORE_WRITE));
}

struct tried {
    int64_t operators, scores;
};

static int add_operator(void *context, const char *operator_name, int goal, int64_t observed,
                        int64_t ok, struct error *error) {
    assert_in_range(goal, 0, 1);
    struct tried *tried = context;
    (void)operator_name;
    (void)error;
    assert_in_range(ok, 1, observed);
    tried->operators += observed;
    return 0;
}

static int add_score(void *context, int64_t trial, int goal, const char *genome,
                     enum verdict verdict, double score_us, struct error *error) {
    struct tried *tried = context;
    (void)trial;
    (void)goal;
    (void)genome;
    (void)error;
    assert_true(verdict != VERDICT_FILTERED && verdict != VERDICT_LOST);
    assert_true((score_us > 0) == (verdict == VERDICT_OK));
    tried->scores++;
    return 0;
}

static void unjudged_trials_are_not_counted(void **state) {
    enum { ASKED = 300 };
    struct error error = {0};
    struct tried tried = {0};
    static struct outcome outcome;
    struct store *store = create(*state);
    int64_t expected = 0;
    fill(store, ASKED);
    for (int64_t number = 1; number <= ASKED - 2; number++) {
        example_outcome(number, &outcome);
        expected += outcome.verdict != VERDICT_FILTERED && outcome.verdict != VERDICT_LOST;
    }
    assert_true(expected < ASKED - 2);
    assert_int_equal(store_operators(store, add_operator, &tried, &error), 0);
    assert_int_equal(store_scores(store, add_score, &tried, &error), 0);
    assert_int_equal(tried.operators, expected);
    assert_int_equal(tried.scores, expected);
    store_close(store);
}

static void counts_match(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 300);
    struct store_counts counts, expected = {.asked = 300, .observed = 298};
    static struct outcome outcome;
    for (int64_t number = 1; number <= 298; number++) {
        example_outcome(number, &outcome);
        expected.verdicts[outcome.verdict]++;
        expected.raced += outcome.verdict == VERDICT_OK && outcome.raced;
    }
    assert_int_equal(store_count(store, &counts, &error), 0);
    assert_memory_equal(&counts, &expected, sizeof counts);
    store_close(store);
}

static int fail_at_third(void *context, const struct store_event *event, struct error *error) {
    *(int64_t *)context = event->number;
    return event->number == 13 ? error_set(error, "no more") : 0;
}

static void events_continue_after_a_number(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    fill(store, 50);
    int64_t last = 0;
    assert_int_equal(store_events(store, 10, fail_at_third, &last, &error), -1);
    assert_int_equal(last, 13);
    assert_string_equal(error.text, "no more");
    assert_int_equal(store_events(store, 40, fail_at_third, &last, &error), 0);
    assert_int_equal(last, store_event_count(store, &error));
    store_close(store);
}

static int see_champion(void *context, const struct store_champion *champion, struct error *error) {
    (void)error;
    int *count = context;
    assert_int_equal(champion->trial, *count == 0 ? 1 : 3);
    assert_int_equal(champion->previous, *count == 0 ? STORE_NO_TRIAL : 1);
    assert_int_equal(champion->goal, 1);
    assert_int_equal(champion->event, *count == 0 ? 2 : 4);
    assert_true(champion->score_us == (*count == 0 ? 8.0 / 3 : 2.5));
    ++*count;
    return 0;
}

static void champions_and_checkpoint(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    struct store_checkpoint checkpoint;
    assert_int_equal(store_checkpoint_read(store, &checkpoint, &error), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_begin(store, &error), 0);
        example_ask(store, 2 * i + 1, &error);
        example_tell(store, 2 * i + 1, &error);
        assert_int_equal(store_record_champion(store, 1, i ? 3 : 1, i ? 1 : STORE_NO_TRIAL,
                                               i ? 2.5 : 8.0 / 3, &error),
                         0);
        assert_int_equal(store_checkpoint(store, hash_bytes("state", strlen("state")),
                                          i ? "two" : "one", &error),
                         0);
        assert_int_equal(store_commit(store, &error), 0);
    }
    store_close(store);
    store = open_run(*state, STORE_READ);
    int count = 0;
    assert_int_equal(store_champions(store, see_champion, &count, &error), 0);
    assert_int_equal(count, 2);
    assert_int_equal(store_checkpoint_read(store, &checkpoint, &error), 1);
    assert_int_equal(checkpoint.events, 4);
    assert_true(hash_equal(checkpoint.digest, hash_bytes("state", strlen("state"))));
    assert_string_equal(checkpoint.text, "two");
    free(checkpoint.text);
    store_close(store);
}

/* Changes a run with plain SQL, as if another program or version had written it. */
static void tamper(const char *run_dir, const char *sql) {
    char path[PATH_SIZE];
    struct error error = {0};
    sqlite3 *database;
    assert_int_equal(path_join(path, run_dir, "run.db", &error), 0);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static int add_weights(void *context, const struct store_trial *trial, struct error *error) {
    double *sum = context;
    (void)error;
    for (int c = 0; c < trial->outcome->case_count; c++)
        *sum += (c + 1) * trial->outcome->cases[c].weight;
    return 0;
}

/* The outcomes that are read have the run's weights; bad ones are damage. */
static void outcomes_have_the_weights_of_the_run(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    const struct store_ask ask = {.number = 1, .genome = "A=1", .operator_name = "initial"};
    static struct outcome outcome;
    example_outcome(7, &outcome); /* of three cases */
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_meta_set(store, WEIGHTS_META, "0.125 3 2", &error), 0);
    assert_true(store_ask(store, &ask, &error) > 0);
    assert_true(store_tell(store, 1, &outcome, NULL, "cuda:0", &error) > 0);
    assert_int_equal(store_commit(store, &error), 0);
    outcome_release(&outcome);
    store_close(store);

    double sum = 0;
    store = open_run(*state, STORE_READ);
    assert_int_equal(store_trials(store, add_weights, &sum, &error), 0);
    assert_true(sum == 12.125);
    store_close(store);

    static const char *const bad[] = {"1 0", "1 -2", "1 x", "1 nan", "inf", "1e300 1e300"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE meta SET value = '%s' WHERE name = 'weights'", bad[i]);
        tamper(*state, sql);
        assert_null(store_open(*state, STORE_READ, &error));
        assert_non_null(strstr(error.text, "weights"));
    }
}

static int format_of(const char *run_dir) {
    char path[PATH_SIZE];
    struct error error = {0};
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(path_join(path, run_dir, "run.db", &error), 0);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int format = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return format;
}

static void assert_rejected(const char *run_dir, enum error_kind kind, const char *word) {
    for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        struct error error = {0};
        assert_null(store_open(run_dir, mode, &error));
        assert_int_equal(error.kind, kind);
        assert_non_null(strstr(error.text, word));
        assert_null(strchr(error.text, '\n'));
    }
    struct error error = {0};
    assert_null(example_create(run_dir, &error));
}

struct earlier {
    int format, count;
};

static int earlier_row(void *context, const struct store_trial *trial, struct error *error) {
    (void)error;
    struct earlier *earlier = context;
    for (int c = 0; c < trial->outcome->case_count; c++) {
        assert_int_equal(trial->outcome->cases[c].placements.count, earlier->format < 5 ? 0 : 5);
        assert_true(isnan(trial->outcome->cases[c].energy.mj));
    }
    assert_int_equal(trial->outcome->conditions.sm_mhz, 0);
    if (earlier->format == 3) {
        assert_string_equal(trial->outcome->checks, "");
        assert_string_equal(trial->outcome->uses, "");
    }
    assert_true(trial->outcome->resources.smem_bytes == 49152);
    earlier->count++;
    return 0;
}

/* Format 3 had no columns `checks` and `uses`, 3 and 4 none of placements, 3 to 5 none of energy
   and of the median clock. A reader leaves the file as it is; a writer adds them. */
static void check_earlier_format(const char *run_dir, int format, const char *sql) {
    struct error error = {0};
    struct store *store = create(run_dir);
    fill(store, 10);
    store_close(store);
    tamper(run_dir, "ALTER TABLE cases DROP COLUMN energy_mj;"
                    "ALTER TABLE cases DROP COLUMN energy_error;"
                    "ALTER TABLE cases DROP COLUMN energy_watts;"
                    "ALTER TABLE cases DROP COLUMN idle_watts;"
                    "ALTER TABLE trials DROP COLUMN sm_mhz;"
                    "ALTER TABLE earlier DROP COLUMN sm_mhz; DROP TABLE proposals;"
                    "PRAGMA user_version = 5");
    if (format < 5)
        tamper(run_dir, "ALTER TABLE cases DROP COLUMN placements;"
                        "ALTER TABLE cases DROP COLUMN placement_least_us;"
                        "ALTER TABLE cases DROP COLUMN placement_most_us; PRAGMA user_version = 4");
    tamper(run_dir, sql);
    for (int i = 0; i < 2; i++) { /* the first reader changes nothing for the second */
        assert_int_equal(format_of(run_dir), format);
        store = open_run(run_dir, STORE_READ);
        struct earlier earlier = {.format = format};
        assert_int_equal(store_trials(store, earlier_row, &earlier, &error), 0);
        assert_int_equal(earlier.count, 8);
        store_close(store);
    }
    store = open_run(run_dir, STORE_WRITE);
    assert_true(store_begin(store, &error) == 0 && example_ask(store, 11, &error) > 0 &&
                example_tell(store, 11, &error) > 0 && store_commit(store, &error) == 0);
    store_close(store);
    assert_int_equal(format_of(run_dir), 7);
    store = open_run(run_dir, STORE_READ);
    struct store_trial *added = store_trial_read(store, 11, &error);
    assert_true(added != NULL && added->outcome != NULL && example_matches(added));
    store_trial_free(added);
    store_close(store);
}

static void a_run_without_energy_is_read_and_upgraded(void **state) {
    check_earlier_format(*state, 5, "");
}

static void a_run_without_placements_is_read_and_upgraded(void **state) {
    check_earlier_format(*state, 4, "");
}

static void a_run_without_checks_is_read_and_upgraded(void **state) {
    check_earlier_format(
        *state, 3,
        "ALTER TABLE trials DROP COLUMN checks; ALTER TABLE trials DROP COLUMN uses;"
        "ALTER TABLE earlier DROP COLUMN checks; ALTER TABLE earlier DROP COLUMN uses;"
        "PRAGMA user_version = 3");
}

/* ---- proposals ---- */

struct proposal_walk {
    int64_t count;
    struct store *store;
};

static int proposal_row(void *context, const struct store_proposal *proposal, struct error *error) {
    (void)error;
    struct proposal_walk *walk = context;
    const int64_t number = ++walk->count;
    const int state = (int)(number % 4);
    assert_int_equal(proposal->number, number);
    assert_string_equal(proposal->parent, "start");
    assert_string_equal(proposal->hypothesis, "two loads\nat a time");
    assert_int_equal(proposal->answer != NULL, state > 0);
    assert_int_equal(proposal->other != NULL, number % 5 == 0);
    assert_int_equal(proposal->goal, state > 1 ? 1 : NO_GOAL);
    assert_true(proposal->trial == (state > 0 ? number : STORE_NO_TRIAL));
    assert_true(state > 2 ? proposal->ratio == 1 / 3.0 && proposal->turn == number
                          : isnan(proposal->ratio) && proposal->turn == 0);
    assert_true(proposal->prompt_tokens == 1000 + number);
    assert_true(number % 2 ? proposal->cost == 0.125 : isnan(proposal->cost));
    return 0;
}

static void proposals_and_goals_are_stored(void **state) {
    struct error error = {0};
    struct store *store = create(*state);
    const int goals = store_goal_count(store);
    assert_int_equal(store_begin(store, &error), 0);
    for (int64_t number = 1; number <= 9; number++) /* the second time replaces */
        assert_true(example_proposal(store, number, &error) == 0 &&
                    example_proposal(store, number, &error) == 0);
    assert_int_equal(store_commit(store, &error), 0);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_add_goal(store, "one more", &error), 0);
    assert_int_equal(store_goal_count(store), goals + 1);
    store_rollback(store);
    assert_int_equal(store_goal_count(store), goals);
    assert_true(store_begin(store, &error) == 0 && store_add_goal(store, "kept", &error) == 0 &&
                store_commit(store, &error) == 0);
    store_close(store);
    store = open_run(*state, STORE_READ);
    struct proposal_walk walk = {.store = store};
    assert_int_equal(store_proposals(store, proposal_row, &walk, &error), 0);
    assert_int_equal(walk.count, 9);
    assert_int_equal(store_goal_count(store), goals + 1);
    assert_string_equal(store_goal_name(store, goals), "kept");
    store_close(store);
}

static int no_proposal(void *context, const struct store_proposal *proposal, struct error *error) {
    (void)context, (void)proposal, (void)error;
    fail_msg("an earlier run has no proposals");
    return -1;
}

/* Format 6 had no table of proposals. */
static void a_run_without_proposals_is_read_and_upgraded(void **state) {
    struct error error = {0};
    store_close(create(*state));
    tamper(*state, "DROP TABLE proposals; PRAGMA user_version = 6");
    struct store *store = open_run(*state, STORE_READ);
    assert_int_equal(store_proposals(store, no_proposal, NULL, &error), 0);
    store_close(store);
    assert_int_equal(format_of(*state), 6);
    store = open_run(*state, STORE_WRITE);
    assert_true(store_begin(store, &error) == 0 && example_proposal(store, 1, &error) == 0 &&
                store_commit(store, &error) == 0);
    store_close(store);
    assert_int_equal(format_of(*state), 7);
}

static void other_files_are_rejected(void **state) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_null(store_open(*state, STORE_READ, &error));
    assert_non_null(strstr(error.text, "holds no run"));
    assert_int_equal(error.kind, ERROR_INPUT);

    struct store *store = create(*state);
    fill(store, 10);
    store_close(store);
    assert_null(example_create(*state, &error));
    assert_non_null(strstr(error.text, "holds a run already"));

    tamper(*state, "PRAGMA user_version = 8");
    assert_rejected(*state, ERROR_INPUT, "format 8");
    tamper(*state, "PRAGMA user_version = 7; PRAGMA application_id = 5");
    assert_rejected(*state, ERROR_INPUT, "another program");
    tamper(*state, "PRAGMA application_id = 0x65766f74");
    store = open_run(*state, STORE_WRITE);
    struct example_walk walk;
    assert_true(example_is_whole(store, &walk, &error));
    store_close(store);

    /* A file that is not a database is rejected and unchanged. */
    assert_int_equal(path_join(path, *state, "run.db", &error), 0);
    char text[5000];
    memset(text, 'x', sizeof text);
    assert_int_equal(path_write_file(path, text, sizeof text, &error), 0);
    assert_rejected(*state, ERROR_INPUT, "is not a results file");
    size_t size;
    char *found = path_read_file(path, sizeof text, &size, &error);
    assert_non_null(found);
    assert_int_equal(size, sizeof text);
    assert_memory_equal(found, text, size);
    free(found);
}

#define THE_FIFTH "(SELECT told FROM trials WHERE number = 5)"

static void damage_is_an_error(void **state) {
    static const char *const damages[] = {
        "UPDATE trials SET verdict = 'fine' WHERE number = 4",
        "UPDATE trials SET goal = 9 WHERE number = 4",
        "UPDATE trials SET key = 'x' WHERE number = 4",
        "UPDATE trials SET case_count = 1000 WHERE number = 4",
        "UPDATE cases SET sample_count = 1000000 WHERE event = " THE_FIFTH,
        "UPDATE cases SET number = 63 WHERE event = " THE_FIFTH,
        "UPDATE cases SET samples_us = x'00' WHERE event = " THE_FIFTH};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char run_dir[PATH_SIZE];
        struct error error = {0};
        snprintf(run_dir, sizeof run_dir, "%s/%zu", (char *)*state, i);
        struct store *store = create(run_dir);
        fill(store, 10);
        store_close(store);
        tamper(run_dir, damages[i]);
        store = open_run(run_dir, STORE_READ);
        struct example_walk walk;
        assert_int_equal(store_events(store, 0, example_walk_row, &walk, &error), -1);
        assert_non_null(strstr(error.text, "damaged"));
        store_close(store);
    }
}

static void a_closed_run_is_one_file(void **state) {
    struct error error = {0};
    char **names;
    int count;
    struct store *store = create(*state);
    fill(store, 10);
    store_close(store);
    assert_int_equal(path_list(*state, &names, &count, &error), 0);
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "run.db");
    path_list_free(names, count);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(trials_round_trip),
        TEST(meta_and_goals),
        TEST(outcomes_have_the_weights_of_the_run),
        TEST(keys_keep_their_parts),
        TEST(rollback_discards_the_batch),
        TEST(board_is_in_order),
        TEST(equal_scores_rank_by_number),
        TEST(one_process_writes),
        TEST(unjudged_trials_are_not_counted),
        TEST(counts_match),
        TEST(events_continue_after_a_number),
        TEST(champions_and_checkpoint),
        TEST(proposals_and_goals_are_stored),
        TEST(a_run_without_proposals_is_read_and_upgraded),
        TEST(a_run_without_energy_is_read_and_upgraded),
        TEST(a_run_without_placements_is_read_and_upgraded),
        TEST(a_run_without_checks_is_read_and_upgraded),
        TEST(other_files_are_rejected),
        TEST(damage_is_an_error),
        TEST(a_closed_run_is_one_file),
        TEST(repeated_trial_keeps_earlier_outcome),
        TEST(other_drivers_trials_are_outdated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
