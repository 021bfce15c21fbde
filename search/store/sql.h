/*
 * sql: the schema of run.db and every statement that is put to it. Text only; database.h prepares
 * them.
 *
 * The tables:
 *     meta         what the run was asked: name, value
 *     goals        the sets of cases that genomes are judged on
 *     trials       one row a trial; from `worker` on NULL while it is in flight. Its outcome is the
 *                  last; `tells` counts those that it had, `outdated` is 1 where its setting is not
 *                  the present one
 *     earlier      the rows of trials as they were before they were told again
 *     cases        errors and timing, one row a case and outcome, which is known by the event that
 *                  told it; samples are doubles as they lie in memory
 *     settings     what a trial's key holds beside the genome; many trials share one
 *     champions    who became champion of which goal at which event
 *     checkpoints  one row: where the search stands
 *
 * A change to the schema is a new STORE_FORMAT. A number that is not a number (NaN) is NULL in SQL.
 */
#ifndef EVOTILE_STORE_SQL_H
#define EVOTILE_STORE_SQL_H

enum {
    STORE_APPLICATION = 0x65766f74, /* "evot", in the file's header */
    STORE_FORMAT = 3
};

extern const char *const sql_schema;

enum statement {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_META_GET,       /* name -> value */
    SQL_META_SET,       /* name, value */
    SQL_GOALS,          /* -> number, name */
    SQL_GOAL_ADD,       /* number, name */
    SQL_ASK,            /* see write.c for those with many values */
    SQL_TELL,           /* number, told ... */
    SQL_EARLIER_ADD,    /* number: its row as it is */
    SQL_UNTELL,         /* number */
    SQL_OUTDATE,        /* driver, nvrtc, method */
    SQL_CASE_ADD,       /* event, case ... */
    SQL_SETTING_ADD,    /* hash, and the parts of a key but the genome */
    SQL_SETTING_ID,     /* hash -> id */
    SQL_CROWN,          /* event, goal, trial, previous, score_us, crowned */
    SQL_CHECKPOINT_SET, /* events, digest, text */
    SQL_CHECKPOINT_GET, /* -> events, digest, text */
    SQL_EVENT_COUNT,    /* -> the last event */
    SQL_EVENTS,         /* after -> event, tells (0: an ask), trial's columns */
    SQL_IN_FLIGHT,      /* -> trial's columns */
    SQL_TRIAL,          /* number -> trial's columns */
    SQL_TRIALS,         /* -> trial's columns */
    SQL_BOARD,          /* goal, limit -> trial's columns */
    SQL_RANKED,         /* goal, offset -> number */
    SQL_CASES,          /* event -> case ... */
    SQL_KEY,            /* trial -> key's hash, its parts from the genome on */
    SQL_COUNTS,         /* -> verdict, raced, outdated, how many */
    SQL_NEWS,           /* after -> operator, verdict, raced, tells, told */
    SQL_OPERATORS,      /* -> operator, trials told, ok */
    SQL_TURNS,          /* goal, turns -> turn, told, ok, champions, score, number */
    SQL_SCORES,         /* -> goal, genome, verdict, score_us */
    SQL_REASONS,        /* limit -> verdict, reason, how many */
    SQL_CHAMPIONS,      /* -> event, goal, trial, previous, score_us, crowned */
    SQL_COUNT
};

const char *sql_text(enum statement statement);

#endif
