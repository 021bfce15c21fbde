/* A damaged run.db: each column of each table with values that it must not hold, missing columns
   and tables, foreign schemas, truncated and changed files. Every reader gives its rows or one line
   that says what is damaged; the line names table, row and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "example.h"
#include "readers.h"
#include "store/columns.h"
#include "store/salvage.h"

enum { TRIALS = 20, IN_FLIGHT = 2, PAGE_BYTES = 4096 };

/* ---- a run to damage ---- */

static void run_sql(const char *path, const char *sql) {
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", message, sql);
    sqlite3_close(database);
}

/* Rebuilds the tables without types and constraints, so that a column takes any value. */
static void drop_constraints(const char *path) {
    run_sql(path, "DROP INDEX board; DROP INDEX verdicts; DROP INDEX in_flight");
    for (int t = 0; store_tables[t] != NULL; t++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE plain AS SELECT * FROM %s; DROP TABLE %s; "
                 "ALTER TABLE plain RENAME TO %s",
                 store_tables[t], store_tables[t], store_tables[t]);
        run_sql(path, sql);
    }
}

static void tell_again(struct store *store, int64_t number, struct error *error) {
    struct outcome outcome = {0};
    struct key key = {0};
    example_outcome(number, &outcome);
    example_key(number, &key);
    assert_true(store_tell_again(store, number, &outcome, &key, "cuda:0", error) > 0);
    key_release(&key);
    outcome_release(&outcome);
}

