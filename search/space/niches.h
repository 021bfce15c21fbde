/*
 * niches: kinds of genomes that are worth keeping apart, because the best of one says little of the
 * best of another: "much shared memory, 8 warps, no splits". A template names what tells them
 * apart; where it does not, as in a recorded space, it is in which third of its domain each of the
 * first three genes lies.
 *
 *     space_add_niche(space, "SMEM_BYTES / 8192", &error);
 *     space_add_niche(space, "WARPS", &error);
 *     if (space_niche(space, &a) == space_niche(space, &b)) ...    // rivals
 */
#ifndef EVOTILE_SPACE_NICHES_H
#define EVOTILE_SPACE_NICHES_H

#include <stdint.h>

struct error;
struct expression;
struct genome;
struct space;

enum { NICHES_MAX = 4 };

struct niches {
    int count;
    struct expression *by[NICHES_MAX];
};

/* After the names that it reads; returns 0 or -1. */
int space_add_niche(struct space *space, const char *expression, struct error *error);

/* The same number for genomes of one niche, in the first environment. */
uint64_t space_niche(const struct space *space, const struct genome *genome);

/* For space_free. */
void niches_release(struct niches *niches);

#endif
