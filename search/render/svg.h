/*
 * svg: gnuplot's SVG, made fit for a page that it stands in: without a document's head, the shapes
 * of points that every picture repeats, empty groups, fonts of its own; and in the page's colours.
 *
 *     char *picture = svg_inline(text_of_the_file, "best so far");     // the caller frees it
 *
 * A colour of our scripts is SVG_COLOUR with a number: '#010003' becomes var(--c3), which a page
 * gives one value in the light and another in the dark. Black becomes the colour of text. The page
 * has the shape of a round point, id gpPt6.
 */
#ifndef EVOTILE_RENDER_SVG_H
#define EVOTILE_RENDER_SVG_H

/* For printf, with a number from 0 to 255. */
#define SVG_COLOUR "'#0100%02x'"

char *svg_inline(const char *svg, const char *label);

#endif
