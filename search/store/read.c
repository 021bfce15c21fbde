/* Reads a store. Every function runs one statement, so its result is a consistent snapshot even
   while another process writes. All share the columns' names and order, so they are one file. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "outcome/fields.h"
#include "store/database.h"

static double column_double(sqlite3_stmt *statement, int column) {
    /* SQL has no NaN: it was stored as NULL. */
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(statement, column);
}

static int64_t column_trial(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? STORE_NO_TRIAL
               : sqlite3_column_int64(statement, column);
}

static const char *column_text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}

/* The columns of TRIAL in sql.c. */
enum trial_column {
    NUMBER,
    GOAL,
    GENOME,
    PARENT_A,
    PARENT_B,
    OPERATOR,
    ASKED,
    OBSERVED,
    ISSUED,
    FINISHED,
    WORKER,
    KEY,
    OUTDATED,
    VERDICT,
    FIELDS /* the first of outcome_fields */
};

/* Reads fields from the columns from `column` on; returns the next column. */
static int column_fields(sqlite3_stmt *statement, int column, const struct field *fields,
                         void *record) {
    for (const struct field *field = fields; field->name != NULL; field++, column++) {
        void *member = field_member(field, record);
        const char *text;
        switch (field->kind) {
        case FIELD_INT:
            *(int *)member = sqlite3_column_int(statement, column);
            break;
        case FIELD_INT64:
            *(int64_t *)member = sqlite3_column_int64(statement, column);
            break;
        case FIELD_DOUBLE:
            *(double *)member = column_double(statement, column);
            break;
        case FIELD_BOOL:
            *(bool *)member = sqlite3_column_int(statement, column);
            break;
        case FIELD_TEXT:
            text = column_text(statement, column);
            snprintf(member, field->size, "%s", text != NULL ? text : "");
            text_escape(member, field->size, false);
            break;
        }
    }
    return column;
}

/* Reads the number of samples at `column` and the samples after it. False if the sizes are
   inconsistent. */
static bool column_samples(sqlite3_stmt *statement, int column, struct latency *latency) {
    int count = sqlite3_column_int(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column + 1);
    if (count < 0 || count > SAMPLES_MAX || size != (size_t)count * sizeof latency->samples_us[0])
        return false;
    latency->sample_count = 0;
    if (size > 0)
        memcpy(latency_reserve(latency, count), sqlite3_column_blob(statement, column + 1), size);
    latency->sample_count = count;
    return true;
}

/* What is inconsistent; NULL: nothing. */
static const char *column_case(sqlite3_stmt *statement, struct outcome *outcome) {
    int number = sqlite3_column_int(statement, 0);
    if (number >= outcome->case_count)
        return "the trial of that event has fewer cases";
    struct case_outcome *one = &outcome->cases[number];
    int column = column_fields(statement, 1, case_fields, one);
    for (const struct samples_field *field = case_samples; field->name != NULL;
         field++, column += 2)
        if (!column_samples(statement, column, samples_latency(field, one)))
            return "the number of samples is not that of the samples";
    return NULL;
}

static int read_cases(struct store *store, int64_t event, struct outcome *outcome,
                      struct error *error) {
    if (outcome->case_count == 0)
        return 0;
    sqlite3_stmt *statement = database_use(store, SQL_CASES, error);
    sqlite3_bind_int64(statement, 1, event);
    int status = 0, count = 0;
    for (; database_next(store, statement, &status, error); count++) {
        const char *wrong = column_case(statement, outcome);
        if (wrong != NULL)
            status = database_damaged_row(store, statement, error, wrong);
    }
    if (status < 0 || count == outcome->case_count)
        return status;
    char what[128];
    snprintf(what, sizeof what, "table cases, event %lld: %d rows of a trial with %d cases",
             (long long)event, count, outcome->case_count);
    return database_damaged(store, error, what);
}

/* `first` is the first column of the trial. `outcome` is zeroed or holds the previous row. Without
   `with_outcome`, a trial that was told is read without its outcome, like one in flight. */
