#include "store/salvage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_kind.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "store/columns.h"
#include "store/sql.h"

struct copier {
    sqlite3 *from, *to;
    struct salvage *salvage;
    int goal_count;
};

static void note(struct salvage_table *table, const char *what) {
    if (table->first[0] != '\0')
        return;
    snprintf(table->first, sizeof table->first, "%.*s", SALVAGE_TEXT - 1, what);
    text_escape(table->first, sizeof table->first, false);
}

/* ---- one table ---- */

/* Appends the columns that the table has on both sides, and a parameter for each. */
static int list_columns(struct copier *copier, struct salvage_table *table, struct strbuf *names,
                        struct strbuf *parameters) {
    sqlite3_stmt *statement;
    char sql[64];
    int count = 0;
    snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", table->name);
    if (sqlite3_prepare_v2(copier->from, sql, -1, &statement, NULL) != SQLITE_OK) {
        note(table, sqlite3_errmsg(copier->from));
        return 0;
    }
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        if (column_find(table->name, name) == NULL)
            continue; /* of another version */
        strbuf_print(names, "%s%s", count > 0 ? ", " : "", name);
        strbuf_print(parameters, "%s?", count > 0 ? ", " : "");
        count++;
    }
    sqlite3_finalize(statement);
    if (count == 0)
        note(table, "the table is missing");
    return count;
}

/* Goals are numbered from 0 without gaps: those after a gap are lost. */
static bool is_in_order(const struct salvage_table *table, sqlite3_stmt *row) {
    return strcmp(table->name, "goals") != 0 || sqlite3_column_int64(row, 0) == table->whole;
}

static void copy_row(struct copier *copier, struct salvage_table *table,
                     const struct row_check *check, sqlite3_stmt *row, sqlite3_stmt *insert) {
    char what[512] = "";
    bool whole = row_check_holds(check, copier->goal_count, row, what, sizeof what);
    if (whole && !is_in_order(table, row)) {
        snprintf(what, sizeof what, "table goals: they are not numbered from 0");
        whole = false;
    }
    for (int i = 0; whole && i < check->count; i++)
        sqlite3_bind_value(insert, i + 1, sqlite3_column_value(row, i));
    if (whole && (sqlite3_step(insert) != SQLITE_DONE || sqlite3_changes(copier->to) != 1)) {
        row_check_name(check, row, what, sizeof what);
        text_append(what, sizeof what, ": another row has its number");
        whole = false;
    }
    sqlite3_reset(insert);
    table->whole += whole;
    table->damaged += !whole;
    if (!whole)
        note(table, what);
}

static void copy_rows(struct copier *copier, struct salvage_table *table, sqlite3_stmt *rows,
                      sqlite3_stmt *insert) {
    struct row_check check = {0};
    int got;
    row_check_prepare(&check, table->name, rows);
    while ((got = sqlite3_step(rows)) == SQLITE_ROW)
        copy_row(copier, table, &check, rows, insert);
    if (got != SQLITE_DONE) {
        table->damaged++;
        note(table, sqlite3_errmsg(copier->from));
    }
    row_check_release(&check);
}

static void copy_table(struct copier *copier, struct salvage_table *table) {
    struct strbuf names = {0}, parameters = {0}, select = {0}, add = {0};
    sqlite3_stmt *rows = NULL, *insert = NULL;
    if (list_columns(copier, table, &names, &parameters) > 0) {
        strbuf_print(&select, "SELECT %s FROM %s%s", names.bytes, table->name,
                     strcmp(table->name, "goals") == 0 ? " ORDER BY number" : "");
        strbuf_print(&add, "INSERT OR IGNORE INTO %s (%s) VALUES (%s)", table->name, names.bytes,
                     parameters.bytes);
        if (sqlite3_prepare_v2(copier->from, select.bytes, -1, &rows, NULL) != SQLITE_OK)
            note(table, sqlite3_errmsg(copier->from));
        else if (sqlite3_prepare_v2(copier->to, add.bytes, -1, &insert, NULL) != SQLITE_OK)
            note(table, sqlite3_errmsg(copier->to));
        else
            copy_rows(copier, table, rows, insert);
    }
    if (table->first[0] != '\0' && table->damaged == 0)
        table->damaged = 1; /* the table itself */
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    strbuf_release(&names);
    strbuf_release(&parameters);
    strbuf_release(&select);
    strbuf_release(&add);
}

/* ---- rows that disagree ---- */

#define SAMPLES_OF(event)                                                                          \
    "(SELECT count(*) FROM cases WHERE event = " event ") OR case_count <> "                       \
    "(SELECT coalesce(max(number), -1) + 1 FROM cases WHERE event = " event ")"

