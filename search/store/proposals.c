#include "store/proposals.h"

#include "base/memory.h"
#include "store/database.h"

#include <math.h>
#include <stddef.h>

/* The columns of SQL_PROPOSALS and the parameters of SQL_PROPOSAL_PUT, in their order. */
enum column_of { A_TEXT, A_COUNT, A_TRIAL, A_GOAL, A_REAL };

#define ROW(kind, member)                                                                          \
    { kind, offsetof(struct store_proposal, member) }
static const struct {
    enum column_of kind;
    size_t offset;
} members[] = {
    ROW(A_COUNT, number),  ROW(A_TEXT, parent),         ROW(A_TEXT, other),
    ROW(A_TEXT, request),  ROW(A_TEXT, answer),         ROW(A_TEXT, solution),
    ROW(A_TEXT, hash),     ROW(A_TEXT, genome),         ROW(A_TEXT, hypothesis),
    ROW(A_TEXT, diff),     ROW(A_GOAL, goal),           ROW(A_TRIAL, trial),
    ROW(A_TEXT, judged),   ROW(A_TEXT, verdict),        ROW(A_TEXT, reason),
    ROW(A_REAL, first_us), ROW(A_REAL, score_us),       ROW(A_REAL, ratio),
    ROW(A_REAL, low),      ROW(A_REAL, high),           ROW(A_TEXT, decision),
    ROW(A_COUNT, turn),    ROW(A_COUNT, prompt_tokens), ROW(A_COUNT, completion_tokens),
    ROW(A_REAL, cost),     ROW(A_REAL, asked),          ROW(A_REAL, answered),
    ROW(A_REAL, decided),
};
enum { MEMBERS = sizeof members / sizeof *members };

static void bind_member(sqlite3_stmt *statement, int index, enum column_of kind,
                        const void *member) {
    const double real = kind == A_REAL ? *(const double *)member : 0;
    switch (kind) {
    case A_TEXT:
        database_bind_text(statement, index, *(const char *const *)member);
        break;
    case A_COUNT:
        sqlite3_bind_int64(statement, index, *(const int64_t *)member);
        break;
    case A_TRIAL:
        if (*(const int64_t *)member != STORE_NO_TRIAL)
            sqlite3_bind_int64(statement, index, *(const int64_t *)member);
        break;
    case A_GOAL:
        if (*(const int *)member != NO_GOAL)
            sqlite3_bind_int(statement, index, *(const int *)member);
        break;
    case A_REAL:
        if (isfinite(real))
            sqlite3_bind_double(statement, index, real);
        break;
    }
}

static void read_member(sqlite3_stmt *statement, int index, enum column_of kind, void *member) {
    const bool null = sqlite3_column_type(statement, index) == SQLITE_NULL;
    switch (kind) {
    case A_TEXT:
        *(const char **)member = (const char *)sqlite3_column_text(statement, index);
        break;
    case A_COUNT:
        *(int64_t *)member = sqlite3_column_int64(statement, index);
        break;
    case A_TRIAL:
        *(int64_t *)member = null ? STORE_NO_TRIAL : sqlite3_column_int64(statement, index);
        break;
    case A_GOAL:
        *(int *)member = null ? NO_GOAL : sqlite3_column_int(statement, index);
        break;
    case A_REAL:
        *(double *)member = null ? NAN : sqlite3_column_double(statement, index);
        break;
    }
}

int store_put_proposal(struct store *store, const struct store_proposal *proposal,
                       struct error *error) {
    if (!store->in_batch)
        BUG("writing outside of a batch: %s", sql_text(SQL_PROPOSAL_PUT));
    sqlite3_stmt *statement = database_use(store, SQL_PROPOSAL_PUT, error);
    for (int i = 0; i < MEMBERS && statement != NULL; i++)
        bind_member(statement, i + 1, members[i].kind, (const char *)proposal + members[i].offset);
    if (database_finish(store, statement, error) == 0)
        return 0;
    store_rollback(store);
    return -1;
}

int store_proposals(struct store *store, store_proposal_row *row, void *context,
                    struct error *error) {
    if (store->mode == STORE_READ && store->format < STORE_FORMAT_OF_PROPOSALS)
        return 0;
    sqlite3_stmt *statement = database_use(store, SQL_PROPOSALS, error);
    int status = 0;
    while (database_next(store, statement, &status, error)) {
        struct store_proposal proposal;
        for (int i = 0; i < MEMBERS; i++)
            read_member(statement, i, members[i].kind, (char *)&proposal + members[i].offset);
        status = row(context, &proposal, error);
    }
    return status < 0 ? -1 : 0;
}

int store_add_goal(struct store *store, const char *name, struct error *error) {
    if (!store->in_batch)
        BUG("writing outside of a batch: %s", sql_text(SQL_GOAL_ADD));
    sqlite3_stmt *statement = database_use(store, SQL_GOAL_ADD, error);
    sqlite3_bind_int(statement, 1, store->goal_count);
    database_bind_text(statement, 2, name);
    if (database_finish(store, statement, error) < 0) {
        store_rollback(store);
        return -1;
    }
    store->goals = xgrow(store->goals, store->goal_count, sizeof *store->goals);
    store->goals[store->goal_count++] = xstrdup(name);
    return 0;
}
