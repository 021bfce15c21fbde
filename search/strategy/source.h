/*
 * source: what is known of another task that has the same genes: values by genome, of an earlier
 * run, of another goal, of a recorded space, or as a device model predicts them. Strategy `auto`
 * learns from sources (strategy/source_mean.h); other strategies start with the best of them.
 *
 *     struct source source = {.name = "results/night"};
 *     source_add(&source, space, "BLOCK_M=64,WARPS=4", 5.25);   // INFINITY for a genome that
 * failed source_seal(&source); source_release(&source);
 *
 * A source has the genes of its own space, and they need not be those of the search: genes that
 * only the source has are dropped, so that several of its rows may be one genome here; genes that
 * it lacks change nothing in its values (`genes`); rows whose values are not in the domains of the
 * search's space are left out.
 */
#ifndef EVOTILE_STRATEGY_SOURCE_H
#define EVOTILE_STRATEGY_SOURCE_H

#include "space/space.h"

enum { SOURCES_MAX = 16, SOURCE_NAME_SIZE = 128 };

/* A genome of the search's space, canonical; of the genes that the source lacks it has the
   defaults. `us` is positive; INFINITY: the genome failed. */
struct source_row {
    struct genome genome;
    double us;
};

_Static_assert(sizeof(struct source_row) == sizeof(struct genome) + sizeof(double), "it is hashed");

struct source {
    char name[SOURCE_NAME_SIZE];
    /* How far its task is from the search's; the unit is a doubling of one dimension of the case.
       Decides how much a source counts before it has proved itself. */
    double distance;
    uint32_t genes; /* a bit for each gene of the search's space that every row has */
    struct source_row *rows;
    int row_count, left_out; /* rows, and rows that the search's space does not have */
};

/* Adds a row by the text of its genome (genome_print). */
void source_add(struct source *source, const struct space *space, const char *genome, double us);

/* Adds a row of the search's own space. */
void source_add_genome(struct source *source, const struct space *space,
                       const struct genome *genome, double us);

/* Ends the additions: sorts the rows, the fastest first, ties by the bytes of the genomes, so that
   nothing depends on the order in which they were added. */
void source_seal(struct source *source);
void source_release(struct source *source);

/* Whether a model can learn from it: it has a gene of the search and a successful row. */
bool source_is_usable(const struct source *source);

#endif
