/*
 * profiles: which trials of a run have a report of ncu that was kept (run/kept_profiles.h).
 *
 *     struct table *table = profiles_table(store, &error);
 *     if (table != NULL)
 *         table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 */
#ifndef EVOTILE_ANALYSIS_PROFILES_H
#define EVOTILE_ANALYSIS_PROFILES_H

#include "render/table.h"
#include "store/store.h"

/* One row per report: trial, goal, score, and the report's path. The caller frees it; NULL with
   `error` if the store cannot be read. */
struct table *profiles_table(struct store *store, struct error *error);

#endif
