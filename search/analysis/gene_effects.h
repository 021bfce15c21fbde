/* gene_effects: what changing one gene of a champion, and no other, does to its time, as far as the
 * trials of its run tell (strategy/effects.h), and which values always failed.
 *
 *     struct gene_effects *effects = gene_effects_read(store, config, &error);
 *     struct table *table = gene_effects_table(effects, goal, 12);   // those that are certain
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *     const struct gene_changes *changes = gene_effects_changes(effects, goal);
 *     for (int i = 0; i < changes->count; i++)   // changes->rows[i].effect
 *         ...;
 *     gene_effects_free(effects);
 *
 * `evotile ablate --claims` measures what is claimed here.
 */
#ifndef EVOTILE_ANALYSIS_GENE_EFFECTS_H
#define EVOTILE_ANALYSIS_GENE_EFFECTS_H

#include "config/config.h"
#include "render/table.h"
#include "store/store.h"
#include "strategy/effects.h"

struct gene_effects;

/* A valid genome that differs from the champion in one gene, and in genes whose conditions read
   that one; without a pair of values that always failed. */
struct gene_change {
    int gene, value;
    struct genome genome;
    struct effect effect;
};

/* All such genomes, in the order of the genes. Owned by the gene effects. */
struct gene_changes {
    const struct space *space;
    struct genome champion;
    int trials, fitted; /* valid ones of the goal; those of the model */
    int count;          /* 0: no champion, or too few trials for a model */
    struct gene_change *rows;
};

/* Reads all goals in one pass over the trials. `config` is the run's. Without a config, or if the
   run does not record its device, there are no goals. Returns NULL with `error` if the run cannot
   be read. */
struct gene_effects *gene_effects_read(struct store *store, const struct config *config,
                                       struct error *error);
void gene_effects_free(struct gene_effects *gene_effects);

/* NULL if the goal's space is unknown. Fitted on the first call. */
const struct gene_changes *gene_effects_changes(struct gene_effects *gene_effects, int goal);

/* A new table of at most `rows_max` rows: what always failed, then the certain effects, the
   strongest first. The caller frees it. */
struct table *gene_effects_table(struct gene_effects *gene_effects, int goal, int rows_max);

/* How far from 1 a certain effect is at least, as a logarithm; 0 if it is not certain. */
double gene_effects_least(const struct effect *effect);

/* "12 trials with it, 3 pairs", "measured": what an effect rests on. */
enum { EVIDENCE_SIZE = 64 };
void gene_effects_print_evidence(const struct effect *effect, char text[EVIDENCE_SIZE]);

#endif
