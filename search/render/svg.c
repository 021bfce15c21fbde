#include "render/svg.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/mustache.h"
#include "base/strbuf.h"

enum { GROUPS_MAX = 64 };

/* What is left out, from a beginning to an end; and what stands for what. */
static const struct {
    const char *from, *to, *instead;
} rules[] = {
    {"<?xml", "?>", ""},
    {"<svg", ">", ""},                   /* its head is written anew */
    {"<rect x=\"0\" y=\"0\"", "/>", ""}, /* all of it, unfilled */
    {"<title>", "</title>", ""},
    {"<desc>", "</desc>", ""},
    {"<defs>", "</defs>", ""},
    {" font-family=\"", "\"", ""},
    {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "", ""},
    {" class=\"gridline\"", "", ""},
    {" fill=\"none\" color=\"black\" stroke=\"currentColor\"", "", ""}, /* as in page.css.in */
    {" fill=\"none\" color=\"gray\" stroke=\"currentColor\"", "", ""},
    {" stroke-width=\"1.00\"", "", ""},
    {" stroke=\"none\"", "", ""},
    {" font-size=\"12.00\"", "", ""},
    {"'black'", "", "'currentColor'"},
    {"\"black\"", "", "\"currentColor\""},
    {"\"gray\"", "", "\"var(--c0)\""},
    {"'gray'", "", "'var(--c0)'"},
};

/* Applies a rule at `at`: how many bytes it takes, 0 where none does. */
static size_t apply_rule(const char *at, struct strbuf *out) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t length = strlen(rules[i].from);
        if (strncmp(at, rules[i].from, length) != 0)
            continue;
        const char *end = strstr(at + length, rules[i].to);
        if (end == NULL)
            continue;
        strbuf_add(out, rules[i].instead, strlen(rules[i].instead));
        return (size_t)(end - at) + strlen(rules[i].to);
    }
    return 0;
}

static size_t apply_colour(const char *at, struct strbuf *out) {
    int red, green, blue, length = 0;
    if (strncmp(at, "rgb(", 4) != 0 ||
        sscanf(at, "rgb(%d,%d,%d)%n", &red, &green, &blue, &length) != 3 || length == 0)
        return 0;
    if (red == 1 && green == 0)
        strbuf_print(out, "var(--c%d)", blue);
    else
        strbuf_print(out, "rgb(%d,%d,%d)", red, green, blue);
    return (size_t)length;
}

static bool holds(const char *from, const char *to, const char *what) {
    const char *found = strstr(from, what);
    return found != NULL && found < to;
}

/* Where a line of one point ends, or a white disc beneath a point; NULL where there is neither. */
static const char *unseen(const char *at) {
    bool line = strncmp(at, "<path ", 6) == 0, disc = strncmp(at, "<use ", 5) == 0;
    const char *end = line || disc ? strstr(at, "/>") : NULL;
    if (end == NULL || (line && (holds(at, end, " L") || !holds(at, end, "d='M"))) ||
        (disc && !holds(at, end, "'white'")))
        return NULL;
    return end + 2;
}

/* Where a group that holds nothing ends; NULL where it holds something. */
static const char *empty_group(const char *at) {
    if (strncmp(at, "<g ", 3) != 0)
        return NULL;
    const char *inside = strchr(at, '>');
    if (inside == NULL)
        return NULL;
    inside += 1 + strspn(inside + 1, " \t\n");
    for (const char *behind; (behind = unseen(inside)) != NULL;)
        inside = behind + strspn(behind, " \t\n");
    return strncmp(inside, "</g>", 4) == 0 ? inside + 4 : NULL;
}

/* A second digit behind the point of a coordinate, which is finer than a screen. */
static bool is_too_fine(const char *svg, const char *at) {
    return at - svg >= 3 && isdigit((unsigned char)*at) && isdigit((unsigned char)at[-1]) &&
           at[-2] == '.' && isdigit((unsigned char)at[-3]) && !isdigit((unsigned char)at[1]);
}

static void size_of(const char *svg, int *width, int *height) {
    const char *box = strstr(svg, "viewBox=\"0 0 ");
    if (box == NULL || sscanf(box, "viewBox=\"0 0 %d %d", width, height) != 2)
        BUG("gnuplot's SVG has no size: %.80s", svg);
}

/* A group without anything of its own is left out, its end too. Whether each open one was. */
struct groups {
    int depth;
    bool left_out[GROUPS_MAX];
};

static const char *const group_heads[] = {
    "<g>", "<g >",
    "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
    "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">"};

static size_t apply_group(const char *at, struct groups *groups) {
    if (strncmp(at, "</g>", 4) == 0)
        return groups->depth > 0 && groups->left_out[--groups->depth] ? 4 : 0;
    if (strncmp(at, "<g", 2) != 0 || groups->depth == GROUPS_MAX)
        return 0;
    size_t taken = 0;
    if (strncmp(at, "<g id=\"gnuplot", 14) == 0) /* a plot's, which has no more than its name */
        taken = strcspn(at, ">") + 1;
    for (size_t i = 0; i < sizeof group_heads / sizeof *group_heads && taken == 0; i++)
        if (strncmp(at, group_heads[i], strlen(group_heads[i])) == 0)
            taken = strlen(group_heads[i]);
    groups->left_out[groups->depth++] = taken > 0;
    return taken;
}

char *svg_inline(const char *svg, const char *label) {
    struct strbuf out = {0};
    struct groups groups = {0};
    bool in_tag = false; /* what is between tags is text, and stays */
    char *escaped = NULL;
    size_t size = 0;
    int width, height;
    FILE *stream = open_memstream(&escaped, &size);
    if (stream == NULL)
        BUG("out of memory");
    mustache_escape_html(label, stream);
    fclose(stream);
    size_of(svg, &width, &height);
    strbuf_print(&out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", width, height,
                 escaped);
    free(escaped);
    for (const char *at = svg; *at != '\0';) {
        const char *behind = in_tag ? NULL : empty_group(at);
        behind = behind != NULL || in_tag ? behind : unseen(at);
        size_t taken = behind != NULL ? (size_t)(behind - at) : 0;
        if (taken == 0 && *at == '<')
            taken = apply_group(at, &groups);
        if (taken == 0 && (in_tag || *at == '<'))
            taken = apply_rule(at, &out);
        if (taken == 0 && in_tag)
            taken = apply_colour(at, &out);
        if (taken > 0) {
            at += taken;
            continue;
        }
        in_tag = *at == '<' || (in_tag && *at != '>');
        /* One space or line break is as good as several. */
        bool blank = isspace((unsigned char)*at) != 0;
        if (!(in_tag && is_too_fine(svg, at)) &&
            (!blank || !isspace((unsigned char)out.bytes[out.used - 1])))
            strbuf_add(&out, blank && *at == '\t' ? " " : at, 1);
        at++;
    }
    return out.bytes;
}
