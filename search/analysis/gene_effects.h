/* gene_effects: which gene values, and pairs of values, are faster, slower or always fail.
 *
 * Computed from all trials of a run, with a 99 % interval. The strategies `insight` and `full` use
 * the same statistics (effects.h).
 *
 *     struct gene_effects *effects = gene_effects_read(store, config, &error);
 *     struct table *table = gene_effects_table(effects, goal, 12);
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *     gene_effects_free(effects);
 */
#ifndef EVOTILE_ANALYSIS_GENE_EFFECTS_H
#define EVOTILE_ANALYSIS_GENE_EFFECTS_H

#include "config/config.h"
#include "render/table.h"
#include "store/store.h"

struct gene_effects;

/* Reads all goals in one pass over the trials. `config` is the run's. Without a config, or if the
   run does not record its device, the tables are empty. Returns NULL with `error` if the run cannot
   be read. */
struct gene_effects *gene_effects_read(struct store *store, const struct config *config,
                                       struct error *error);
void gene_effects_free(struct gene_effects *gene_effects);

/* A new table of at most `most` rows, the most significant effects first. The caller frees it. */
struct table *gene_effects_table(const struct gene_effects *gene_effects, int goal, int rows_max);

#endif
