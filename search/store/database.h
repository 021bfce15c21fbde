/*
 * database: the SQLite connection beneath a store: opening it safely, keeping its statements, and
 * turning what SQLite says into a line with a remedy. Private to store/: nobody outside includes it
 * (tests may).
 *
 *     sqlite3_stmt *statement = database_use(store, SQL_META_GET, error);
 *     if (!statement)
 *         return -1;
 *     bind_text(statement, 1, name);
 *     int got = database_step(store, statement, error);   // 1 row, 0 done, -1 failed
 *     database_done(statement);
 */
#ifndef EVOTILE_STORE_DATABASE_H
#define EVOTILE_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/lock.h"
#include "store/sql.h"
#include "store/store.h"

struct store {
    sqlite3 *database;
    sqlite3_stmt *statements[SQL_COUNT];
    enum store_mode mode;
    struct lock lock;
    char run_dir[PATH_SIZE];
    char path[PATH_SIZE]; /* of run.db */
    char **goals;
    int goal_count;
    bool in_batch;
    int64_t events;       /* the last event's number; writers only */
    int64_t events_begin; /* the same as the batch began */
    /* The setting that was stored last: trial after trial has the same. Forgotten with a rollback.
     */
    struct hash setting_hash;
    int64_t setting; /* 0: none */
};

/* Opens store->path in store->mode. `network` is the name of the network file system it lies on, or
   NULL. */
int database_open(struct store *store, const char *network, struct error *error);

/* Fine on one that never opened. A writer leaves the run in the one file, where no reader prevents
 * it. */
void database_close(struct store *store);

/* 1: this is a run of our format; 0: nothing is in it yet; -1: it is something else. */
int database_check(struct store *store, struct error *error);

/* Statements that give nothing back, such as a schema. */
int database_run(struct store *store, const char *sql, struct error *error);

/* A kept statement, without values. That it is in use is our own mistake: BUG. */
sqlite3_stmt *database_use(struct store *store, enum statement statement, struct error *error);
int database_step(struct store *store, sqlite3_stmt *statement, struct error *error);
void database_done(sqlite3_stmt *statement);

/* Steps a statement that gives no rows, and is done with it. */
int database_finish(struct store *store, sqlite3_stmt *statement, struct error *error);

/* What SQLite last refused, as a line about the run; returns -1. */
int database_fail(struct store *store, struct error *error);

/* For what cannot be there unless the file was damaged; returns -1. */
int database_damaged(struct store *store, struct error *error, const char *what);

/* NULL binds NULL; the text must live until the statement is done. */
void bind_text(sqlite3_stmt *statement, int index, const char *text);

double now_unix(void);

#endif
