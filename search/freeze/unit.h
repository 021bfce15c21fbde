/* unit: what the launcher has of each unit. For launcher.c alone. */
#ifndef EVOTILE_FREEZE_UNIT_H
#define EVOTILE_FREEZE_UNIT_H

#include "freeze/parts.h"

/* Adds admits_N, operations_N where there are several units, parts_N where the template has
   workspaces, and run_N; N counts from 1. */
int add_unit(const struct export *export, int unit, struct text *text, struct error *error);

#endif
