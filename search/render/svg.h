/*
 * svg: the SVG text of lines and labels, in the styles of a chart. Private to render/.
 *
 *     fprintf(out, "<path d=\"M%.1f,%.1fH%.1f", 10.0, 20.0, 300.0);
 *     svg_end_stroke(out, &(struct chart_style){.colour = CHART_MUTED, .width = 2});
 *     svg_begin_texts(out, CHART_END, CHART_TEXT, 0);
 *     svg_print_text(out, 10, 34, 0, "0 us");
 *     svg_end_texts(out);
 *
 * Coordinates and sizes are in pixels of the picture, from its upper left corner. Texts and names
 * are escaped.
 */
#ifndef EVOTILE_RENDER_SVG_H
#define EVOTILE_RENDER_SVG_H

#include "render/chart.h"

/* An attribute whose value is a colour of the style sheet. */
void svg_print_colour(FILE *out, const char *attribute, int colour);
/* The attribute data-name; nothing if NULL. */
void svg_print_name(FILE *out, const char *name);

/* Ends a path that is a line, behind its d="...: closes the attribute and the element. */
void svg_end_stroke(FILE *out, const struct chart_style *style);

/* A group of texts. A size of 0 is that of all text; a rotation is in degrees, counterclockwise. */
void svg_begin_texts(FILE *out, enum chart_anchor anchor, int colour, double size);
void svg_print_text(FILE *out, double x, double y, double rotation, const char *text);
void svg_end_texts(FILE *out);
/* A group of one text whose middle is at x. */
void svg_print_centred(FILE *out, double x, double y, double rotation, const char *text);

/* About as wide as a sans serif font prints it. */
double svg_text_width(const char *text, double size);

#endif
