/*
 * judge: what the verdict `ok` of a run's trials says, where no reference was written and the
 * default genome stood in for one.
 *
 *     char *note;
 *     if (judge_note(store, &note, &error) == 0 && note != NULL)
 *         printf("%s\n", note);
 *     free(note);
 */
#ifndef EVOTILE_RUN_JUDGE_H
#define EVOTILE_RUN_JUDGE_H

#include "store/store.h"
#include "template/template.h"

#define JUDGE_META "reference" /* of the store: what judges the run's trials */

/* The value of JUDGE_META for a template: "kernel" or "default genome". */
const char *judge_name(const struct template *template);
/* One sentence, without a line end; NULL: a trial that is ok is correct. The caller frees it. */
int judge_note(struct store *store, char **note, struct error *error);

#endif
