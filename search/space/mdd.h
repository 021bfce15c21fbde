/*
 * mdd: a set of genomes as a multi-valued decision diagram; private to this folder. It is a tree
 * over the genes in a fixed order in which equal subtrees are shared as one node, and every node
 * stores the number of genomes below it. So the set is counted in constant time, each genome has a
 * *rank* (its position in the order of the set), and the genome of a rank is found by one walk
 * down: a random rank gives a uniform draw. Independent genes cost one node per level instead of a
 * product.
 *
 *     struct mdd *mdd = mdd_new(depth, genes, domains);
 *     children[value] = MDD_END;               // or a node of the next level, or MDD_NONE
 *     mdd_set_root(mdd, mdd_add_node(mdd, 0, children));
 *     bool is_member = mdd_rank(mdd, &genome, &rank);
 *     mdd_free(mdd);
 *
 * Source: Srinivasan et al., "Algorithms for discrete function manipulation", 1990, extended by
 * counts. ATF's chain of trees (Rasch et al., "Efficient Auto-Tuning of Parallel Programs with
 * Interdependent Tuning Parameters", 2021) is the special case in which only whole groups of genes
 * are shared.
 */
#ifndef EVOTILE_SPACE_MDD_H
#define EVOTILE_SPACE_MDD_H

#include "space/genome.h"

#include <stddef.h>

struct mdd;

/* The empty set, and the terminal node below the last level. */
enum { MDD_NONE = 0, MDD_END = 1 };

/* Level l decides genes[l], which has domains[l] values. */
struct mdd *mdd_new(int depth, const int *genes, const int *domains);
void mdd_free(struct mdd *mdd);

/* Returns the node of this level with these children, one per value of its gene; an existing
   equal node is reused. MDD_NONE if all children are. Counts saturate at 2^64 - 1. */
uint32_t mdd_add_node(struct mdd *mdd, int level, const uint32_t *children);
void mdd_set_root(struct mdd *mdd, uint32_t root);

uint64_t mdd_count(const struct mdd *mdd);

/* Returns false if the genome is not in the set. */
bool mdd_rank(const struct mdd *mdd, const struct genome *genome, uint64_t *rank);
/* Writes the genome of a rank, which must be less than the count. Genes that no level decides
   are set to 0. */
void mdd_at(const struct mdd *mdd, uint64_t rank, struct genome *genome);
/* Changes the genome, level by level and only where necessary, to the nearest value below which
   the set has a genome. The set must not be empty. At equal distance it takes the higher value
   if `upper`, else the lower. */
void mdd_nearest(const struct mdd *mdd, bool upper, struct genome *genome);

#endif
