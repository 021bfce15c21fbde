#include "store/wisdom_store.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/signature.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    WISDOM_APPLICATION = 0x45565744, /* "EVWD" */
    WISDOM_FORMAT = 1,
    BUSY_MS = 20000,
    CODE_BYTES_MAX = 256 << 20
};

struct wisdom_store {
    sqlite3 *database;
    enum store_mode mode;
    char path[PATH_SIZE];
};

/* The columns of figures: kind (T text, I integer, R real, B blob), name, and whether it is of the
   key. `id` is apart. */
#define FIGURE_COLUMNS(X)                                                                          \
    X(T, template_name, true)                                                                      \
    X(T, template_hash, true)                                                                      \
    X(T, device, true)                                                                             \
    X(T, case_name, true)                                                                          \
    X(T, code, true)                                                                               \
    X(T, driver, true)                                                                             \
    X(T, toolkit, true)                                                                            \
    X(I, compute_capability, true)                                                                 \
    X(I, sm_count, true)                                                                           \
    X(T, solution, false)                                                                          \
    X(T, shape, false)                                                                             \
    X(T, genome, false)                                                                            \
    X(T, architecture, false)                                                                      \
    X(T, options, false)                                                                           \
    X(T, checks, false)                                                                            \
    X(T, conditions, false)                                                                        \
    X(I, smem_limit, false)                                                                        \
    X(R, p10_us, false)                                                                            \
    X(R, p50_us, false)                                                                            \
    X(R, p90_us, false)                                                                            \
    X(R, low_us, false)                                                                            \
    X(R, high_us, false)                                                                           \
    X(I, predicted, false)                                                                         \
    X(I, measured_at, false)                                                                       \
    X(B, values, false)                                                                            \
    X(T, stale, false)                                                                             \
    X(T, checked_driver, false)                                                                    \
    X(R, checked_us, false)                                                                        \
    X(I, checked_at, false)

#define KIND_T "TEXT"
#define KIND_I "INTEGER"
#define KIND_R "REAL"
#define KIND_B "BLOB"

static const char *const schema =
    "CREATE TABLE templates (key TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, bytes "
    "BLOB NOT NULL) STRICT;"
    "CREATE TABLE codes (key TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, bytes "
    "BLOB "
    "NOT NULL) STRICT;"
    "CREATE TABLE figures (id INTEGER PRIMARY KEY"
#define DECLARE_COLUMN(kind, name, of_key) ", \"" #name "\" " KIND_##kind " NOT NULL"
    FIGURE_COLUMNS(DECLARE_COLUMN)
#undef DECLARE_COLUMN
        ", UNIQUE (template_name, template_hash, device, case_name, code, driver, toolkit, "
        "compute_capability, sm_count)) STRICT;";

/* ---- errors ---- */

static int fail(struct wisdom_store *store, struct error *error) {
    const int code = sqlite3_errcode(store->database) & 0xff;
    const char *message = sqlite3_errmsg(store->database);
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(error, "%s is in use by another process: try again when it has ended",
                         store->path);
    case SQLITE_NOTADB:
        return error_input(error, "%s is no wisdom store: give one that `evotile wisdom add` wrote",
                           store->path);
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return error_set(error,
                         "cannot %s %s: %s: check the disk and the permissions, or give another "
                         "--store (nothing stored is lost)",
                         store->mode == STORE_WRITE ? "write" : "read", store->path, message);
    default:
        return error_set(
            error,
            "%s is damaged (%s): restore it from a copy, or remove it and add the runs "
            "again",
            store->path, message);
    }
}

static int damaged(struct wisdom_store *store, const char *what, struct error *error) {
    return error_set(error,
                     "%s is damaged (%s): restore it from a copy, or remove it and add the runs "
                     "again",
                     store->path, what);
}

static int run_sql(struct wisdom_store *store, const char *sql, struct error *error) {
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                             : fail(store, error);
}

static sqlite3_stmt *prepare(struct wisdom_store *store, const char *sql, struct error *error) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(store, error);
    return statement;
}

