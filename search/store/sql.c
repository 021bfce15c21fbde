#include "store/sql.h"

#include "outcome/fields.h"
#include "outcome/key.h"

/* The columns of `settings`, and their order in SQL_KEY, are the parts of a key. */
_Static_assert(KEY_GENOME == 0 && KEY_TEMPLATE == 1 && KEY_METHOD == 7 && KEY_PART_COUNT == 8,
               "settings and its statements name every part of a key in its order");

/* The lists of outcome/fields.h as parts of SQL. */
#define SQL_TYPE_TEXT                              "TEXT"
#define SQL_TYPE_INT                               "INTEGER"
#define SQL_TYPE_INT64                             "INTEGER"
#define SQL_TYPE_BOOL                              "INTEGER"
#define SQL_TYPE_DOUBLE                            "REAL"
#define COLUMN_AND_TYPE(kind, member, column)      ", " #column " " SQL_TYPE_##kind
#define COLUMN(kind, member, column)               ", " #column
#define PARAMETER(kind, member, column)            ", ?"
#define COLUMN_AND_PARAMETER(kind, member, column) ", " #column " = ?"
#define SAMPLES_AND_TYPE(latency, name, count, samples)                                            \
    ", " #count " INTEGER NOT NULL, " #samples " BLOB"
#define SAMPLES(latency, name, count, samples)            ", " #count ", " #samples
#define SAMPLES_PARAMETERS(latency, name, count, samples) ", ?, ?"

#define TRIALS_COLUMNS                                                                             \
    "goal INTEGER NOT NULL, genome TEXT NOT NULL, parent_a INTEGER, parent_b INTEGER, "            \
    "operator TEXT NOT NULL, asked INTEGER NOT NULL, told INTEGER, issued REAL NOT NULL, "         \
    "finished REAL, worker TEXT, key TEXT, setting INTEGER, verdict TEXT" OUTCOME_FIELDS(          \
        COLUMN_AND_TYPE) ", tells INTEGER NOT NULL DEFAULT 0, outdated INTEGER NOT NULL DEFAULT 0"

#define CASES_COLUMNS                                                                              \
    "event INTEGER NOT NULL, number INTEGER NOT NULL" CASE_FIELDS(COLUMN_AND_TYPE)                 \
        CASE_SAMPLES(SAMPLES_AND_TYPE)

#define PROPOSALS_TABLE                                                                            \
    "CREATE TABLE proposals (number INTEGER PRIMARY KEY, parent TEXT NOT NULL, other TEXT, "       \
    "request TEXT NOT NULL, answer TEXT, solution TEXT, hash TEXT, genome TEXT, "                  \
    "hypothesis TEXT, diff TEXT, goal INTEGER, trial INTEGER, judged TEXT, verdict TEXT, "         \
    "reason TEXT, first_us REAL, score_us REAL, ratio REAL, low REAL, high REAL, "                 \
    "decision TEXT, turn INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, "                       \
    "completion_tokens INTEGER NOT NULL, cost REAL, asked REAL NOT NULL, answered REAL, "          \
    "decided REAL);"

