/*
 * operator_calls: PyTorch's operators that a kernel stands in for, as calls.json of the template's
 * folder says it: a call there with a "schema", the tensor of each of its tensor arguments, and the
 * tensor that it "returns". Private to this folder.
 *
 *     cJSON *values = embedded_values(export);
 *     if (binding_add_call(export, &binding, values, error) < 0 ||
 *         operator_calls_add(export, values, error) < 0)
 *         ...;
 */
#ifndef EVOTILE_EXPORT_OPERATOR_CALLS_H
#define EVOTILE_EXPORT_OPERATOR_CALLS_H

#include "export/binding.h"

/* Adds `calls`: an object for each such call, empty where there are none, with what torch.cpp.in
   and torch.py.in name. `given` and `returned` are there (binding_add). */
int operator_calls_add(const struct export *export, cJSON *values, struct error *error);

#endif
