/*
 * mustache: renders text templates with JSON values: a subset of Mustache (mustache(5)), for pages
 * with their layout in a file and not in code.
 *
 *   {{name}}                   the value, escaped        {{{name}}}   the value, not escaped
 *   {{#name}} ... {{/name}}    a section (see below)
 *   {{^name}} ... {{/name}}    once if the section {{#name}} would not be rendered
 *   {{! comment }}
 *
 * A section is rendered once for each element of an array, with its members in scope; once for an
 * object, and for any other value but false, null and "".
 *
 * A name is looked up in the innermost object that has it. A section or comment tag that stands
 * alone on a line removes the whole line.
 *
 *     cJSON *values = cJSON_Parse("{\"title\": \"a < b\", \"rows\": [{\"n\": 1}]}");
 *     mustache_render(source, values, mustache_escape_html, stdout);
 *
 * Templates are part of the program: a malformed one, or a name without a value, is a BUG. Values
 * may come from untrusted input.
 */
#ifndef EVOTILE_BASE_MUSTACHE_H
#define EVOTILE_BASE_MUSTACHE_H

#include <cjson/cJSON.h>
#include <stdio.h>

typedef void mustache_escape(const char *text, FILE *out);

/* For HTML, including quoted attributes; for GitHub's Markdown including tables, behind the start
   of a line, where "#" and "-" are marks, too; and for plain text. Control characters become
   spaces. */
mustache_escape mustache_escape_html, mustache_escape_markdown, mustache_escape_text;

void mustache_render(const char *source, const cJSON *values, mustache_escape *escape, FILE *out);

#endif