const char *const sql_schema =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE goals (number INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE settings ("
    "  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE,"
    "  template TEXT, options TEXT, cases TEXT, device TEXT, driver TEXT, nvrtc TEXT, method TEXT);"
    "CREATE TABLE trials (number INTEGER PRIMARY KEY, " TRIALS_COLUMNS
    ", UNIQUE (asked), UNIQUE (told));"
    "CREATE TABLE earlier (number INTEGER NOT NULL, " TRIALS_COLUMNS ", UNIQUE (told));"
    "CREATE INDEX board ON trials (goal, score_us, number)"
    "  WHERE verdict = 'ok' AND raced = 0 AND score_us > 0 AND outdated = 0;"
    "CREATE INDEX verdicts ON trials (verdict, raced, outdated);"
    "CREATE INDEX in_flight ON trials (asked) WHERE told IS NULL;"
    "CREATE TABLE cases (" CASES_COLUMNS ", PRIMARY KEY (event, number)) WITHOUT ROWID;"
    "CREATE TABLE champions ("
    "  event INTEGER NOT NULL, goal INTEGER NOT NULL, trial INTEGER NOT NULL, previous INTEGER,"
    "  score_us REAL, crowned REAL NOT NULL);"
    "CREATE TABLE checkpoints ("
    "  id INTEGER PRIMARY KEY CHECK (id = 1), events INTEGER NOT NULL, digest TEXT NOT NULL,"
    "  text TEXT NOT NULL);" PROPOSALS_TABLE;

/* In the order of enum trial_column in read.c. */
#define TRIAL                                                                                      \
    "number, goal, genome, parent_a, parent_b, operator, asked, told, issued, finished, worker, "  \
    "key, outdated, verdict" OUTCOME_FIELDS(COLUMN) " "

/* In the order of `members` in proposals.c. */
#define PROPOSAL                                                                                   \
    "number, parent, other, request, answer, solution, hash, genome, hypothesis, diff, goal, "     \
    "trial, judged, verdict, reason, first_us, score_us, ratio, low, high, decision, turn, "       \
    "prompt_tokens, completion_tokens, cost, asked, answered, decided"

/* Views of the connection's own hide the tables of their names. */
const char *const sql_read_without_checks =
    "CREATE TEMP VIEW trials AS "
    "SELECT *, NULL AS checks, NULL AS uses, NULL AS sm_mhz FROM main.trials;"
    "CREATE TEMP VIEW earlier AS "
    "SELECT *, NULL AS checks, NULL AS uses, NULL AS sm_mhz FROM main.earlier;";

const char *const sql_add_checks =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE trials ADD COLUMN checks TEXT; ALTER TABLE trials ADD COLUMN uses TEXT;"
    "ALTER TABLE earlier ADD COLUMN checks TEXT; ALTER TABLE earlier ADD COLUMN uses TEXT;"
    "PRAGMA user_version = 4; COMMIT";

#define NO_ENERGY                                                                                  \
    "NULL AS energy_mj, NULL AS energy_error, NULL AS energy_watts, NULL AS idle_watts "

const char *const sql_read_without_placements =
    "CREATE TEMP VIEW cases AS SELECT *, NULL AS placements, NULL AS placement_least_us, "
    "NULL AS placement_most_us, " NO_ENERGY "FROM main.cases;";

const char *const sql_add_placements = "BEGIN IMMEDIATE;"
                                       "ALTER TABLE cases ADD COLUMN placements INTEGER;"
                                       "ALTER TABLE cases ADD COLUMN placement_least_us REAL;"
                                       "ALTER TABLE cases ADD COLUMN placement_most_us REAL;"
                                       "PRAGMA user_version = 5; COMMIT";

const char *const sql_read_without_energy =
    "CREATE TEMP VIEW cases AS SELECT *, " NO_ENERGY "FROM main.cases;";

const char *const sql_read_without_clock =
    "CREATE TEMP VIEW trials AS SELECT *, NULL AS sm_mhz FROM main.trials;"
    "CREATE TEMP VIEW earlier AS SELECT *, NULL AS sm_mhz FROM main.earlier;";

const char *const sql_add_energy = "BEGIN IMMEDIATE;"
                                   "ALTER TABLE trials ADD COLUMN sm_mhz INTEGER;"
                                   "ALTER TABLE earlier ADD COLUMN sm_mhz INTEGER;"
                                   "ALTER TABLE cases ADD COLUMN energy_mj REAL;"
                                   "ALTER TABLE cases ADD COLUMN energy_error REAL;"
                                   "ALTER TABLE cases ADD COLUMN energy_watts REAL;"
                                   "ALTER TABLE cases ADD COLUMN idle_watts REAL;"
                                   "PRAGMA user_version = 6; COMMIT";
const char *const sql_add_proposals =
    "BEGIN IMMEDIATE;" PROPOSALS_TABLE "PRAGMA user_version = 7; COMMIT";
_Static_assert(STORE_FORMAT_WITHOUT_PLACEMENTS == 4 && STORE_FORMAT_WITHOUT_ENERGY == 5 &&
                   STORE_FORMAT_OF_PROPOSALS == 7 && STORE_FORMAT == 7,
               "sql_add_checks, sql_add_placements, sql_add_energy and sql_add_proposals set them");

#define TRIED "told IS NOT NULL AND verdict NOT IN ('filtered', 'lost') "
/* Must match the condition of the index `board` literally, or SQLite does not use the index. */
#define ON_BOARD "verdict = 'ok' AND raced = 0 AND score_us > 0 AND outdated = 0 "

static const char *const texts[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_META_GET] = "SELECT value, name FROM meta WHERE name = ?1",
    [SQL_META_SET] = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)",
    [SQL_GOALS] = "SELECT number, name FROM goals ORDER BY number",
    [SQL_GOAL_ADD] = "INSERT INTO goals (number, name) VALUES (?1, ?2)",
    [SQL_ASK] = "INSERT INTO trials (number, goal, genome, parent_a, parent_b, operator, asked, "
                "issued) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [SQL_TELL] = "UPDATE trials SET told = ?2, finished = ?3, worker = ?4, key = ?5, setting = ?6, "
                 "verdict = ?7" OUTCOME_FIELDS(
                     COLUMN_AND_PARAMETER) ", tells = tells + 1, "
                                           "outdated = 0 WHERE number = ?1 AND told IS NULL",
    [SQL_EARLIER_ADD] =
        "INSERT INTO earlier SELECT * FROM trials WHERE number = ?1 AND told IS NOT NULL",
    [SQL_UNTELL] = "UPDATE trials SET told = NULL WHERE number = ?1",
    [SQL_OUTDATE] =
        "UPDATE trials SET outdated = NOT outdated WHERE told IS NOT NULL AND setting IS NOT NULL "
        "AND outdated != (setting NOT IN (SELECT id FROM settings "
        "WHERE driver = ?1 AND nvrtc = ?2 AND method = ?3))",
    [SQL_CASE_ADD] = "INSERT INTO cases (event, number" CASE_FIELDS(COLUMN) CASE_SAMPLES(
        SAMPLES) ") VALUES (?1, ?2" CASE_FIELDS(PARAMETER) CASE_SAMPLES(SAMPLES_PARAMETERS) ")",
    [SQL_SETTING_ADD] = "INSERT OR IGNORE INTO settings (hash, template, options, cases, device, "
                        "driver, nvrtc, method) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [SQL_SETTING_ID] = "SELECT id FROM settings WHERE hash = ?1",
    [SQL_CHAMPION_ADD] = "INSERT INTO champions (event, goal, trial, previous, score_us, crowned) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_CHECKPOINT_SET] = "INSERT OR REPLACE INTO checkpoints (id, events, digest, text) "
                           "VALUES (1, ?1, ?2, ?3)",
    [SQL_CHECKPOINT_GET] = "SELECT events, digest, text, id FROM checkpoints",
    [SQL_PROPOSAL_PUT] =
        "INSERT OR REPLACE INTO proposals (" PROPOSAL ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, "
        "?27, ?28)",
    [SQL_PROPOSALS] = "SELECT " PROPOSAL " FROM proposals ORDER BY number",
    /* The rows with the last ask and the last tell, so that the reader can check them. */
    [SQL_LAST_EVENTS] =
        "SELECT * FROM (SELECT number, asked, told FROM trials ORDER BY asked DESC LIMIT 1) "
        "UNION ALL "
        "SELECT * FROM (SELECT number, asked, told FROM trials ORDER BY told DESC LIMIT 1)",
    /* A merge of three index scans: nothing is sorted. */
    [SQL_EVENTS] = "SELECT asked AS event, 0 AS tells, " TRIAL "FROM trials WHERE asked > ?1 "
                   "UNION ALL SELECT told AS event, tells, " TRIAL "FROM trials WHERE told > ?1 "
                   "UNION ALL SELECT told AS event, tells, " TRIAL "FROM earlier WHERE told > ?1 "
                   "ORDER BY event",
    [SQL_IN_FLIGHT] = "SELECT " TRIAL "FROM trials WHERE told IS NULL ORDER BY asked",
    [SQL_TRIAL] = "SELECT " TRIAL "FROM trials WHERE number = ?1",
    [SQL_TRIALS] = "SELECT " TRIAL "FROM trials WHERE told IS NOT NULL ORDER BY told",
    [SQL_BOARD] = "SELECT " TRIAL "FROM trials WHERE goal = ?1 AND " ON_BOARD
                  "AND (?3 = 0 OR smem_bytes <= ?3) ORDER BY score_us, number LIMIT ?2",
    /* A statement of its own, because the index sorts the rows of one goal only. */
    [SQL_SHARED_BOARD] = "SELECT " TRIAL "FROM trials WHERE goal BETWEEN ?1 AND ?4 AND " ON_BOARD
                         "AND (?3 = 0 OR smem_bytes <= ?3) ORDER BY score_us, number LIMIT ?2",
    [SQL_RANKED] = "SELECT number FROM trials WHERE goal = ?1 AND " ON_BOARD
                   "ORDER BY score_us, number LIMIT 1 OFFSET ?2",
    [SQL_SHARED_RANKED] = "SELECT number FROM trials WHERE goal BETWEEN ?1 AND ?3 AND " ON_BOARD
                          "ORDER BY score_us, number LIMIT 1 OFFSET ?2",
    [SQL_CASES] = "SELECT number" CASE_FIELDS(COLUMN)
        CASE_SAMPLES(SAMPLES) ", event FROM cases WHERE event = ?1",
    [SQL_KEY] =
        "SELECT key, genome, template, options, cases, device, driver, nvrtc, method, number "
        "FROM trials JOIN settings ON settings.id = setting WHERE number = ?1",
    /* One number of each group, to name a row that is damaged. */
    [SQL_COUNTS] = "SELECT verdict, raced, outdated, count(*), min(number) AS number FROM trials "
                   "GROUP BY verdict, raced, outdated",
    [SQL_CLOCKS] = "SELECT goal, count(*), sum((slowdowns & 4) != 0), min(sm_mhz_low), "
                   "max(sm_mhz_high), min(number) AS number FROM trials "
                   "WHERE told IS NOT NULL AND sm_mhz_high > 0 AND NOT outdated GROUP BY goal",
    /* Counted by the caller: GROUP BY would cost SQLite more than the rest of the query. */
    [SQL_TELLS] =
        "SELECT operator, verdict, raced, tells, told, number FROM trials WHERE told > ?1",
    [SQL_OPERATORS] =
        "SELECT operator, goal, count(*), sum(verdict = 'ok'), min(number) AS number "
        "FROM trials WHERE " TRIED "GROUP BY operator, goal ORDER BY count(*) DESC, operator, goal",
    [SQL_SCORES] = "SELECT goal, genome, verdict, score_us, number, told FROM trials WHERE " TRIED
                   "AND NOT outdated ORDER BY number",
    [SQL_REASONS] = "SELECT verdict, reason, count(*), min(number) AS number FROM trials WHERE "
                    "verdict NOT IN ('ok', 'filtered') "
                    "GROUP BY verdict, reason ORDER BY count(*) DESC, verdict, reason LIMIT ?1",
    [SQL_CHAMPIONS] =
        "SELECT event, champions.goal AS goal, trial, previous, "
        "champions.score_us AS score_us, crowned, trials.told, trials.goal AS of_trial "
        "FROM champions LEFT JOIN trials ON trials.number = trial "
        "ORDER BY champions.rowid",
    [SQL_FOREIGN] =
        "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger') LIMIT 1",
};

const char *sql_table(enum statement statement) {
    switch (statement) {
    case SQL_META_GET:
        return "meta";
    case SQL_GOALS:
        return "goals";
    case SQL_SETTING_ID:
        return "settings";
    case SQL_CASES:
        return "cases";
    case SQL_CHAMPIONS:
        return "champions";
    case SQL_CHECKPOINT_GET:
        return "checkpoints";
    case SQL_PROPOSALS:
        return "proposals";
    default:
        return statement >= SQL_LAST_EVENTS && statement < SQL_FOREIGN ? "trials" : NULL;
    }
}

const char *sql_text(enum statement statement) {
    return texts[statement];
}
