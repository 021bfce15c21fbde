/*
 * scope: the names that an expression may use. A *slot* is a name whose value differs from one
 * evaluation to the next (a gene, a case dimension, a device attribute, a derived quantity); a
 * *label* is a constant
 * (`xor` in "SWIZZLE == xor"). Slots are numbered 0, 1, 2 ... in the order they were added, and an
 * expression is evaluated over an array of values indexed by slot.
 *
 * Equal labels have equal values in the whole scope: `none` is the same number whichever gene has
 * it in its domain, and wherever it stands there, so that "A == none" is right for every gene.
 *
 *     struct scope scope = {0};
 *     int s = scope_add(&scope, "S", &error);
 *     int label = scope_add_label(&scope, "xor", &error);
 *     values[s] = 512;
 */
#ifndef EVOTILE_GENOME_SCOPE_H
#define EVOTILE_GENOME_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

struct error;

enum {
    SLOTS_MAX = 192,
    LABELS_MAX = 192,
    NAME_SIZE = 48, /* of a slot or label, with its final zero */
};

/* A plain value that owns nothing; all zeros is the empty scope. Read it, add through the
 * functions. */
struct scope {
    int slot_count, label_count;
    char slots[SLOTS_MAX][NAME_SIZE];
    char labels[LABELS_MAX][NAME_SIZE]; /* the label's value is its index */
};

/* A set of slots. */
struct slots {
    uint64_t words[SLOTS_MAX / 64];
};

static inline void slots_add(struct slots *slots, int slot) {
    slots->words[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static inline void slots_put(struct slots *slots, int slot, bool in) {
    uint64_t bit = UINT64_C(1) << (slot % 64), *word = &slots->words[slot / 64];
    *word = in ? *word | bit : *word & ~bit;
}

static inline bool slots_has(const struct slots *slots, int slot) {
    return slots->words[slot / 64] >> (slot % 64) & 1;
}

static inline void slots_join(struct slots *slots, const struct slots *more) {
    for (int i = 0; i < SLOTS_MAX / 64; i++)
        slots->words[i] |= more->words[i];
}

/* Whether they have a slot in common. */
static inline bool slots_meet(const struct slots *a, const struct slots *b) {
    uint64_t common = 0;
    for (int i = 0; i < SLOTS_MAX / 64; i++)
        common |= a->words[i] & b->words[i];
    return common != 0;
}

/* Adds a slot; returns its number. Refused: what is not an identifier ([A-Za-z_][A-Za-z0-9_]*), a
   name of a slot, label or function that exists already, one too many. */
int scope_add(struct scope *scope, const char *name, struct error *error);

/* The value of a label, added if it is new. Refused: the name of a slot or function, and as above.
   A label need not be an identifier ("16x8"), but only one that is can be written in an expression.
 */
int scope_add_label(struct scope *scope, const char *name, struct error *error);

/* The slot's number, the label's value; or -1. */
int scope_find(const struct scope *scope, const char *name);
int scope_find_label(const struct scope *scope, const char *name);

/* The slot, label or function whose name is nearest to `name` (base/nearest.h). */
const char *scope_nearest(const struct scope *scope, const char *name);

#endif
