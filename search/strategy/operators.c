#include "strategy/operators.h"

#include "base/error.h"
#include "space/breed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct operator_row operators[OPERATOR_COUNT] = {
    [OPERATOR_DEFAULT] = {"default", "the default genome", 0, 0, NULL},
    [OPERATOR_SEED] = {"seed", "given by the user, or an earlier champion", 0, 0, NULL},
    [OPERATOR_START] = {"start", "a point of the initial space-filling design", 0, 0, NULL},
    [OPERATOR_EXPLORE] = {"explore", "uniform over the space", 0, 0, NULL},
    [OPERATOR_MUTATE_STEP] = {"mutate_step", "one to three genes moved by a step", 1, 3,
                              breed_mutate_step},
    [OPERATOR_MUTATE_RESET] = {"mutate_reset", "one to three genes set to random values", 1, 2,
                               breed_mutate_reset},
    [OPERATOR_CROSS_UNIFORM] = {"cross_uniform", "each gene from either parent", 2, 2,
                                breed_cross_uniform},
    [OPERATOR_CROSS_BLOCK] = {"cross_block", "neighbouring genes from one parent", 2, 2,
                              breed_cross_block},
    [OPERATOR_INSIGHT] = {"insight", "one or two genes sampled from the archive's effects", 1, 0,
                          NULL},
    [OPERATOR_HINT] = {"rule", "genes moved as an insight of the template advises", 1, 0, NULL},
    [OPERATOR_MODEL] = {"model", "best acquisition value under a model of the archive", 0, 0, NULL},
    [OPERATOR_REST] = {"rest", "enumeration of the genomes not yet tried", 0, 0, NULL},
};

void operator_print(enum operator_kind kind, int hint, char text[OPERATOR_NAME_SIZE]) {
    if (kind == OPERATOR_HINT)
        snprintf(text, OPERATOR_NAME_SIZE, "%s:%d", operators[kind].name, hint + 1);
    else
        snprintf(text, OPERATOR_NAME_SIZE, "%s", operators[kind].name);
}

int operator_parse(const char *text, int *hint) {
    size_t length = strcspn(text, ":");
    int number = text[length] == ':' ? atoi(text + length + 1) - 1 : 0;
    if (number < 0 || number >= HINTS_MAX)
        return -1;
    if (hint != NULL)
        *hint = number;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        if (strlen(operators[i].name) == length && strncmp(operators[i].name, text, length) == 0)
            return i;
    return -1;
}

static int weight_for(int kind, int parents) {
    return operators[kind].parents <= parents ? operators[kind].weight : 0;
}

enum operator_kind operators_pick(int parents, struct random *random) {
    int total = 0, kind = 0;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        total += weight_for(i, parents);
    if (total == 0)
        BUG("no operator works with %d parents", parents);
    for (int at = (int)random_below(random, (uint64_t)total); at >= weight_for(kind, parents);
         kind++)
        at -= weight_for(kind, parents);
    return (enum operator_kind)kind;
}
