/*
 * salvage: copies the whole rows of a run.db, which may be damaged, into a new one that every
 * reader accepts: rows that columns.h allows, and that agree with each other.
 *
 *     struct salvage salvage;
 *     if (salvage_database("results/night", "results/saved", &salvage, &error) == 0)
 *         printf("%lld trials are whole\n", (long long)salvage.tables[3].whole);
 */
#ifndef EVOTILE_STORE_SALVAGE_H
#define EVOTILE_STORE_SALVAGE_H

#include <stdint.h>

#include "base/error.h"

enum { SALVAGE_TABLES = 9, SALVAGE_TEXT = 400 };

struct salvage_table {
    const char *name;
    int64_t whole, damaged;   /* rows; a damaged page hides the rows behind it */
    char first[SALVAGE_TEXT]; /* what the first damage is; "": none */
};

struct salvage {
    struct salvage_table tables[SALVAGE_TABLES]; /* in the order of store_tables */
};

/* Reads `run_dir`/run.db and writes `to_dir`/run.db; `to_dir` exists and holds no run. NULL: only
   counts. Returns 0, also if rows are damaged; -1 if the file is no database of a run, or the new
   one cannot be written. */
int salvage_database(const char *run_dir, const char *to_dir, struct salvage *salvage,
                     struct error *error);

/* The damaged rows of all tables, plus one for each table that is not readable to its end. */
int64_t salvage_damages(const struct salvage *salvage);

#endif
