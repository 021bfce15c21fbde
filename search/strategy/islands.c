#include "strategy/islands.h"

#include "base/error.h"

void archipelago_init(struct archipelago *archipelago, int count, int members) {
    if (count < 1 || count > ISLANDS_MAX)
        BUG("%d islands", count);
    int room = count > 1 && members / count < ISLAND_LEAST ? ISLAND_LEAST : members / count;
    *archipelago = (struct archipelago){.count = count};
    for (int i = 0; i < count; i++)
        population_init(&archipelago->islands[i], room);
}

void archipelago_release(struct archipelago *archipelago) {
    for (int i = 0; i < archipelago->count; i++)
        population_release(&archipelago->islands[i]);
    *archipelago = (struct archipelago){0};
}

static const struct member *best_of(const struct population *island) {
    return island->count > 0 ? &island->members[0] : NULL;
}

static void note_best(struct archipelago *archipelago, int island) {
    const struct member *champion = archipelago_champion(archipelago);
    const struct member *best = best_of(&archipelago->islands[island]);
    if (best && (!champion || best->score_us < champion->score_us))
        archipelago->best = island;
}

int archipelago_offer(struct archipelago *archipelago, int island, const struct member *member) {
    int rank = population_offer(&archipelago->islands[island], member);
    if (rank == 0)
        note_best(archipelago, island);
    return rank;
}

void archipelago_renew(struct archipelago *archipelago, int island, const struct genome *genome,
                       const struct member *again) {
    for (int i = 0; i < archipelago->count; i++) {
        bool was_there = population_remove(&archipelago->islands[i], genome);
        if (again && (was_there || i == island))
            population_offer(&archipelago->islands[i], again);
    }
    for (int i = 0; i < archipelago->count; i++)
        note_best(archipelago, i);
}

void archipelago_migrate(struct archipelago *archipelago) {
    struct member leaving[ISLANDS_MAX];
    bool any[ISLANDS_MAX];
    for (int i = 0; i < archipelago->count; i++) {
        const struct member *best = best_of(&archipelago->islands[i]);
        if ((any[i] = best != NULL))
            leaving[i] = *best;
    }
    for (int i = 0; i < archipelago->count; i++)
        if (any[i])
            population_offer(&archipelago->islands[(i + 1) % archipelago->count], &leaving[i]);
}

const struct member *archipelago_champion(const struct archipelago *archipelago) {
    return best_of(&archipelago->islands[archipelago->best]);
}
