#include "evolve/start.h"

#include "base/error.h"
#include "evolve/strategy.h"
#include "genome/breed.h"

#include <math.h>
#include <stdlib.h>

enum { START_TRIES = 64 }; /* for one that is valid and new; to find one far from the others */

bool start_add(struct evolution *evolution, const struct genome *genome, enum operator_kind kind) {
    for (int i = 0; i < evolution->start_count; i++)
        if (genome_equal(&evolution->starts[i].genome, genome))
            return false;
    evolution->starts[evolution->start_count++] =
        (struct proposal){.genome = *genome, .made_by = kind, .parents = {TRIAL_NONE, TRIAL_NONE}};
    return true;
}

/* A Latin hypercube: over `count` genomes every gene takes its values equally often, in an order of
   its own. Repair and canonical form then bend it as little as they can. */
void start_stratified(struct evolution *evolution, int count) {
    const struct space *space = evolution->space;
    struct random *random = &evolution->random;
    struct genome *genomes = calloc((size_t)count, sizeof *genomes);
    int *order = calloc((size_t)count, sizeof *order);
    if (!genomes || !order)
        BUG("out of memory");
    for (int gene = 0; gene < space->gene_count; gene++) {
        /* Where the domain does not divide the count, chance decides which values come once more.
         */
        int domain = space->genes[gene].count;
        int offset = (int)random_below(random, (uint64_t)domain);
        for (int i = 0; i < count; i++) {
            int j = (int)random_below(random, (uint64_t)i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < count; i++)
            genomes[i].value[gene] = (uint8_t)((order[i] + offset) % domain);
    }
    for (int i = 0; i < count; i++) {
        bool added = breed_repair(space, random, &genomes[i]) &&
                     start_add(evolution, &genomes[i], OPERATOR_START);
        for (int try = 0; !added && try < START_TRIES; try++)
            added = space_sample(space, random, &genomes[i]) &&
                    start_add(evolution, &genomes[i], OPERATOR_START);
    }
    free(genomes);
    free(order);
}

static double distance(const struct space *space, const struct genome *a, const struct genome *b) {
    double sum = 0;
    for (int i = 0; i < space->gene_count; i++) {
        const struct gene *gene = &space->genes[i];
        int steps = abs(a->value[i] - b->value[i]);
        if (steps > 0)
            sum += gene->ordered ? steps / (gene->count - 1.0) : 1;
    }
    return sum;
}

/* To the nearest of those that are there. */
static double seclusion(const struct evolution *evolution, const struct genome *genome) {
    double least = INFINITY;
    for (int i = 0; i < evolution->start_count; i++)
        least = fmin(least, distance(evolution->space, genome, &evolution->starts[i].genome));
    return least;
}

void start_spread(struct evolution *evolution, int count) {
    for (int i = 0; i < count; i++) {
        struct genome genome, chosen = {{0}};
        double most = 0;
        for (int try = 0; try < START_TRIES; try++) {
            if (!space_sample(evolution->space, &evolution->random, &genome))
                continue;
            double apart = seclusion(evolution, &genome);
            if (apart <= most)
                continue;
            most = apart;
            chosen = genome;
        }
        if (most > 0)
            start_add(evolution, &chosen, OPERATOR_START);
    }
}
