/*
 * binding: what a call of an operator in a framework is to the launcher: which tensors its caller
 * gives, where each dimension is from, what it returns. Private to this folder; for NAME_call.c and
 * what is written for PyTorch, JAX and ctypes.
 *
 *     struct binding binding;
 *     binding_init(&binding, template);
 *     cJSON *values = embedded_values(export);
 *     if (binding_add(&binding, values, error) < 0)
 *         ...;
 *
 * A tensor that a kernel reads and writes is given, and written in place; other outputs are
 * returned. A dimension that is an extent of a tensor which is always given, that chooses the dtype
 * of such a tensor, or that says whether a tensor is there, is from that tensor; the caller gives
 * the others.
 */
#ifndef EVOTILE_EXPORT_BINDING_H
#define EVOTILE_EXPORT_BINDING_H

#include "export/internal.h"

enum dimension_source { FROM_CALLER, FROM_EXTENT, FROM_DTYPE, FROM_PRESENCE };

struct binding {
    const struct template *template;
    struct {
        enum dimension_source source;
        int tensor, axis; /* axis: of FROM_EXTENT */
    } dimensions[DIMENSIONS_MAX];
};

void binding_init(struct binding *binding, const struct template *template);

/* Whether a parameter of the launcher is given by the caller, rather than returned. */
bool is_given(const struct tensor *tensor);
/* Whether what is given is written. */
bool is_in_place(const struct tensor *tensor);
/* Prints an extent as the shapes of the exported kernels have it: with the values of the dimensions
   that all of them have compiled in, and a derived quantity as what it then is. Of
   "VARLEN ? 1 : B" that is B, if VARLEN is 0 in every case. */
void print_extent(const struct template *template, const struct expression *extent,
                  char text[EXPRESSION_TEXT_MAX]);
/* The returned tensor has the memory order of this given one; -1: it is packed. */
int order_tensor(const struct template *template, int tensor);

/* Adds what the templates of files name:
     given       tensor, optional, in_place, index, first; those that are not optional come first
     returned    the same
     arguments   argument, explained, real, type (in C), scalar, member (of struct NAME_call),
                 default, no_default, first: the dimensions that the caller gives, and the scalars;
   a default that other dimensions determine, or none, is "None" counts      given_count,
   returned_count, none_returned, one_returned, many_returned */
int binding_add(const struct binding *binding, cJSON *values, struct error *error);

/* binding_add, and what the templates of NAME_call name too (call.c):
     dtypes      dtype, upper, number, bytes
     scalars     type, scalar
     rank_max */
int binding_add_call(const struct export *export, const struct binding *binding, cJSON *values,
                     struct error *error);

/* Adds `extents`: the lines of a Python function that computes the extents of what is returned. */
int binding_add_extents(const struct binding *binding, cJSON *values, struct error *error);

#endif
