/*
 * structured: inputs that are more than random numbers: those that the host computes or reads from
 * a file, scalars, and what a template's setup writes. Private to evaluate/.
 *
 *     if (buffers_fill_role(buffers, 0, ROLE_INPUT, NULL, seed, &error) == 0)
 *         run_setup(buffers, 0, NULL, seed, &error);
 */
#ifndef EVOTILE_EVALUATE_STRUCTURED_H
#define EVOTILE_EVALUATE_STRUCTURED_H

#include "evaluate/buffers.h"

/* Fills all tensors of a set that have this role, but runs no setup. `stress` may be NULL. */
int buffers_fill_role(struct buffers *buffers, int set, enum role role, const struct stress *stress,
                      uint64_t seed, struct error *error);

/* Draws the scalars of a set, unless they are held. */
void draw_scalars(struct buffers *buffers, int set, uint64_t seed);

/* Runs the setup of the template, which must have one, on the inputs and scalars of a set. An error
   is the template's. */
int run_setup(struct buffers *inputs, int set, const struct stress *stress, uint64_t seed,
              struct error *error);

/* Whether the host computes the same elements as the comparator's kernel, bit for bit; and the
   elements. */
bool host_fills(const struct tensor_fill *fill);
void host_fill(const struct planned_tensor *tensor, uint64_t seed, void *to);

/* Fills an input without the comparator, where no results are checked: zeros if the host cannot
   compute them. */
int fill_from_host(struct buffers *buffers, int set, int tensor, struct error *error);
int fill_from_file(struct device *device, const struct template *template, int tensor,
                   const struct planned_tensor *planned, uint64_t address, struct error *error);

/* Appends what the integer inputs of a set hold: an access out of bounds may have been made with
   one of them as an index. `read`: their least and largest element, which the device must be able
   to give. */
void describe_integers(const struct buffers *buffers, int set, bool read, char *text, size_t size);

#endif
