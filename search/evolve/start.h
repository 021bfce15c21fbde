/*
 * start: the genomes that a search begins with, before it has anything to go by. For evolution.c
 * and the strategies.
 *
 *     start_add(evolution, &genome, OPERATOR_DEFAULT);
 *     evolution->strategy->start(evolution, count);
 *
 * evolution->starts has room for them.
 */
#ifndef EVOTILE_EVOLVE_START_H
#define EVOTILE_EVOLVE_START_H

#include "evolve/operators.h"

struct evolution;

/* Adds a valid genome; false if it is there already. */
bool start_add(struct evolution *evolution, const struct genome *genome, enum operator_kind kind);

/* So many of evolve/design.h, beside those that are there. */
void start_spread(struct evolution *evolution, int count);

#endif
