/* coarsen: prints the body of a kernel for several elements a thread. */
#include "proposers/operators/coarsen.h"

#include "base/memory.h"
#include "proposers/cuda/assignments.h"

#include <stdlib.h>

struct indexing {
    const struct coarsening *coarsening;
    const char *element;
};

static bool rename_dependent(void *context, int *t, struct strbuf *out) {
    const struct indexing *indexing = context;
    if (!dependence_is(&indexing->coarsening->dependence, *t))
        return false;
    char *name = span_text(indexing->coarsening->tokens, (struct span){*t, *t + 1});
    strbuf_print(out, "%s[%s]", name, indexing->element);
    free(name);
    return true;
}

static char *print_for(const struct coarsening *coarsening, struct span span, const char *element) {
    struct indexing indexing = {coarsening, element};
    return span_renamed(coarsening->tokens, span, rename_dependent, &indexing);
}

static void print_plain(struct coarsening *coarsening, struct span span) {
    char *text = span_text(coarsening->tokens, span);
    strbuf_print(&coarsening->out, "    %s\n", text);
    free(text);
}

static void print_loop(struct coarsening *coarsening) {
    strbuf_print(&coarsening->out, "#pragma unroll\n    for (int %s = 0; %s < %s; ++%s)\n",
                 coarsening->each, coarsening->each, coarsening->gene, coarsening->each);
}

/* A statement for each element; one that stores, only for elements within the guard. */
static void print_each(struct coarsening *coarsening, struct span statement, bool stores) {
    char *text = print_for(coarsening, statement, coarsening->each);
    if (mentions_identifier(text, "__syncthreads")) /* as often as before, for all threads alike */
        coarsening->failed = true;
    print_loop(coarsening);
    if (stores)
        strbuf_print(&coarsening->out, "        if (%s[%s])\n    ", coarsening->live,
                     coarsening->each);
    strbuf_print(&coarsening->out, "        %s\n", text);
    free(text);
}

/* TYPE NAME[GENE]...; and a loop that sets each element. */
static void print_declaration(struct coarsening *coarsening, struct span statement,
                              const struct declaration *declared) {
    const struct token_list *tokens = coarsening->tokens;
    bool automatic = token_equals(tokens, declared->type.first, "auto");
    struct strbuf type = {0};
    int last_star = -1;
    for (int t = statement.first; t < declared->name; t++)
        last_star = token_equals(tokens, t, "*") ? t : last_star;
    for (int t = statement.first; t < declared->name; t++) {
        bool is_own_const = t > last_star && (token_equals(tokens, t, "const") ||
                                              token_equals(tokens, t, "constexpr") ||
                                              token_equals(tokens, t, "__restrict__"));
        char *word = span_text(tokens, (struct span){t, t + 1});
        if (!is_own_const)
            strbuf_print(&type, "%s ", word);
        free(word);
    }
    bool has_init = declared->init.first < declared->init.last;
    if (automatic) {
        bool call = has_init && token_equals(tokens, declared->init.last - 1, ")");
        char *first = has_init ? print_for(coarsening, declared->init, "0") : xstrdup("");
        coarsening->failed = coarsening->failed || !call || last_star >= 0;
        type.used = 0;
        strbuf_print(&type, "decltype(%s) ", first);
        free(first);
    }
    int behind = has_init ? declared->init.first - 1 : statement.last - 1;
    char *name = span_text(tokens, (struct span){declared->name, declared->name + 1});
    char *extents = span_text(tokens, (struct span){declared->name + 1, behind});
    strbuf_print(&coarsening->out, "    %s%s[%s]%s;\n", type.bytes, name, coarsening->gene,
                 extents);
    if (has_init) {
        char *init = print_for(coarsening, declared->init, coarsening->each);
        coarsening->failed =
            coarsening->failed || declared->is_array || declared->init.last != statement.last - 1;
        print_loop(coarsening);
        strbuf_print(&coarsening->out, "        %s[%s] = %s;\n", name, coarsening->each, init);
        free(init);
    } else if (!declared->is_array) {
        coarsening->failed = coarsening->failed || behind != declared->name + 1;
    }
    strbuf_release(&type);
    free(name);
    free(extents);
}

/* The index: blockIdx.x becomes (blockIdx.x * GENE + each). */
static void print_index(struct coarsening *coarsening, const struct declaration *declared) {
    const struct token_list *tokens = coarsening->tokens;
    int axis = coarsening->axis;
    char *name = span_text(tokens, (struct span){declared->name, declared->name + 1});
    char *type = span_text(tokens, declared->type);
    char *before = span_text(tokens, (struct span){declared->init.first, axis - 2});
    char *after = span_text(tokens, (struct span){axis + 1, declared->init.last});
    char *letter = span_text(tokens, (struct span){axis, axis + 1});
    strbuf_print(&coarsening->out, "    %s %s[%s];\n", type, name, coarsening->gene);
    print_loop(coarsening);
    strbuf_print(&coarsening->out, "        %s[%s] = %s%s(blockIdx.%s * %s + %s) %s;\n", name,
                 coarsening->each, before, *before != '\0' ? " " : "", letter, coarsening->gene,
                 coarsening->each, after);
    free(name);
    free(type);
    free(before);
    free(after);
    free(letter);
}

/* if (A || B) return; where A depends and B does not: B still returns, A says which elements live.
 */
