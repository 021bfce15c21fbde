/* Writes to a store in batches: any failure rolls back the whole batch. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "outcome/fields.h"
#include "store/database.h"

int store_begin(struct store *store, struct error *error) {
    if (store->mode != STORE_WRITE || store->in_batch)
        BUG("cannot begin a batch in a store that is %s", store->in_batch ? "in one" : "read-only");
    sqlite3_stmt *statement = database_use(store, SQL_BEGIN, error);
    if (database_finish(store, statement, error) < 0)
        return -1;
    store->in_batch = true;
    store->events_begin = store->events;
    store->goals_begin = store->goal_count;
    return 0;
}

bool store_in_batch(const struct store *store) {
    return store->in_batch;
}

void store_rollback(struct store *store) {
    if (!store->in_batch)
        return;
    /* SQLite may have rolled back by itself, e.g. because the disk is full. */
    if (!sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    store->in_batch = false;
    store->events = store->events_begin;
    while (store->goal_count > store->goals_begin)
        free(store->goals[--store->goal_count]);
    store->setting = 0;
}

/* Rolls back and returns -1, for `return` after a failure. */
static int rollback_failed(struct store *store) {
    store_rollback(store);
    return -1;
}

int store_commit(struct store *store, struct error *error) {
    if (!store->in_batch)
        BUG("a commit outside of a batch");
    sqlite3_stmt *statement = database_use(store, SQL_COMMIT, error);
    if (database_finish(store, statement, error) < 0)
        return rollback_failed(store);
    store->in_batch = false;
    return 0;
}

/* Runs a statement of a batch; a failure rolls the batch back. */
static int finish_in_batch(struct store *store, sqlite3_stmt *statement, struct error *error) {
    return database_finish(store, statement, error) < 0 ? rollback_failed(store) : 0;
}

static sqlite3_stmt *use_in_batch(struct store *store, enum statement statement,
                                  struct error *error) {
    if (!store->in_batch)
        BUG("writing outside of a batch: %s", sql_text(statement));
    return database_use(store, statement, error);
}

int store_meta_set(struct store *store, const char *name, const char *value, struct error *error) {
    sqlite3_stmt *statement = use_in_batch(store, SQL_META_SET, error);
    database_bind_text(statement, 1, name);
    database_bind_text(statement, 2, value);
    return finish_in_batch(store, statement, error);
}

static void bind_trial(sqlite3_stmt *statement, int index, int64_t trial) {
    if (trial == STORE_NO_TRIAL)
        sqlite3_bind_null(statement, index);
    else
        sqlite3_bind_int64(statement, index, trial);
}

static void check_goal(const struct store *store, int goal) {
    if (goal < 0 || goal >= store->goal_count)
        BUG("goal %d of %d", goal, store->goal_count);
}

int64_t store_ask(struct store *store, const struct store_ask *ask, struct error *error) {
    check_goal(store, ask->goal);
    sqlite3_stmt *statement = use_in_batch(store, SQL_ASK, error);
    sqlite3_bind_int64(statement, 1, ask->number);
    sqlite3_bind_int(statement, 2, ask->goal);
    database_bind_text(statement, 3, ask->genome);
    bind_trial(statement, 4, ask->parent_a);
    bind_trial(statement, 5, ask->parent_b);
    database_bind_text(statement, 6, ask->operator_name);
    sqlite3_bind_int64(statement, 7, store->events + 1);
    sqlite3_bind_double(statement, 8, clock_unix_seconds());
    if (database_finish(store, statement, error) < 0)
        return rollback_failed(store);
    return ++store->events;
}

/* The row of `settings` with the parts of `key` except the genome; inserted if it is new. */
static int64_t setting_id(struct store *store, const struct key *key, struct error *error) {
    struct hasher *hasher = hasher_new();
    for (int part = KEY_GENOME + 1; part < KEY_PART_COUNT; part++)
        hasher_add_text(hasher, key->parts[part]);
    struct hash hash = hasher_finish(hasher);
    if (store->setting && hash_equal(hash, store->setting_hash))
        return store->setting;

    char text[HASH_TEXT_SIZE];
    hash_print(hash, text);
    sqlite3_stmt *statement = use_in_batch(store, SQL_SETTING_ADD, error);
    database_bind_text(statement, 1, text);
    for (int part = KEY_GENOME + 1; part < KEY_PART_COUNT; part++)
        database_bind_text(statement, 1 + part, key->parts[part]);
    if (database_finish(store, statement, error) < 0 ||
        (statement = use_in_batch(store, SQL_SETTING_ID, error)) == NULL)
        return -1;
    database_bind_text(statement, 1, text);
    int got = database_step(store, statement, error);
    int64_t setting = got == 1 ? sqlite3_column_int64(statement, 0) : -1;
    database_done(statement);
    if (got == 0)
        BUG("a setting that was just written is missing");
    if (got == 1) {
        store->setting = setting;
        store->setting_hash = hash;
    }
    return setting;
}

/* Binds fields to the parameters from `index` on; returns the next index. */
static int bind_fields(sqlite3_stmt *statement, int index, const struct field *fields,
                       const void *record) {
    for (const struct field *field = fields; field->name != NULL; field++, index++) {
        const void *member = field_member(field, record);
        switch (field->kind) {
        case FIELD_INT:
            sqlite3_bind_int(statement, index, *(const int *)member);
            break;
        case FIELD_INT64:
            sqlite3_bind_int64(statement, index, *(const int64_t *)member);
            break;
        case FIELD_DOUBLE:
            sqlite3_bind_double(statement, index, *(const double *)member);
            break;
        case FIELD_BOOL:
            sqlite3_bind_int(statement, index, *(const bool *)member);
            break;
        case FIELD_TEXT:
            database_bind_text(statement, index, member);
            break;
        }
    }
    return index;
}

