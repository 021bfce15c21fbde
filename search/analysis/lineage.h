/*
 * lineage: the proposals of a run whose sources evolve: what came from what, by what change, for
 * what gain.
 *
 *     struct lineage lineage;
 *     if (lineage_read(&lineage, store, &error) == 0)
 *         lineage_print(&lineage, stdout);
 *     lineage_release(&lineage);                  // also after a failure
 */
#ifndef EVOTILE_ANALYSIS_LINEAGE_H
#define EVOTILE_ANALYSIS_LINEAGE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "render/table.h"
#include "store/proposals.h"

struct lineage {
    int count;
    struct store_proposal *proposals; /* in the order of their numbers; they own their texts, which
                                         are escaped for readers, and lack the request */
    int start_count;
    char **starts;     /* the solutions that the run started with */
    char *first;       /* the best of these once they were tuned; NULL: they are not yet */
    const char *best;  /* the solution that was promoted last, else `first` */
    char *root, *diff; /* the start that the best one came from, and what differs; NULL: nothing */
    double first_us, best_us; /* of `first` when it was tuned, and of `best`; 0: none */
};

/* Whether the run's sources evolve: 1, 0, or -1. */
int lineage_has(struct store *store, struct error *error);
/* An error of kind ERROR_INPUT if they do not. */
int lineage_require(struct store *store, struct error *error);
/* The score of the best start when it was tuned; 0: the starts are not yet. */
int lineage_first_us(struct store *store, double *first_us, struct error *error);
/* As lineage_require. */
int lineage_read(struct lineage *lineage, struct store *store, struct error *error);
void lineage_release(struct lineage *lineage);

/* The proposal that made a solution; NULL: the run started with it. */
const struct store_proposal *lineage_maker(const struct lineage *lineage, const char *solution);
/* The proposals from a start to a solution, oldest first, at most `limit`; their number. */
enum { LINEAGE_PATH_MAX = 256 }; /* as many as a run has solutions */
int lineage_path(const struct lineage *lineage, const char *solution,
                 const struct store_proposal **path, int limit);

/* Whether it became a solution of the run: its change passed, and is not of the genome alone. */
bool lineage_made_solution(const struct store_proposal *row);

/* Every proposal below the solution that it changes: calls `visit` with the depth in the tree, 0
   for a start, which has no row. `solution` is NULL where a proposal was refused before it had one.
 */
typedef void lineage_visit(void *context, int depth, const char *solution,
                           const struct store_proposal *row);
void lineage_walk(const struct lineage *lineage, lineage_visit *visit, void *context);

/* The decision, "open" while there is none, or "asked" before the answer. */
const char *lineage_state(const struct store_proposal *row);
/* What the proposals came to: {"proposals": 4, "decisions": {"revert": 3, "open": 1}, "verdicts":
   {"wrong": 3}, "prompt_tokens": 900, "completion_tokens": 100, "cost": 0.25, "seconds": 30.5}. The
   last two are null if nothing is known; the caller owns it. */
cJSON *lineage_summary(const struct lineage *lineage);
/* The same on one line, which the caller frees. */
char *lineage_summary_text(const struct lineage *lineage);
/* The proposals as a table, which the caller frees. */
struct table *lineage_table(const struct lineage *lineage);

/* What they came to, a table of the proposals, the tree of solutions, and how the best one came
   about. */
void lineage_print(const struct lineage *lineage, FILE *out);

/* The log of the run: the summary, the solutions that it started with, and every proposal with

    "change"    {"files": ["kernel.cu"], "added": 3, "removed": 1}, {"genome": "..."}, or null
    "profile"   of what passed, what limits its best genome (insights.h), or "missing": why that is
                not known; and "costs" of its memory accesses. Of what was refused, {"stopped_at":
                "cases", "faults": [...]}; or null. Costs and faults are {"file", "line", "text"}
    "numbers"   of its best genome: {"trial", "genome", "predicted", "score_us", "registers",
                "smem_bytes", "spill_bytes", "ctas_per_sm", "occupancy", "cases": [{"case",
   "p50_us", "p90_us", "tflops", "gb_per_s", "roofline_share"}]}; or null "next"      the numbers of
   the proposals that change it, or have it as their second parent "seconds"   {"answer": 2.1,
   "decision": 14}: from the question to each; null: not yet

   The caller owns it; NULL with `error` if the store cannot be read. Texts are escaped for readers
   (base/strbuf.h). */
cJSON *lineage_json(const struct lineage *lineage, struct store *store, struct error *error);

#endif