/* Steps a statement without rows, and ends it. */
static int finish(struct wisdom_store *store, sqlite3_stmt *statement, struct error *error) {
    const int got = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    const int status = got == SQLITE_DONE ? 0 : statement == NULL ? -1 : fail(store, error);
    sqlite3_finalize(statement);
    return status;
}

/* ---- opening ---- */

int wisdom_store_path(const char *given, char path[PATH_SIZE], struct error *error) {
    const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");
    given = given != NULL ? given : getenv("EVOTILE_WISDOM");
    if (given != NULL && given[0] != '\0')
        return path_join(path, "", given, error);
    if (data != NULL && data[0] == '/')
        return path_join(path, data, "evotile/wisdom.db", error);
    if (home == NULL || home[0] == '\0')
        return error_input(error,
                           "there is no HOME to keep the wisdom store in: give --store FILE");
    return path_join(path, home, ".local/share/evotile/wisdom.db", error);
}

static int read_integer(struct wisdom_store *store, const char *sql, int64_t *value,
                        struct error *error) {
    sqlite3_stmt *statement = prepare(store, sql, error);
    if (statement == NULL)
        return -1;
    const int got = sqlite3_step(statement);
    *value = got == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    const int status = got == SQLITE_ROW ? 0 : fail(store, error);
    sqlite3_finalize(statement);
    return status;
}

/* 1: a store; 0: an empty file; -1. */
static int check_kind(struct wisdom_store *store, struct error *error) {
    int64_t application, format, tables;
    /* Another process may make the store meanwhile, all at once: tables that are counted first
       never lack their header. */
    if (read_integer(store, "SELECT count(*) FROM sqlite_master", &tables, error) < 0 ||
        read_integer(store, "PRAGMA application_id", &application, error) < 0 ||
        read_integer(store, "PRAGMA user_version", &format, error) < 0)
        return -1;
    if (application == 0 && tables == 0)
        return 0;
    if (application != WISDOM_APPLICATION)
        return error_input(error, "%s is a database of another program: give a wisdom store",
                           store->path);
    if (format != WISDOM_FORMAT)
        return error_input(error,
                           "%s has format %lld, and this evotile reads format %d: use the evotile "
                           "that wrote it",
                           store->path, (long long)format, WISDOM_FORMAT);
    return 1;
}

/* Two processes may make the same store: the second finds it made. */
static int make_tables(struct wisdom_store *store, struct error *error) {
    char sql[128];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             WISDOM_APPLICATION, WISDOM_FORMAT);
    if (wisdom_store_begin(store, error) < 0)
        return -1;
    int status = check_kind(store, error);
    if (status == 0)
        status = run_sql(store, schema, error) < 0 || run_sql(store, sql, error) < 0 ? -1 : 0;
    return wisdom_store_end(store, status < 0 ? -1 : 0, error);
}

/* SQLite waits for ever for a pipe, and would write where a link leads. */
static int check_file(const struct wisdom_store *store, struct error *error) {
    struct stat status;
    const bool there = lstat(store->path, &status) == 0;
    if (there && !S_ISREG(status.st_mode))
        return error_input(error, "%s is no regular file: give the wisdom store itself",
                           store->path);
    if (!there && store->mode == STORE_READ)
        return error_input(
            error,
            "there is no wisdom store %s: `evotile wisdom add RUN` makes one, or give "
            "--store FILE",
            store->path);
    return 0;
}

struct wisdom_store *wisdom_store_open(const char *path, enum store_mode mode,
                                       struct error *error) {
    struct wisdom_store *store = xcalloc(1, sizeof *store);
    char folder[PATH_SIZE];
    store->mode = mode;
    const int flags =
        mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int status = path_join(store->path, "", path, error);
    if (status == 0)
        status = check_file(store, error);
    if (status == 0 && mode == STORE_WRITE)
        status = path_parent(folder, path, error) < 0 ? -1 : path_make_folder(folder, error);
    if (status == 0 && sqlite3_open_v2(path, &store->database, flags, NULL) != SQLITE_OK)
        status = fail(store, error);
    if (status == 0) {
        sqlite3_busy_timeout(store->database, BUSY_MS);
        sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        status = check_kind(store, error);
        if (status == 0)
            status = mode == STORE_WRITE
                         ? make_tables(store, error)
                         : error_input(error,
                                       "%s is empty: give a store that `evotile wisdom add` wrote",
                                       path);
    }
    if (status >= 0)
        return store;
    wisdom_store_close(store);
    return NULL;
}

