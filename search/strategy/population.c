#include "strategy/population.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

void population_init(struct population *population, int capacity) {
    if (capacity < 1)
        BUG("a population of %d", capacity);
    *population = (struct population){.capacity = capacity};
    population->members = xcalloc((size_t)capacity, sizeof *population->members);
}

void population_release(struct population *population) {
    free(population->members);
    *population = (struct population){0};
}

int population_offer(struct population *population, const struct member *member) {
    struct member *members = population->members;
    if (!isfinite(member->score_us))
        BUG("trial %lld has a score that is not finite", (long long)member->trial);
    int rank = population->count;
    for (int i = 0; i < population->count; i++)
        if (genome_equal(&members[i].genome, &member->genome))
            return -1;
    while (rank > 0 && member->score_us < members[rank - 1].score_us)
        rank--;
    if (rank == population->capacity)
        return -1;
    if (population->count < population->capacity)
        population->count++;
    memmove(&members[rank + 1], &members[rank],
            (size_t)(population->count - 1 - rank) * sizeof *members);
    members[rank] = *member;
    return rank;
}

bool population_remove(struct population *population, const struct genome *genome) {
    struct member *members = population->members;
    for (int i = 0; i < population->count; i++)
        if (genome_equal(&members[i].genome, genome)) {
            population->count--;
            memmove(&members[i], &members[i + 1],
                    (size_t)(population->count - i) * sizeof *members);
            return true;
        }
    return false;
}

/* Draws the index of a member other than `without` (-1: of any member). */
static int pick_index(const struct population *population, int excluded, struct random *random) {
    double total = 0;
    int last = -1;
    for (int i = 0; i < population->count; i++)
        if (i != excluded)
            total += 1.0 / (i + 1 + population->capacity);
    double at = random_uniform(random) * total;
    for (int i = 0; i < population->count; i++) {
        if (i == excluded)
            continue;
        last = i; /* rounding may leave a remainder after the last member */
        at -= 1.0 / (i + 1 + population->capacity);
        if (at < 0)
            break;
    }
    return last;
}

const struct member *population_pick(const struct population *population, struct random *random) {
    int index = population->count > 0 ? pick_index(population, -1, random) : -1;
    return index < 0 ? NULL : &population->members[index];
}

bool population_pick_two(const struct population *population, struct random *random,
                         const struct member *picked[2]) {
    if (population->count < 2)
        return false;
    int first = pick_index(population, -1, random);
    int second = pick_index(population, first, random);
    picked[0] = &population->members[first];
    picked[1] = &population->members[second];
    return true;
}
