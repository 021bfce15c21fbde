/*
 * constants: which names of a template are constants in a variant, and their values: genes, device
 * attributes, the dimensions that are compiled in, and the derived quantities of these alone. What
 * is written in place of a template's expressions, C or a launch program, has the numbers.
 *
 *     struct constants constants;
 *     if (constants_of_variant(&constants, template, genome, case_index, &error) < 0)
 *         return -1;
 *     if (slots_has(&constants.known, slot))
 *         value = constants.values[slot];
 */
#ifndef EVOTILE_EXPORT_CONSTANTS_H
#define EVOTILE_EXPORT_CONSTANTS_H

#include "template/template.h"

struct constants {
    struct slots known;
    int64_t values[SLOTS_MAX]; /* of those */
};

/* `genome` NULL: the default one. `case_index` -1: no dimension is compiled in. A stride is never
   constant, since a caller may give it. */
int constants_of_variant(struct constants *constants, const struct template *template,
                         const struct genome *genome, int case_index, struct error *error);

/* The tensor that has the derived quantity in this slot as a stride, and the stride's index; NULL
   if none has. */
const struct tensor *constants_strided_tensor(const struct template *template, int slot,
                                              int *index);

#endif