void wisdom_store_close(struct wisdom_store *store) {
    if (store != NULL)
        sqlite3_close(store->database);
    free(store);
}

int wisdom_store_begin(struct wisdom_store *store, struct error *error) {
    return run_sql(store, store->mode == STORE_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", error);
}

int wisdom_store_end(struct wisdom_store *store, int status, struct error *error) {
    if (status >= 0 && run_sql(store, "COMMIT", error) == 0)
        return status;
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

/* ---- codes ---- */

static const char *const code_inserts[] = {
    [WISDOM_CODES_TABLE] = "INSERT OR IGNORE INTO codes VALUES (?1, ?2, ?3, ?4)",
    [WISDOM_TEMPLATES_TABLE] = "INSERT OR IGNORE INTO templates VALUES (?1, ?2, ?3, ?4)"};
static const char *const code_selects[] = {
    [WISDOM_CODES_TABLE] = "SELECT bytes, digest FROM codes WHERE key = ?1",
    [WISDOM_TEMPLATES_TABLE] = "SELECT bytes, digest FROM templates WHERE key = ?1"};

int wisdom_store_put_code(struct wisdom_store *store, enum wisdom_codes table, const char *key,
                          const char *name, const void *bytes, size_t size, struct error *error) {
    char digest[DIGEST_TEXT_SIZE];
    sqlite3_stmt *statement = prepare(store, code_inserts[table], error);
    digest_print(bytes, size, digest);
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, digest, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 4, bytes, size, SQLITE_STATIC);
    return finish(store, statement, error);
}

void *wisdom_store_code(struct wisdom_store *store, enum wisdom_codes table, const char *key,
                        size_t *size, struct error *error) {
    char digest[DIGEST_TEXT_SIZE];
    void *copy = NULL;
    sqlite3_stmt *statement = prepare(store, code_selects[table], error);
    if (statement == NULL)
        return NULL;
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    const int got = sqlite3_step(statement);
    const void *bytes = got == SQLITE_ROW ? sqlite3_column_blob(statement, 0) : NULL;
    *size = bytes != NULL ? (size_t)sqlite3_column_bytes(statement, 0) : 0;
    const char *recorded =
        got == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 1) : NULL;
    if (got != SQLITE_ROW && got != SQLITE_DONE)
        fail(store, error);
    else if (bytes == NULL || recorded == NULL || *size > CODE_BYTES_MAX)
        damaged(store, "a figure has no machine code", error);
    else if (strcmp(digest_print(bytes, *size, digest), recorded) != 0)
        damaged(store, "machine code has another digest than was stored", error);
    else {
        copy = xmalloc(*size);
        memcpy(copy, bytes, *size);
    }
    sqlite3_finalize(statement);
    return copy;
}

/* ---- figures ---- */

static void bind_figure(sqlite3_stmt *statement, const struct wisdom_figure *figure) {
    int index = 1;
#define BIND_T(name) sqlite3_bind_text(statement, index++, figure->name, -1, SQLITE_STATIC);
#define BIND_I(name) sqlite3_bind_int64(statement, index++, figure->name);
#define BIND_R(name) sqlite3_bind_double(statement, index++, figure->name);
#define BIND_B(name)                                                                               \
    sqlite3_bind_blob64(statement, index++, figure->name, (sqlite3_uint64)figure->name##_bytes,    \
                        SQLITE_STATIC);
#define BIND_COLUMN(kind, name, of_key) BIND_##kind(name)
    FIGURE_COLUMNS(BIND_COLUMN)
}