/* In this order. Rows that are changed, not deleted, count as whole. */
static const struct {
    const char *table, *sql, *reason;
} repairs[] = {
    {"cases",
     "DELETE FROM cases WHERE 8 * sample_count <> coalesce(length(samples_us), 0) OR "
     "8 * cold_count <> coalesce(length(cold_samples_us), 0)",
     "the number of samples is not that of the samples"},
    {"trials",
     "DELETE FROM trials WHERE told IS NOT NULL AND (case_count <> " SAMPLES_OF("told") ")",
     "cases are missing"},
    {"trials", "DELETE FROM trials WHERE told <= asked", "told comes before asked"},
    {"earlier", "DELETE FROM earlier WHERE case_count <> " SAMPLES_OF("told"), "cases are missing"},
    {"earlier",
     "DELETE FROM earlier WHERE number IN (SELECT number FROM trials WHERE tells <> 1 + "
     "(SELECT count(*) FROM earlier WHERE earlier.number = trials.number)) OR "
     "number NOT IN (SELECT number FROM trials)",
     "other outcomes of the trial are missing"},
    {NULL,
     "UPDATE trials SET tells = (told IS NOT NULL) "
     "WHERE number NOT IN (SELECT number FROM earlier)",
     NULL},
    {"cases",
     "DELETE FROM cases WHERE event NOT IN "
     "(SELECT told FROM trials WHERE told IS NOT NULL UNION SELECT told FROM earlier)",
     "no trial has the outcome"},
    {NULL,
     "UPDATE trials SET parent_a = NULL, parent_b = NULL WHERE parent_a NOT IN "
     "(SELECT number FROM trials) OR parent_b NOT IN (SELECT number FROM trials)",
     NULL},
    {NULL,
     "UPDATE trials SET key = NULL, setting = NULL WHERE key IS NULL OR setting IS NULL OR "
     "setting NOT IN (SELECT id FROM settings)",
     NULL},
    {"champions",
     "DELETE FROM champions WHERE NOT EXISTS (SELECT 1 FROM trials WHERE number = trial AND "
     "told IS NOT NULL AND trials.goal = champions.goal)",
     "the trial does not exist or has no outcome"},
    {NULL, "UPDATE champions SET previous = NULL WHERE previous NOT IN (SELECT number FROM trials)",
     NULL},
};

static struct salvage_table *find_table(struct salvage *salvage, const char *name) {
    for (int t = 0; t < SALVAGE_TABLES; t++)
        if (strcmp(salvage->tables[t].name, name) == 0)
            return &salvage->tables[t];
    BUG("no table %s", name);
}

static int run_on_copy(struct copier *copier, const char *sql, struct error *error) {
    return sqlite3_exec(copier->to, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : error_set(error, "cannot write the salvaged run.db: %s: free some space there",
                           sqlite3_errmsg(copier->to));
}

static int repair(struct copier *copier, struct error *error) {
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        if (run_on_copy(copier, repairs[i].sql, error) < 0)
            return -1;
        int changed = sqlite3_changes(copier->to);
        if (repairs[i].table == NULL || changed == 0)
            continue;
        struct salvage_table *table = find_table(copier->salvage, repairs[i].table);
        char what[128];
        snprintf(what, sizeof what, "table %s: %s", table->name, repairs[i].reason);
        table->whole -= changed;
        table->damaged += changed;
        note(table, what);
    }
    /* The checkpoint verifies the state that all events give: without some it cannot hold. */
    return salvage_damages(copier->salvage) > 0
               ? run_on_copy(copier, "DELETE FROM checkpoints", error)
               : 0;
}

/* ---- the databases ---- */

/* -1 if the file is no SQLite database of a run. */
static int open_source(struct copier *copier, const char *path, struct error *error) {
    sqlite3_stmt *statement = NULL;
    int application = 0;
    if (file_is_special(path))
        return error_input(error, FILE_IS_SPECIAL, path);
    if (sqlite3_open_v2(path, &copier->from, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_db_config(copier->from, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(copier->from, "PRAGMA application_id", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        application = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return application == STORE_APPLICATION
               ? 0
               : error_input(error, "%s is no database of a run (%s): restore it from a copy", path,
                             sqlite3_errmsg(copier->from));
}

static int open_copy(struct copier *copier, const char *path, struct error *error) {
    char header[96];
    snprintf(header, sizeof header, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, STORE_FORMAT);
    if (sqlite3_open(path, &copier->to) != SQLITE_OK)
        return error_set(error, "cannot write %s: %s", path, sqlite3_errmsg(copier->to));
    return run_on_copy(copier, "BEGIN", error) < 0 || run_on_copy(copier, sql_schema, error) < 0 ||
                   run_on_copy(copier, header, error) < 0
               ? -1
               : 0;
}

static int copy_tables(struct copier *copier, struct error *error) {
    for (int t = 0; t < SALVAGE_TABLES; t++) {
        struct salvage_table *table = &copier->salvage->tables[t];
        *table = (struct salvage_table){.name = store_tables[t]};
        copy_table(copier, table);
        if (strcmp(table->name, "goals") == 0)
            copier->goal_count = (int)table->whole;
    }
    return repair(copier, error) < 0 ? -1 : run_on_copy(copier, "COMMIT", error);
}

int salvage_database(const char *run_dir, const char *to_dir, struct salvage *salvage,
                     struct error *error) {
    char from[PATH_SIZE], to[PATH_SIZE] = ":memory:";
    struct copier copier = {.salvage = salvage, .goal_count = -1};
    if (path_join(from, run_dir, "run.db", error) < 0 ||
        (to_dir != NULL && path_join(to, to_dir, "run.db", error) < 0))
        return -1;
    int status = open_source(&copier, from, error) < 0 || open_copy(&copier, to, error) < 0 ||
                         copy_tables(&copier, error) < 0
                     ? -1
                     : 0;
    sqlite3_close(copier.from);
    sqlite3_close(copier.to);
    return status;
}

int64_t salvage_damages(const struct salvage *salvage) {
    int64_t sum = 0;
    for (int t = 0; t < SALVAGE_TABLES; t++)
        sum += salvage->tables[t].damaged;
    return sum;
}
