/* nearest: the known name that a mistyped one most likely meant, for errors that help. */
#ifndef EVOTILE_BASE_NEAREST_H
#define EVOTILE_BASE_NEAREST_H

/* The name of `names[count]` with the smallest edit distance to `word`, the case of letters
   counting half; the first of equals. `count` must be at least 1. */
const char *nearest(const char *word, const char *const *names, int count);

#endif
