#include "store/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "outcome/fields.h"

/* Numbers and event numbers stay exact as doubles; times end in the year 5138; no duration is
   longer than 11 days. */
#define COUNT_HIGH 9e15
#define TIME_HIGH  1e11
#define US_HIGH    1e12
#define INT_HIGH   2147483647.0

/* What the lists of outcome/fields.h have, unless a row above them says more: any number. */
#define DEFAULT_INT    COLUMN_INT, MAYBE_NULL, -INT_HIGH - 1, INT_HIGH
#define DEFAULT_INT64  COLUMN_INT, MAYBE_NULL, -INFINITY, INFINITY
#define DEFAULT_BOOL   COLUMN_INT, MAYBE_NULL, 0, 1
#define DEFAULT_DOUBLE COLUMN_REAL, MAYBE_NULL, -INFINITY, INFINITY
#define DEFAULT_TEXT   COLUMN_TEXT, MAYBE_NULL, 0, 0

#define TRIALS_DEFAULT(kind, member, column) {"trials", #column, DEFAULT_##kind},
#define CASES_DEFAULT(kind, member, column)  {"cases", #column, DEFAULT_##kind},
#define CASES_SAMPLES(latency, name, count, sample)                                                \
    {"cases", #count, COLUMN_INT, NEVER_NULL, 0, SAMPLES_MAX},                                     \
        {"cases", #sample, COLUMN_SAMPLES, MAYBE_NULL, 0, US_HIGH},

#define COUNT(table, name)                                                                         \
    { table, name, COLUMN_INT, NEVER_NULL, 0, COUNT_HIGH }
#define TEXT(table, name)                                                                          \
    { table, name, COLUMN_TEXT, NEVER_NULL, 0, 0 }
#define NAME(table, name)                                                                          \
    { table, name, COLUMN_NAME, NEVER_NULL, 0, 0 }
#define ANY_TEXT(table, name)                                                                      \
    { table, name, COLUMN_TEXT, MAYBE_NULL, 0, 0 }
#define PROPOSAL_NAME(name)                                                                        \
    { "proposals", name, COLUMN_NAME, MAYBE_NULL, 0, 0 }
#define PROPOSAL_FIGURE(name)                                                                      \
    { "proposals", name, COLUMN_REAL, MAYBE_NULL, 0, US_HIGH }
#define SIZE(name)                                                                                 \
    { "trials", name, COLUMN_INT, MAYBE_NULL, 0, INT_HIGH }
#define SECONDS(name)                                                                              \
    { "trials", name, COLUMN_REAL, MAYBE_NULL, 0, 1e9 }
#define RATIO(name)                                                                                \
    { "trials", name, COLUMN_REAL, MAYBE_NULL, 0, US_HIGH }
#define FIGURE(name)                                                                               \
    { "cases", name, COLUMN_REAL, MAYBE_NULL, 0, US_HIGH }
#define ERROR(name)                                                                                \
    { "cases", name, COLUMN_REAL, MAYBE_NULL, 0, INFINITY }

const struct column store_columns[] = {
    TEXT("meta", "name"),
    TEXT("meta", "value"),
    COUNT("goals", "number"),
    NAME("goals", "name"),
    COUNT("settings", "id"),
    TEXT("settings", "hash"),
    ANY_TEXT("settings", "template"),
    ANY_TEXT("settings", "options"),
    ANY_TEXT("settings", "cases"),
    ANY_TEXT("settings", "device"),
    ANY_TEXT("settings", "driver"),
    ANY_TEXT("settings", "nvrtc"),
    ANY_TEXT("settings", "method"),
    COUNT("trials", "number"),
    {"trials", "goal", COLUMN_GOAL, NEVER_NULL, 0, INT_HIGH},
    NAME("trials", "genome"),
    {"trials", "parent_a", COLUMN_INT, MAYBE_NULL, 0, COUNT_HIGH},
    {"trials", "parent_b", COLUMN_INT, MAYBE_NULL, 0, COUNT_HIGH},
    NAME("trials", "operator"),
    {"trials", "checks", COLUMN_NAME, MAYBE_NULL, 0, 0},
    {"trials", "uses", COLUMN_NAME, MAYBE_NULL, 0, 0},
    {"trials", "asked", COLUMN_INT, NEVER_NULL, 1, COUNT_HIGH},
    {"trials", "told", COLUMN_INT, MAYBE_NULL, 1, COUNT_HIGH},
    {"trials", "issued", COLUMN_REAL, NEVER_NULL, 0, TIME_HIGH},
    {"trials", "finished", COLUMN_REAL, IN_FLIGHT_NULL, 0, TIME_HIGH},
    ANY_TEXT("trials", "worker"),
    {"trials", "key", COLUMN_HASH, MAYBE_NULL, 0, 0},
    {"trials", "setting", COLUMN_INT, MAYBE_NULL, 0, COUNT_HIGH},
    {"trials", "verdict", COLUMN_VERDICT, IN_FLIGHT_NULL, 0, 0},
    {"trials", "predicted", COLUMN_INT, IN_FLIGHT_NULL, 0, 1},
    {"trials", "raced", COLUMN_INT, IN_FLIGHT_NULL, 0, 1},
    {"trials", "score_us", COLUMN_REAL, IN_FLIGHT_NULL, 0, US_HIGH},
    {"trials", "case_count", COLUMN_INT, IN_FLIGHT_NULL, 0, CASES_MAX},
    {"trials", "duel", COLUMN_INT, MAYBE_NULL, 0, DUEL_UNDECIDED},
    SIZE("registers"),
    SIZE("smem_bytes"),
    SIZE("local_bytes"),
    SIZE("spill_bytes"),
    SIZE("ctas_per_sm"),
    SIZE("duel_blocks"),
    SIZE("sm_mhz_low"),
    SIZE("sm_mhz_high"),
    SIZE("sm_mhz"),
    SIZE("memory_mhz"),
    SIZE("discarded"),
    SECONDS("compile_s"),
    SECONDS("verify_s"),
    SECONDS("measure_s"),
    RATIO("occupancy"),
    RATIO("duel_ratio"),
    RATIO("duel_low"),
    RATIO("duel_high"),
    OUTCOME_FIELDS(TRIALS_DEFAULT) /* the rest */
    {"trials", "tells", COLUMN_INT, NEVER_NULL, 0, INT_HIGH},
    {"trials", "outdated", COLUMN_INT, NEVER_NULL, 0, 1},
    {"cases", "event", COLUMN_INT, NEVER_NULL, 1, COUNT_HIGH},
    {"cases", "number", COLUMN_INT, NEVER_NULL, 0, CASES_MAX - 1},
    ERROR("relative_l2"),
    ERROR("row_relative_l2"),
    ERROR("max_absolute"),
    ERROR("bound_relative_l2"),
    ERROR("bound_row_relative_l2"),
    ERROR("bound_max_absolute"),
    FIGURE("p10_us"),
    FIGURE("p50_us"),
    FIGURE("p90_us"),
    FIGURE("cold_p10_us"),
    FIGURE("cold_p50_us"),
    FIGURE("cold_p90_us"),
    FIGURE("tflops"),
    FIGURE("gb_per_s"),
    FIGURE("ceiling"),
    {"cases", "placements", COLUMN_INT, MAYBE_NULL, 0, SAMPLES_MAX},
    FIGURE("placement_least_us"),
    FIGURE("placement_most_us"),
    FIGURE("energy_mj"),
    FIGURE("energy_error"),
    FIGURE("energy_watts"),
    FIGURE("idle_watts"),
    {"cases", "ctas", COLUMN_INT, MAYBE_NULL, 0, INT_HIGH},
    CASE_FIELDS(CASES_DEFAULT) /* the rest */
    CASE_SAMPLES(CASES_SAMPLES) COUNT("champions", "event"),
    {"champions", "goal", COLUMN_GOAL, NEVER_NULL, 0, INT_HIGH},
    COUNT("champions", "trial"),
    {"champions", "previous", COLUMN_INT, MAYBE_NULL, 0, COUNT_HIGH},
    {"champions", "score_us", COLUMN_REAL, NEVER_NULL, 0, US_HIGH},
    {"champions", "crowned", COLUMN_REAL, NEVER_NULL, 0, TIME_HIGH},
    COUNT("checkpoints", "id"),
    COUNT("checkpoints", "events"),
    {"checkpoints", "digest", COLUMN_HASH, NEVER_NULL, 0, 0},
    TEXT("checkpoints", "text"),
    {"proposals", "number", COLUMN_INT, NEVER_NULL, 1, COUNT_HIGH},
    NAME("proposals", "parent"),
    PROPOSAL_NAME("other"),
    TEXT("proposals", "request"),
    ANY_TEXT("proposals", "answer"),
    PROPOSAL_NAME("solution"),
    {"proposals", "hash", COLUMN_HASH, MAYBE_NULL, 0, 0},
    PROPOSAL_NAME("genome"),
    ANY_TEXT("proposals", "hypothesis"),
    ANY_TEXT("proposals", "diff"),
    {"proposals", "goal", COLUMN_GOAL, MAYBE_NULL, 0, INT_HIGH},
    {"proposals", "trial", COLUMN_INT, MAYBE_NULL, 0, COUNT_HIGH},
    ANY_TEXT("proposals", "judged"),
    PROPOSAL_NAME("verdict"),
    ANY_TEXT("proposals", "reason"),
    PROPOSAL_FIGURE("first_us"),
    PROPOSAL_FIGURE("score_us"),
    PROPOSAL_FIGURE("ratio"),
    PROPOSAL_FIGURE("low"),
    PROPOSAL_FIGURE("high"),
    PROPOSAL_NAME("decision"),
    COUNT("proposals", "turn"),
    COUNT("proposals", "prompt_tokens"),
    COUNT("proposals", "completion_tokens"),
    PROPOSAL_FIGURE("cost"),
    {"proposals", "asked", COLUMN_REAL, NEVER_NULL, 0, TIME_HIGH},
    {"proposals", "answered", COLUMN_REAL, MAYBE_NULL, 0, TIME_HIGH},
    {"proposals", "decided", COLUMN_REAL, MAYBE_NULL, 0, TIME_HIGH},
    {0},
};

const char *const store_tables[] = {"meta",  "goals",     "settings",    "trials",    "earlier",
                                    "cases", "champions", "checkpoints", "proposals", NULL};

/* The columns that name a row for a reader. */
static const struct {
    const char *table, *names[ROW_KEYS];
} row_keys[] = {
    {"meta", {"name"}},       {"goals", {"number"}},           {"settings", {"id"}},
    {"trials", {"number"}},   {"earlier", {"number", "told"}}, {"cases", {"event", "number"}},
    {"champions", {"event"}}, {"checkpoints", {"id"}},         {"proposals", {"number"}},
};

const struct column *column_find(const char *table, const char *name) {
    if (table == NULL || name == NULL)
        return NULL;
    if (strcmp(table, "earlier") == 0)
        table = "trials";
    for (const struct column *column = store_columns; column->table != NULL; column++)
        if (strcmp(column->table, table) == 0 && strcmp(column->name, name) == 0)
            return column;
    return NULL;
}

/* ---- the columns of a statement ---- */

/* The index of the column of that name in the statement, or -1. */
static int index_of(const struct row_check *check, const char *name) {
    for (int i = 0; name != NULL && i < check->count; i++)
        if (check->columns[i] != NULL && strcmp(check->columns[i]->name, name) == 0)
            return i;
    return -1;
}

void row_check_prepare(struct row_check *check, const char *table, sqlite3_stmt *statement) {
    *check = (struct row_check){.table = table, .count = sqlite3_column_count(statement)};
    check->columns = xcalloc((size_t)check->count + 1, sizeof *check->columns);
    for (int i = 0; i < check->count; i++)
        check->columns[i] = column_find(table, sqlite3_column_name(statement, i));
    for (int k = 0; k < ROW_KEYS; k++) {
        check->keys[k] = -1;
        for (size_t i = 0; table != NULL && i < sizeof row_keys / sizeof *row_keys; i++)
            if (strcmp(row_keys[i].table, table) == 0)
                check->keys[k] = index_of(check, row_keys[i].names[k]);
    }
    bool trials = table != NULL && (strcmp(table, "trials") == 0 || strcmp(table, "earlier") == 0);
    check->observed = index_of(check, "told");
    check->verdict = index_of(check, "verdict");
    check->score_us = trials ? index_of(check, "score_us") : -1;
    check->number = trials ? index_of(check, "number") : -1;
    check->parents[0] = index_of(check, "parent_a");
    check->parents[1] = index_of(check, "parent_b");
}

void row_check_release(struct row_check *check) {
    free(check->columns);
    *check = (struct row_check){0};
}

/* ---- messages ---- */

/* Appends a value for a message: a short text in quotes without its control characters. */
static void print_value(sqlite3_stmt *statement, int column, char *what, size_t size) {
    char text[48];
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        text_append(what, size, "NULL");
        break;
    case SQLITE_BLOB:
        text_append(what, size, "a blob of %d bytes", sqlite3_column_bytes(statement, column));
        break;
    case SQLITE_TEXT:
        snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, column));
        for (char *at = text; *at != '\0'; at++)
            if ((unsigned char)*at < ' ' || (unsigned char)*at >= 127)
                *at = '?';
        text_append(what, size, "'%s'", text);
        break;
    case SQLITE_INTEGER:
        text_append(what, size, "%lld", (long long)sqlite3_column_int64(statement, column));
        break;
    default:
        text_append(what, size, "%g", sqlite3_column_double(statement, column));
    }
}

