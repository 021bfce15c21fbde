/*
 * prepare_call: what is done before a call, as its caller would do it. Outputs that are read get
 * their input again, outputs that are added to are zeroed, and inputs that are variables of a
 * module are copied there. None of it is timed.
 *
 *     int status = buffers_prepare_call(&buffers, 0, module, reason, &error);
 *     ...; // run the call
 *     if (status == 0 && variables_changed(&buffers, module, &error) == 1)
 *         ...; // the call wrote to an input
 *
 * For timing, where a graph holds many calls, buffers_prepare_sequence has the steps of one call.
 */
#ifndef EVOTILE_EVALUATE_PREPARE_CALL_H
#define EVOTILE_EVALUATE_PREPARE_CALL_H

#include "evaluate/buffers.h"

/* Builds the steps that prepare the outputs of a set for a call of the buffers' plan; none if
   template_prepares_calls is false. The reference and the plain kernel have outputs of their own,
   of which only those that are added to are prepared. */
void buffers_prepare_sequence(const struct buffers *buffers, int set,
                              struct device_sequence *sequence);

/* Builds the steps that copy inputs to the variables of the plan's module. Returns 1, with the
   reason, if a variable is missing or too small. */
int variables_sequence(const struct buffers *buffers, struct device_module *module,
                       struct device_sequence *sequence, char *reason);
/* Runs them. Returns 0; 1 with the reason; -1 if the device failed. */
int variables_copy(const struct buffers *buffers, struct device_module *module, char *reason,
                   struct error *error);
/* Returns 1 if a variable no longer holds its input, else 0; -1 if the device failed. */
int variables_changed(const struct buffers *buffers, struct device_module *module,
                      struct error *error);

/* Runs both sequences of a set. Returns as variables_copy. */
int buffers_prepare_call(const struct buffers *buffers, int set, struct device_module *module,
                         char *reason, struct error *error);

#endif