static int read_trial(struct store *store, sqlite3_stmt *statement, int first, bool with_outcome,
                      struct store_trial *trial, struct outcome *outcome, struct error *error) {
    const char *key = column_text(statement, first + KEY);
    *trial = (struct store_trial){
        .number = sqlite3_column_int64(statement, first + NUMBER),
        .goal = sqlite3_column_int(statement, first + GOAL),
        .genome = column_text(statement, first + GENOME),
        .parent_a = column_trial(statement, first + PARENT_A),
        .parent_b = column_trial(statement, first + PARENT_B),
        .operator_name = column_text(statement, first + OPERATOR),
        .asked = sqlite3_column_int64(statement, first + ASKED),
        .observed = sqlite3_column_int64(statement, first + OBSERVED),
        .issued = sqlite3_column_double(statement, first + ISSUED),
        .finished = sqlite3_column_double(statement, first + FINISHED),
        .worker = column_text(statement, first + WORKER),
        .has_key = key != NULL,
        .outdated = sqlite3_column_int(statement, first + OUTDATED),
    };
    if (key != NULL)
        hash_parse(&trial->key, key);
    if (trial->observed == 0 || !with_outcome)
        return 0;

    outcome_release(outcome);
    column_fields(statement, first + FIELDS, outcome_fields, outcome);
    int case_count = outcome->case_count;
    outcome->case_count = 0;
    outcome->verdict = (enum verdict)verdict_parse(column_text(statement, first + VERDICT));
    outcome_set_cases(outcome, case_count);
    if (case_count == store->weight_count)
        outcome_set_weights(outcome, store->weights);
    if (read_cases(store, trial->observed, outcome, error) < 0)
        return -1;
    trial->outcome = outcome;
    return 0;
}

/* Calls `row` for each trial, until `row` stops. */
static int each_trial(struct store *store, sqlite3_stmt *statement, store_trial_row *row,
                      void *context, struct error *error) {
    struct outcome outcome = {0};
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        struct store_trial trial;
        status = read_trial(store, statement, 0, true, &trial, &outcome, error);
        if (status == 0)
            status = row(context, &trial, error);
    }
    outcome_release(&outcome);
    return status;
}

int64_t store_event_count(struct store *store, struct error *error) {
    if (store->in_batch)
        return store->events;
    sqlite3_stmt *statement = database_use(store, SQL_LAST_EVENTS, error);
    int status = 0;
    int64_t last = 0;
    while (database_next(store, statement, &status, error))
        for (int column = 1; column <= 2; column++) {
            int64_t event = sqlite3_column_int64(statement, column);
            last = event > last ? event : last;
        }
    return status < 0 ? -1 : last;
}

int store_events(struct store *store, int64_t after, store_event_row *row, void *context,
                 struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_EVENTS, error);
    sqlite3_bind_int64(statement, 1, after);
    struct outcome outcome = {0};
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        int tells = sqlite3_column_int(statement, 1);
        struct store_event event = {.number = sqlite3_column_int64(statement, 0),
                                    .observed = tells > 0,
                                    .again = tells > 1};
        status = read_trial(store, statement, 2, event.observed, &event.trial, &outcome, error);
        if (status == 0)
            status = row(context, &event, error);
    }
    outcome_release(&outcome);
    return status;
}

int store_in_flight(struct store *store, store_trial_row *row, void *context, struct error *error) {
    return each_trial(store, database_use(store, SQL_IN_FLIGHT, error), row, context, error);
}

int store_trials(struct store *store, store_trial_row *row, void *context, struct error *error) {
    return each_trial(store, database_use(store, SQL_TRIALS, error), row, context, error);
}

/* A self-contained copy of a trial: its strings follow it in the same allocation. */
struct owned_trial {
    struct store_trial trial;
    struct outcome outcome;
    char text[];
};

static const char *copy_text(char **room, const char *text) {
    if (text == NULL)
        return NULL;
    char *copied = *room;
    *room = stpcpy(copied, text) + 1;
    return copied;
}

static size_t text_size(const char *text) {
    return text != NULL ? strlen(text) + 1 : 0;
}

struct store_trial *store_trial_read(struct store *store, int64_t number, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_TRIAL, error);
    sqlite3_bind_int64(statement, 1, number);
    struct outcome outcome = {0};
    struct owned_trial *owned = NULL;
    struct store_trial trial;
    int got = database_step(store, statement, error);
    if (got == 0)
        error_input(error, "%s has no trial %lld: `board` lists its trials", store->run_dir,
                    (long long)number);
    if (got == 1 && read_trial(store, statement, 0, true, &trial, &outcome, error) == 0) {
        size_t size =
            text_size(trial.genome) + text_size(trial.operator_name) + text_size(trial.worker);
        owned = xcalloc(1, sizeof *owned + size);
        char *room = owned->text;
        owned->trial = trial;
        owned->trial.genome = copy_text(&room, trial.genome);
        owned->trial.operator_name = copy_text(&room, trial.operator_name);
        owned->trial.worker = copy_text(&room, trial.worker);
        if (trial.outcome != NULL) {
            outcome_move(&owned->outcome, &outcome);
            owned->trial.outcome = &owned->outcome;
        }
    }
    database_done(statement);
    outcome_release(&outcome);
    return owned != NULL ? &owned->trial : NULL;
}

