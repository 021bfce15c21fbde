/*
 * sql: the schema of run.db and every SQL statement. Text only; database.h prepares the statements.
 *
 * The tables:
 *     meta         the run's settings: name, value
 *     goals        the sets of cases that genomes are scored on
 *     trials       one row per trial, with its latest outcome; from `worker` on NULL while its
 * trial runs. `tells` counts its outcomes; `outdated` is 1 if its environment (driver, NVRTC,
 * method) is not the current one earlier      rows of trials as they were before they were observed
 * again cases        errors and timing, one row per case and outcome, keyed by the event that
 * observed the outcome; samples are doubles in native byte order settings     the parts of a
 * trial's key other than the genome; shared by many trials champions    which trial became champion
 * of which goal at which event checkpoints  one row: the state of the search
 *     proposals    a solution that a proposer wrote, from the question to the decision
 *
 * A change to the schema requires a new STORE_FORMAT. NaN is stored as NULL. A reader gets the
 * columns that an earlier format has not by views of its own connection; a writer adds them.
 */
#ifndef EVOTILE_STORE_SQL_H
#define EVOTILE_STORE_SQL_H

enum {
    STORE_APPLICATION = 0x65766f74, /* "evot", in the file's header */
    STORE_FORMAT = 7,
    STORE_FORMAT_OF_PROPOSALS = 7,       /* earlier ones have no table `proposals` */
    STORE_FORMAT_WITHOUT_ENERGY = 5,     /* cases have no columns of energy, trials none of
                                            the median clock */
    STORE_FORMAT_WITHOUT_PLACEMENTS = 4, /* cases have no columns of placements, either */
    STORE_FORMAT_WITHOUT_CHECKS = 3      /* trials have no columns `checks` and `uses`, either */
};

extern const char *const sql_schema;
/* What a reader of a run without such columns executes, and what a writer does, which leads to the
   next format. */
extern const char *const sql_read_without_checks;
extern const char *const sql_add_checks;
extern const char *const sql_read_without_placements;
extern const char *const sql_add_placements;
extern const char *const sql_read_without_clock;
extern const char *const sql_read_without_energy;
extern const char *const sql_add_energy;
extern const char *const sql_add_proposals;

enum statement {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_META_GET,       /* name -> value */
    SQL_META_SET,       /* name, value */
    SQL_GOALS,          /* -> number, name */
    SQL_GOAL_ADD,       /* number, name */
    SQL_ASK,            /* for statements with many values see write.c */
    SQL_TELL,           /* number, observed ... */
    SQL_EARLIER_ADD,    /* number: copies its current row */
    SQL_UNTELL,         /* number */
    SQL_OUTDATE,        /* driver, nvrtc, method */
    SQL_CASE_ADD,       /* event, case ... */
    SQL_SETTING_ADD,    /* hash, and the parts of a key except the genome */
    SQL_SETTING_ID,     /* hash -> id */
    SQL_CHAMPION_ADD,   /* event, goal, trial, previous, score_us, accepted */
    SQL_CHECKPOINT_SET, /* events, digest, text */
    SQL_CHECKPOINT_GET, /* -> events, digest, text */
    SQL_PROPOSAL_PUT,   /* the members in proposals.c */
    SQL_PROPOSALS,      /* -> the same */
    SQL_LAST_EVENTS,    /* -> number, asked, observed; at most two rows */
    SQL_EVENTS,         /* after -> event, tells (0: an ask), trial's columns */
    SQL_IN_FLIGHT,      /* -> trial's columns */
    SQL_TRIAL,          /* number -> trial's columns */
    SQL_TRIALS,         /* -> trial's columns */
    SQL_BOARD,          /* goal, limit, shared memory -> trial's columns */
    SQL_SHARED_BOARD,   /* first goal, limit, shared memory, last goal -> trial's columns */
    SQL_RANKED,         /* goal, offset -> number */
    SQL_SHARED_RANKED,  /* first goal, offset, last goal -> number */
    SQL_CASES,          /* event -> case ... */
    SQL_KEY,            /* trial -> key's hash, its parts from the genome on */
    SQL_COUNTS,         /* -> verdict, raced, outdated, count */
    SQL_CLOCKS,         /* -> goal, trials with readings, at the power limit, least and most MHz */
    SQL_TELLS,          /* after -> operator, verdict, raced, tells, observed */
    SQL_OPERATORS,      /* -> operator, goal, trials observed, ok */
    SQL_SCORES,         /* -> goal, genome, verdict, score_us */
    SQL_REASONS,        /* limit -> verdict, reason, count */
    SQL_CHAMPIONS, /* -> event, goal, trial, previous, score_us, accepted; event and goal of the
                      trial */
    SQL_FOREIGN,   /* -> type, name of what a run.db does not have */
    SQL_COUNT
};

const char *sql_text(enum statement statement);

/* The table whose rows the statement reads; columns.h says what they may hold. NULL: none. */
const char *sql_table(enum statement statement);

#endif
