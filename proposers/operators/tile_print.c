/* tile: prints the loop over tiles. */
#include "proposers/operators/tile.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct printing {
    struct mutation *mutation;
    const struct token_list *tokens;
    const struct tiling *tiling;
    /* new names: a tile's first k, a k in the tile, a part of it, how many k are in it */
    char *gene, *first, *in, *part, *count;
    char *variable, *type, *init, *end;
    char *arrays[TILES_MAX], *types[TILES_MAX], *live[GUARDS_MAX];
    struct strbuf out;
};

static char *word(const struct printing *printing, int token) {
    return span_text(printing->tokens, (struct span){token, token + 1});
}

/* An expression that may be an operand of any other. */
static char *bracketed(const struct token_list *tokens, struct span expression) {
    struct strbuf out = {0};
    char *text = span_text(tokens, expression);
    strbuf_print(&out, expression.last - expression.first > 1 ? "(%s)" : "%s", text);
    free(text);
    return out.bytes;
}

static char *name_after(const struct printing *printing, const char *part) {
    struct strbuf base = {0};
    strbuf_print(&base, "%s_%s", printing->variable, part);
    char *name = mutation_name(printing->mutation, base.bytes);
    strbuf_release(&base);
    return name;
}

/* A name is taken only by edits: those of one operator need numbers of their own. */
static char *numbered(const struct printing *printing, const char *base, int number) {
    struct strbuf name = {0};
    strbuf_print(&name, number > 0 ? "%s%d" : "%s", base, number + 1);
    char *free_name = mutation_name(printing->mutation, name.bytes);
    strbuf_release(&name);
    return free_name;
}

static void choose_tile_names(struct printing *printing, int number) {
    const struct tile *tiles = printing->tiling->tiles;
    struct strbuf array = {0}, type = {0};
    int before = 0;
    char *name = word(printing, tiles[number].read.first);
    for (int other = 0; other < number; other++)
        before += token_same(printing->tokens, tiles[other].read.first, tiles[number].read.first);
    strbuf_print(&array, "%s_tile", name);
    strbuf_print(&type, "%s_element", name);
    printing->arrays[number] = numbered(printing, array.bytes, before);
    printing->types[number] = numbered(printing, type.bytes, before);
    strbuf_release(&array);
    strbuf_release(&type);
    free(name);
}

static void choose_names(struct printing *printing) {
    const struct tiling *tiling = printing->tiling;
    const struct loop *loop = &tiling->loop;
    printing->variable = word(printing, loop->variable);
    printing->type = span_text(printing->tokens, loop->type);
    printing->init = span_text(printing->tokens, loop->init);
    printing->end = bracketed(printing->tokens, loop->end);
    printing->gene = mutation_gene(printing->mutation, "DEPTH", "terms of a tile in shared memory",
                                   "4, 8, 16, 32, 64", "16");
    printing->first = name_after(printing, "tile");
    printing->in = name_after(printing, "in");
    printing->part = name_after(printing, "part");
    printing->count = name_after(printing, "count");
    for (int i = 0; i < tiling->index_count; i++)
        printing->live[i] = numbered(printing, "live", i);
    for (int k = 0; k < tiling->count; k++)
        choose_tile_names(printing, k);
}

static void release_names(struct printing *printing) {
    char *const names[] = {printing->gene, printing->first, printing->in,
                           printing->part, printing->count, printing->variable,
                           printing->type, printing->init,  printing->end};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]);
    for (int i = 0; i < printing->tiling->index_count; i++)
        free(printing->live[i]);
    for (int k = 0; k < printing->tiling->count; k++) {
        free(printing->arrays[k]);
        free(printing->types[k]);
    }
    strbuf_release(&printing->out);
}

/* ---- a tile ---- */

static struct loop inner_loop(const struct printing *printing, int t) {
    struct loop loop;
    loop_read(printing->tokens, t, &loop);
    return loop;
}

/* BLOCK_Y * EACH ..., the elements of a tile for one k. */
static void print_width(const struct printing *printing, const struct tile *tile,
                        struct strbuf *out) {
    const char *extent = printing->tiling->extents[tile->own - 'x'];
    strbuf_print(out, strpbrk(extent, " +-*/%") != NULL ? "(%s)" : "%s", extent);
    for (int i = 0; i < tile->inner_count; i++) {
        struct loop inner = inner_loop(printing, tile->inner[i]);
        char *end = span_text(printing->tokens, inner.end);
        strbuf_print(out, " * %s", end);
        free(end);
    }
}

