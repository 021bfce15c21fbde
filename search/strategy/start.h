/*
 * start: the genomes that a search proposes first, before it has results. For evolution.c and the
 * strategies.
 *
 *     start_add(evolution, &genome, OPERATOR_DEFAULT);
 *     evolution->strategy->start(evolution, count);
 *
 * The caller must have allocated enough room in evolution->starts.
 */
#ifndef EVOTILE_STRATEGY_START_H
#define EVOTILE_STRATEGY_START_H

#include "strategy/operators.h"

struct evolution;

/* Adds a valid genome; returns false if it is already included. */
bool start_add(struct evolution *evolution, const struct genome *genome, enum operator_kind kind);

/* Adds `count` points of the initial design (strategy/design.h), far from those already added. */
void start_spread(struct evolution *evolution, int count);

#endif
