/* Operators on single accesses and on the kernel's declaration. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- cache hints ---- */

static bool is_number_type(const struct token_list *tokens, struct span type) {
    static const char *const types[] = {
        "float",          "double", "int",       "unsigned", "unsigned int",
        "unsigned short", "short",  "long long", "float2",   "float4",
        "int4",           "uint4",  NULL};
    for (int i = 0; types[i] != NULL; i++)
        if (span_is(tokens, type, types[i]))
            return true;
    return false;
}

static bool is_written(const struct token_list *tokens, int close) {
    static const char *const marks[] = {
        "=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--", ".", "->", "[", NULL};
    for (int m = 0; marks[m] != NULL; m++)
        if (token_equals(tokens, close + 1, marks[m]))
            return true;
    return false;
}

static bool find_pointer(const struct mutation *mutation, int t, struct declaration *declared) {
    char *name = span_text(&mutation->tokens, (struct span){t, t + 1});
    bool found = declaration_find(&mutation->tokens, name, t, declared) && declared->is_pointer &&
                 is_number_type(&mutation->tokens, declared->type);
    free(name);
    return found;
}

/* Writes CALL(&p[INDEX]) in place of p[INDEX], in every read through one pointer of the kernel.
   Sites are pointers. */
static bool hint_reads(struct mutation *mutation, int site, const char *call) {
    const struct token_list *tokens = &mutation->tokens;
    int chosen = -1; /* the declaration whose reads get the hint */
    int *seen = NULL, seen_count = 0;
    for (int t = mutation->kernel.body.first; t < mutation->kernel.body.last; t++) {
        struct span index;
        struct declaration declared;
        if (!access_read(tokens, t, &index) || is_written(tokens, index.last) ||
            token_equals(tokens, t - 1, "&") || token_equals(tokens, t - 1, "++") ||
            token_equals(tokens, t - 1, "--") || !find_pointer(mutation, t, &declared) ||
            !declared.is_const)
            continue;
        bool known = false;
        for (int s = 0; s < seen_count; s++)
            known = known || seen[s] == declared.name;
        if (!known) {
            seen = xgrow(seen, (size_t)seen_count, sizeof *seen);
            seen[seen_count++] = declared.name;
            if (seen_count - 1 == site)
                chosen = declared.name;
        }
        if (chosen != declared.name)
            continue;
        if (mutation->source_edits.count == 0)
            mutation_set_place(mutation, t);
        struct strbuf text = {0};
        char *access = span_text(tokens, (struct span){t, index.last + 1});
        strbuf_print(&text, "%s(&%s)", call, access);
        mutation_replace(mutation, (struct span){t, index.last + 1}, text.bytes);
        strbuf_release(&text);
        free(access);
        t = index.last;
    }
    free(seen);
    return chosen >= 0;
}

bool apply_read_only(struct mutation *mutation, int site) {
    return hint_reads(mutation, site, "__ldg");
}

bool apply_read_once(struct mutation *mutation, int site) {
    return hint_reads(mutation, site, "__ldcs");
}

bool apply_write_once(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    static const char *const before[] = {";", "{", "}", ")", "else", NULL};
    for (int t = mutation->kernel.body.first; t < mutation->kernel.body.last; t++) {
        struct span index;
        struct declaration declared;
        bool statement = token_kind(tokens, t - 1) == TOKEN_DIRECTIVE;
        for (int b = 0; before[b] != NULL; b++)
            statement = statement || token_equals(tokens, t - 1, before[b]);
        if (!statement || !access_read(tokens, t, &index) ||
            !token_equals(tokens, index.last + 1, "=") || !find_pointer(mutation, t, &declared) ||
            declared.is_const)
            continue;
        int end = statement_end(tokens, t);
        if (end < 0 || site-- > 0)
            continue;
        char *place = span_text(tokens, (struct span){t, index.last + 1});
        char *value = span_text(tokens, (struct span){index.last + 2, end - 1});
        struct strbuf text = {0};
        strbuf_print(&text, "__stcs(&%s, %s);", place, value);
        mutation_replace(mutation, (struct span){t, end}, text.bytes);
        mutation_set_place(mutation, t);
        strbuf_release(&text);
        free(place);
        free(value);
        return true;
    }
    return false;
}

/* ---- the kernel's declaration ---- */

bool apply_restrict(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct span parameters = mutation->kernel.parameters;
    int added = 0;
    for (int t = parameters.first; t < parameters.last && site == 0; t++)
        if (token_equals(tokens, t, "*") && token_kind(tokens, t + 1) == TOKEN_NAME &&
            !token_equals(tokens, t + 1, "__restrict__") && !token_equals(tokens, t + 1, "const")) {
            mutation_replace(mutation, (struct span){t + 1, t + 1}, "__restrict__ ");
            added++;
        }
    return added > 0;
}

/* The product of the block's extents, if the source can compute it: genes and numbers alone. */
static char *block_threads(const struct mutation *mutation, const struct kernel *kernel) {
    struct json launch, element;
    struct strbuf product = {0};
    if (!mutation_launch(mutation, kernel, &launch))
        return NULL;
    for (int axis = 0; axis < 3; axis++) {
        char *extent = mutation_extent(&launch, "block", axis, &element);
        bool usable = mutation_is_of_genes(mutation, extent);
        if (usable && strcmp(extent, "1") != 0)
            strbuf_print(&product, strpbrk(extent, "+-*/%, ") != NULL ? "%s(%s)" : "%s%s",
                         product.used > 0 ? " * " : "", extent);
        free(extent);
        if (!usable) {
            strbuf_release(&product);
            return NULL;
        }
    }
    return product.bytes;
}

bool apply_launch_bounds(struct mutation *mutation, int site) {
    const struct kernel *kernel = &mutation->kernel;
    for (int t = kernel->global; t < kernel->name; t++)
        if (token_equals(&mutation->tokens, t, "__launch_bounds__"))
            return false;
    char *threads = site == 0 ? block_threads(mutation, kernel) : NULL;
    if (threads == NULL)
        return false;
    char *gene = mutation_gene(mutation, "MIN_BLOCKS", "blocks that must fit an SM at once",
                               "1, 2, 3, 4, 6, 8", "2");
    struct strbuf text = {0};
    strbuf_print(&text, "__launch_bounds__(%s, %s) ", threads, gene);
    mutation_replace(mutation, (struct span){kernel->name, kernel->name}, text.bytes);
    strbuf_release(&text);
    free(gene);
    free(threads);
    return true;
}
