/*
 * crossover: gives one solution what another has as well.
 *
 *     struct revision child;
 *     revision_init(&child, first_source, first_solution);
 *     if (crossover_step(&child, second_source, second_solution, NULL, &random))
 *         puts(child.hypothesis.bytes);
 *     revision_release(&child);
 *
 * The common ancestor of the two is not known, and lines of both rarely fit together: a barrier, a
 * name or a gene is missing. So an operator is looked for that brings the first one nearer to the
 * second: what it adds are lines, or a gene, that the second has. The child is then as valid as any
 * mutation.
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_CROSSOVER_H
#define EVOTILE_PROPOSERS_OPERATORS_CROSSOVER_H

#include "base/random.h"
#include "proposers/operators/revision.h"

/* Applies one operator that brings the revision nearer to the other solution without making it the
   same. Returns false, and leaves the revision, if there is none. */
bool crossover_step(struct revision *revision, const char *source, const char *solution,
                    const char *only, struct random *random);

#endif
