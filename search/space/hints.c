#include "space/hints.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "space/breed.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 8 };

void measures_put(struct measures *measures, int measure, int64_t value) {
    measures->known |= UINT32_C(1) << measure;
    measures->values[measure] = value;
}

void space_name_measures(struct space *space, const char *const *names, int count,
                         int first_profiled) {
    if (count > MEASURES_MAX)
        BUG("more than %d measures", MEASURES_MAX);
    space->hints.measure_names = names;
    space->hints.measure_count = count;
    space->hints.first_profiled = first_profiled;
}

/* Measures are visible in hints only, so that no constraint can read what is known only after a
   trial: a hint is parsed with a copy of the symbol table that has additional slots. */
int space_add_hint(struct space *space, const char *when, const char *because,
                   struct error *error) {
    struct hints *hints = &space->hints;
    if (hints->count == HINTS_MAX)
        return error_input(error, "more than %d insights", HINTS_MAX);
    if (strlen(because) >= HINT_REASON_SIZE)
        return error_input(error, "the reason '%.40s...' has more than %d characters", because,
                           HINT_REASON_SIZE - 1);
    struct symbol_table *symbols = xmalloc(sizeof *symbols);
    *symbols = space->symbols;
    if (hints->count > 0 && hints->first_slot != symbols->slot_count)
        BUG("a name was added to a space between its hints");
    hints->first_slot = symbols->slot_count;
    int status = 0;
    for (int m = 0; m < hints->measure_count && status == 0; m++)
        status = symbol_table_add(symbols, hints->measure_names[m], error) < 0 ? -1 : 0;
    struct hint *hint = &hints->rows[hints->count];
    hint->when = status == 0 ? expression_parse(when, symbols, error) : NULL;
    free(symbols);
    if (hint->when == NULL)
        return -1;
    for (int m = 0; m < hints->measure_count; m++)
        if (slots_has(expression_reads(hint->when), hints->first_slot + m))
            hint->reads |= UINT32_C(1) << m;
    if ((uint64_t)hint->reads >> hints->first_profiled != 0)
        hints->profiled |= UINT32_C(1) << hints->count;
    strcpy(hint->because, because);
    return hints->count++;
}

int space_add_preference(struct space *space, int hint, const char *gene, const char *towards,
                         struct error *error) {
    struct hint *to = &space->hints.rows[hint];
    int index = space_find_gene(space, gene);
    if (index < 0)
        return error_input(error, "unknown gene %s; the nearest name is %s", gene,
                           symbol_table_nearest(&space->symbols, gene));
    if (to->preference_count == PREFERENCES_MAX)
        return error_input(error, "an insight may prefer at most %d genes", PREFERENCES_MAX);
    struct preference preference = {.gene = index};
    if (space->genes[index].ordered)
        preference.step = strcmp(towards, "higher") == 0  ? 1
                          : strcmp(towards, "lower") == 0 ? -1
                                                          : 0;
    if (preference.step == 0)
        preference.value = genome_find_index(space, index, towards);
    if (preference.value < 0)
        return error_input(
            error, "gene %s has no value %s%s", gene, towards,
            space->genes[index].ordered ? "; \"higher\" and \"lower\" are allowed too" : "");
    to->preferences[to->preference_count++] = preference;
    return 0;
}

static bool can_move(const struct preference *preference, const struct space *space,
                     const struct genome *genome) {
    int now = genome->value[preference->gene], next = now + preference->step;
    return preference->step == 0 ? now != preference->value
                                 : next >= 0 && next < space->genes[preference->gene].count;
}

/* A hint whose genes are all where it wants them is not applicable. */
static bool can_move_any(const struct hint *hint, const struct space *space,
                         const struct genome *genome) {
    for (int f = 0; f < hint->preference_count; f++)
        if (can_move(&hint->preferences[f], space, genome))
            return true;
    return false;
}

uint32_t space_hints(const struct space *space, const struct genome *genome,
                     const struct measures *measures) {
    const struct hints *hints = &space->hints;
    int holds[HINTS_MAX] = {0};
    uint32_t holding = 0;
    if (hints->count == 0)
        return 0;
    for (int e = 0; e < space->environment_count; e++) {
        int64_t values[SLOTS_MAX], held;
        if (space_values(space, genome, e, values, NULL) < 0)
            continue;
        /* Over what came to the space after its hints, such as the number of a round: no hint can
           read that. */
        memcpy(values + hints->first_slot, measures->values,
               (size_t)hints->measure_count * sizeof *measures->values);
        for (int r = 0; r < hints->count; r++) {
            const struct hint *hint = &hints->rows[r];
            if ((hint->reads & ~measures->known) == 0 &&
                expression_evaluate(hint->when, values, &held, NULL) == 0)
                holds[r] += held != 0;
        }
    }
    for (int r = 0; r < hints->count; r++)
        if (holds[r] > 0 && 2 * holds[r] >= space->environment_count &&
            can_move_any(&hints->rows[r], space, genome))
            holding |= UINT32_C(1) << r;
    return holding;
}

/* Moves one step, and each further step with probability 1/2, within the domain. */
static void move_gene(const struct preference *preference, int domain, struct random *random,
                      struct genome *genome) {
    int value = preference->value;
    if (preference->step != 0) {
        value = genome->value[preference->gene] + preference->step;
        while (value + preference->step >= 0 && value + preference->step < domain &&
               random_below(random, 2))
            value += preference->step;
    }
    if (value >= 0 && value < domain)
        genome->value[preference->gene] = (uint8_t)value;
}

bool breed_hint(const struct space *space, int hint, struct random *random,
                const struct genome *parent, struct genome *child) {
    const struct hint *by = &space->hints.rows[hint];
    for (int attempt = 0; attempt < ATTEMPTS && by->preference_count > 0; attempt++) {
        uint64_t first_moved = random_below(random, (uint64_t)by->preference_count);
        *child = *parent;
        for (int f = 0; f < by->preference_count; f++)
            if ((uint64_t)f == first_moved || random_below(random, 2))
                move_gene(&by->preferences[f], space->genes[by->preferences[f].gene].count, random,
                          child);
        if (breed_repair(space, random, child) && !genome_equal(child, parent))
            return true;
    }
    return false;
}

void hints_release(struct hints *hints) {
    for (int r = 0; r < hints->count; r++)
        expression_free(hints->rows[r].when);
}
