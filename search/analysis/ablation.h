/* ablation: the effect of each gene of a champion, measured by changing one gene at a time.
 *
 * Each gene is moved to a neighbouring value, or off, and the resulting genome is compared with the
 * champion in a duel: the ratio is its time over the champion's, with the duel's interval. `evotile
 * ablate` writes it; the run stores a goal's under "ablation:GOAL" (run_artifacts.h):
 *
 *     {"goal": 0, "trial": 123, "genome": "...", "device": "NVIDIA H200", "predicted": false,
 *      "measured": 1763712000, "moves": [
 *        {"gene": "STAGES", "genome": "...", "verdict": "ok", "result": "lost", "ratio": 1.12,
 *         "low": 1.11, "high": 1.13, "blocks": 10},
 *        {"gene": "WARPS", "genome": "...", "verdict": "invalid", "reason": "..."}]}
 *
 * A move may also be a pathology of the template (template_pathology_source): its `gene` is none of
 * the champion's, and its `genome` is "NAME=VALUE" alone.
 *
 * A move that was chosen because the run's trials make its effect certain has the claim:
 *
 *     "claim": {"ratio": 1.2, "low": 1.1, "high": 1.3, "evidence": "measured"}
 *
 * `moves` is ranked: the slowest first, then the failed ones. `genome` is the whole genome as it
 * was evaluated: if a condition reads the changed gene, other genes may differ as well.
 *
 *     struct ablation *ablation;
 *     if (ablation_read(store, goal, &ablation, &error) > 0) {
 *         struct table *table = ablation_table(ablation);
 *         table_print(table, TABLE_TEXT, stdout);
 *         table_free(table);
 *     }
 *     ablation_free(ablation);
 */
#ifndef EVOTILE_ANALYSIS_ABLATION_H
#define EVOTILE_ANALYSIS_ABLATION_H

#include "render/table.h"
#include "space/genome.h"
#include "store/store.h"
#include "strategy/effects.h"

enum { ABLATION_GENE_SIZE = 64 };

struct ablation_move {
    char gene[ABLATION_GENE_SIZE];
    char genome[GENOME_TEXT_SIZE];
    enum verdict verdict; /* VERDICT_OK: `duel` is valid; else `reason` may be */
    char reason[REASON_SIZE];
    struct duel_outcome duel; /* time of the changed genome over the champion's */
    bool has_claim;
    struct effect claim; /* what the run's trials say of the change (analysis/gene_effects.h) */
};

struct ablation {
    int goal;
    int64_t trial; /* number of the champion's trial; for an exported kernel the case's number */
    char genome[GENOME_TEXT_SIZE];
    char device[128];
    bool predicted;
    double measured; /* time of measurement, in seconds since 1970 */
    int count;
    struct ablation_move *moves;
};

void ablation_free(struct ablation *ablation);

/* Appends a zeroed move, which the caller fills; the pointer is valid until the next call. */
struct ablation_move *ablation_add(struct ablation *ablation);
/* Sorts the moves as described above. */
void ablation_rank(struct ablation *ablation);

/* Returns 1 with the stored ablation, to be freed; 0 with NULL if the run stores none; -1 if it is
   damaged. */
int ablation_read(struct store *store, int goal, struct ablation **ablation, struct error *error);
/* The artifact's name, and the JSON object, which the caller owns. */
void ablation_name(int goal, char name[32]);
cJSON *ablation_json(const struct ablation *ablation);

/* How many claims were measured, and how many of these are true. */
struct claim_counts {
    int claims, measured; /* measured: the changed genome passed its gates */
    int right;            /* of those, on the side of 1 that was claimed */
    int within;           /* in the claimed interval */
};
struct claim_counts ablation_count_claims(const struct ablation *ablation);

/* One row per move: gene, change, percent slower with the duel's interval, what was claimed,
   verdict. The caller frees the table. */
struct table *ablation_table(const struct ablation *ablation);

#endif
