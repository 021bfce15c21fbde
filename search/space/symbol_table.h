/*
 * symbol_table: the names that an expression may use. A *slot* is a name whose value differs
 * between evaluations (a gene, a case dimension, a device attribute, a derived quantity); a *label*
 * is a constant (`xor` in "SWIZZLE == xor"). Slots are numbered 0, 1, 2 ... in the order they were
 * added; an expression is evaluated over an array of values indexed by slot.
 *
 * Equal labels have equal values in the whole table: `none` is the same number whichever gene has
 * it in its domain, so that "A == none" is correct for every gene.
 *
 *     struct symbol_table symbols = {0};
 *     int s = symbol_table_add(&symbols, "S", &error);
 *     int label = symbol_table_add_label(&symbols, "xor", &error);
 *     values[s] = 512;
 */
#ifndef EVOTILE_SPACE_SYMBOL_TABLE_H
#define EVOTILE_SPACE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct error;

enum {
    SLOTS_MAX = 192,
    LABELS_MAX = 192,
    NAME_SIZE = 48, /* of a slot or label, with the terminating zero */
};

/* A plain value that owns nothing; all zeros is the empty table. Fields may be read; add through
   the functions. */
struct symbol_table {
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

/* Returns whether they have a slot in common. */
static inline bool slots_meet(const struct slots *a, const struct slots *b) {
    uint64_t common = 0;
    for (int i = 0; i < SLOTS_MAX / 64; i++)
        common |= a->words[i] & b->words[i];
    return common != 0;
}

/* Adds a slot; returns its number. Fails for a name that is not an identifier
   ([A-Za-z_][A-Za-z0-9_]*), that is already a slot, label or function, or when the table is
   full. */
int symbol_table_add(struct symbol_table *symbols, const char *name, struct error *error);

/* Returns the value of a label, which is added if it is new. Fails for the name of a slot or
   function, an empty or too long name, and when the table is full. A label need not be an
   identifier ("16x8"), but only an identifier can be written in an expression. */
int symbol_table_add_label(struct symbol_table *symbols, const char *name, struct error *error);

/* The slot's number or the label's value; -1 if there is none. */
int symbol_table_find(const struct symbol_table *symbols, const char *name);
int symbol_table_find_label(const struct symbol_table *symbols, const char *name);

/* The slot, label or function with the most similar name (base/spelling.h). */
const char *symbol_table_nearest(const struct symbol_table *symbols, const char *name);

#endif