/* Reads the columns of a row that starts with the id. A text lives until the next step. */
static bool read_row(sqlite3_stmt *statement, struct wisdom_figure *figure) {
    int index = 1;
    bool holds = sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    figure->id = sqlite3_column_int64(statement, 0);
#define READ_T(name)                                                                               \
    holds = holds && sqlite3_column_type(statement, index) == SQLITE_TEXT;                         \
    figure->name = (const char *)sqlite3_column_text(statement, index++);
#define READ_I(name)                                                                               \
    holds = holds && sqlite3_column_type(statement, index) == SQLITE_INTEGER;                      \
    figure->name = sqlite3_column_int64(statement, index++);
#define READ_R(name)                                                                               \
    holds = holds && sqlite3_column_type(statement, index) == SQLITE_FLOAT;                        \
    figure->name = sqlite3_column_double(statement, index++);
#define READ_B(name)                                                                               \
    holds = holds && sqlite3_column_type(statement, index) == SQLITE_BLOB;                         \
    figure->name = sqlite3_column_blob(statement, index);                                          \
    figure->name##_bytes = sqlite3_column_bytes(statement, index++);
#define READ_COLUMN(kind, name, of_key) READ_##kind(name)
    FIGURE_COLUMNS(READ_COLUMN)
    return holds && figure->p50_us > 0 && isfinite(figure->p50_us) && figure->low_us >= 0 &&
           figure->high_us >= figure->low_us && isfinite(figure->high_us) &&
           figure->values_bytes > 0 && figure->values_bytes % (3 * (int64_t)sizeof(int64_t)) == 0 &&
           figure->sm_count > 0 && figure->compute_capability > 0 && figure->smem_limit >= 0;
}

static const char *const select_figures = "SELECT id"
#define LIST_COLUMN(kind, name, of_key) ", \"" #name "\""
    FIGURE_COLUMNS(LIST_COLUMN) " FROM figures ";

static double relative_interval(const struct wisdom_figure *figure) {
    return figure->high_us > 0 ? (figure->high_us - figure->low_us) / figure->p50_us : INFINITY;
}

static bool is_better(const struct wisdom_figure *figure, const struct wisdom_figure *than) {
    if (figure->predicted != than->predicted)
        return !figure->predicted;
    const double width = relative_interval(figure), other = relative_interval(than);
    return width != other ? width < other : figure->measured_at > than->measured_at;
}

/* The stored figure of the same key. Returns 1, 0 or -1; after 1 its statement is open. */
static int find_same(struct wisdom_store *store, const struct wisdom_figure *figure,
                     sqlite3_stmt **statement, struct wisdom_figure *found, struct error *error) {
    char sql[2048];
    int index = 0;
    snprintf(sql, sizeof sql, "%s WHERE 1", select_figures);
#define MATCH_COLUMN(kind, name, of_key)                                                           \
    index++;                                                                                       \
    if (of_key)                                                                                    \
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " AND \"" #name "\" = ?%d", index);
    FIGURE_COLUMNS(MATCH_COLUMN)
    *statement = prepare(store, sql, error);
    if (*statement == NULL)
        return -1;
    bind_figure(*statement, figure);
    const int got = sqlite3_step(*statement);
    if (got == SQLITE_ROW)
        return read_row(*statement, found) ? 1 : damaged(store, "a figure does not hold", error);
    return got == SQLITE_DONE ? 0 : fail(store, error);
}

int wisdom_store_put(struct wisdom_store *store, const struct wisdom_figure *figure,
                     enum wisdom_put *outcome, struct error *error) {
    char sql[1024] = "INSERT INTO figures VALUES (NULL";
    struct wisdom_figure found;
    sqlite3_stmt *statement;
    int status = find_same(store, figure, &statement, &found, error);
    *outcome = status == 0 ? WISDOM_ADDED : is_better(figure, &found) ? WISDOM_BETTER : WISDOM_KEPT;
    sqlite3_finalize(statement);
    if (status < 0 || *outcome == WISDOM_KEPT)
        return status < 0 ? -1 : 0;
    if (status == 1 && wisdom_store_remove(store, found.id, error) < 0)
        return -1;
#define PLACE_COLUMN(kind, name, of_key)                                                           \
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ", ?");
    FIGURE_COLUMNS(PLACE_COLUMN)
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ")");
    statement = prepare(store, sql, error);
    if (statement == NULL)
        return -1;
    bind_figure(statement, figure);
    return finish(store, statement, error);
}