static void print_guard(struct coarsening *coarsening, int open) {
    const struct token_list *tokens = coarsening->tokens;
    int close = token_partner(tokens, open);
    struct strbuf shared = {0}, own = {0};
    char *index = span_text(tokens, (struct span){coarsening->index, coarsening->index + 1});
    for (int t = open + 1; t < close;) {
        int end = t;
        while (end < close && !token_equals(tokens, end, "||"))
            end = token_partner(tokens, end) > end ? token_partner(tokens, end) + 1 : end + 1;
        struct strbuf *list = coarsen_depends(coarsening, (struct span){t, end}) ? &own : &shared;
        char *operand = print_for(coarsening, (struct span){t, end}, coarsening->each);
        strbuf_print(list, "%s%s", list->used > 0 ? " || " : "", operand);
        free(operand);
        t = end + 1;
    }
    if (shared.used > 0)
        strbuf_print(&coarsening->out, "    if (%s)\n        return;\n", shared.bytes);
    strbuf_print(&coarsening->out, "    bool %s[%s];\n#pragma unroll\n", coarsening->live,
                 coarsening->gene);
    strbuf_print(&coarsening->out, "    for (int %s = 0; %s < %s; ++%s) {\n", coarsening->each,
                 coarsening->each, coarsening->gene, coarsening->each);
    strbuf_print(&coarsening->out, "        %s[%s] = !(%s);\n", coarsening->live, coarsening->each,
                 own.used > 0 ? own.bytes : "false");
    strbuf_print(&coarsening->out,
                 "        %s[%s] = %s[%s] ? %s[%s] : 0; // loads stay within bounds\n    }\n",
                 index, coarsening->each, coarsening->live, coarsening->each, index,
                 coarsening->each);
    free(index);
    strbuf_release(&shared);
    strbuf_release(&own);
}

static void print_statement(struct coarsening *coarsening, struct span statement);

void coarsen_print(struct coarsening *coarsening, struct span inside) {
    for (int t = inside.first; t < inside.last && !coarsening->failed;) {
        int end = statement_end(coarsening->tokens, t);
        if (end < 0 || end > inside.last) {
            coarsening->failed = true;
            return;
        }
        print_statement(coarsening, (struct span){t, end});
        t = end;
    }
}

/* The statement below a loop or a condition, between braces. */
static void print_inner(struct coarsening *coarsening, struct span statement) {
    bool braces = token_equals(coarsening->tokens, statement.first, "{");
    strbuf_print(&coarsening->out, "    {\n");
    coarsen_print(coarsening, (struct span){statement.first + braces, statement.last - braces});
    strbuf_print(&coarsening->out, "    }\n");
}

static void print_if(struct coarsening *coarsening, struct span statement) {
    const struct token_list *tokens = coarsening->tokens;
    int close = token_partner(tokens, statement.first + 1);
    int end = close > 0 ? statement_end(tokens, close + 1) : -1;
    if (end < 0 || !token_equals(tokens, statement.first + 1, "(")) {
        coarsening->failed = true;
    } else if (coarsen_depends(coarsening, (struct span){statement.first + 2, close})) {
        print_each(coarsening, statement, span_stores(tokens, coarsening->body, statement));
    } else {
        print_plain(coarsening, (struct span){statement.first, close + 1});
        print_inner(coarsening, (struct span){close + 1, end});
        if (end < statement.last) {
            strbuf_print(&coarsening->out, "    else\n");
            print_inner(coarsening, (struct span){end + 1, statement.last});
        }
    }
}

static void print_statement(struct coarsening *coarsening, struct span statement) {
    const struct token_list *tokens = coarsening->tokens;
    struct loop loop;
    struct declaration declared;
    while (token_kind(tokens, statement.first) == TOKEN_DIRECTIVE) {
        print_plain(coarsening, (struct span){statement.first, statement.first + 1});
        statement.first++;
    }
    if (statement.first == coarsening->guard) {
        print_guard(coarsening, statement.first + 1);
        return;
    }
    if (!coarsen_depends(coarsening, statement)) {
        print_plain(coarsening, statement);
        return;
    }
    if (token_equals(tokens, statement.first, "{")) {
        print_inner(coarsening, statement);
        return;
    }
    if (token_equals(tokens, statement.first, "if")) {
        print_if(coarsening, statement);
        return;
    }
    if (token_equals(tokens, statement.first, "for")) {
        if (!loop_read(tokens, statement.first, &loop) || loop_jumps(tokens, &loop) ||
            coarsen_depends(coarsening, loop.header)) {
            coarsening->failed = true;
            return;
        }
        print_plain(coarsening, (struct span){loop.first, loop.body.first});
        print_inner(coarsening, loop.body);
        return;
    }
    if (token_equals(tokens, statement.first, "while") ||
        token_equals(tokens, statement.first, "do") ||
        token_equals(tokens, statement.first, "switch")) {
        coarsening->failed = true;
        return;
    }
    for (int t = statement.first + 1; t < statement.last && !assignment_at(tokens, t - 1); t++) {
        if (!declaration_read(tokens, t, &declared) || declared.type.first < statement.first)
            continue;
        if (t == coarsening->index)
            print_index(coarsening, &declared);
        else if (dependence_is(&coarsening->dependence, t))
            print_declaration(coarsening, statement, &declared);
        else
            coarsening->failed = true;
        return;
    }
    print_each(coarsening, statement, span_stores(tokens, coarsening->body, statement));
}
