/* Which solutions are changed next. The population is small: of each niche its fastest solution, an
   elite. A niche is what kernels of one kind share: what they use, and about how many registers and
   how much shared memory. */
#include "evolve/internal.h"

#include "base/memory.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { ELITES_MAX = 8, NICHE_SIZE = USES_SIZE + 16 };

/* One proposal in so many has two parents. */
enum { CROSSOVERS = 5, PARENTS_STREAM = 0x70617265 };

struct elite {
    int goal;
    double score_us;
    char niche[NICHE_SIZE];
};

/* 0, up to 32, up to 64 ... */
static int bucket(int number, int unit) {
    int at = 0;
    for (int limit = unit; number > 0 && at < 8; limit *= 2)
        if (++at, number <= limit)
            break;
    return at;
}

static int print_niche(const struct evolve *evolve, int goal, char niche[NICHE_SIZE],
                       struct error *error) {
    const struct member *champion = evolution_champion(evolve->session.evolutions[goal]);
    struct store_trial *trial = store_trial_read(evolve->session.store, champion->trial, error);
    if (trial == NULL)
        return -1;
    const struct resources *resources = &trial->outcome->resources;
    snprintf(niche, NICHE_SIZE, "%s/%d/%d", trial->outcome->uses, bucket(resources->registers, 32),
             bucket(resources->smem_bytes, 8 << 10));
    store_trial_free(trial);
    return 0;
}

/* Inserts a solution in the order of scores, unless its niche has a faster one. */
static void offer(struct elite elites[GOALS_MAX], int *count, const struct elite *offered) {
    int at = 0;
    while (at < *count && elites[at].score_us <= offered->score_us) {
        if (strcmp(elites[at].niche, offered->niche) == 0)
            return;
        at++;
    }
    int end = at;
    while (end < *count && strcmp(elites[end].niche, offered->niche) != 0)
        end++;
    if (end == *count)
        (*count)++;
    memmove(&elites[at + 1], &elites[at], (size_t)(end - at) * sizeof *elites);
    elites[at] = *offered;
}

static int find_elites(const struct evolve *evolve, struct elite elites[GOALS_MAX],
                       struct error *error) {
    int count = 0;
    for (int g = 0; g < evolve->session.goal_count; g++) {
        struct elite one = {.goal = g, .score_us = evolve_score(evolve, g)};
        if (!evolve->solutions[g].stands || one.score_us <= 0)
            continue;
        if (print_niche(evolve, g, one.niche, error) < 0)
            return -1;
        offer(elites, &count, &one);
    }
    return count < ELITES_MAX ? count : ELITES_MAX;
}

/* Each elite is half as likely as the faster one before it. */
static int pick(struct random *random, int count) {
    int rank = 0;
    while (rank + 1 < count && random_below(random, 2) == 1)
        rank++;
    return rank;
}

int evolve_choose_parents(struct evolve *evolve, int64_t number, int parents[2],
                          struct error *error) {
    struct elite *elites = xcalloc(GOALS_MAX, sizeof *elites);
    struct random random;
    const int count = find_elites(evolve, elites, error);
    int chosen = count < 0 ? -1 : 1;
    random_seed(&random, evolve->session.config->seed, PARENTS_STREAM + (uint64_t)number);
    if (count > 0) {
        const int first = pick(&random, count);
        parents[0] = elites[first].goal;
        if (count > 1 && random_below(&random, CROSSOVERS) == 0) {
            const int second = pick(&random, count - 1);
            parents[1] = elites[second + (second >= first)].goal;
            chosen = 2;
        }
    } else {
        parents[0] = evolve->champion;
    }
    free(elites);
    return chosen;
}
