/*
 * stencil: text with holes, filled from JSON: a part of Mustache (mustache(5)), for pages that are
 * written down as they will look and not put together in code.
 *
 *     {{name}}                   the value, escaped        {{{name}}}   as it is
 *     {{#name}} ... {{/name}}    once for each element of an array, with its members in sight; once
 *                                for an object, and for any other value but false, null and ""
 *     {{^name}} ... {{/name}}    once where the former would not be there at all
 *     {{! a remark }}
 *
 * A name is looked for in the innermost object that has it. A tag of the last three kinds that has
 * a line to itself takes the whole line with it.
 *
 *     cJSON *values = cJSON_Parse("{\"title\": \"a < b\", \"rows\": [{\"n\": 1}]}");
 *     stencil_fill(stencil, values, stencil_html, stdout);
 *
 * Stencils are part of the program: one that is not well formed, or has a hole which nothing fills,
 * is our own mistake: BUG. Values may be anybody's.
 */
#ifndef EVOTILE_BASE_STENCIL_H
#define EVOTILE_BASE_STENCIL_H

#include <cjson/cJSON.h>
#include <stdio.h>

typedef void stencil_escape(const char *text, FILE *out);

/* For HTML, also within quoted attributes; and for Markdown with tables (GitHub's). What no text
   has, control characters, become spaces. */
stencil_escape stencil_html, stencil_markdown;

void stencil_fill(const char *stencil, const cJSON *values, stencil_escape *escape, FILE *out);

#endif