static void make_run(const char *run_dir) {
    struct error error = {0};
    struct store *store = example_create(run_dir, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    for (int64_t number = 1; number <= TRIALS; number++) {
        assert_true(example_ask(store, number, &error) > 0);
        if (number <= TRIALS - IN_FLIGHT)
            assert_true(example_tell(store, number, &error) > 0);
        if (number == 5) /* in goal 1 */
            assert_int_equal(store_record_champion(store, 1, 5, STORE_NO_TRIAL, 2.5, &error), 0);
    }
    assert_int_equal(store_record_champion(store, 1, 7, 5, 2.25, &error), 0);
    tell_again(store, 4, &error);
    for (int64_t number = 1; number <= 9; number++)
        assert_int_equal(example_proposal(store, number, &error), 0);
    assert_int_equal(store_checkpoint(store, hash_bytes("x", 1), "1.5", &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
}

struct fixture {
    char folder[64], path[96];
    char *whole;
    size_t size;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error = {0};
    void *folder;
    if (fixture == NULL || make_folder(&folder) < 0)
        return -1;
    snprintf(fixture->folder, sizeof fixture->folder, "%s/run", (char *)folder);
    free(folder);
    make_run(fixture->folder);
    snprintf(fixture->path, sizeof fixture->path, "%s/run.db", fixture->folder);
    fixture->whole = path_read_file(fixture->path, 1 << 24, &fixture->size, &error);
    *state = fixture;
    return fixture->whole != NULL ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    struct error error = {0};
    char parent[PATH_SIZE];
    int status =
        path_parent(parent, fixture->folder, &error) < 0 || path_remove_tree(parent, &error) < 0
            ? -1
            : 0;
    free(fixture->whole);
    free(fixture);
    return status;
}

static void restore(const struct fixture *fixture, size_t size) {
    struct error error = {0};
    assert_int_equal(path_write_unsynced(fixture->path, fixture->whole, size, &error), 0);
}

/* ---- what the readers say ---- */

struct expected {
    const char *table, *column; /* NULL: any */
    bool seen;
};

static void see(void *context, const struct error *error) {
    struct expected *expected = context;
    char table[64], column[64];
    if (error->kind == ERROR_NONE || strstr(error->text, "run.db") == NULL ||
        strchr(error->text, '\n') != NULL)
        fail_msg("not one line about run.db: %s", error->text);
    if (expected->table == NULL) {
        expected->seen = true;
        return;
    }
    if (strstr(error->text, " is damaged") == NULL || strstr(error->text, "evotile fsck") == NULL)
        fail_msg("%s.%s: %s", expected->table, expected->column, error->text);
    snprintf(table, sizeof table, "table %s", expected->table);
    snprintf(column, sizeof column, "%s", expected->column);
    expected->seen = expected->seen ||
                     (strstr(error->text, table) != NULL && strstr(error->text, column) != NULL);
}

static void no_reader_fails_on_a_whole_run(void **state) {
    struct fixture *fixture = *state;
    struct expected expected = {0};
    read_everything(fixture->folder, see, &expected);
    assert_false(expected.seen);
    drop_constraints(fixture->path);
    read_everything(fixture->folder, see, &expected);
    assert_false(expected.seen);
}

/* ---- values ---- */

/* No reader reads these: a blob there is not found. A key is verified by its hash, without the name
   of the part. */
static bool is_unread(const char *table, const char *column) {
    return strcmp(table, "settings") == 0 || strcmp(column, "setting") == 0 ||
           (strcmp(table, "meta") == 0 && strcmp(column, "name") == 0);
}

static const char *const values[] = {
    "x'00ff'",
    "NULL",
    "'word'",
    "''",
    "-1",
    "0",
    "9223372036854775807",
    "1e300",
    "-1e999",
    "1e999",
    "0.5",
    "'a' || char(0) || 'b'",
    "'a' || char(10) || char(27) || '[31m'",
    "zeroblob(8 * 1000)",
};

/* `columns` of each table in turn, one row of it, one value. */
static void every_column_is_checked(void **state) {
    struct fixture *fixture = *state;
    int unseen = 0;
    drop_constraints(fixture->path);
    free(fixture->whole);
    struct error error = {0};
    fixture->whole = path_read_file(fixture->path, 1 << 24, &fixture->size, &error);
    for (const struct column *column = store_columns; column->table != NULL; column++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            /* Without EVOTILE_LONG, each column meets a blob and a quarter of the others. */
            if (getenv("EVOTILE_LONG") == NULL && v > 0 &&
                (v + (size_t)(column - store_columns)) % 4)
                continue;
            char sql[256];
            struct expected expected = {column->table, column->name, false};
            snprintf(sql, sizeof sql,
                     "UPDATE %s SET %s = %s WHERE rowid = "
                     "(SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET (SELECT count(*) / 3 "
                     "FROM %s))",
                     column->table, column->name, values[v], column->table, column->table);
            restore(fixture, fixture->size);
            run_sql(fixture->path, sql);
            read_everything(fixture->folder, see, &expected);
            if (v == 0 && !expected.seen && !is_unread(column->table, column->name)) {
                print_message("no reader names %s.%s\n", column->table, column->name);
                unseen++;
            }
        }
    assert_int_equal(unseen, 0);
}

/* What the issue that this closes was opened with, and rows that disagree with each other. */
static void rows_that_disagree_are_named(void **state) {
    static const struct {
        const char *sql, *table, *column;
    } damages[] = {
        {"UPDATE trials SET told = NULL WHERE number = 4", "trials, number 4", "told"},
        {"UPDATE trials SET told = 'x' WHERE number = 4", "trials, number 4", "told"},
        {"UPDATE champions SET goal = -1", "champions, event", "goal"},
        {"UPDATE champions SET goal = 0", "champions, event", "goal"},
        {"UPDATE champions SET trial = 20", "champions, event", "trial"},
        {"UPDATE champions SET trial = 1000000", "champions, event", "trial"},
        {"UPDATE trials SET score_us = NULL WHERE number = 4", "trials, number 4", "score_us"},
        {"UPDATE trials SET score_us = -1 WHERE number = 4", "trials, number 4", "score_us"},
        {"UPDATE trials SET score_us = 'x' WHERE number = 4", "trials, number 4", "score_us"},
        {"UPDATE trials SET score_us = 0 WHERE number = 4", "trials, number 4", "score_us"},
        {"UPDATE trials SET goal = 2 WHERE number = 4", "trials, number 4", "goal"},
        {"UPDATE trials SET parent_a = 4 WHERE number = 4", "trials, number 4", "parent_a"},
        {"DELETE FROM cases WHERE number = 0 AND event > 8", "cases, event", "cases"},
        {"UPDATE goals SET number = 3 WHERE number = 1", "goals, number 3", "goals"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct expected expected = {damages[i].table, damages[i].column, false};
        restore(fixture, fixture->size);
        run_sql(fixture->path, damages[i].sql);
        read_everything(fixture->folder, see, &expected);
        if (!expected.seen)
            fail_msg("no reader names %s, %s: %s", damages[i].table, damages[i].column,
                     damages[i].sql);
    }
}

/* ---- what is whole ---- */

/* Salvages the damaged run; every reader accepts the result. */
static void salvage_run(const struct fixture *fixture, int64_t damages, const char *sql) {
    struct error error = {0};
    struct salvage salvage;
    char out[96];
    snprintf(out, sizeof out, "%s-out", fixture->folder);
    if (path_remove_tree(out, &error) < 0 || path_make_folder(out, &error) < 0 ||
        salvage_database(fixture->folder, out, &salvage, &error) < 0)
        fail_msg("%s: %s", error.text, sql);
    if (salvage_damages(&salvage) < damages)
        fail_msg("%lld rows are damaged: %s", (long long)salvage_damages(&salvage), sql);
    struct store *store = store_open(out, STORE_READ, &error);
    if (store == NULL)
        fail_msg("%s: %s", error.text, sql);
    store_close(store);
    struct expected expected = {0};
    read_everything(out, see, &expected);
    if (expected.seen)
        fail_msg("a salvaged run has damage: %s", sql);
}

static void whole_rows_are_salvaged(void **state) {
    struct fixture *fixture = *state;
    struct error error = {0};
    struct salvage salvage;
    assert_int_equal(salvage_database(fixture->folder, NULL, &salvage, &error), 0);
    assert_int_equal(salvage_damages(&salvage), 0);
    assert_int_equal(salvage.tables[3].whole, TRIALS);
    drop_constraints(fixture->path);
    free(fixture->whole);
    fixture->whole = path_read_file(fixture->path, 1 << 24, &fixture->size, &error);
    salvage_run(fixture, 0, "");
    int turn = 0;
    for (const struct column *column = store_columns; column->table != NULL; column++) {
        char sql[256];
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = x'00ff' WHERE rowid %% 3 = 1", column->table,
                 column->name);
        /* Without its genome no row is of use; without goals no run. */
        if (strcmp(column->table, "goals") == 0 || (getenv("EVOTILE_LONG") == NULL && turn++ % 3))
            continue;
        restore(fixture, fixture->size);
        run_sql(fixture->path, sql);
        salvage_run(fixture, 1, sql);
    }
    restore(fixture, fixture->size);
    run_sql(fixture->path,
            "DELETE FROM cases WHERE event % 4 = 0; DELETE FROM settings; "
            "DROP TABLE checkpoints; DELETE FROM earlier; UPDATE champions SET trial = 90");
    salvage_run(fixture, 5, "many");
    assert_int_equal(salvage_database(fixture->folder, NULL, &salvage, &error), 0);
    assert_true(salvage.tables[3].whole >= TRIALS / 2);
}

/* ---- schemas ---- */

static void other_schemas_are_errors(void **state) {
    static const char *const damages[] = {
        "DROP TABLE goals",
        "DROP TABLE trials",
        "DROP TABLE cases",
        "DROP TABLE champions",
        "ALTER TABLE trials DROP COLUMN genome",
        "ALTER TABLE trials DROP COLUMN registers",
        "ALTER TABLE cases DROP COLUMN p50_us",
        "DROP TABLE champions; CREATE VIEW champions AS SELECT 1 AS event",
        "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense' "
        "WHERE name = 'trials'",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 3 WHERE name = 'trials'",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = 100000",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct expected expected = {0};
        restore(fixture, fixture->size);
        run_sql(fixture->path, damages[i]);
        read_everything(fixture->folder, see, &expected);
        if (!expected.seen)
            fail_msg("no reader fails: %s", damages[i]);
    }
}

static void truncated_and_changed_files_are_errors(void **state) {
    struct fixture *fixture = *state;
    struct expected expected = {0};
    unsigned random = 7;
    /* Nothing reads the unused end of the last page. */
    for (size_t size = 100; size <= fixture->size - PAGE_BYTES; size += 1777) {
        restore(fixture, size);
        expected.seen = false;
        read_everything(fixture->folder, see, &expected);
        assert_true(expected.seen);
    }
    for (int round = 0; round < 100; round++) {
        char saved[8];
        random = random * 1664525u + 1013904223u;
        size_t at = random % (fixture->size - sizeof saved);
        memcpy(saved, fixture->whole + at, sizeof saved);
        for (size_t i = 0; i < sizeof saved; i++)
            fixture->whole[at + i] = (char)((random = random * 1664525u + 1013904223u) >> 24);
        restore(fixture, fixture->size);
        read_everything(fixture->folder, see, &expected);
        memcpy(fixture->whole + at, saved, sizeof saved);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(no_reader_fails_on_a_whole_run), TEST(every_column_is_checked),
        TEST(rows_that_disagree_are_named),   TEST(whole_rows_are_salvaged),
        TEST(other_schemas_are_errors),       TEST(truncated_and_changed_files_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