void row_check_name(const struct row_check *check, sqlite3_stmt *statement, char *what,
                    size_t size) {
    text_append(what, size, "table %s", check->table);
    for (int k = 0; k < ROW_KEYS; k++)
        if (check->keys[k] >= 0) {
            text_append(what, size, ", %s ", check->columns[check->keys[k]]->name);
            print_value(statement, check->keys[k], what, size);
        }
}

static void print_expected(const struct column *column, int goal_count, char *what, size_t size) {
    const char *kind = column->kind == COLUMN_REAL ? "number" : "whole number";
    switch (column->kind) {
    case COLUMN_GOAL:
        text_append(what, size, "one of the run's %d goals", goal_count);
        break;
    case COLUMN_INT:
    case COLUMN_REAL:
        if (isfinite(column->low))
            text_append(what, size, "a %s from %.10g to %.10g", kind, column->low, column->high);
        else
            text_append(what, size, "a %s", kind);
        break;
    case COLUMN_TEXT:
        text_append(what, size, "a text");
        break;
    case COLUMN_NAME:
        text_append(what, size, "a text without control characters");
        break;
    case COLUMN_HASH:
        text_append(what, size, "a hash of 32 hexadecimal digits");
        break;
    case COLUMN_VERDICT:
        text_append(what, size, "a verdict");
        break;
    case COLUMN_SAMPLES:
        text_append(what, size, "samples in microseconds");
    }
}

