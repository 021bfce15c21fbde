/*
 * mutants: automatic breakages of a kernel: changes of one instruction of its PTX each, as a
 * programmer's slip would make them. What judges the kernel should notice every one.
 *
 *     struct mutant_list mutants;
 *     if (mutants_find(&mutants, ptx, seed, &error) < 0)
 *         return -1;
 *     char *broken = mutant_apply(&mutants.items[0], ptx);
 *     mutants_release(&mutants);
 *
 * They are ordered so that the first ones are of different kinds; which instruction of each kind is
 * drawn from the seed. A mutant may be equivalent: it computes the same.
 */
#ifndef EVOTILE_LINT_MUTANTS_H
#define EVOTILE_LINT_MUTANTS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { MUTANT_FILE_SIZE = 64, MUTANT_CHANGE_SIZE = 160 };

struct mutant {
    const char *kind;                /* "a dropped barrier" */
    char change[MUTANT_CHANGE_SIZE]; /* "bar.sync 0 is removed" */
    char file[MUTANT_FILE_SIZE];     /* of the CUDA source; empty if the PTX does not say */
    int line;                        /* in it */
    int ptx_line;
    size_t begin, end; /* bytes of the text that are replaced */
    char *replacement; /* owned */
};

struct mutant_list {
    struct mutant *items;
    int count;
};

/* Finds every mutant of a module. An error if the text is no PTX. */
int mutants_find(struct mutant_list *list, const char *ptx, uint64_t seed, struct error *error);
void mutants_release(struct mutant_list *list);

/* The text with the change; the caller frees it. `ptx` is the text that was searched. */
char *mutant_apply(const struct mutant *mutant, const char *ptx);

#endif
