#include "base/mustache.h"

#include "base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEPTH_MAX = 16, TAG_NAME_MAX = 64 };

struct rendering {
    const cJSON *scopes[DEPTH_MAX]; /* innermost last */
    int depth;
    mustache_escape *escape;
    FILE *out;
};

struct mustache_tag {
    char kind; /* '=' a value, '{' a raw one, '#', '^', '/', '!' */
    char name[TAG_NAME_MAX];
    const char *start, *end; /* include the whole line if the tag stands alone on it */
};

/* ---- escaping ---- */

static void print_escaped(const char *text, const char *special, const char *const *words,
                          FILE *out) {
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL)
            fputs(words[found - special], out);
        else
            fputc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
    }
}

void mustache_escape_html(const char *text, FILE *out) {
    static const char *const words[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    print_escaped(text, "&<>\"'", words, out);
}

/* Whether the mark at `at` could begin or end emphasis: one within a word could not. The first mark
   of a pair need not be escaped where the second is. */
static bool is_emphasis(const char *text, const char *at) {
    const char before = at > text ? at[-1] : ' ';
    if (*at == '~')
        return before != ' ';
    return *at == '_' && !(isalnum((unsigned char)before) && isalnum((unsigned char)at[1]));
}

void mustache_escape_markdown(const char *text, FILE *out) {
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr("&<\\|`*[]$", *at) != NULL || is_emphasis(text, at))
            fputc('\\', out);
        fputc((unsigned char)*at < ' ' || *at == 0x7f ? ' ' : *at, out);
    }
}

void mustache_escape_text(const char *text, FILE *out) {
    print_escaped(text, "", NULL, out);
}

/* ---- parsing tags ---- */

/* A tag other than a value removes its whole line when it stands alone on it (Mustache's
   "standalone tag"). */
static void include_standalone_line(const char *text, struct mustache_tag *tag) {
    const char *before = tag->start;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    const char *after = tag->end + strspn(tag->end, " \t");
    if ((before == text || before[-1] == '\n') && *after == '\n') {
        tag->start = before;
        tag->end = after + 1;
    }
}

/* Finds the next tag at or after `at`; returns false if there is none. */
static bool find_next_tag(const char *text, const char *at, struct mustache_tag *tag) {
    const char *open = strstr(at, "{{");
    if (open == NULL)
        return false;
    bool raw = open[2] == '{';
    const char *close = strstr(open, raw ? "}}}" : "}}");
    if (close == NULL)
        BUG("mustache: this tag does not end: %.40s", open);
    const char *inner = open + 2;
    tag->kind = strchr("{#^/!", *inner) != NULL ? *inner++ : '=';
    inner += strspn(inner, " ");
    size_t length = strcspn(inner, " }");
    if (tag->kind != '!' && (length == 0 || length >= TAG_NAME_MAX))
        BUG("mustache: this tag has no name: %.40s", open);
    snprintf(tag->name, sizeof tag->name, "%.*s", (int)length, inner);
    tag->start = open;
    tag->end = close + (raw ? 3 : 2);
    if (tag->kind != '=' && tag->kind != '{')
        include_standalone_line(text, tag);
    return true;
}

/* The closing tag of the section that `open` starts. */
static struct mustache_tag find_section_end(const char *text, const struct mustache_tag *open) {
    struct mustache_tag tag;
    const char *at = open->end;
    for (int depth = 1; find_next_tag(text, at, &tag); at = tag.end) {
        depth += tag.kind == '#' || tag.kind == '^' ? 1 : tag.kind == '/' ? -1 : 0;
        if (depth > 0)
            continue;
        if (strcmp(tag.name, open->name) != 0)
            BUG("mustache: section %s ends as %s", open->name, tag.name);
        return tag;
    }
    BUG("mustache: section %s does not end", open->name);
}

/* ---- rendering ---- */

static const cJSON *find_value(const struct rendering *rendering, const char *name) {
    for (int i = rendering->depth - 1; i >= 0; i--) {
        const cJSON *found = cJSON_GetObjectItemCaseSensitive(rendering->scopes[i], name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static bool is_truthy(const cJSON *value) {
    if (value == NULL || cJSON_IsFalse(value) || cJSON_IsNull(value))
        return false;
    if (cJSON_IsString(value))
        return *value->valuestring != '\0';
    return !cJSON_IsArray(value) || cJSON_GetArraySize(value) > 0;
}

static void print_value(const struct rendering *rendering, const struct mustache_tag *tag) {
    const cJSON *value = find_value(rendering, tag->name);
    char number[32];
    if (!cJSON_IsString(value) && !cJSON_IsNumber(value))
        BUG("mustache: there is no value for %s", tag->name);
    const char *text = value->valuestring;
    if (cJSON_IsNumber(value)) {
        snprintf(number, sizeof number, "%.15g", value->valuedouble);
        text = number;
    }
    if (tag->kind == '{')
        fputs(text, rendering->out);
    else
        rendering->escape(text, rendering->out);
}

static void render_range(struct rendering *rendering, const char *text, const char *from,
                         const char *to);

static void render_section(struct rendering *rendering, const char *text,
                           const struct mustache_tag *open, const struct mustache_tag *close) {
    const cJSON *value = find_value(rendering, open->name);
    if ((open->kind == '#') != is_truthy(value))
        return;
    if (open->kind == '^' || (!cJSON_IsArray(value) && !cJSON_IsObject(value))) {
        render_range(rendering, text, open->end, close->start);
        return;
    }
    if (rendering->depth == DEPTH_MAX)
        BUG("mustache: sections are nested too deep");
    rendering->depth++;
    const cJSON *element = cJSON_IsArray(value) ? value->child : value;
    for (; element != NULL; element = cJSON_IsArray(value) ? element->next : NULL) {
        rendering->scopes[rendering->depth - 1] = element;
        render_range(rendering, text, open->end, close->start);
    }
    rendering->depth--;
}

static void render_range(struct rendering *rendering, const char *text, const char *from,
                         const char *to) {
    struct mustache_tag tag;
    while (find_next_tag(text, from, &tag) && tag.start < to) {
        fwrite(from, 1, (size_t)(tag.start - from), rendering->out);
        from = tag.end;
        if (tag.kind == '=' || tag.kind == '{') {
            print_value(rendering, &tag);
        } else if (tag.kind == '/') {
            BUG("mustache: section %s ends but does not start", tag.name);
        } else if (tag.kind != '!') {
            struct mustache_tag close = find_section_end(text, &tag);
            render_section(rendering, text, &tag, &close);
            from = close.end;
        }
    }
    fwrite(from, 1, (size_t)(to - from), rendering->out);
}

void mustache_render(const char *source, const cJSON *values, mustache_escape *escape, FILE *out) {
    struct rendering rendering = {.scopes = {values}, .depth = 1, .escape = escape, .out = out};
    render_range(&rendering, source, source, source + strlen(source));
}
