/* map: MAP-Elites (Mouret and Clune, "Illuminating search spaces by mapping elites", 2015): the
   best of each niche (space/niches.h) is a parent, however it does beside the best of others, so
   that the search goes on in many places until one of them is known to win. */
#include "base/error.h"
#include "base/memory.h"
#include "strategy/strategy.h"

#include <stdlib.h>

enum { TRIES = 32, TOURNAMENT = 4 };

struct niche {
    uint64_t key;
    uint32_t entry; /* of its elite, in evolution->seen */
};

struct map {
    size_t told_done;
    uint64_t retold;
    int count, room;
    struct niche *niches; /* in the order of discovery */
};

void map_free(void *state) {
    struct map *map = state;
    if (map)
        free(map->niches);
    free(map);
}

static const struct history_entry *elite_of(const struct evolution *evolution,
                                            const struct map *map, int niche) {
    return &evolution->history.entries[map->niches[niche].entry];
}

static void offer(const struct evolution *evolution, struct map *map, uint32_t index) {
    const struct history_entry *entry = &evolution->history.entries[index];
    uint64_t key = space_niche(evolution->space, &entry->genome);
    int at = 0;
    while (at < map->count && map->niches[at].key != key)
        at++;
    if (at < map->count && elite_of(evolution, map, at)->score_us <= entry->score_us)
        return;
    if (at == map->room) {
        map->room = map->room ? 2 * map->room : 64;
        map->niches = xrealloc(map->niches, (size_t)map->room * sizeof *map->niches);
    }
    map->count += at == map->count;
    map->niches[at] = (struct niche){key, index};
}

/* With what was told since; from the start where scores changed. */
static struct map *map_of(struct evolution *evolution) {
    struct map *map = evolution->state;
    if (!map) {
        evolution->state = map = xcalloc(1, sizeof *map);
    }
    if (map->retold != evolution->rescored_count) {
        map->retold = evolution->rescored_count;
        map->told_done = 0;
        map->count = 0;
    }
    for (; map->told_done < evolution->told_count; map->told_done++)
        if (evolution->history.entries[evolution->told[map->told_done]].ok)
            offer(evolution, map, evolution->told[map->told_done]);
    return map;
}

/* The best of a few draws: with a single one a map spends its trials evenly, on niches that cannot
   win too. */
static const struct history_entry *pick(struct evolution *evolution, const struct map *map) {
    const struct history_entry *best = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        int niche = (int)random_below(&evolution->random, (uint64_t)map->count);
        const struct history_entry *drawn = elite_of(evolution, map, niche);
        if (!best || drawn->score_us < best->score_us)
            best = drawn;
    }
    return best;
}

static bool breed(struct evolution *evolution, const struct map *map, struct proposal *proposal) {
    enum operator_kind kind = operators_pick(map->count > 1 ? 2 : 1, &evolution->random);
    const struct history_entry *mother = pick(evolution, map), *father = NULL;
    if (operators[kind].parents == 2)
        father = pick(evolution, map);
    if (father == mother)
        return false;
    const struct genome *parents[2] = {&mother->genome, father ? &father->genome : NULL};
    *proposal = (struct proposal){.made_by = kind,
                                  .parents = {mother->trial, father ? father->trial : TRIAL_NONE}};
    return operators[kind].breed(evolution->space, &evolution->random, parents, &proposal->genome);
}

bool map_propose(struct evolution *evolution, struct proposal *proposal) {
    const struct map *map = map_of(evolution);
    if (map->count == 0 || random_uniform(&evolution->random) < evolution->exploration)
        return strategy_explore(evolution, proposal);
    for (int i = 0; i < TRIES; i++)
        if (breed(evolution, map, proposal) &&
            !history_find(&evolution->history, &proposal->genome))
            return true;
    return false;
}
