/*
 * columns: what each column of run.db may hold, in one table, and the check of a row against it. A
 * run.db may be damaged or come from elsewhere, and SQLite stores any type in any column: every row
 * is checked before a value of it is used. Private to store/ (tests may include it).
 *
 *     struct row_check check = {0};
 *     row_check_prepare(&check, "trials", statement);
 *     while (sqlite3_step(statement) == SQLITE_ROW)
 *         if (!row_check_holds(&check, goal_count, statement, what, sizeof what))
 *             puts(what); // table trials, number 4: score_us is 'abc', not a number from 0 to
 * 1e+12 row_check_release(&check);
 */
#ifndef EVOTILE_STORE_COLUMNS_H
#define EVOTILE_STORE_COLUMNS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_kind {
    COLUMN_INT,
    COLUMN_GOAL, /* the number of a goal of the run */
    COLUMN_REAL,
    COLUMN_TEXT,
    COLUMN_NAME, /* a text without control characters */
    COLUMN_HASH,
    COLUMN_VERDICT,
    COLUMN_SAMPLES /* doubles in native byte order */
};

enum column_null {
    NEVER_NULL,
    MAYBE_NULL,    /* NaN is stored as NULL */
    IN_FLIGHT_NULL /* only while the trial has no outcome: `told` is NULL, too */
};

struct column {
    const char *table, *name;
    enum column_kind kind;
    enum column_null null;
    double low, high; /* of a number, inclusive; of a sample */
};

/* The rows of all tables; ends with a row without a table. `earlier` has the columns of `trials`.
 */
extern const struct column store_columns[];
/* The tables, ending with NULL: meta, goals ... */
extern const char *const store_tables[];

/* NULL: no such column in the schema. */
const struct column *column_find(const char *table, const char *name);

enum { ROW_KEYS = 2 };

/* The columns of one statement's result. */
struct row_check {
    const char *table;
    int count;
    const struct column **columns; /* owned; NULL for a value that is no column, such as count(*) */
    int keys[ROW_KEYS];            /* indices of the columns that name a row; -1: none */
    int observed, verdict, score_us, number, parents[2]; /* indices, -1: not read */
};

/* Finds the columns of a statement by their names. `check` is zeroed or released. */
void row_check_prepare(struct row_check *check, const char *table, sqlite3_stmt *statement);
void row_check_release(struct row_check *check);

/* Checks the statement's present row in a run with `goal_count` goals (-1: unknown). False, with
   one line in `what` that names table, row and column, if a value is not what its column may hold.
 */
bool row_check_holds(const struct row_check *check, int goal_count, sqlite3_stmt *statement,
                     char *what, size_t size);

/* Appends the table and the row: "table trials, number 4". */
void row_check_name(const struct row_check *check, sqlite3_stmt *statement, char *what,
                    size_t size);

#endif