/* Without samples, the second parameter stays NULL. */
static void bind_samples(sqlite3_stmt *statement, int index, const struct latency *latency) {
    if (latency->sample_count < 0 || latency->sample_count > SAMPLES_MAX)
        BUG("%d samples", latency->sample_count);
    sqlite3_bind_int(statement, index, latency->sample_count);
    if (latency->sample_count > 0)
        sqlite3_bind_blob(statement, index + 1, latency->samples_us,
                          latency->sample_count * (int)sizeof latency->samples_us[0],
                          SQLITE_STATIC);
}

static int add_case(struct store *store, int64_t event, int number,
                    const struct case_outcome *outcome, struct error *error) {
    sqlite3_stmt *statement = use_in_batch(store, SQL_CASE_ADD, error);
    sqlite3_bind_int64(statement, 1, event);
    sqlite3_bind_int(statement, 2, number);
    int index = bind_fields(statement, 3, case_fields, outcome);
    for (const struct samples_field *field = case_samples; field->name != NULL; field++, index += 2)
        bind_samples(statement, index, samples_latency(field, outcome));
    return database_finish(store, statement, error);
}

int64_t store_tell(struct store *store, int64_t number, const struct outcome *outcome,
                   const struct key *key, const char *worker, struct error *error) {
    if (outcome->case_count < 0 || outcome->case_count > CASES_MAX)
        BUG("%d cases", outcome->case_count);
    char hash[HASH_TEXT_SIZE];
    int64_t setting = 0;
    if (key != NULL) {
        hash_print(key_hash(key), hash);
        if ((setting = setting_id(store, key, error)) < 0)
            return rollback_failed(store);
    }
    sqlite3_stmt *statement = use_in_batch(store, SQL_TELL, error);
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, store->events + 1);
    sqlite3_bind_double(statement, 3, clock_unix_seconds());
    database_bind_text(statement, 4, worker);
    if (key != NULL) {
        database_bind_text(statement, 5, hash);
        sqlite3_bind_int64(statement, 6, setting);
    }
    database_bind_text(statement, 7, verdict_name(outcome->verdict));
    bind_fields(statement, 8, outcome_fields, outcome);
    if (database_finish(store, statement, error) < 0)
        return rollback_failed(store);
    if (sqlite3_changes(store->database) != 1)
        BUG("trial %lld was told twice, or was not asked", (long long)number);
    for (int i = 0; i < outcome->case_count; i++)
        if (add_case(store, store->events + 1, i, &outcome->cases[i], error) < 0)
            return rollback_failed(store);
    return ++store->events;
}

static int run_for_trial(struct store *store, enum statement which, int64_t number,
                         struct error *error) {
    sqlite3_stmt *statement = use_in_batch(store, which, error);
    sqlite3_bind_int64(statement, 1, number);
    if (database_finish(store, statement, error) < 0)
        return -1;
    if (sqlite3_changes(store->database) != 1)
        BUG("trial %lld is told again, but was never told", (long long)number);
    return 0;
}

int64_t store_tell_again(struct store *store, int64_t number, const struct outcome *outcome,
                         const struct key *key, const char *worker, struct error *error) {
    if (run_for_trial(store, SQL_EARLIER_ADD, number, error) < 0 ||
        run_for_trial(store, SQL_UNTELL, number, error) < 0)
        return rollback_failed(store);
    return store_tell(store, number, outcome, key, worker, error);
}

int store_outdate(struct store *store, const struct key *present, struct error *error) {
    sqlite3_stmt *statement = use_in_batch(store, SQL_OUTDATE, error);
    database_bind_text(statement, 1, present->parts[KEY_DRIVER]);
    database_bind_text(statement, 2, present->parts[KEY_NVRTC]);
    database_bind_text(statement, 3, present->parts[KEY_METHOD]);
    return finish_in_batch(store, statement, error);
}

int store_record_champion(struct store *store, int goal, int64_t trial, int64_t previous,
                          double score_us, struct error *error) {
    check_goal(store, goal);
    sqlite3_stmt *statement = use_in_batch(store, SQL_CHAMPION_ADD, error);
    sqlite3_bind_int64(statement, 1, store->events);
    sqlite3_bind_int(statement, 2, goal);
    sqlite3_bind_int64(statement, 3, trial);
    bind_trial(statement, 4, previous);
    sqlite3_bind_double(statement, 5, score_us);
    sqlite3_bind_double(statement, 6, clock_unix_seconds());
    return finish_in_batch(store, statement, error);
}

int store_checkpoint(struct store *store, struct hash digest, const char *text,
                     struct error *error) {
    sqlite3_stmt *statement = use_in_batch(store, SQL_CHECKPOINT_SET, error);
    char digits[HASH_TEXT_SIZE];
    sqlite3_bind_int64(statement, 1, store->events);
    database_bind_text(statement, 2, hash_print(digest, digits));
    database_bind_text(statement, 3, text);
    return finish_in_batch(store, statement, error);
}