void store_trial_free(struct store_trial *trial) {
    struct owned_trial *owned = (struct owned_trial *)trial; /* its first member */
    if (owned != NULL)
        outcome_release(&owned->outcome);
    free(owned);
}

int store_key_read(struct store *store, int64_t trial, struct key *key, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_KEY, error);
    sqlite3_bind_int64(statement, 1, trial);
    int result = -1, got = database_step(store, statement, error);
    if (got == 0)
        error_set(error,
                  "trial %lld of %s has no key: nothing was compiled for it, "
                  "so there is no kernel to rebuild",
                  (long long)trial, store->run_dir);
    if (got == 1) {
        struct hash stored = {0};
        const char *digits = column_text(statement, 0);
        bool complete = digits != NULL && hash_parse(&stored, digits);
        *key = (struct key){0};
        for (int part = 0; part < KEY_PART_COUNT; part++) {
            const char *text = column_text(statement, 1 + part);
            complete = complete && text != NULL;
            if (text != NULL)
                key_set(key, part, text);
        }
        if (complete && hash_equal(stored, key_hash(key))) {
            result = 0;
        } else {
            key_release(key);
            database_damaged(store, error, "a trial's key does not match its hash");
        }
    }
    database_done(statement);
    return result;
}

int store_board(struct store *store, int goal, int64_t limit, int smem_bytes, store_trial_row *row,
                void *context, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_BOARD, error);
    sqlite3_bind_int(statement, 1, goal);
    sqlite3_bind_int64(statement, 2, limit > 0 ? limit : -1);
    sqlite3_bind_int(statement, 3, smem_bytes);
    return each_trial(store, statement, row, context, error);
}

int store_shared_board(struct store *store, struct goal_range goals, int64_t limit, int smem_bytes,
                       store_trial_row *row, void *context, struct error *error) {
    if (goals.first == goals.last)
        return store_board(store, goals.first, limit, smem_bytes, row, context, error);
    sqlite3_stmt *statement = database_use(store, SQL_SHARED_BOARD, error);
    sqlite3_bind_int(statement, 1, goals.first);
    sqlite3_bind_int64(statement, 2, limit > 0 ? limit : -1);
    sqlite3_bind_int(statement, 3, smem_bytes);
    sqlite3_bind_int(statement, 4, goals.last);
    return each_trial(store, statement, row, context, error);
}

int64_t store_ranked(struct store *store, int goal, int64_t rank, struct error *error) {
    return store_shared_ranked(store, (struct goal_range){goal, goal}, rank, error);
}

int64_t store_shared_ranked(struct store *store, struct goal_range goals, int64_t rank,
                            struct error *error) {
    if (rank < 1)
        return STORE_NO_TRIAL;
    const bool one = goals.first == goals.last;
    sqlite3_stmt *statement = database_use(store, one ? SQL_RANKED : SQL_SHARED_RANKED, error);
    sqlite3_bind_int(statement, 1, goals.first);
    sqlite3_bind_int64(statement, 2, rank - 1);
    if (!one)
        sqlite3_bind_int(statement, 3, goals.last);
    int got = database_step(store, statement, error);
    int64_t number = got == 1 ? sqlite3_column_int64(statement, 0) : got == 0 ? STORE_NO_TRIAL : -2;
    database_done(statement);
    return number;
}

static enum verdict column_verdict(sqlite3_stmt *statement, int column) {
    return (enum verdict)verdict_parse(column_text(statement, column));
}

/* The same of a trial that was observed; -1 with `error` if its verdict is NULL. */
static int observed_verdict(struct store *store, sqlite3_stmt *statement, int column,
                            struct error *error) {
    return column_text(statement, column) != NULL
               ? (int)column_verdict(statement, column)
               : database_damaged_row(store, statement, error, "verdict is NULL");
}

static void add_count(sqlite3_stmt *statement, struct store_counts *sum) {
    int64_t count = sqlite3_column_int64(statement, 3);
    sum->asked += count;
    if (column_text(statement, 0) == NULL)
        return; /* in flight */
    enum verdict verdict = column_verdict(statement, 0);
    sum->observed += count;
    sum->verdicts[verdict] += count;
    sum->outdated += sqlite3_column_int(statement, 2) ? count : 0;
    sum->raced += verdict == VERDICT_OK && sqlite3_column_int(statement, 1) ? count : 0;
}

