/*
 * random_space: small random spaces with every feature a space can have, and a brute-force check of
 * validity that shares only the evaluation of expressions. For the tests of space/ and strategy/.
 */
#ifndef EVOTILE_TESTS_GENOME_RANDOM_SPACE_H
#define EVOTILE_TESTS_GENOME_RANDOM_SPACE_H

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "space/space.h"

static inline int below(struct random *random, int bound) {
    return (int)random_below(random, (uint64_t)bound);
}

/* A random condition over the first `count` slots; some cannot be evaluated everywhere. */
static inline void random_condition(struct random *random, const struct symbol_table *symbols,
                                    int count, char text[256]) {
    const char *a = symbols->slots[below(random, count)], *b = symbols->slots[below(random, count)];
    switch (below(random, 7)) {
    case 0:
        snprintf(text, 256, "%s * %s <= %d", a, b, 2 + below(random, 20));
        break;
    case 1:
        snprintf(text, 256, "%s %% 2 == %d", a, below(random, 2));
        break;
    case 2:
        snprintf(text, 256, "%s != %s", a, b);
        break;
    case 3:
        snprintf(text, 256, "%s + %s > %d", a, b, below(random, 6));
        break;
    case 4:
        snprintf(text, 256, "12 / %s >= %s", a, b);
        break;
    case 5:
        snprintf(text, 256, "%s == 0 || ceil_div(8, %s) < 5", a, a);
        break;
    default:
        snprintf(text, 256, "%s >= %d", a, below(random, 3));
    }
}

/* Gives some genes without a condition one over later genes only, so that there is no cycle. */
static inline bool add_backward_conditions(struct space *space, struct random *random) {
    bool added = true;
    struct error error = {0};
    for (int i = 0; i + 1 < space->gene_count; i++) {
        struct symbol_table later = {0};
        char text[256];
        for (int j = i + 1; j < space->gene_count; j++)
            strcpy(later.slots[later.slot_count++], space->genes[j].name);
        random_condition(random, &later, later.slot_count, text);
        if (space->genes[i].when == NULL && below(random, 2) == 0)
            added = added && space_set_condition(space, i, text, &error) == 0;
    }
    return added;
}

static inline struct space *random_space(struct random *random) {
    static const char *const labels[] = {"none", "xor", "pad", "f16", "f32"};
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE], text[256];
    int genes = 2 + below(random, 4), failed = 0;
    const bool backward = below(random, 4) == 0;
    failed |= space_add_dimension(space, "SM", &error) < 0;
    for (int i = 0; i < genes; i++) {
        int count = 1 + below(random, 5), only_gene = below(random, count);
        /* Slot 0 is equal in all environments; the dimension S, which is not, comes after the
           genes. */
        random_condition(random, &space->symbols, space->symbols.slot_count, text);
        const char *when = i > 0 && !backward && below(random, 3) == 0 ? text : NULL;
        snprintf(name, sizeof name, "G%d", i);
        if (below(random, 3) == 0) {
            failed |= space_add_labels(space, name, "", labels, count, only_gene, when, &error) < 0;
        } else {
            int64_t values[5] = {below(random, 3)};
            for (int j = 1; j < count; j++)
                values[j] = values[j - 1] + 1 + below(random, 3);
            failed |=
                space_add_integers(space, name, "", values, count, only_gene, when, &error) < 0;
        }
        if (below(random, 3) == 0) { /* readable by conditions of later genes */
            snprintf(name, sizeof name, "E%d", i);
            snprintf(text, sizeof text, below(random, 2) ? "6 / G%d" : "G%d + SM", i);
            failed |= space_add_derived(space, name, text, &error) < 0;
        }
    }
    failed |= backward && !add_backward_conditions(space, random);
    failed |= space_add_dimension(space, "S", &error) < 0;
    for (int i = below(random, 3); i > 0; i--) {
        snprintf(name, sizeof name, "D%d", i);
        snprintf(text, sizeof text, below(random, 2) ? "S * %s" : "ceil_div(S, 1 + %s)",
                 space->symbols.slots[below(random, space->symbols.slot_count)]);
        failed |= space_add_derived(space, name, text, &error) < 0;
    }
    for (int i = below(random, 4); i > 0; i--) {
        random_condition(random, &space->symbols, space->symbols.slot_count, text);
        failed |= space_add_constraint(space, text, "chance wants it", &error) < 0;
    }
    for (int i = 1 + below(random, 3); i > 0; i--) {
        int64_t values[] = {4, 1 + below(random, 4)};
        snprintf(name, sizeof name, "S=%d", (int)values[1]);
        failed |= space_add_environment(space, name, values, &error) < 0;
    }
    failed |= space_seal(space, &error) < 0;
    if (failed)
        BUG("%s", error.text);
    return space;
}

/* Moves to the next raw genome, the first after the last; false after the last. */
static inline bool next_raw(const struct space *space, struct genome *genome) {
    for (int i = 0; i < space->gene_count; i++) {
        if (++genome->value[i] < space->genes[i].count)
            return true;
        genome->value[i] = 0;
    }
    return false;
}

static inline bool brute_force_valid(const struct space *space, const struct genome *genome) {
    int64_t values[SLOTS_MAX], value;
    struct error error = {0};
    for (int e = 0; e < space->environment_count; e++) {
        if (space_values(space, genome, e, values, &error) < 0)
            return false;
        for (int i = 0; i < space->constraint_count; i++)
            if (expression_evaluate(space->constraints[i].expression, values, &value, &error) < 0 ||
                value == 0)
                return false;
    }
    for (int i = 0; i < space->gene_count; i++) {
        const struct gene *gene = &space->genes[i];
        bool active = gene->when == NULL ||
                      (expression_evaluate(gene->when, values, &value, &error) == 0 && value != 0);
        if (!active && genome->value[i] != gene->default_index)
            return false;
    }
    return true;
}

#endif