/* ---- the check ---- */

/* A text without NUL bytes in it. */
static const char *whole_text(sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text != NULL && strlen(text) == (size_t)sqlite3_column_bytes(statement, column) ? text
                                                                                           : NULL;
}

static bool is_name(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static bool samples_hold(const struct column *column, sqlite3_stmt *statement, int index) {
    size_t size = (size_t)sqlite3_column_bytes(statement, index);
    const char *bytes = sqlite3_column_blob(statement, index);
    if (sqlite3_column_type(statement, index) != SQLITE_BLOB || size % sizeof(double) != 0 ||
        size / sizeof(double) > SAMPLES_MAX)
        return false;
    for (size_t at = 0; at < size; at += sizeof(double)) {
        double sample;
        memcpy(&sample, bytes + at, sizeof sample);
        if (!(sample >= column->low && sample <= column->high))
            return false;
    }
    return true;
}

static bool value_holds(const struct column *column, int goal_count, sqlite3_stmt *statement,
                        int index) {
    int type = sqlite3_column_type(statement, index);
    double number;
    struct hash hash;
    switch (column->kind) {
    case COLUMN_INT:
    case COLUMN_GOAL:
        number = (double)sqlite3_column_int64(statement, index);
        return type == SQLITE_INTEGER && number >= column->low && number <= column->high &&
               (column->kind == COLUMN_INT || goal_count < 0 || number < goal_count);
    case COLUMN_REAL:
        number = sqlite3_column_double(statement, index);
        return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && number >= column->low &&
               number <= column->high;
    case COLUMN_SAMPLES:
        return samples_hold(column, statement, index);
    case COLUMN_TEXT:
        return whole_text(statement, index) != NULL;
    case COLUMN_NAME:
        return whole_text(statement, index) != NULL && is_name(whole_text(statement, index));
    case COLUMN_HASH:
        return whole_text(statement, index) != NULL &&
               hash_parse(&hash, whole_text(statement, index));
    case COLUMN_VERDICT:
        return whole_text(statement, index) != NULL &&
               verdict_parse(whole_text(statement, index)) >= 0;
    }
    return false;
}

static bool null_holds(const struct row_check *check, const struct column *column,
                       sqlite3_stmt *statement) {
    return column->null == MAYBE_NULL ||
           (column->null == IN_FLIGHT_NULL &&
            (check->observed < 0 ||
             sqlite3_column_type(statement, check->observed) == SQLITE_NULL));
}

static bool is_null(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

/* What the values of one trial mean together; NULL: they agree. Each is valid by itself. */
static const char *disagreement(const struct row_check *check, sqlite3_stmt *statement) {
    int observed = check->observed, verdict = check->verdict;
    if (observed >= 0 && verdict >= 0 && is_null(statement, observed) &&
        !is_null(statement, verdict))
        return "told is NULL, although the trial has a verdict";
    if (verdict >= 0 && check->score_us >= 0 && !is_null(statement, verdict) &&
        strcmp((const char *)sqlite3_column_text(statement, verdict), "ok") == 0 &&
        !(sqlite3_column_double(statement, check->score_us) > 0))
        return "score_us is 0, although the verdict is ok";
    for (int p = 0; p < 2 && check->number >= 0; p++)
        if (check->parents[p] >= 0 && !is_null(statement, check->parents[p]) &&
            sqlite3_column_int64(statement, check->parents[p]) >=
                sqlite3_column_int64(statement, check->number))
            return p == 0 ? "parent_a is not an earlier trial" : "parent_b is not an earlier trial";
    return NULL;
}

bool row_check_holds(const struct row_check *check, int goal_count, sqlite3_stmt *statement,
                     char *what, size_t size) {
    what[0] = '\0';
    for (int i = 0; i < check->count; i++) {
        const struct column *column = check->columns[i];
        if (column == NULL ||
            (is_null(statement, i) ? null_holds(check, column, statement)
                                   : value_holds(column, goal_count, statement, i)))
            continue;
        row_check_name(check, statement, what, size);
        text_append(what, size, ": %s is ", column->name);
        print_value(statement, i, what, size);
        text_append(what, size, ", not ");
        print_expected(column, goal_count, what, size);
        return false;
    }
    const char *reason = disagreement(check, statement);
    if (reason == NULL)
        return true;
    row_check_name(check, statement, what, size);
    text_append(what, size, ": %s", reason);
    return false;
}
