/*
 * operators: the semantic edits that mutate knows, one entry of a table each.
 *
 *     for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++)
 *         for (int site = 0; entry->apply(&mutation, site); site++)
 *             mutation_reset(&mutation);
 *
 * An operator is a function of the parent alone. Each keeps the meaning of a kernel that has the
 * form it looks for; where it cannot know (an alias, a number of threads), the judge refuses the
 * result.
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_OPERATORS_H
#define EVOTILE_PROPOSERS_OPERATORS_OPERATORS_H

#include "proposers/operators/mutation.h"

struct edit_operator {
    const char *name;
    int weight;             /* how often it is chosen, against the others */
    const char *applies;    /* the precondition, in words */
    const char *hypothesis; /* what changes, and why it should be faster */
    /* Makes the edits for the place number `site`, from 0, where the precondition holds. Returns
       false, without edits, if there are fewer places. */
    bool (*apply)(struct mutation *mutation, int site);
};

/* A name of NULL ends the table. */
extern const struct edit_operator mutation_operators[];

/* Whether vectorize applies to the loop at a token. Operators after which it would not apply any
   more wait for it. */
bool loop_can_vectorize(const struct mutation *mutation, int t);

bool apply_vectorize(struct mutation *mutation, int site);
bool apply_keep_in_registers(struct mutation *mutation, int site);
bool apply_stage_in_shared(struct mutation *mutation, int site);
bool apply_warp_shuffle(struct mutation *mutation, int site);
bool apply_coarsen(struct mutation *mutation, int site);
bool apply_tile_in_shared(struct mutation *mutation, int site);
bool apply_unroll(struct mutation *mutation, int site);
bool apply_loop_order(struct mutation *mutation, int site);
bool apply_literal_to_gene(struct mutation *mutation, int site);
bool apply_read_only(struct mutation *mutation, int site);
bool apply_read_once(struct mutation *mutation, int site);
bool apply_write_once(struct mutation *mutation, int site);
bool apply_restrict(struct mutation *mutation, int site);
bool apply_launch_bounds(struct mutation *mutation, int site);
bool apply_fast_functions(struct mutation *mutation, int site);
bool apply_reciprocal_root(struct mutation *mutation, int site);
bool apply_hoist_division(struct mutation *mutation, int site);
bool apply_register_limit(struct mutation *mutation, int site);
bool apply_load_cache(struct mutation *mutation, int site);
bool apply_fast_math_option(struct mutation *mutation, int site);
bool apply_block_sizes(struct mutation *mutation, int site);
bool apply_larger_values(struct mutation *mutation, int site);

#endif
