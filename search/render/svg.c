#include "render/svg.h"

#include "base/mustache.h"

enum { TEXT_SIZE = 12 };

void svg_print_colour(FILE *out, const char *attribute, int colour) {
    if (colour == CHART_TEXT)
        fprintf(out, " %s=\"currentColor\"", attribute);
    else
        fprintf(out, " %s=\"var(--c%d)\"", attribute, colour);
}

void svg_print_name(FILE *out, const char *name) {
    if (name == NULL)
        return;
    fputs(" data-name=\"", out);
    mustache_escape_html(name, out);
    fputc('"', out);
}

void svg_end_stroke(FILE *out, const struct chart_style *style) {
    static const char *const dashes[] = {"", "6 4", "2 3", "9 3 2 3"};
    fprintf(out, "\" fill=\"none\" stroke-width=\"%.3g\"", style->width > 0 ? style->width : 1);
    svg_print_colour(out, "stroke", style->colour);
    if (style->dashes > 0)
        fprintf(out, " stroke-dasharray=\"%s\"", dashes[style->dashes]);
    if (style->opacity > 0)
        fprintf(out, " stroke-opacity=\"%.2f\"", style->opacity);
    svg_print_name(out, style->name);
    fputs("/>\n", out);
}

double svg_text_width(const char *text, double size) {
    int letters = 0;
    for (; *text != '\0'; text++)
        letters += (*text & 0xc0) != 0x80;
    return 0.65 * (size > 0 ? size : TEXT_SIZE) * letters;
}

void svg_begin_texts(FILE *out, enum chart_anchor anchor, int colour, double size) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out, "<g text-anchor=\"%s\"", anchors[anchor]);
    if (size > 0)
        fprintf(out, " font-size=\"%g\"", size);
    svg_print_colour(out, "fill", colour);
    fputs(">", out);
}

void svg_print_text(FILE *out, double x, double y, double rotation, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
    if (rotation != 0)
        fprintf(out, " transform=\"rotate(%g %.1f %.1f)\"", -rotation, x, y);
    fputc('>', out);
    mustache_escape_html(text, out);
    fputs("</text>", out);
}

void svg_end_texts(FILE *out) {
    fputs("</g>\n", out);
}

void svg_print_centred(FILE *out, double x, double y, double rotation, const char *text) {
    svg_begin_texts(out, CHART_MIDDLE, CHART_TEXT, 0);
    svg_print_text(out, x, y, rotation, text);
    svg_end_texts(out);
}