static void copy_texts(struct wisdom_figure *figure) {
#define COPY_T(name) figure->name = xstrdup(figure->name);
#define COPY_I(name)
#define COPY_R(name)
#define COPY_B(name)                                                                               \
    figure->name =                                                                                 \
        memcpy(xmalloc((size_t)figure->name##_bytes), figure->name, (size_t)figure->name##_bytes);
#define COPY_COLUMN(kind, name, of_key) COPY_##kind(name)
    FIGURE_COLUMNS(COPY_COLUMN)
}

int wisdom_store_read(struct wisdom_store *store, struct wisdom_figures *figures,
                      struct error *error) {
    char sql[1024];
    snprintf(sql, sizeof sql,
             "%s ORDER BY template_name, template_hash, device, compute_capability, sm_count, "
             "\"values\", "
             "p50_us, id",
             select_figures);
    sqlite3_stmt *statement = prepare(store, sql, error);
    int status = statement != NULL ? 0 : -1, got = SQLITE_DONE, capacity = 0;
    *figures = (struct wisdom_figures){0};
    while (status == 0 && (got = sqlite3_step(statement)) == SQLITE_ROW) {
        if (figures->count == capacity) {
            capacity = 2 * capacity + 64;
            figures->items = xrealloc(figures->items, (size_t)capacity * sizeof *figures->items);
        }
        struct wisdom_figure *figure = &figures->items[figures->count];
        if (!read_row(statement, figure)) {
            status = damaged(store, "a figure does not hold", error);
            break;
        }
        copy_texts(figure);
        figures->count++;
    }
    if (status == 0 && got != SQLITE_DONE)
        status = fail(store, error);
    sqlite3_finalize(statement);
    if (status < 0)
        wisdom_figures_release(figures);
    return status;
}

void wisdom_figures_release(struct wisdom_figures *figures) {
    for (int i = 0; i < figures->count; i++) {
        struct wisdom_figure *figure = &figures->items[i];
#define FREE_T(name) free((void *)figure->name);
#define FREE_I(name)
#define FREE_R(name)
#define FREE_B(name)                    free((void *)figure->name);
#define FREE_COLUMN(kind, name, of_key) FREE_##kind(name)
        FIGURE_COLUMNS(FREE_COLUMN)
    }
    free(figures->items);
    *figures = (struct wisdom_figures){0};
}

int wisdom_store_mark(struct wisdom_store *store, int64_t id, const char *stale,
                      const char *checked_driver, double checked_us, struct error *error) {
    sqlite3_stmt *statement = prepare(store,
                                      "UPDATE figures SET stale = ?2, checked_driver = ?3, "
                                      "checked_us = ?4, checked_at = ?5 WHERE id = ?1",
                                      error);
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_text(statement, 2, stale, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, checked_driver, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 4, checked_us);
    sqlite3_bind_int64(statement, 5, (int64_t)time(NULL));
    return finish(store, statement, error);
}

int wisdom_store_remove(struct wisdom_store *store, int64_t id, struct error *error) {
    sqlite3_stmt *statement = prepare(store, "DELETE FROM figures WHERE id = ?1", error);
    sqlite3_bind_int64(statement, 1, id);
    return finish(store, statement, error);
}

int64_t wisdom_store_sweep(struct wisdom_store *store, struct error *error) {
    if (run_sql(store, "DELETE FROM codes WHERE key NOT IN (SELECT code FROM figures)", error) < 0)
        return -1;
    const int64_t removed = sqlite3_changes64(store->database);
    return run_sql(store,
                   "DELETE FROM templates WHERE key NOT IN (SELECT template_hash FROM figures)",
                   error) < 0
               ? -1
               : removed;
}
