#include "store/database.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/strbuf.h"

/* How long a statement waits for another process's lock. */
enum { BUSY_MS = 10000 };

int database_fail(struct store *store, struct error *error) {
    int code = sqlite3_extended_errcode(store->database);
    const char *message = sqlite3_errmsg(store->database);
    int number = sqlite3_system_errno(store->database);
    const char *verb = store->mode == STORE_WRITE ? "write" : "read";
    switch (code & 0xff) {
    case SQLITE_FULL:
        return error_set(error,
                         "cannot write %s: the disk is full; free some space there (nothing stored "
                         "is lost)",
                         store->path);
    case SQLITE_IOERR:
        return error_set(error,
                         "cannot %s %s: %s; free some space or check that disk (nothing stored is "
                         "lost)",
                         verb, store->path, number ? strerror(number) : message);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return error_set(error,
                         "cannot %s %s: %s; change the permissions of the folder and its files, or "
                         "copy the folder to where you may write",
                         verb, store->path, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(error, "%s is in use by another process: try again when it has ended",
                         store->path);
    case SQLITE_NOTADB:
        return error_input(error, "%s is not a results file: give a folder that a run wrote",
                           store->path);
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT: /* a row that the store does not know of */
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM: /* for the length that a damaged record claims */
    case SQLITE_ERROR: /* no such table, no such column, malformed database schema */
        return database_damaged(store, error, message);
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
        BUG("%s: %s", store->path, message);
    default:
        return error_set(error, "cannot %s %s: %s (SQLite %d); check the disk and the file", verb,
                         store->path, message, code);
    }
}

int database_damaged(struct store *store, struct error *error, const char *what) {
    char line[512]; /* SQLite quotes names from the file, which may hold line ends */
    snprintf(line, sizeof line, "%s", what);
    for (char *at = line; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    return error_set(error,
                     "%s is damaged (%s): restore it from a copy, or save what is whole of it with "
                     "`evotile fsck %s --salvage OUT`",
                     store->path, line, store->run_dir);
}

/* The number of a prepared statement. */
static enum statement which_statement(const struct store *store, const sqlite3_stmt *statement) {
    enum statement which = 0;
    while (store->statements[which] != statement)
        which++;
    return which;
}

int database_damaged_row(struct store *store, sqlite3_stmt *statement, struct error *error,
                         const char *what) {
    char text[512] = "";
    row_check_name(&store->checks[which_statement(store, statement)], statement, text, sizeof text);
    text_append(text, sizeof text, ": %s", what);
    return database_damaged(store, error, text);
}

int database_run(struct store *store, const char *sql, struct error *error) {
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : database_fail(store, error);
}

/* A pragma's first value as text; "" if it returns no row. */
static int read_pragma(struct store *store, const char *sql, char value[32], struct error *error) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return database_fail(store, error);
    value[0] = '\0';
    int got = sqlite3_step(statement);
    if (got == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        snprintf(value, 32, "%s", text != NULL ? text : "");
    }
    sqlite3_finalize(statement);
    return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : database_fail(store, error);
}

/*
 * With a write-ahead log, readers and the writer do not block each other, and a commit survives the
 * process without waiting for the disk. It needs shared memory between all processes that have the
 * file open, which a network file system does not provide: there the store uses a rollback journal
 * and waits for the disk at each commit.
 */
static int choose_journal(struct store *store, const char *network, struct error *error) {
    char value[32];
    if (network == NULL) {
        if (read_pragma(store, "PRAGMA journal_mode = WAL", value, error) < 0)
            return -1;
        if (strcmp(value, "wal") == 0)
            return read_pragma(store, "PRAGMA synchronous = NORMAL", value, error);
        log_warn("%s: this file system does not support a write-ahead log, so every commit waits "
                 "for the disk; for a faster run use a folder on a local disk",
                 store->run_dir);
    } else {
        log_warn("%s is on a network file system (%s), so every commit waits for it; for a faster "
                 "run use a folder on a local disk",
                 store->run_dir, network);
    }
    return read_pragma(store, "PRAGMA journal_mode = TRUNCATE", value, error) < 0 ||
                   read_pragma(store, "PRAGMA locking_mode = NORMAL", value, error) < 0 ||
                   read_pragma(store, "PRAGMA synchronous = FULL", value, error) < 0
               ? -1
               : 0;
}

/*
 * A writer that died with a hot rollback journal (or while switching between it and the log) leaves
 * a journal that must be rolled back before the database can be read; a read-only connection cannot
 * do that. SQLite's locks ensure that a live writer's journal is never rolled back.
 */
static void rollback_hot_journal(struct store *store) {
    sqlite3 *database;
    if (sqlite3_open_v2(store->path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(database, BUSY_MS);
        sqlite3_exec(database, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    sqlite3_close(database);
}

/* SQLite opens whatever has the database's name: it waits for ever for a pipe, and would write
   where a link leads. A link to the database itself may be read. */
static int check_kinds(const struct store *store, struct error *error) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[PATH_SIZE + 16];
        struct stat status;
        bool follow = i == 0 && store->mode == STORE_READ;
        snprintf(path, sizeof path, "%s%s", store->path, suffixes[i]);
        if ((follow ? stat : lstat)(path, &status) == 0 && !S_ISREG(status.st_mode) &&
            !S_ISDIR(status.st_mode))
            return error_input(error, "%s is no regular file: restore it from a copy", path);
    }
    return 0;
}

int database_open(struct store *store, const char *network, struct error *error) {
    int flags = store->mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                           : SQLITE_OPEN_READONLY;
    if (check_kinds(store, error) < 0)
        return -1;
    if (sqlite3_open_v2(store->path, &store->database, flags, NULL) != SQLITE_OK) {
        if (store->database == NULL)
            BUG("out of memory");
        return database_fail(store, error);
    }
    sqlite3_extended_result_codes(store->database, 1);
    sqlite3_busy_timeout(store->database, BUSY_MS);
    /* A run.db from elsewhere runs no functions of its schema, and cannot edit it. */
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (store->mode == STORE_READ) {
        struct error ignored = {0};
        if (database_check(store, &ignored) < 0 &&
            (sqlite3_errcode(store->database) & 0xff) == SQLITE_READONLY)
            rollback_hot_journal(store);
        return 0;
    }
    /* Exclusive until the journal mode is set: a database copied here with a write-ahead log is
       then read without shared memory. */
    char value[32];
    if (network != NULL && read_pragma(store, "PRAGMA locking_mode = EXCLUSIVE", value, error) < 0)
        return -1;
    /* Checked first: a database of another program must not be changed, not even its journal mode.
     */
    if (database_check(store, error) < 0)
        return -1;
    return choose_journal(store, network, error);
}

void database_close(struct store *store) {
    if (store->database == NULL)
        return;
    for (int i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(store->statements[i]);
        row_check_release(&store->checks[i]);
    }
    if (store->mode == STORE_WRITE) {
        /* Merges the log, so that a closed run is one file, which can be copied and read on a
           read-only file system. Fails harmlessly while there are readers. */
        sqlite3_busy_timeout(store->database, 0);
        sqlite3_exec(store->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    if (sqlite3_close(store->database) != SQLITE_OK)
        BUG("%s: %s", store->path, sqlite3_errmsg(store->database));
    store->database = NULL;
}

int database_check(struct store *store, struct error *error) {
    char application[32], format[32], tables[32];
    /* Another process may make the database meanwhile, all at once: tables that are counted first
       never lack their header. */
    if (read_pragma(store, "SELECT count(*) FROM sqlite_master", tables, error) < 0 ||
        read_pragma(store, "PRAGMA application_id", application, error) < 0 ||
        read_pragma(store, "PRAGMA user_version", format, error) < 0)
        return -1;
    if (strcmp(tables, "0") == 0 && strcmp(application, "0") == 0)
        return 0;
    if (strtol(application, NULL, 10) != STORE_APPLICATION)
        return error_input(error,
                           "%s is a database of another program: give a folder that a run wrote",
                           store->path);
    store->format = (int)strtol(format, NULL, 10);
    if (store->format < STORE_FORMAT_WITHOUT_CHECKS || store->format > STORE_FORMAT)
        return error_input(error,
                           "%s has format %s, and this evotile reads format %d: use the evotile "
                           "that wrote it, or start a new run",
                           store->path, format, STORE_FORMAT);
    return 1;
}

int database_upgrade(struct store *store, struct error *error) {
    const bool reads = store->mode == STORE_READ;
    int status = 0;
    if (store->format <= STORE_FORMAT_WITHOUT_CHECKS)
        status = database_run(store, reads ? sql_read_without_checks : sql_add_checks, error);
    if (status == 0 && store->format <= STORE_FORMAT_WITHOUT_PLACEMENTS)
        status =
            database_run(store, reads ? sql_read_without_placements : sql_add_placements, error);
    /* One view of `cases` stands for all the columns that it has not; one of `trials`, too. */
    if (status == 0 && (reads ? store->format == STORE_FORMAT_WITHOUT_ENERGY
                              : store->format <= STORE_FORMAT_WITHOUT_ENERGY))
        status = database_run(store, reads ? sql_read_without_energy : sql_add_energy, error);
    if (status == 0 && reads && store->format > STORE_FORMAT_WITHOUT_CHECKS &&
        store->format <= STORE_FORMAT_WITHOUT_ENERGY)
        status = database_run(store, sql_read_without_clock, error);
    if (status == 0 && !reads && store->format < STORE_FORMAT_OF_PROPOSALS)
        status = database_run(store, sql_add_proposals, error);
    if (status < 0 && !reads)
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

sqlite3_stmt *database_use(struct store *store, enum statement statement, struct error *error) {
    sqlite3_stmt **prepared = &store->statements[statement];
    if (*prepared == NULL) {
        if (sqlite3_prepare_v3(store->database, sql_text(statement), -1, SQLITE_PREPARE_PERSISTENT,
                               prepared, NULL) != SQLITE_OK) {
            database_fail(store, error);
            return NULL;
        }
        row_check_prepare(&store->checks[statement], sql_table(statement), *prepared);
    }
    if (sqlite3_stmt_busy(*prepared))
        BUG("read within its own rows: %s", sql_text(statement));
    return *prepared;
}

int database_step(struct store *store, sqlite3_stmt *statement, struct error *error) {
    if (statement == NULL)
        return -1;
    int got = sqlite3_step(statement);
    if (got != SQLITE_ROW)
        return got == SQLITE_DONE ? 0 : database_fail(store, error);
    char what[512];
    return row_check_holds(&store->checks[which_statement(store, statement)], store->goal_count,
                           statement, what, sizeof what)
               ? 1
               : database_damaged(store, error, what);
}

bool database_next(struct store *store, sqlite3_stmt *statement, int *status, struct error *error) {
    int got = *status == 0 ? database_step(store, statement, error) : 0;
    if (*status >= 0)
        *status = got < 0 ? -1 : 0;
    if (got != 1)
        database_done(statement);
    return got == 1;
}

void database_done(sqlite3_stmt *statement) {
    if (statement == NULL)
        return;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int database_finish(struct store *store, sqlite3_stmt *statement, struct error *error) {
    int got = database_step(store, statement, error);
    database_done(statement);
    return got < 0 ? -1 : 0;
}

void database_bind_text(sqlite3_stmt *statement, int index, const char *text) {
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}
