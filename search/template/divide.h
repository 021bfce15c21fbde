/*
 * divide: makes a problem with one solution of a template.json, so that others can write solutions
 * of it.
 *
 *     if (template_divide("templates/rows", "served/rows", "given", &error) < 0)
 *         return -1;
 *     struct template *template = template_load("served/rows/given", &setting, &error);
 *
 * What reads no gene goes to problem.json. "relaxed" stays behind: in a problem it needs the
 * largest tile that a solution may claim, which template.json does not say.
 */
#ifndef EVOTILE_TEMPLATE_DIVIDE_H
#define EVOTILE_TEMPLATE_DIVIDE_H

#include "base/error.h"

/* Makes the folder `to` with problem.json and the solution's folder. Both get the other files of
   `from`. The caller loads the result, which says whether it is whole: a template whose tensors or
   operations read genes cannot be divided. */
int template_divide(const char *from, const char *to, const char *solution, struct error *error);

#endif
