/*
 * ablation: what each choice of a champion is worth. One gene at a time is moved to a neighbour, or
 * off, and the genome that comes of it fights the champion: its time over the champion's, with the
 * duel's interval. `evotile ablate` finds it out; it is kept with the run (cmd/kept.h), a goal's
 * under "ablation:GOAL":
 *
 *     {"goal": 0, "trial": 123, "genome": "...", "device": "NVIDIA H200", "predicted": false,
 *      "measured": 1763712000, "moves": [
 *        {"gene": "STAGES", "genome": "...", "verdict": "ok", "result": "lost", "ratio": 1.12,
 *         "low": 1.11, "high": 1.13, "blocks": 10},
 *        {"gene": "WARPS", "genome": "...", "verdict": "invalid", "reason": "..."}]}
 *
 * `moves` is ranked: what costs most first, then what failed. `genome` is the whole genome as
 * tried: more genes than the one may differ where a condition reads it.
 *
 *     struct ablation *it;
 *     if (ablation_read(store, goal, &it, &error) > 0) {
 *         struct table *table = ablation_table(it);
 *         ...
 *         ablation_free(it);
 *     }
 */
#ifndef EVOTILE_CMD_ABLATION_H
#define EVOTILE_CMD_ABLATION_H

#include "cmd/table.h"
#include "genome/genome.h"
#include "store/store.h"

enum { ABLATION_GENE_SIZE = 64 };

struct ablation_move {
    char gene[ABLATION_GENE_SIZE];
    char genome[GENOME_TEXT_SIZE];
    enum verdict verdict; /* ok: there was a duel */
    char reason[REASON_SIZE];
    struct duel_outcome duel; /* the moved one's time over the champion's */
};

struct ablation {
    int goal;
    int64_t trial; /* the champion's number; of a frozen kernel the case's */
    char genome[GENOME_TEXT_SIZE];
    char device[128];
    bool predicted;
    double measured; /* when, in seconds since 1970 */
    int count, room;
    struct ablation_move *moves;
};

struct ablation *ablation_new(void); /* all zeros */
void ablation_free(struct ablation *ablation);

/* A move more, to be filled; valid until the next. */
struct ablation_move *ablation_add(struct ablation *ablation);
void ablation_rank(struct ablation *ablation);

/* 1 with what the run keeps, to be freed; 0 with NULL where it keeps none; -1 where that is
 * damaged. */
int ablation_read(struct store *store, int goal, struct ablation **ablation, struct error *error);
/* The name under which it is kept, and the object. */
void ablation_name(int goal, char name[32]);
cJSON *ablation_json(const struct ablation *ablation);

/* A row a move: gene, change, by how many percent slower and from where to where, verdict. */
struct table *ablation_table(const struct ablation *ablation);

#endif
