/* warp_shuffle: a reduction by shuffles in place of a tree in shared memory. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/*
 *   PARTIAL[THREAD] = VALUE;
 *   __syncthreads();
 *   for (int HALF = COUNT / 2; HALF > 0; HALF /= 2) {
 *       if (THREAD < HALF)
 *           PARTIAL[THREAD] = f(PARTIAL[THREAD], PARTIAL[THREAD + HALF]);   or  PARTIAL[THREAD] +=
 * ...
 *       __syncthreads();
 *   }
 *   RESULT = PARTIAL[0];
 */
struct tree {
    int first, last; /* the statements up to the loop's end */
    struct span partial, thread, value, count, half;
    struct span combined; /* f(...), or what += adds */
    bool adds;            /* += */
    struct span result;   /* PARTIAL[0] */
};

static bool expect(const struct token_list *tokens, int *t, const char *word) {
    return token_equals(tokens, *t, word) && (*t)++ >= 0;
}

static bool expect_same(const struct token_list *tokens, int *t, struct span span) {
    struct span here = {*t, *t + span.last - span.first};
    if (!span_same(tokens, here, span))
        return false;
    *t = here.last;
    return true;
}

static bool expect_barrier(const struct token_list *tokens, int *t) {
    return expect(tokens, t, "__syncthreads") && expect(tokens, t, "(") && expect(tokens, t, ")") &&
           expect(tokens, t, ";");
}

static bool read_store(const struct token_list *tokens, int *t, struct tree *tree) {
    struct span index;
    int end = statement_end(tokens, *t);
    if (!access_read(tokens, *t, &index) || !token_equals(tokens, index.last + 1, "=") || end < 0 ||
        index.last - index.first != 1 || token_kind(tokens, index.first) != TOKEN_NAME)
        return false;
    tree->partial = (struct span){*t, *t + 1};
    tree->thread = index;
    tree->value = (struct span){index.last + 2, end - 1};
    *t = end;
    return true;
}

/* for (int HALF = COUNT / 2; HALF > 0; HALF /= 2) */
static bool read_halving(const struct token_list *tokens, int *t, struct tree *tree) {
    int close = token_partner(tokens, *t + 1), half, slash;
    if (!expect(tokens, t, "for") || !expect(tokens, t, "(") || close < 0)
        return false;
    while (token_kind(tokens, *t) == TOKEN_NAME && !token_equals(tokens, *t + 1, "="))
        (*t)++;
    half = (*t)++;
    if (token_kind(tokens, half) != TOKEN_NAME || !expect(tokens, t, "="))
        return false;
    tree->half = (struct span){half, half + 1};
    for (slash = *t; slash < close && !token_equals(tokens, slash, ";"); slash++)
        continue;
    bool halves = (token_equals(tokens, slash - 2, "/") && token_equals(tokens, slash - 1, "2")) ||
                  (token_equals(tokens, slash - 2, ">>") && token_equals(tokens, slash - 1, "1"));
    tree->count = (struct span){*t, slash - 2};
    *t = slash + 1;
    if (!halves || tree->count.first >= tree->count.last || !expect_same(tokens, t, tree->half) ||
        !expect(tokens, t, ">") || !expect(tokens, t, "0") || !expect(tokens, t, ";") ||
        !expect_same(tokens, t, tree->half))
        return false;
    bool shrinks = (token_equals(tokens, *t, "/=") && token_equals(tokens, *t + 1, "2")) ||
                   (token_equals(tokens, *t, ">>=") && token_equals(tokens, *t + 1, "1"));
    *t = close + 1;
    return shrinks;
}

/* Whether the combination reads both elements: PARTIAL[THREAD] unless it adds, PARTIAL[THREAD +
   HALF] or PARTIAL[HALF + THREAD]; and no other. */
static bool reads_both(const struct token_list *tokens, const struct tree *tree) {
    bool mine = tree->adds, other = false;
    for (int t = tree->combined.first; t < tree->combined.last; t++) {
        struct span index;
        if (!access_read(tokens, t, &index))
            continue;
        if (!token_same(tokens, t, tree->partial.first))
            return false;
        if (span_same(tokens, index, tree->thread))
            mine = true;
        else if (index.last - index.first == 3 && token_equals(tokens, index.first + 1, "+") &&
                 ((token_same(tokens, index.first, tree->thread.first) &&
                   token_same(tokens, index.first + 2, tree->half.first)) ||
                  (token_same(tokens, index.first, tree->half.first) &&
                   token_same(tokens, index.first + 2, tree->thread.first))))
            other = true;
        else
            return false;
    }
    return mine && other;
}

