/*
 * indent: gives the changed lines of a source the indentation of the rest, so that people can read
 * a change.
 *
 *     char *tidy = indent_changes(before, after);
 *     puts(tidy);
 *     free(tidy);
 *
 * Only blanks at the start of lines change, of lines between the first and the last difference,
 * which start with code. Directives stand at the margin, and a blank line does not follow another.
 */
#ifndef EVOTILE_PROPOSERS_CUDA_INDENT_H
#define EVOTILE_PROPOSERS_CUDA_INDENT_H

/* The caller frees the text. */
char *indent_changes(const char *before, const char *after);

#endif
