/*
 * wrong_elements: lists the first elements of an output that are wrong, for the author of the
 * candidate. It decides nothing: verify.h judged before.
 *
 *     const struct errors bound = {.max_absolute = 1e-3};
 *     list_wrong_elements(&one, &compared, "y", &bound);     // into one.diagnostics
 */
#ifndef EVOTILE_EVALUATE_WRONG_ELEMENTS_H
#define EVOTILE_EVALUATE_WRONG_ELEMENTS_H

#include "evaluate/diagnostics.h"
#include "evaluate/verify.h"

/* Lists the first elements that are further off than their bound allows a single element to be; if
   there is none, because the errors are many and small, the element that is furthest off. Of an
   output of more than 2^24 elements only the first ones are searched. Without `one->diagnostics` it
   does nothing. What the device fails to copy is not listed. */
void list_wrong_elements(const struct verify_case *one, const struct compared *compared,
                         const char *name, const struct errors *bound);

#endif
