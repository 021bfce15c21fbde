/*
 * framework_values: what the files for PyTorch, JAX and ctypes name: what is given and returned, as
 * lists of parameters. Private to this folder.
 *
 *     cJSON *values = framework_values(export, error);
 *     if (values == NULL)
 *         return -1;
 *     embedded_fill(EMBEDDED_CTYPES, values, text);
 */
#ifndef EVOTILE_EXPORT_FRAMEWORK_VALUES_H
#define EVOTILE_EXPORT_FRAMEWORK_VALUES_H

#include "export/binding.h"

/* The values of binding_add_call and binding_add_extents; of each dtype `torch` (its name there, in
   DLPack and NumPy) and `used`; of each argument `cpp`, `plain` (without std::optional) and `set`;
   and
     schema, declared, passed, passed_by_name, numbers_by_name, given_map    lists of parameters
     returns, return_type, beside    in a schema, in C++; a tensor that is always given
   NULL with an error where no tensor is always given: an operator runs on its tensors' device. */
cJSON *framework_values(const struct export *export, struct error *error);
/* The text of a member. */
const char *framework_text(const cJSON *object, const char *key);

#endif
