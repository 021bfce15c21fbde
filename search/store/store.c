#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "store/database.h"

static struct store *store_new(const char *run_dir, enum store_mode mode, struct error *error) {
    struct store *store = xcalloc(1, sizeof *store);
    store->mode = mode;
    store->lock.file = -1;
    if (path_join(store->run_dir, "", run_dir, error) < 0 ||
        path_join(store->path, run_dir, "run.db", error) < 0) {
        free(store);
        return NULL;
    }
    return store;
}

void store_close(struct store *store) {
    if (store == NULL)
        return;
    store_rollback(store);
    database_close(store);
    lock_release(&store->lock);
    path_list_free(store->goals, store->goal_count);
    free(store->weights);
    free(store);
}

static int load_goals(struct store *store, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_GOALS, error);
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        if (sqlite3_column_int64(statement, 0) != store->goal_count) {
            status = database_damaged_row(store, statement, error, "goals are not numbered from 0");
            continue;
        }
        store->goals = xgrow(store->goals, store->goal_count, sizeof *store->goals);
        store->goals[store->goal_count] = xstrdup(name);
        store->goal_count++;
    }
    return status;
}

static int load_weights(struct store *store, struct error *error) {
    char *text = NULL, *end;
    int status = store_meta_get(store, WEIGHTS_META, &text, error) < 0 ? -1 : 0;
    for (const char *at = text; status == 0 && at != NULL && *at != '\0'; at = end) {
        const double weight = strtod(at, &end);
        if (end == at || !case_weight_is_valid(weight) || store->weight_count == CASES_MAX) {
            status = database_damaged(store, error, "the weights of its cases are no numbers");
            break;
        }
        store->weights = xgrow(store->weights, (size_t)store->weight_count, sizeof *store->weights);
        store->weights[store->weight_count++] = weight;
    }
    free(text);
    return status;
}

/* A view or a trigger stands in for what the store reads, or runs SQL of its own. */
static int refuse_foreign(struct store *store, struct error *error) {
    sqlite3_stmt *statement = database_use(store, SQL_FOREIGN, error);
    int got = database_step(store, statement, error);
    if (got == 1) {
        char what[128];
        snprintf(what, sizeof what, "it has a %s, which no run has",
                 strcmp((const char *)sqlite3_column_text(statement, 0), "view") == 0 ? "view"
                                                                                      : "trigger");
        got = database_damaged(store, error, what);
    }
    database_done(statement);
    return got;
}

static int write_description(struct store *store, const struct store_description *description,
                             struct error *error) {
    char created[32], header[96];
    snprintf(created, sizeof created, "%.3f", clock_unix_seconds());
    snprintf(header, sizeof header, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, STORE_FORMAT);
    if (database_run(store, sql_schema, error) < 0 || database_run(store, header, error) < 0 ||
        store_meta_set(store, "created", created, error) < 0)
        return -1;
    for (int i = 0; i < description->meta_count; i++)
        if (store_meta_set(store, description->meta[i].name, description->meta[i].value, error) < 0)
            return -1;
    for (int i = 0; i < description->goal_count; i++) {
        sqlite3_stmt *statement = database_use(store, SQL_GOAL_ADD, error);
        sqlite3_bind_int(statement, 1, i);
        database_bind_text(statement, 2, description->goals[i]);
        if (database_finish(store, statement, error) < 0)
            return -1;
    }
    return 0;
}

/* Removes the database and SQLite's files beside it, after a failed creation only. */
static void remove_database(const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char name[PATH_SIZE + 16];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

struct store *store_create(const char *run_dir, const struct store_description *description,
                           struct error *error) {
    struct store *store = store_new(run_dir, STORE_WRITE, error);
    if (store == NULL)
        return NULL;
    bool made_folder = !path_exists(run_dir), made_database = false;
    if (path_make_folder(run_dir, error) < 0 || lock_acquire(&store->lock, run_dir, error) < 0)
        goto failed;
    made_database = !path_exists(store->path);
    if (database_open(store, path_network_filesystem(run_dir), error) < 0)
        goto failed;
    int found = database_check(store, error);
    if (found < 0)
        goto failed;
    if (found > 0) {
        error_input(error,
                    "%s holds a run already: resume it, choose another folder, or remove this one",
                    run_dir);
        goto failed;
    }
    if (store_begin(store, error) < 0 || write_description(store, description, error) < 0 ||
        store_commit(store, error) < 0 || load_goals(store, error) < 0 ||
        load_weights(store, error) < 0)
        goto failed;
    return store;
failed:
    store_rollback(store);
    database_close(store);
    if (made_database)
        remove_database(store->path);
    store_close(store);
    if (made_folder)
        rmdir(run_dir);
    return NULL;
}

struct store *store_open(const char *run_dir, enum store_mode mode, struct error *error) {
    struct store *store = store_new(run_dir, mode, error);
    if (store == NULL)
        return NULL;
    if (access(store->path, F_OK) < 0) {
        error_input(error, "%s holds no run (%s: %s): give a folder that a run wrote", run_dir,
                    store->path, strerror(errno));
        goto failed;
    }
    if ((mode == STORE_WRITE && lock_acquire(&store->lock, run_dir, error) < 0) ||
        database_open(store, path_network_filesystem(run_dir), error) < 0)
        goto failed;
    int found = database_check(store, error);
    if (found < 0)
        goto failed;
    if (found == 0) {
        error_input(error, "%s holds no run: its creation was interrupted; start it again",
                    run_dir);
        goto failed;
    }
    if (refuse_foreign(store, error) < 0 || database_upgrade(store, error) < 0 ||
        load_goals(store, error) < 0 || load_weights(store, error) < 0 ||
        (store->events = store_event_count(store, error)) < 0)
        goto failed;
    return store;
failed:
    store_close(store);
    return NULL;
}

int store_holds_run(const char *run_dir, struct error *error) {
    struct store *store = store_new(run_dir, STORE_READ, error);
    if (store == NULL)
        return -1;
    int found = 0;
    if (path_exists(store->path)) {
        found = database_open(store, NULL, error);
        if (found == 0)
            found = database_check(store, error);
    }
    store_close(store);
    return found;
}

const char *store_run_dir(const struct store *store) {
    return store->run_dir;
}

int store_goal_count(const struct store *store) {
    return store->goal_count;
}

const char *store_goal_name(const struct store *store, int goal) {
    if (goal < 0 || goal >= store->goal_count)
        BUG("goal %d of %d", goal, store->goal_count);
    return store->goals[goal];
}

int store_meta_get(struct store *store, const char *name, char **value, struct error *error) {
    *value = NULL;
    sqlite3_stmt *statement = database_use(store, SQL_META_GET, error);
    database_bind_text(statement, 1, name);
    int got = database_step(store, statement, error);
    if (got == 1)
        *value = text_escaped((const char *)sqlite3_column_text(statement, 0), true);
    database_done(statement);
    return got;
}
