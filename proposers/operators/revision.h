/*
 * revision: a parent's texts as far as operators have changed them, and the reasons.
 *
 *     struct revision revision, next;
 *     struct candidate *all = xcalloc(CANDIDATES_MAX, sizeof *all);
 *     revision_init(&revision, source, solution);
 *     int count = candidates_find(&revision, NULL, all, &error);
 *     if (count > 0 && revision_apply(&revision, &all[0], &next))
 *         revision_replace(&revision, &next);
 *     revision_release(&revision);
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_REVISION_H
#define EVOTILE_PROPOSERS_OPERATORS_REVISION_H

#include "base/strbuf.h"
#include "proposers/operators/operators.h"

enum { CANDIDATES_MAX = 512 };

struct revision {
    char *source, *solution;
    struct strbuf hypothesis; /* empty: nothing is changed */
};

/* One operator at one place. */
struct candidate {
    const struct edit_operator *entry;
    int site;
};

/* Copies the texts. */
void revision_init(struct revision *revision, const char *source, const char *solution);
void revision_release(struct revision *revision);
/* Takes over what `next` owns. */
void revision_replace(struct revision *revision, struct revision *next);

/* Sets what applies, CANDIDATES_MAX at most, among the operators `only` names: a list with commas;
   NULL: all. Returns how many; -1 if the texts are no solution. */
int candidates_find(const struct revision *revision, const char *only, struct candidate *candidates,
                    struct error *error);
/* The revision with a candidate of it applied, which the caller releases, and its reason added.
   Returns false, and nothing to release, if its edits overlap. */
bool revision_apply(const struct revision *revision, const struct candidate *candidate,
                    struct revision *next);

#endif
