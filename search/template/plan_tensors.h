/*
 * plan_tensors: the tensors and tensor maps of a launch plan (template.h), from the values of a
 * case's and a genome's names.
 */
#ifndef EVOTILE_TEMPLATE_PLAN_TENSORS_H
#define EVOTILE_TEMPLATE_PLAN_TENSORS_H

#include "template/template.h"

int plan_evaluate_expression(const struct template *template, const struct expression *expression,
                             const int64_t *values, int64_t *result, struct error *error);
/* A missing condition (NULL) is true. */
int plan_evaluate_condition(const struct template *template, const struct expression *when,
                            const int64_t *values, bool *result, struct error *error);

/* Plans tensors and scalars. Tensors of magnitudes, and those of setup, are present if that is the
   role `with`. */
int plan_tensors(const struct template *template, const int64_t *values, int with,
                 struct launch_plan *plan, struct error *error);
/* After plan_tensors. */
int plan_maps(const struct template *template, const int64_t *values, struct launch_plan *plan,
              struct error *error);

#endif
