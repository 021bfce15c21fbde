/* A change in a page: its lines in colour, or between the fences of Markdown. What it holds is a
   proposer's text, which must end neither. */
#include <string.h>

#include "base/memory.h"
#include "base/mustache.h"
#include "report/page_internal.h"
#include "solutions/diff.h"

enum { LINE_BYTES = 300 };

static char *colour_lines(const char *diff) {
    static const char *const classes[] = {[DIFF_FILE] = "file",
                                          [DIFF_HUNK] = "hunk",
                                          [DIFF_ADDED] = "added",
                                          [DIFF_REMOVED] = "removed"};
    struct diff_reader reader = {.at = diff};
    struct diff_line line;
    char *html = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&html, &size);
    while (diff_next(&reader, &line)) {
        char *text = xstrndup(line.text, line.length);
        if (classes[line.kind] != NULL)
            fprintf(out, "<span class=\"%s\">", classes[line.kind]);
        mustache_escape_html(text, out);
        fputs(classes[line.kind] != NULL ? "</span>\n" : "\n", out);
        free(text);
    }
    fclose(out);
    return html;
}

/* Longer than any row of backticks in the text, so that none of them ends the block. */
static void add_fence(cJSON *to, const char *diff) {
    size_t longest = 2;
    for (const char *at = diff; *at != '\0'; at += strcspn(at, "`")) {
        const size_t length = strspn(at, "`");
        longest = length > longest ? length : longest;
        at += length;
    }
    char *fence = xstrndup("", 0);
    fence = xrealloc(fence, longest + 2);
    memset(fence, '`', longest + 1);
    fence[longest + 1] = '\0';
    add_text(to, "fence", fence);
    free(fence);
}

void add_diff(const struct page *page, cJSON *to, const char *diff, int lines) {
    int left_out = 0;
    char *shown = diff_shortened(diff != NULL ? diff : "", lines, LINE_BYTES, &left_out);
    char *html = page->format == PAGE_HTML ? colour_lines(shown) : NULL;
    add_text(to, "diff", html != NULL ? html : shown);
    add_fence(to, shown);
    if (left_out > 0)
        add_format(to, "diff_note",
                   "The first %d lines; %d more are in `evotile summary RUN --lineage --json`.",
                   lines, left_out);
    else
        add_text(to, "diff_note", "");
    free(html);
    free(shown);
}
