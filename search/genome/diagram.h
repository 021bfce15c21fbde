/*
 * diagram: a set of genomes as a decision diagram; private to this folder. A tree over the genes in
 * a fixed order in which equal subtrees are one node, and every node knows how many genomes lie
 * below it. So the set is counted at once, a genome has a *rank* (its place in the order of the
 * set), and the genome of any rank is found by one walk down: a random rank is a uniform draw.
 * Genes that nothing ties to each other cost one node a level, not a product.
 *
 *     struct diagram *diagram = diagram_new(depth, genes, domains);
 *     children[value] = ...a node of the next level, or DIAGRAM_NONE...;
 *     diagram_set_root(diagram, diagram_node(diagram, 0, children));
 *     if (diagram_rank(diagram, &genome, &rank)) ...
 *     diagram_free(diagram);
 *
 * This is the multi-valued decision diagram of Srinivasan et al., "Algorithms for discrete function
 * manipulation", 1990, with counts; ATF's chain of trees (Rasch et al., "Efficient Auto-Tuning of
 * Parallel Programs with Interdependent Tuning Parameters", 2021) is the case in which only whole
 * groups of genes are shared.
 */
#ifndef EVOTILE_GENOME_DIAGRAM_H
#define EVOTILE_GENOME_DIAGRAM_H

#include "genome/genome.h"

#include <stddef.h>

struct diagram;

/* No genome, and the node below the last level. */
enum { DIAGRAM_NONE = 0, DIAGRAM_END = 1 };

/* Level l decides genes[l], which has domains[l] values. */
struct diagram *diagram_new(int depth, const int *genes, const int *domains);
void diagram_free(struct diagram *diagram);

/* The node of this level with these children, one a value of its gene: made, or the one that there
   is. DIAGRAM_NONE if all of them are. Counts beyond 2^64 - 1 stay there. */
uint32_t diagram_node(struct diagram *diagram, int level, const uint32_t *children);
void diagram_set_root(struct diagram *diagram, uint32_t root);

uint64_t diagram_count(const struct diagram *diagram);
size_t diagram_node_count(const struct diagram *diagram);

/* False if the genome is not in the set. */
bool diagram_rank(const struct diagram *diagram, const struct genome *genome, uint64_t *rank);
/* The genome of a rank below the count; genes that no level decides are left at 0. */
void diagram_at(const struct diagram *diagram, uint64_t rank, struct genome *genome);
/* Changes the genome, level by level and only where it must, to the nearest value below which there
   is a genome of the set, which is not empty; of two as near, to the upper or the lower. */
void diagram_nearest(const struct diagram *diagram, bool upper, struct genome *genome);

#endif
