/*
 * edge_shapes: small shapes at the edges of a genome's tiles, which no config names. A kernel is
 * most often wrong where a size is one more or one less than a multiple of a tile, where one size
 * is smaller than the other, or where one is much larger. Private to evaluate/.
 *
 *     struct template *edges = edge_shapes_load(template, &genome, &setting, seed, &error);
 *     for (int c = 0; edges != NULL && c < edges->case_count; c++)
 *         check(edges, c);
 *     template_free(edges);
 *
 * Only sizes change: dimensions without a list of values, whose default, if there is one, depends
 * on other dimensions. The two that are largest in the template's cases run over pairs of g + 1 and
 * g - 1, for each numeric gene g of 8 to 256 that does not divide a larger one; for the largest
 * also over 2 g + 1 and 2 g - 1, and over 2 with 4 g + 1 and 16 g + 1; then over pairs that the
 * seed picks. The other sizes are 1, or 2 in the pairs that the seed picks, or their defaults; if
 * the genome's constraints allow none of these shapes, those of the case, each lowered to the least
 * power of two that they allow.
 */
#ifndef EVOTILE_EVALUATE_EDGE_SHAPES_H
#define EVOTILE_EVALUATE_EDGE_SHAPES_H

#include "template/template.h"

/* The template loaded for the edge shapes of each variant of its cases, the most important first:
   check as many as the budget allows. Shapes that the genome's constraints do not allow are among
   them: check with template_genome_is_valid. NULL without an error if there are none. The caller
   frees it. */
struct template *edge_shapes_load(const struct template *template, const struct genome *genome,
                                  const struct template_setting *setting, uint64_t seed,
                                  struct error *error);

/* The template loaded for thin shapes: each of the two dimensions that are largest in its cases at
   the largest size of any case, but at most 4096, divided by 2^halvings; the other one at 2, the
   rest as above. A large size alone costs little. NULL without an error below 128. The caller frees
   it. */
struct template *thin_shapes_load(const struct template *template,
                                  const struct template_setting *setting, int halvings,
                                  struct error *error);

#endif
