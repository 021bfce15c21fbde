/*
 * source_set: the sources of a search (strategy/source.h) and their models, in an order of its own,
 * so that the order in which they were given does not matter.
 *
 *     struct source_set *set = source_set_new(space, sources, count);
 *     double values[SOURCES_MAX];
 *     source_set_values(set, &genome, values);
 *     source_set_free(set);
 */
#ifndef EVOTILE_STRATEGY_SOURCE_SET_H
#define EVOTILE_STRATEGY_SOURCE_SET_H

#include "base/hash.h"
#include "strategy/source.h"

struct source_set;
struct surrogate;

/* Copies what it needs of the usable sources; of more than SOURCES_MAX it takes the nearest, of
   these the ones with the most rows. Returns NULL if none is usable. */
struct source_set *source_set_new(const struct space *space, const struct source *sources,
                                  int count);
void source_set_free(struct source_set *set);

int source_set_count(const struct source_set *set);
const double *source_set_distances(const struct source_set *set);
struct hash source_set_hash(const struct source_set *set);

/* The value of each source (strategy/source_model.h). */
void source_set_values(struct source_set *set, const struct genome *genome,
                       double values[SOURCES_MAX]);

/* The valid genomes that the sources found fastest, in turn the next best of each; at most `most`.
   A gene that a source lacks has its default there. Returns their number. */
int source_set_best(const struct source_set *set, struct genome *genomes, int most);

/* The same genomes as first questions: those of the least mean over the sources first, each source
   with its weight before any result (source_mean_prior). */
int source_set_first_questions(struct source_set *set, struct genome *genomes, int most);

/* Moves the priors of a surrogate's length scales towards those of the sources' models
   (surrogate_learn_scales). */
void source_set_teach_scales(const struct source_set *set, struct surrogate *surrogate,
                             double share);

#endif
