/*
 * diff: reads what edit_diff (edit.h) printed: which files a change touches, how many lines it adds
 * and removes, and each line with its kind. The text of a change is not trusted: the numbers of a
 * hunk's head say which lines are its own, so that an added line "++ b/x" is no file.
 *
 *     const struct diff_size size = diff_size(diff);                 // 1 file, 12 lines, 3 lines
 *     struct diff_reader reader = {.at = diff};
 *     struct diff_line line;
 *     while (diff_next(&reader, &line))
 *         printf("%d %.*s\n", line.kind, (int)line.length, line.text);
 *     char *shown = diff_shortened(diff, 60, 200, &left_out);        // the caller frees it
 */
#ifndef EVOTILE_SOLUTIONS_DIFF_H
#define EVOTILE_SOLUTIONS_DIFF_H

#include <stdbool.h>
#include <stddef.h>

enum diff_line_kind {
    DIFF_FILE, /* "--- a/kernel.cu" or "+++ b/kernel.cu", or a remark of diff */
    DIFF_HUNK, /* "@@ -1,3 +1,4 @@" */
    DIFF_SAME,
    DIFF_ADDED,
    DIFF_REMOVED
};

struct diff_line {
    enum diff_line_kind kind;
    const char *text; /* with its mark, without its line end */
    size_t length;
};

/* Starts with `at` alone. */
struct diff_reader {
    const char *at;
    long before, after; /* lines that are left of the hunk */
};

/* False at the end. */
bool diff_next(struct diff_reader *reader, struct diff_line *line);

struct diff_size {
    int files, added, removed;
};
struct diff_size diff_size(const char *diff);

/* The name of the file in a line "+++ b/NAME", with its length; NULL: the line is another one. */
const char *diff_file_name(const struct diff_line *line, size_t *length);

/* The first `lines` lines, each up to `bytes` bytes, which ends between two characters: what a line
   lacks is said at its end. `*left_out` gets the number of lines that are not there. */
char *diff_shortened(const char *diff, int lines, size_t bytes, int *left_out);

#endif
