/* spelling: finds the known name closest to a mistyped one, for "did you mean" errors. */
#ifndef EVOTILE_BASE_SPELLING_H
#define EVOTILE_BASE_SPELLING_H

/* Returns the name in `names[count]` with the smallest edit distance to `word`; a difference in
   case counts half; ties go to the first. `count` must be at least 1. */
const char *spelling_nearest(const char *word, const char *const *names, int count);

#endif
