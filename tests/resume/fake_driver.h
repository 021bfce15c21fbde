/* fake_driver: edits a run on disk so that it seems to have been measured under another driver.
 *
 *     struct place place;                    // the test fills `tiny` and `run_dir`
 *     fake_driver(&place, "570.1");
 */
#ifndef EVOTILE_TESTS_RESUME_FAKED_H
#define EVOTILE_TESTS_RESUME_FAKED_H

#include "resume/run.h"

#include <sqlite3.h>

struct place {
    struct tiny tiny;
    char run_dir[PATH_SIZE];
};

static inline void change(const struct place *place, const char *sql, const char *first,
                          const char *second) {
    char path[PATH_SIZE];
    struct error error = {0};
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(path_join(path, place->run_dir, "run.db", &error), 0);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

struct keyed {
    struct store *store;
    int count;
    int64_t numbers[1000];
    struct key keys[1000];
};

static inline int read_key(void *context, const struct store_event *event, struct error *error) {
    struct keyed *keyed = context;
    if (!event->observed || event->again || !event->trial.has_key)
        return 0;
    keyed->numbers[keyed->count] = event->trial.number;
    return store_key_read(keyed->store, event->trial.number, &keyed->keys[keyed->count++], error);
}

/* Changes the driver in the keys of all trials, and their hashes. */
static inline void fake_driver(const struct place *place, const char *driver) {
    static struct keyed keyed;
    struct error error = {0};
    char hash[HASH_TEXT_SIZE], number[24];
    keyed.count = 0;
    keyed.store = store_open(place->run_dir, STORE_READ, &error);
    assert_non_null(keyed.store);
    assert_int_equal(store_events(keyed.store, 0, read_key, &keyed, &error), 0);
    store_close(keyed.store);
    change(place, "UPDATE settings SET driver = ?1, hash = hash || ?1 || id", driver, NULL);
    for (int i = 0; i < keyed.count; i++) {
        key_set(&keyed.keys[i], KEY_DRIVER, driver);
        snprintf(number, sizeof number, "%lld", (long long)keyed.numbers[i]);
        change(place, "UPDATE trials SET key = ?1 WHERE number = ?2",
               hash_print(key_hash(&keyed.keys[i]), hash), number);
        key_release(&keyed.keys[i]);
    }
}

#endif