/* TILE[IN][threadIdx.y * EACH + each]: those of one thread lie side by side. */
static void print_element(const struct printing *printing, int number, struct strbuf *out) {
    const struct tile *tile = &printing->tiling->tiles[number];
    strbuf_print(out, "%s[%s][", printing->arrays[number], printing->in);
    for (int i = 1; i < tile->inner_count; i++)
        strbuf_print(out, "(");
    strbuf_print(out, "threadIdx.%c", tile->own);
    for (int i = 0; i < tile->inner_count; i++) {
        struct loop inner = inner_loop(printing, tile->inner[i]);
        char *end = span_text(printing->tokens, inner.end);
        char *variable = word(printing, inner.variable);
        strbuf_print(out, "%s * %s + %s", i > 0 ? ")" : "", end, variable);
        free(end);
        free(variable);
    }
    strbuf_print(out, "]");
}

/* Elements behind a row that threads of different k write: they are in other banks then. */
static int padding(const struct tile *tile) {
    return tile->own == 'y' && tile->bytes < 16 ? 16 / tile->bytes : 0;
}

/* The type of what a tile keeps: of p[0] or CONVERSION(p[0]). No index stands in it, so that it is
   known wherever the pointer is. */
static void print_type(struct printing *printing, int number) {
    const struct tile *tile = &printing->tiling->tiles[number];
    const struct token_list *tokens = printing->tokens;
    char *before = span_text(tokens, (struct span){tile->value.first, tile->read.first + 1});
    char *after = span_text(tokens, (struct span){tile->read.last, tile->value.last});
    strbuf_print(&printing->out, "using %s = value_of<decltype(%s[0]%s)>::type;\n    ",
                 printing->types[number], before, after);
    free(before);
    free(after);
}

static void print_tile(struct printing *printing, int number) {
    const struct tile *tile = &printing->tiling->tiles[number];
    print_type(printing, number);
    strbuf_print(&printing->out, "__align__(16) __shared__ %s %s[%s][", printing->types[number],
                 printing->arrays[number], printing->gene);
    print_width(printing, tile, &printing->out);
    if (padding(tile) > 0)
        strbuf_print(&printing->out, " + %d", padding(tile));
    strbuf_print(&printing->out, "];\n    ");
}

/* The last tile may be shorter: its rest is loaded from the last term and never read. */
static void print_load(struct printing *printing, int number) {
    const struct tile *tile = &printing->tiling->tiles[number];
    struct strbuf *out = &printing->out;
    const char *in = printing->in, *first = printing->first, *part = printing->part;
    char *value = span_text(printing->tokens, tile->value);
    strbuf_print(out, "#pragma unroll\n    for (int %s = 0; %s < %s; %s += %s) {\n", part, part,
                 printing->gene, part, printing->tiling->extents[tile->along - 'x']);
    strbuf_print(out, "    const int %s = %s + threadIdx.%c;\n", in, part, tile->along);
    strbuf_print(out, "    const %s %s = %s + %s < %s ? %s + %s : %s - 1;\n", printing->type,
                 printing->variable, first, in, printing->end, first, in, printing->end);
    strbuf_print(out, "    if (%s < %s) {\n", in, printing->gene);
    for (int i = 0; i < tile->inner_count; i++) {
        struct loop inner = inner_loop(printing, tile->inner[i]);
        char *header = span_text(printing->tokens, inner.header);
        strbuf_print(out, "#pragma unroll\n    for (%s)\n", header);
        free(header);
    }
    print_element(printing, number, out);
    strbuf_print(out, " = %s;\n    }\n    }\n", value);
    free(value);
}

/* ---- the loop ---- */

static bool rename_value(void *context, int *t, struct strbuf *out) {
    const struct printing *printing = context;
    for (int k = 0; k < printing->tiling->count; k++) {
        struct span value = printing->tiling->tiles[k].value;
        int last = *t + value.last - value.first;
        if (last > printing->tiling->loop.body.last ||
            !span_same(printing->tokens, (struct span){*t, last}, value))
            continue;
        print_element(printing, k, out);
        *t = last - 1;
        return true;
    }
    return false;
}

static void print_terms(struct printing *printing, const char *end, const char *body) {
    strbuf_print(&printing->out, "    for (int %s = 0; %s < %s; ++%s)", printing->in, printing->in,
                 end, printing->in);
    if (mentions_identifier(body, printing->variable))
        strbuf_print(&printing->out, " {\n    const %s %s = %s + %s;\n    %s\n    }\n",
                     printing->type, printing->variable, printing->first, printing->in, body);
    else
        strbuf_print(&printing->out, "\n    %s\n", body);
}

