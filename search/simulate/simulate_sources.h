/*
 * simulate_sources: recorded spaces as sources (strategy/source.h) of the searches of other spaces,
 * for `simulate --sources`.
 *
 *     struct simulate_sources *sources =
 *         simulate_sources_read("a.json.gz,b.json.gz", paths, spaces, space_count, &error);
 *     const struct source *const *lists = simulate_sources_lists(sources);
 *     const int *counts = simulate_sources_counts(sources);
 *     simulate_sources_free(sources);
 */
#ifndef EVOTILE_SIMULATE_SIMULATE_SOURCES_H
#define EVOTILE_SIMULATE_SIMULATE_SOURCES_H

#include "device/recorded.h"
#include "strategy/source.h"

struct simulate_sources;

/* `files`: paths, separated by commas. A file is a source of the spaces whose kernel has the same
   name or none, but not of the space that it is itself; a warning names one that is of no use.
   Returns NULL with `error` if a file cannot be read. */
struct simulate_sources *simulate_sources_read(const char *files, char *const *paths,
                                               struct recorded *const *spaces, int space_count,
                                               struct error *error);
void simulate_sources_free(struct simulate_sources *sources);

/* By space: its sources, and how many. */
const struct source *const *simulate_sources_lists(const struct simulate_sources *sources);
const int *simulate_sources_counts(const struct simulate_sources *sources);

#endif
