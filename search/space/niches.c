#include "space/niches.h"

#include "base/error.h"
#include "space/space.h"

enum { GENES = 3, PARTS = 3 };

int space_add_niche(struct space *space, const char *expression, struct error *error) {
    struct niches *niches = &space->niches;
    if (niches->count == NICHES_MAX)
        return error_input(error, "more than %d expressions that tell niches apart", NICHES_MAX);
    niches->by[niches->count] = expression_parse(expression, &space->symbols, error);
    if (!niches->by[niches->count])
        return -1;
    niches->count++;
    return 0;
}

static uint64_t mixed(uint64_t niche, int64_t value) {
    return (niche ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
}

uint64_t space_niche(const struct space *space, const struct genome *genome) {
    const struct niches *niches = &space->niches;
    uint64_t niche = 1;
    for (int i = 0; niches->count == 0 && i < GENES && i < space->gene_count; i++)
        niche = mixed(niche, genome->value[i] * PARTS / space->genes[i].count);
    if (niches->count == 0)
        return niche;
    int64_t values[SLOTS_MAX], value;
    if (space_values(space, genome, 0, values, NULL) < 0)
        return 0;
    for (int i = 0; i < niches->count; i++)
        niche =
            mixed(niche, expression_evaluate(niches->by[i], values, &value, NULL) == 0 ? value
                                                                                       : INT64_MIN);
    return niche;
}

void niches_release(struct niches *niches) {
    for (int i = 0; i < niches->count; i++)
        expression_free(niches->by[i]);
}