static void print_loop(struct printing *printing) {
    const struct tiling *tiling = printing->tiling;
    struct strbuf *out = &printing->out;
    const char *first = printing->first;
    char *body = span_renamed(printing->tokens, tiling->loop.body, rename_value, printing);
    char *pragma = tiling->loop.pragma >= 0 ? word(printing, tiling->loop.pragma)
                                            : xstrdup("#pragma unroll 8");
    for (int k = 0; k < tiling->count; k++)
        print_tile(printing, k);
    strbuf_print(out, "for (%s %s = %s; %s < %s; %s += %s) {\n", printing->type, first,
                 printing->init, first, printing->end, first, printing->gene);
    for (int k = 0; k < tiling->count; k++)
        print_load(printing, k);
    strbuf_print(out, "    __syncthreads(); // every thread has written its part of the tile\n");
    strbuf_print(out, "    const int %s = %s - %s;\n", printing->count, printing->end, first);
    strbuf_print(out, "    if (%s >= %s) {\n%s\n", printing->count, printing->gene, pragma);
    print_terms(printing, printing->gene, body);
    strbuf_print(out, "    } else {\n");
    print_terms(printing, printing->count, body);
    strbuf_print(out, "    }\n    __syncthreads(); // the tile has been read\n    }");
    free(body);
    free(pragma);
}

/* A >= B of the guard: a variable, and A is 0 where it holds. */
static void print_operand(struct printing *printing, int number, struct strbuf *lines) {
    const struct token_list *tokens = printing->tokens;
    struct declaration declared;
    int index = printing->tiling->indices[number], end = index;
    int close = token_partner(tokens, printing->tiling->guard + 1);
    while (!token_equals(tokens, end, "||") && end < close)
        end = token_partner(tokens, end) > end ? token_partner(tokens, end) + 1 : end + 1;
    char *name = word(printing, index), *bound = span_text(tokens, (struct span){index + 2, end});
    strbuf_print(lines, "%sconst bool %s = %s < %s;\n    %s = %s < %s ? %s : 0;%s",
                 number > 0 ? "\n    " : "", printing->live[number], name, bound, name, name, bound,
                 name, number == 0 ? " // every thread loads, within bounds" : "");
    declaration_find(tokens, name, index, &declared);
    for (int t = body_statement(tokens, printing->mutation->kernel.body, declared.name);
         t < declared.name; t++)
        if (token_equals(tokens, t, "const"))
            mutation_replace(printing->mutation, (struct span){t, t + 1}, "");
    free(name);
    free(bound);
}

/* if (A >= B || ...) return; goes behind the loop, so that all threads meet at its barriers. */
static void replace_guard(struct printing *printing) {
    int guard = printing->tiling->guard;
    struct strbuf lines = {0};
    strbuf_print(&printing->out, "\n    if (");
    for (int i = 0; i < printing->tiling->index_count; i++) {
        print_operand(printing, i, &lines);
        strbuf_print(&printing->out, "%s!%s", i > 0 ? " || " : "", printing->live[i]);
    }
    strbuf_print(&printing->out, ")\n        return;");
    mutation_replace(printing->mutation,
                     (struct span){guard, statement_end(printing->tokens, guard)}, lines.bytes);
    strbuf_release(&lines);
}

/* Static shared memory has 48 KiB on every GPU. */
static void add_constraint(struct printing *printing) {
    struct strbuf sum = {0};
    for (int k = 0; k < printing->tiling->count; k++) {
        const struct tile *tile = &printing->tiling->tiles[k];
        strbuf_print(&sum, "%s%d * ", k > 0 ? " + " : "", tile->bytes);
        print_width(printing, tile, &sum);
        if (padding(tile) > 0)
            strbuf_print(&sum, " + %d", padding(tile) * tile->bytes);
    }
    struct strbuf require = {0};
    strbuf_print(&require, "%s * (%s) <= 49152", printing->gene, sum.bytes);
    mutation_constraint(printing->mutation, require.bytes,
                        "the tiles fit the static shared memory of a block");
    strbuf_release(&require);
    strbuf_release(&sum);
}

void tiling_print(struct mutation *mutation, const struct tiling *tiling) {
    struct printing printing = {
        .mutation = mutation, .tokens = &mutation->tokens, .tiling = tiling};
    mutation_declare_value_of(mutation);
    choose_names(&printing);
    add_constraint(&printing);
    print_loop(&printing);
    if (tiling->guard >= 0)
        replace_guard(&printing);
    mutation_replace(mutation, (struct span){tiling->place, tiling->loop.last}, printing.out.bytes);
    mutation_set_place(mutation, tiling->loop.first);
    release_names(&printing);
}
