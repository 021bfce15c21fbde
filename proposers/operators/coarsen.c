/* coarsen: each thread computes several elements along an axis of the grid. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };

/*
 * A block does the work of EACH blocks of before: what depends on its index becomes an array, and
 * each statement that depends on it runs for every element before the next statement does. What
 * does not depend on it runs once and is shared. Elements outside of the guard have the index 0 and
 * store nothing.
 */
struct coarsening {
    struct mutation *mutation;
    const struct token_list *tokens;
    struct span body;
    int axis;               /* the token behind "blockIdx." */
    int index;              /* the variable that is made of it */
    int index_first;        /* where its declaration starts */
    int guard;              /* the statement `if (...) return;` */
    char *names[NAMES_MAX]; /* the variables that depend on the index */
    int count;
    const char *gene, *each, *live;
    struct strbuf out;
    bool failed;
};

static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", NULL};

static bool is_assignment(const struct token_list *tokens, int t) {
    for (int a = 0; assignments[a] != NULL; a++)
        if (token_equals(tokens, t, assignments[a]))
            return true;
    return false;
}

/* ---- what depends on the index ---- */

static bool is_dependent(const struct coarsening *coarsening, int t) {
    if (token_kind(coarsening->tokens, t) != TOKEN_NAME ||
        token_equals(coarsening->tokens, t - 1, ".") ||
        token_equals(coarsening->tokens, t - 1, "->"))
        return false;
    for (int n = 0; n < coarsening->count; n++)
        if (token_equals(coarsening->tokens, t, coarsening->names[n]))
            return true;
    return false;
}

static bool depends(const struct coarsening *coarsening, struct span span) {
    for (int t = span.first; t < span.last; t++)
        if (is_dependent(coarsening, t))
            return true;
    return false;
}

static bool add_name(struct coarsening *coarsening, int t) {
    if (is_dependent(coarsening, t))
        return false;
    if (coarsening->count == NAMES_MAX) {
        coarsening->failed = true;
        return false;
    }
    coarsening->names[coarsening->count++] = span_text(coarsening->tokens, (struct span){t, t + 1});
    return true;
}

/* Behind the expression that starts at t. */
static int expression_end(const struct token_list *tokens, int t) {
    while (token_kind(tokens, t) != TOKEN_END && !token_equals(tokens, t, ";") &&
           !token_equals(tokens, t, ",") && !token_equals(tokens, t, ")") &&
           !token_equals(tokens, t, "}"))
        t = token_partner(tokens, t) > t ? token_partner(tokens, t) + 1 : t + 1;
    return t;
}

/* The name that an assignment at t writes; -1 for one that is not simple. */
static int assigned_name(const struct token_list *tokens, int t) {
    int at = t - 1;
    while (token_equals(tokens, at, "]") && token_partner(tokens, at) >= 0)
        at = token_partner(tokens, at) - 1;
    while (token_equals(tokens, at - 1, ".")) { /* pack.at[i] writes the pack */
        at -= 2;
        while (token_equals(tokens, at, "]") && token_partner(tokens, at) >= 0)
            at = token_partner(tokens, at) - 1;
    }
    return token_kind(tokens, at) == TOKEN_NAME ? at : -1;
}

/* Whether a name is a variable of the body, not memory behind a pointer. */
static bool is_variable(const struct coarsening *coarsening, int name, int assignment) {
    struct declaration declared;
    char *text = span_text(coarsening->tokens, (struct span){name, name + 1});
    bool found = declaration_find(coarsening->tokens, text, name + 1, &declared) &&
                 declared.name >= coarsening->body.first;
    free(text);
    return found && !(declared.is_pointer && assignment > name + 1);
}

/* The condition of the innermost `if` before a statement without braces, or around it, is looked at
   by is_conditional: a variable that is assigned under a dependent condition depends, too. */
static bool is_conditional(const struct coarsening *coarsening, int t) {
    for (int at = coarsening->body.first; at < t; at++) {
        int close = token_partner(coarsening->tokens, at + 1);
        if (!token_equals(coarsening->tokens, at, "if") || close < 0)
            continue;
        int end = statement_end(coarsening->tokens, at);
        if (end > t && depends(coarsening, (struct span){at + 2, close}))
            return true;
    }
    return false;
}

