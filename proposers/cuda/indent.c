/* indent: the indentation of changed lines. */
#include "proposers/cuda/indent.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "proposers/cuda/tokens.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 4 };

struct layout {
    const struct token_list *tokens;
    int next;       /* the first token that is not on an earlier line */
    int depth;      /* open braces before this line */
    int brackets;   /* open ( and [ */
    int above;      /* the indentation of the line above */
    bool continued; /* that line continued a statement */
};

/* The columns of a line whose first token is `next`. */
static int find_columns(const struct layout *layout) {
    const struct token_list *tokens = layout->tokens;
    int t = layout->next;
    bool ended = t == 0 || token_kind(tokens, t - 1) == TOKEN_DIRECTIVE ||
                 token_equals(tokens, t - 1, ";") || token_equals(tokens, t - 1, "{") ||
                 token_equals(tokens, t - 1, "}") || token_equals(tokens, t - 1, ":");
    if (token_kind(tokens, t) == TOKEN_DIRECTIVE)
        return 0;
    if (token_equals(tokens, t, "}"))
        return STEP * (layout->depth - 1);
    if (ended)
        return STEP * layout->depth;
    if (token_equals(tokens, t, "{"))
        return layout->above;
    bool headed = token_equals(tokens, t - 1, ")") || token_equals(tokens, t - 1, "else");
    return layout->continued && !headed ? layout->above : layout->above + STEP;
}

/* Goes over the tokens of a line that ends at byte `end`. */
static void pass_line(struct layout *layout, size_t end) {
    const struct token_list *tokens = layout->tokens;
    for (; layout->next < tokens->count && tokens->at[layout->next].start < end; layout->next++) {
        layout->depth += token_equals(tokens, layout->next, "{");
        layout->depth -= token_equals(tokens, layout->next, "}");
        layout->brackets += token_equals(tokens, layout->next, "(");
        layout->brackets += token_equals(tokens, layout->next, "[");
        layout->brackets -= token_equals(tokens, layout->next, ")");
        layout->brackets -= token_equals(tokens, layout->next, "]");
    }
}

static size_t common_start(const char *before, const char *after) {
    size_t at = 0, line = 0;
    for (; before[at] != '\0' && before[at] == after[at]; at++)
        line = before[at] == '\n' ? at + 1 : line;
    return line;
}

static size_t common_end(const char *before, const char *after, size_t start) {
    size_t b = strlen(before), a = strlen(after);
    while (b > start && a > start && before[b - 1] == after[a - 1]) {
        b--;
        a--;
    }
    return a;
}

char *indent_changes(const char *before, const char *after) {
    size_t start = common_start(before, after), stop = common_end(before, after, start);
    struct token_list tokens;
    struct strbuf out = {0};
    struct layout layout = {.tokens = &tokens};
    bool empty = false;
    token_list_read(&tokens, after);
    strbuf_add(&out, "", 0);
    for (size_t at = 0; after[at] != '\0';) {
        size_t end = at + strcspn(after + at, "\n"), blanks = strspn(after + at, " \t");
        bool code = layout.next < tokens.count && tokens.at[layout.next].start == at + blanks;
        bool changed = at >= start && at < stop && layout.brackets <= 0;
        int columns = (int)blanks;
        if (code && changed)
            columns = find_columns(&layout);
        columns = columns > 0 ? columns : 0;
        bool blank = at + blanks == end;
        if (code && changed) {
            strbuf_print(&out, "%*s", columns, "");
            strbuf_add(&out, after + at + blanks, end - at - blanks);
        } else if (!(blank && empty && changed)) {
            strbuf_add(&out, after + at, end - at);
        }
        if (after[end] == '\n' && !(blank && empty && changed))
            strbuf_add(&out, "\n", 1);
        if (code && token_kind(&tokens, layout.next) != TOKEN_DIRECTIVE) {
            layout.continued = columns > STEP * layout.depth;
            layout.above = columns;
        }
        empty = blank;
        pass_line(&layout, end);
        at = end + (after[end] == '\n');
    }
    token_list_release(&tokens);
    return out.bytes;
}