int store_count(struct store *store, struct store_counts *counts, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_COUNTS, error);
    int status = 0;
    *counts = (struct store_counts){0};
    while (database_next(store, statement, &status, error))
        add_count(statement, counts);
    return status;
}

int store_clocks(struct store *store, struct store_clocks *clocks, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_CLOCKS, error);
    int status = 0;
    for (int goal = 0; goal < store->goal_count; goal++)
        clocks[goal] = (struct store_clocks){0};
    while (database_next(store, statement, &status, error))
        clocks[sqlite3_column_int(statement, 0)] =
            (struct store_clocks){.trials = sqlite3_column_int64(statement, 1),
                                  .power_limited = sqlite3_column_int64(statement, 2),
                                  .sm_mhz_low = sqlite3_column_int(statement, 3),
                                  .sm_mhz_high = sqlite3_column_int(statement, 4)};
    return status;
}

int store_tells(struct store *store, int64_t after, store_tell_row *row, void *context,
                struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_TELLS, error);
    int status = 0;
    sqlite3_bind_int64(statement, 1, after);
    while (database_next(store, statement, &status, error)) {
        int verdict = observed_verdict(store, statement, 1, error);
        struct store_tell_summary tell = {.operator_name = column_text(statement, 0),
                                          .verdict = (enum verdict)verdict,
                                          .raced = sqlite3_column_int(statement, 2),
                                          .again = sqlite3_column_int(statement, 3) > 1,
                                          .observed = sqlite3_column_int64(statement, 4)};
        status = verdict < 0 ? -1 : row(context, &tell, error);
    }
    return status;
}

int store_operators(struct store *store, store_operator_row *row, void *context,
                    struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_OPERATORS, error);
    int status = 0;
    while (database_next(store, statement, &status, error))
        status = row(context, column_text(statement, 0), sqlite3_column_int(statement, 1),
                     sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3), error);
    return status;
}

int store_scores(struct store *store, store_score_row *row, void *context, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_SCORES, error);
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        int verdict = observed_verdict(store, statement, 2, error);
        status = verdict < 0
                     ? -1
                     : row(context, sqlite3_column_int64(statement, 4),
                           sqlite3_column_int(statement, 0), column_text(statement, 1),
                           (enum verdict)verdict, sqlite3_column_double(statement, 3), error);
    }
    return status;
}

int store_reasons(struct store *store, int64_t limit, store_reason_row *row, void *context,
                  struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_REASONS, error);
    int status = 0;
    sqlite3_bind_int64(statement, 1, limit);
    while (database_next(store, statement, &status, error)) {
        int verdict = observed_verdict(store, statement, 0, error);
        const char *text = column_text(statement, 1);
        char *reason = text_escaped(text != NULL ? text : "", false);
        status = verdict < 0 ? -1
                             : row(context, (enum verdict)verdict, reason,
                                   sqlite3_column_int64(statement, 2), error);
        free(reason);
    }
    return status;
}

int store_champions(struct store *store, store_champion_row *row, void *context,
                    struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_CHAMPIONS, error);
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        const struct store_champion champion = {
            .event = sqlite3_column_int64(statement, 0),
            .goal = sqlite3_column_int(statement, 1),
            .trial = sqlite3_column_int64(statement, 2),
            .previous = column_trial(statement, 3),
            .score_us = column_double(statement, 4),
            .accepted = sqlite3_column_double(statement, 5),
        };
        const char *wrong = sqlite3_column_type(statement, 6) == SQLITE_NULL
                                ? "the trial does not exist or has no outcome"
                            : sqlite3_column_int(statement, 7) != champion.goal
                                ? "goal is not the trial's"
                                : NULL;
        status = wrong != NULL ? database_damaged_row(store, statement, error, wrong)
                               : row(context, &champion, error);
    }
    return status;
}

int store_checkpoint_read(struct store *store, struct store_checkpoint *checkpoint,
                          struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_CHECKPOINT_GET, error);
    int got = database_step(store, statement, error);
    if (got == 1) {
        const char *digits = column_text(statement, 1), *text = column_text(statement, 2);
        *checkpoint = (struct store_checkpoint){.events = sqlite3_column_int64(statement, 0),
                                                .text = xstrdup(text)};
        hash_parse(&checkpoint->digest, digits);
    }
    database_done(statement);
    return got;
}