static void find_dependent(struct coarsening *coarsening) {
    const struct token_list *tokens = coarsening->tokens;
    bool grown = true;
    add_name(coarsening, coarsening->index);
    while (grown && !coarsening->failed) {
        grown = false;
        for (int t = coarsening->body.first; t < coarsening->body.last; t++) {
            int name = is_assignment(tokens, t) ? assigned_name(tokens, t) : -1;
            if (name < 0 || !is_variable(coarsening, name, t))
                continue;
            if (depends(coarsening, (struct span){name + 1, expression_end(tokens, t + 1)}) ||
                is_conditional(coarsening, t))
                grown = add_name(coarsening, name) || grown;
        }
    }
}

/* ---- printing ---- */

struct indexing {
    const struct coarsening *coarsening;
    const char *element;
};

static bool rename_dependent(void *context, int *t, struct strbuf *out) {
    const struct indexing *indexing = context;
    if (!is_dependent(indexing->coarsening, *t))
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
    print_loop(coarsening);
    if (stores)
        strbuf_print(&coarsening->out, "        if (%s[%s])\n    ", coarsening->live,
                     coarsening->each);
    strbuf_print(&coarsening->out, "        %s\n", text);
    free(text);
}

/* Whether a statement writes memory, or may: a call that is a statement. */
static bool has_store(const struct coarsening *coarsening, struct span statement) {
    const struct token_list *tokens = coarsening->tokens;
    for (int t = statement.first; t < statement.last; t++) {
        int name = is_assignment(tokens, t) ? assigned_name(tokens, t) : -1;
        if (is_assignment(tokens, t) && (name < 0 || !is_variable(coarsening, name, t)))
            return true;
        bool starts = t == statement.first || token_equals(tokens, t - 1, ";") ||
                      token_equals(tokens, t - 1, "{") || token_equals(tokens, t - 1, ")");
        if (starts && token_kind(tokens, t) == TOKEN_NAME && token_equals(tokens, t + 1, "(") &&
            !token_equals(tokens, t, "if"))
            return true;
    }
    return false;
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
    strbuf_print(&coarsening->out, "        %s[%s] = %s (blockIdx.%s * %s + %s) %s;\n", name,
                 coarsening->each, before, letter, coarsening->gene, coarsening->each, after);
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
        struct strbuf *list = depends(coarsening, (struct span){t, end}) ? &own : &shared;
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

static void print_block(struct coarsening *coarsening, struct span inside) {
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
    print_block(coarsening, (struct span){statement.first + braces, statement.last - braces});
    strbuf_print(&coarsening->out, "    }\n");
}

static void print_if(struct coarsening *coarsening, struct span statement) {
    const struct token_list *tokens = coarsening->tokens;
    int close = token_partner(tokens, statement.first + 1);
    int end = close > 0 ? statement_end(tokens, close + 1) : -1;
    if (end < 0 || !token_equals(tokens, statement.first + 1, "(")) {
        coarsening->failed = true;
    } else if (depends(coarsening, (struct span){statement.first + 2, close})) {
        print_each(coarsening, statement, has_store(coarsening, statement));
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
    if (!depends(coarsening, statement)) {
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
            depends(coarsening, loop.header)) {
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
    for (int t = statement.first + 1; t < statement.last && !is_assignment(tokens, t - 1); t++) {
        if (!declaration_read(tokens, t, &declared) || declared.type.first < statement.first)
            continue;
        if (t == coarsening->index)
            print_index(coarsening, &declared);
        else if (is_dependent(coarsening, t))
            print_declaration(coarsening, statement, &declared);
        else
            coarsening->failed = true;
        return;
    }
    print_each(coarsening, statement, has_store(coarsening, statement));
}

/* ---- where it applies ---- */

static bool has_obstacle(const struct token_list *tokens, struct span body) {
    static const char *const obstacles[] = {"__syncthreads", "__shared__", "gridDim", "goto",
                                            "__syncwarp",    "asm",        "[&]",     NULL};
    int returns = 0;
    for (int t = body.first; t < body.last; t++) {
        for (int o = 0; obstacles[o] != NULL; o++)
            if (token_equals(tokens, t, obstacles[o]))
                return true;
        const char *word = tokens->text + tokens->at[t].start;
        if (token_kind(tokens, t) == TOKEN_NAME &&
            (strncmp(word, "atomic", 6) == 0 || strncmp(word, "__shfl", 6) == 0 ||
             strncmp(word, "__ballot", 8) == 0))
            return true;
        returns += token_equals(tokens, t, "return");
    }
    return returns != 1; /* the guard's */
}

/* blockIdx.AXIS, once in the body. */
static int find_axis(const struct token_list *tokens, struct span body, const char *axis) {
    int found = -1;
    for (int t = body.first; t < body.last; t++) {
        if (!token_equals(tokens, t, "blockIdx"))
            continue;
        if (!token_equals(tokens, t + 1, "."))
            return -1;
        if (token_equals(tokens, t + 2, axis)) {
            if (found >= 0)
                return -1;
            found = t + 2;
        }
    }
    return found;
}

/* Whether a statement is `if (...) return;`. */
static bool is_guard(const struct token_list *tokens, int t) {
    int close = token_partner(tokens, t + 1);
    if (!token_equals(tokens, t, "if") || close < 0)
        return false;
    int at = close + 1 + token_equals(tokens, close + 1, "{");
    return token_equals(tokens, at, "return") && token_equals(tokens, at + 1, ";") &&
           !token_equals(tokens, statement_end(tokens, t), "else");
}

/* Finds the declaration that an axis makes and its guard; only what does not depend on the index
   may stand between them. */
static bool find_index(struct coarsening *coarsening) {
    const struct token_list *tokens = coarsening->tokens;
    struct declaration declared;
    int first = body_statement(tokens, coarsening->body, coarsening->axis);
    coarsening->index = -1;
    for (int t = first; t >= 0 && t < coarsening->axis; t++)
        if (declaration_read(tokens, t, &declared) && !declared.is_pointer && !declared.is_array &&
            declared.init.first < coarsening->axis && coarsening->axis < declared.init.last &&
            token_equals(tokens, declared.init.last, ";")) {
            coarsening->index = t;
            break;
        }
    if (coarsening->index < 0)
        return false;
    coarsening->index_first = first;
    coarsening->guard = -1;
    find_dependent(coarsening);
    for (int t = statement_end(tokens, first); t >= 0 && t < coarsening->body.last;
         t = statement_end(tokens, t)) {
        int end = statement_end(tokens, t);
        if (end < 0)
            return false;
        if (!depends(coarsening, (struct span){t, end}))
            continue;
        if (is_guard(tokens, t))
            coarsening->guard = t;
        break;
    }
    return coarsening->guard >= 0;
}

static bool coarsen_axis(struct mutation *mutation, const char *axis, int number) {
    struct coarsening coarsening = {
        .mutation = mutation, .tokens = &mutation->tokens, .body = mutation->kernel.body};
    struct json launch, element;
    coarsening.axis = find_axis(coarsening.tokens, coarsening.body, axis);
    bool found = coarsening.axis >= 0 && mutation_launch(mutation, &mutation->kernel, &launch) &&
                 find_index(&coarsening) && !coarsening.failed;
    char *grid = found ? mutation_extent(&launch, "grid", number, &element) : NULL;
    if (grid != NULL) {
        char base[16];
        snprintf(base, sizeof base, "EACH_%c", "XYZ"[number]);
        char *gene =
            mutation_gene(mutation, base, "elements of a thread along an axis", "1, 2, 4, 8", "4");
        char *each = mutation_name(mutation, "each"), *live = mutation_name(mutation, "live");
        struct strbuf extent = {0};
        coarsening.gene = gene;
        coarsening.each = each;
        coarsening.live = live;
        print_block(&coarsening, coarsening.body);
        strbuf_print(&extent, "\"ceil_div(%s, %s)\"", grid, gene);
        if (!coarsening.failed) {
            mutation_replace(mutation, coarsening.body, coarsening.out.bytes);
            mutation_set_value(mutation, &element, extent.bytes);
            snprintf(mutation->place, sizeof mutation->place, "axis %s", axis);
        }
        strbuf_release(&extent);
        free(gene);
        free(each);
        free(live);
    }
    found = grid != NULL && !coarsening.failed;
    if (!found)
        mutation_reset(mutation);
    free(grid);
    for (int n = 0; n < coarsening.count; n++)
        free(coarsening.names[n]);
    strbuf_release(&coarsening.out);
    return found;
}

/* Sites are the axes where it applies. */
bool apply_coarsen(struct mutation *mutation, int site) {
    static const char *const axes[] = {"x", "y", "z"};
    if (has_obstacle(&mutation->tokens, mutation->kernel.body))
        return false;
    for (int axis = 0; axis < 3; axis++) {
        if (!coarsen_axis(mutation, axes[axis], axis))
            continue;
        if (site-- == 0)
            return true;
        mutation_reset(mutation);
    }
    return false;
}
