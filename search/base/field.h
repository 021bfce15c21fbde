/*
 * field: the plain members of a struct as data. A table lists each member once, and one loop over
 * the table sends, stores, prints or reads all of them.
 *
 *     struct point { int x; double weight; };
 *     static const struct field fields[] = {
 *         FIELD(struct point, INT, x),
 *         FIELD(struct point, DOUBLE, weight),
 *         {0},
 *     };
 *     struct point point = {0};
 *     int *x = field_member(&fields[0], &point);
 */
#ifndef EVOTILE_BASE_FIELD_H
#define EVOTILE_BASE_FIELD_H

#include <stddef.h>

/* int or enum, int64_t, double, bool, char[] */
enum field_kind { FIELD_INT, FIELD_INT64, FIELD_DOUBLE, FIELD_BOOL, FIELD_TEXT };

struct field {
    const char *name; /* of the member, such as "warm.p50_us"; NULL: the end of the table */
    enum field_kind kind;
    size_t offset, size; /* of the member in its struct, in bytes */
};

#define FIELD(type, kind, member)                                                                  \
    { #member, FIELD_##kind, offsetof(type, member), sizeof(((type *)0)->member) }

/* A member whose stored name is another one. */
#define FIELD_AS(type, kind, member, stored)                                                       \
    { stored, FIELD_##kind, offsetof(type, member), sizeof(((type *)0)->member) }

/* The field's member in `record`. Like strchr, it accepts a const record: then the member is
   const, too. */
static inline void *field_member(const struct field *field, const void *record) {
    return (char *)record + field->offset;
}

#endif