static bool read_combination(const struct token_list *tokens, int *t, struct tree *tree) {
    struct span index;
    if (!expect(tokens, t, "{") || !expect(tokens, t, "if") || !expect(tokens, t, "(") ||
        !expect_same(tokens, t, tree->thread) || !expect(tokens, t, "<") ||
        !expect_same(tokens, t, tree->half) || !expect(tokens, t, ")"))
        return false;
    bool braces = expect(tokens, t, "{");
    int end = statement_end(tokens, *t);
    if (!access_read(tokens, *t, &index) || end < 0 ||
        !token_same(tokens, *t, tree->partial.first) || !span_same(tokens, index, tree->thread))
        return false;
    tree->adds = token_equals(tokens, index.last + 1, "+=");
    if (!tree->adds && !token_equals(tokens, index.last + 1, "="))
        return false;
    tree->combined = (struct span){index.last + 2, end - 1};
    *t = end;
    return (!braces || expect(tokens, t, "}")) && reads_both(tokens, tree) &&
           expect_barrier(tokens, t) && expect(tokens, t, "}");
}

/* RESULT = PARTIAL[0]; with a type or without. */
static bool read_result(const struct token_list *tokens, int t, struct tree *tree) {
    while (token_kind(tokens, t) == TOKEN_NAME)
        t++;
    if (!expect(tokens, &t, "="))
        return false;
    tree->result = (struct span){t, t + 4};
    return expect_same(tokens, &t, tree->partial) && expect(tokens, &t, "[") &&
           expect(tokens, &t, "0") && expect(tokens, &t, "]") && expect(tokens, &t, ";");
}

static bool read_tree(const struct token_list *tokens, int t, struct tree *tree) {
    struct declaration declared;
    *tree = (struct tree){.first = t};
    if (!read_store(tokens, &t, tree) || !expect_barrier(tokens, &t) ||
        !read_halving(tokens, &t, tree) || !read_combination(tokens, &t, tree))
        return false;
    tree->last = t;
    char *name = span_text(tokens, tree->partial);
    bool shared = declaration_find(tokens, name, tree->first, &declared) && declared.is_shared;
    free(name);
    return shared && read_result(tokens, t, tree);
}

struct combining {
    const struct token_list *tokens;
    const struct tree *tree;
    const char *mine, *other;
};

static bool rename_element(void *context, int *t, struct strbuf *out) {
    const struct combining *combining = context;
    struct span index;
    if (!access_read(combining->tokens, *t, &index))
        return false;
    strbuf_print(out, "%s",
                 span_same(combining->tokens, index, combining->tree->thread) ? combining->mine
                                                                              : combining->other);
    *t = index.last;
    return true;
}

/* MINE = f(MINE, OTHER) */
static char *combine(const struct token_list *tokens, const struct tree *tree, const char *mine,
                     const char *other) {
    struct combining combining = {tokens, tree, mine, other};
    struct strbuf out = {0};
    char *combined = span_renamed(tokens, tree->combined, rename_element, &combining);
    strbuf_print(&out, "%s %s %s;", mine, tree->adds ? "+=" : "=", combined);
    free(combined);
    return out.bytes;
}

static void replace_tree(struct mutation *mutation, const struct tree *tree) {
    const struct token_list *tokens = &mutation->tokens;
    char *reduced = mutation_name(mutation, "reduced");
    char *partial = span_text(tokens, tree->partial), *thread = span_text(tokens, tree->thread);
    char *value = span_text(tokens, tree->value), *count = span_text(tokens, tree->count);
    struct strbuf out = {0}, element = {0};
    strbuf_print(&element, "%s[warp]", partial);
    char *lanes = combine(tokens, tree, reduced, "other");
    char *warps = combine(tokens, tree, reduced, element.bytes);
    strbuf_print(&out, "auto %s = %s;\n#pragma unroll\n", reduced, value);
    strbuf_print(&out,
                 "    for (int offset = 16; offset > 0; offset /= 2) { // within each warp\n"
                 "        const auto other = __shfl_xor_sync(0xffffffffu, %s, offset);\n"
                 "        %s\n    }\n",
                 reduced, lanes);
    strbuf_print(&out,
                 "    static_assert(%s %% 32 == 0, \"whole warps\");\n    if (%s %% 32 == 0)\n"
                 "        %s[%s / 32] = %s;\n"
                 "    __syncthreads(); // every warp has written its result\n    %s = %s[0];\n"
                 "#pragma unroll\n    for (int warp = 1; warp < %s / 32; ++warp)\n        %s",
                 count, thread, partial, thread, reduced, reduced, partial, count, warps);
    mutation_replace(mutation, (struct span){tree->first, tree->last}, out.bytes);
    mutation_replace(mutation, tree->result, reduced);
    mutation_set_place(mutation, tree->first);
    strbuf_release(&out);
    strbuf_release(&element);
    char *const texts[] = {reduced, partial, thread, value, count, lanes, warps};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

/* Sites: all trees at once, then each alone. */
bool apply_warp_shuffle(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct tree tree;
    int found = 0, replaced = 0;
    for (int t = mutation->kernel.body.first; t < mutation->kernel.body.last; t++) {
        if (!read_tree(tokens, t, &tree))
            continue;
        found++;
        if (site != 0 && site != found)
            continue;
        replace_tree(mutation, &tree);
        replaced++;
        t = tree.last - 1;
    }
    if (site == 0 && found > 1)
        snprintf(mutation->place, sizeof mutation->place, "all %d trees", found);
    if (replaced > 0 && !(site == 1 && found == 1))
        return true;
    mutation_reset(mutation);
    return false;
}
