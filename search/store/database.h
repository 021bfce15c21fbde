/*
 * database: the SQLite connection of a store. Opens it safely, caches its prepared statements and
 * turns SQLite errors into messages with a remedy. Private to store/ (tests may include it).
 *
 *     sqlite3_stmt *statement = database_use(store, SQL_META_GET, error);
 *     database_bind_text(statement, 1, name);
 *     int status = database_step(store, statement, error);   // 1 row, 0 done, -1 failed
 *     database_done(statement);
 */
#ifndef EVOTILE_STORE_DATABASE_H
#define EVOTILE_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/columns.h"
#include "store/lock.h"
#include "store/sql.h"
#include "store/store.h"

struct store {
    sqlite3 *database;
    sqlite3_stmt *statements[SQL_COUNT];
    struct row_check checks[SQL_COUNT]; /* of the statements */
    enum store_mode mode;
    int format; /* of the file when it was opened */
    struct lock lock;
    char run_dir[PATH_SIZE];
    char path[PATH_SIZE]; /* of run.db */
    char **goals;
    int goal_count;
    double *weights; /* of the cases (WEIGHTS_META); NULL: all are equal */
    int weight_count;
    int goals_begin; /* its value at the start of the batch */
    bool in_batch;
    int64_t events;       /* the last event's number; writers only */
    int64_t events_begin; /* its value at the start of the batch */
    /* Caches the last stored setting: most trials share it. Cleared by a rollback. */
    struct hash setting_hash;
    int64_t setting; /* 0: none */
};

/* Opens store->path in store->mode. `network` is the name of its network file system, or NULL. */
int database_open(struct store *store, const char *network, struct error *error);

/* Accepts a store that was never opened. A writer merges the log into the one database file, unless
   readers prevent it. */
void database_close(struct store *store);

/* 1: a run of a format that can be read; 0: empty; -1: another format or not a run. */
int database_check(struct store *store, struct error *error);
/* After database_check gave 1: gives a run of an earlier format the columns of this one. A reader
   changes only its own connection. */
int database_upgrade(struct store *store, struct error *error);

/* Runs SQL without results, such as the schema. */
int database_run(struct store *store, const char *sql, struct error *error);

/* A prepared statement without bound values; BUG if it is in use. NULL, with `error` filled, if it
   cannot be prepared: binding to NULL has no effect, and its steps fail. */
sqlite3_stmt *database_use(struct store *store, enum statement statement, struct error *error);
/* Steps the statement. A row is checked (columns.h): one that does not hold is an error. */
int database_step(struct store *store, sqlite3_stmt *statement, struct error *error);
void database_done(sqlite3_stmt *statement);

/* For a loop over rows, whose body sets `status`, 0 at first: another value ends the loop. Returns
   whether there is a row; after the last the statement is reset, and `status` is 0 or -1. */
bool database_next(struct store *store, sqlite3_stmt *statement, int *status, struct error *error);

/* Steps a statement without rows, then resets it. */
int database_finish(struct store *store, sqlite3_stmt *statement, struct error *error);

/* Sets `error` from SQLite's last error, with the run's path; returns -1. */
int database_fail(struct store *store, struct error *error);

/* Reports contents that only a damaged file can have; returns -1. */
int database_damaged(struct store *store, struct error *error, const char *what);
/* The same about the present row of a statement: "table trials, number 4: WHAT". */
int database_damaged_row(struct store *store, sqlite3_stmt *statement, struct error *error,
                         const char *what);

/* Binds NULL for NULL. The text must stay valid until the statement is reset. */
void database_bind_text(sqlite3_stmt *statement, int index, const char *text);

#endif
