#include "base/spelling.h"

#include <ctype.h>
#include <string.h>

enum { LENGTH_MAX = 63 };

/* Levenshtein distance in half units: 2 for a changed letter, 1 if only its case differs. */
static int edit_distance(const char *a, const char *b) {
    int row[LENGTH_MAX + 1];
    int length = (int)strnlen(b, LENGTH_MAX);
    for (int j = 0; j <= length; j++)
        row[j] = 2 * j;
    for (int i = 0; i < LENGTH_MAX && a[i] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = 2 * (i + 1);
        for (int j = 0; j < length; j++) {
            int same_but_case = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
            int best = diagonal + (a[i] == b[j] ? 0 : same_but_case ? 1 : 2);
            if (row[j] + 2 < best)
                best = row[j] + 2;
            if (row[j + 1] + 2 < best)
                best = row[j + 1] + 2;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[length];
}

const char *spelling_nearest(const char *word, const char *const *names, int count) {
    const char *best = names[0];
    for (int i = 1; i < count; i++)
        if (edit_distance(word, names[i]) < edit_distance(word, best))
            best = names[i];
    return best;
}
