#include "report/svg.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/stencil.h"
#include "base/text.h"

/* What is left out, from a beginning to an end; and what stands for what. */
static const struct {
    const char *from, *to, *instead;
} rules[] = {
    {"<?xml", "?>", ""},
    {"<svg", ">", ""}, /* its head is written anew */
    {"<title>", "</title>", ""},
    {"<desc>", "</desc>", ""},
    {"<defs>", "</defs>", ""},
    {" id=\"gnuplot", "\"", ""},
    {" font-family=\"", "\"", ""},
    {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "", ""},
    {" class=\"gridline\"", "", ""},
    {"'black'", "", "'currentColor'"},
    {"\"black\"", "", "\"currentColor\""},
    {"\"gray\"", "", "\"var(--c0)\""},
    {"'white'", "", "'var(--card)'"},
    {"'gray'", "", "'var(--c0)'"},
    {"<tspan >", "", "<tspan>"},
};

/* Applies a rule at `at`: how many bytes it takes, 0 where none does. */
static size_t apply_rule(const char *at, struct text *out) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t length = strlen(rules[i].from);
        if (strncmp(at, rules[i].from, length) != 0)
            continue;
        const char *end = strstr(at + length, rules[i].to);
        if (end == NULL)
            continue;
        text_add(out, rules[i].instead, strlen(rules[i].instead));
        return (size_t)(end - at) + strlen(rules[i].to);
    }
    return 0;
}

static size_t apply_colour(const char *at, struct text *out) {
    int red, green, blue, length = 0;
    if (strncmp(at, "rgb(", 4) != 0 ||
        sscanf(at, "rgb(%d,%d,%d)%n", &red, &green, &blue, &length) != 3 || length == 0)
        return 0;
    if (red == 1 && green == 0)
        text_print(out, "var(--c%d)", blue);
    else
        text_print(out, "rgb(%d,%d,%d)", red, green, blue);
    return (size_t)length;
}

/* Where a group that holds nothing ends; NULL where it holds something. */
static const char *empty_group(const char *at) {
    if (strncmp(at, "<g ", 3) != 0)
        return NULL;
    const char *inside = strchr(at, '>');
    if (inside == NULL)
        return NULL;
    inside += 1 + strspn(inside + 1, " \t\n");
    return strncmp(inside, "</g>", 4) == 0 ? inside + 4 : NULL;
}

static void size_of(const char *svg, int *width, int *height) {
    const char *box = strstr(svg, "viewBox=\"0 0 ");
    if (box == NULL || sscanf(box, "viewBox=\"0 0 %d %d", width, height) != 2)
        BUG("gnuplot's SVG has no size: %.80s", svg);
}

char *svg_inline(const char *svg, const char *label) {
    struct text out = {0};
    char *escaped = NULL;
    size_t size = 0;
    int width, height;
    FILE *stream = open_memstream(&escaped, &size);
    if (stream == NULL)
        BUG("out of memory");
    stencil_html(label, stream);
    fclose(stream);
    size_of(svg, &width, &height);
    text_print(&out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", width, height,
               escaped);
    free(escaped);
    for (const char *at = svg; *at != '\0';) {
        const char *behind = empty_group(at);
        size_t taken = behind != NULL ? (size_t)(behind - at) : apply_rule(at, &out);
        if (taken == 0)
            taken = apply_colour(at, &out);
        if (taken == 0) {
            /* One space or line break is as good as several. */
            bool blank = isspace((unsigned char)*at) != 0;
            if (!blank || !isspace((unsigned char)out.bytes[out.used - 1]))
                text_add(&out, blank && *at == '\t' ? " " : at, 1);
            taken = 1;
        }
        at += taken;
    }
    return out.bytes;
}
