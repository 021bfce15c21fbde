/* tile: which loops and reads can be tiled. */
#include "proposers/operators/tile.h"

#include "base/memory.h"
#include "proposers/cuda/assignments.h"
#include "proposers/operators/operators.h"

#include <stdlib.h>
#include <string.h>

/* ---- the loop ---- */

/* Whether a loop has what threads must do together, or what tokens do not show. */
static bool has_obstacle(const struct token_list *tokens, struct span span) {
    static const char *const obstacles[] = {"goto", "asm", "while", "do", "switch", "[&]", NULL};
    static const char *const prefixes[] = {"__sync", "__shfl", "__ballot", "atomic", NULL};
    for (int t = span.first; t < span.last; t++) {
        for (int o = 0; obstacles[o] != NULL; o++)
            if (token_equals(tokens, t, obstacles[o]))
                return true;
        for (int p = 0; prefixes[p] != NULL; p++)
            if (token_kind(tokens, t) == TOKEN_NAME &&
                strncmp(tokens->text + tokens->at[t].start, prefixes[p], strlen(prefixes[p])) == 0)
                return true;
    }
    return false;
}

static bool assigns_any(const struct token_list *tokens, struct span statements,
                        struct span names) {
    for (int t = names.first; t < names.last; t++)
        if (token_kind(tokens, t) == TOKEN_NAME && span_assigns(tokens, statements, t))
            return true;
    return false;
}

/* for (TYPE K = NUMBER; K < END; ++K), whose END is the same for the whole block. One of genes is a
   loop over a thread's own elements, which is unrolled. */
static bool read_loop(const struct mutation *mutation, const struct dependence *axes, int t,
                      struct tiling *tiling) {
    const struct token_list *tokens = &mutation->tokens;
    struct loop *loop = &tiling->loop;
    if (!loop_read(tokens, t, loop) || loop->step.first < loop->step.last ||
        loop->init.last - loop->init.first != 1 ||
        token_kind(tokens, loop->init.first) != TOKEN_NUMBER || loop_jumps(tokens, loop) ||
        has_obstacle(tokens, loop->body) || span_stores(tokens, mutation->kernel.body, loop->body))
        return false;
    tiling->place = body_statement(tokens, mutation->kernel.body, t);
    struct span variable = {loop->variable, loop->variable + 1};
    char *end = span_text(tokens, loop->end);
    bool short_loop = mutation_is_of_genes(mutation, end);
    free(end);
    return !short_loop && tiling->place == (loop->pragma >= 0 ? loop->pragma : loop->first) &&
           !dependence_has(&axes[0], loop->end) && !dependence_has(&axes[1], loop->end) &&
           !assigns_any(tokens, loop->body, loop->end) &&
           !assigns_any(tokens, loop->body, variable);
}

/* ---- the guard ---- */

/* Reads A >= B || C >= D: variables of whole numbers that are declared alone at the body's top. */
static bool read_guard(const struct mutation *mutation, struct tiling *tiling) {
    const struct token_list *tokens = &mutation->tokens;
    struct span body = mutation->kernel.body;
    int open = tiling->guard + 1, close = token_partner(tokens, open);
    tiling->index_count = 0;
    for (int t = open + 1; t < close;) {
        struct declaration declared;
        int end = t;
        while (end < close && !token_equals(tokens, end, "||"))
            end = token_partner(tokens, end) > end ? token_partner(tokens, end) + 1 : end + 1;
        char *name = span_text(tokens, (struct span){t, t + 1});
        bool usable = declaration_find(tokens, name, t, &declared) && declared.name >= body.first &&
                      declared.init.last > declared.init.first &&
                      token_equals(tokens, declared.init.last, ";") && !declared.is_pointer &&
                      !declared.is_array && token_equals(tokens, t + 1, ">=") &&
                      tiling->index_count < GUARDS_MAX;
        free(name);
        int first = usable ? body_statement(tokens, body, declared.name) : -1;
        if (first < 0 || first + 3 < declared.type.first ||
            statement_end(tokens, first) != declared.init.last + 1)
            return false;
        for (int k = t; k < end; k++)
            if (token_equals(tokens, k, "&&") || token_equals(tokens, k, "?") ||
                assignment_at(tokens, k))
                return false;
        tiling->indices[tiling->index_count++] = t;
        t = end + 1;
    }
    return true;
}

/* The one way to leave the kernel before the loop is a guard after which nothing is stored until
   the loop: then all threads can stay. */
static bool find_guard(const struct mutation *mutation, struct tiling *tiling) {
    const struct token_list *tokens = &mutation->tokens;
    struct span body = mutation->kernel.body;
    tiling->guard = -1;
    for (int t = body.first; t < tiling->place; t++) {
        if (token_equals(tokens, t, "goto") || token_equals(tokens, t, "asm"))
            return false;
        if (!token_equals(tokens, t, "return"))
            continue;
        int guard = body_statement(tokens, body, t), close = token_partner(tokens, guard + 1);
        int first = close + 1 + token_equals(tokens, close + 1, "{");
        if (tiling->guard >= 0 || !token_equals(tokens, guard, "if") || close < 0 || t != first ||
            !token_equals(tokens, t + 1, ";"))
            return false;
        tiling->guard = guard;
    }
    if (tiling->guard < 0)
        return true;
    int end = statement_end(tokens, tiling->guard);
    struct span between = {end, tiling->place};
    int close = token_partner(tokens, tiling->guard + 1);
    return !token_equals(tokens, statement_end(tokens, close + 1), "else") &&
           !span_stores(tokens, body, between) && !has_obstacle(tokens, between) &&
           read_guard(mutation, tiling);
}

/* ---- what it reads ---- */

/* The value that a tile keeps: a conversion is made once for all that read it. */
static struct span find_value(const struct token_list *tokens, struct span read) {
    static const char *const conversions[] = {"half_to_float", "bfloat_to_float", "__half2float",
                                              "__bfloat162float", NULL};
    for (int c = 0; conversions[c] != NULL; c++)
        if (token_equals(tokens, read.first - 2, conversions[c]) &&
            token_equals(tokens, read.first - 1, "(") &&
            token_partner(tokens, read.first - 1) == read.last)
            return (struct span){read.first - 2, read.last + 1};
    return read;
}

static int element_bytes(const struct token_list *tokens, const struct tile *tile,
                         struct span type) {
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"float", 4}, {"int", 4},    {"unsigned", 4}, {"f16", 2},
                 {"bf16", 2},  {"__half", 2}, {"double", 8},   {NULL, 16}};
    int t = 0;
    if (tile->value.first < tile->read.first)
        return 4;
    while (types[t].name != NULL && !span_is(tokens, type, types[t].name))
        t++;
    return types[t].bytes;
}

/* A loop in the body from 0 with steps of 1, whose end is a gene or a number. */
static bool is_inner_loop(const struct mutation *mutation, const struct loop *inner) {
    const struct token_list *tokens = &mutation->tokens;
    char *end = span_text(tokens, inner->end);
    bool known =
        inner->end.last - inner->end.first == 1 &&
        (token_kind(tokens, inner->end.first) == TOKEN_NUMBER || mutation_has_gene(mutation, end));
    free(end);
    return known && span_is(tokens, inner->init, "0") && inner->step.first >= inner->step.last;
}

/* Whether a name of the address is the variable of a loop in the body, which is then noted, or does
   not change in the body at all. */
static bool read_name(const struct mutation *mutation, const struct tiling *tiling, int t,
                      struct tile *tile) {
    const struct token_list *tokens = &mutation->tokens;
    const struct loop *loop = &tiling->loop;
    struct loop inner;
    for (int at = loop->body.first; at < t; at++) {
        if (!loop_read(tokens, at, &inner) || inner.last <= t ||
            !token_same(tokens, inner.variable, t))
            continue;
        for (int i = 0; i < tile->inner_count; i++)
            if (tile->inner[i] == at)
                return true;
        if (!is_inner_loop(mutation, &inner) || tile->inner_count == INNER_MAX)
            return false;
        tile->inner[tile->inner_count++] = at;
        return true;
    }
    return !span_assigns(tokens, loop->body, t) &&
           is_known_at(tokens, (struct span){t, t + 1}, tiling->place, mutation->kernel.body);
}

static bool read_tile(const struct mutation *mutation, const struct dependence *axes,
                      const struct tiling *tiling, int t, struct tile *tile) {
    const struct token_list *tokens = &mutation->tokens;
    struct declaration declared;
    struct span index;
    bool mentions = false;
    *tile = (struct tile){0};
    if (!access_read(tokens, t, &index) || token_equals(tokens, t - 1, "&") ||
        token_equals(tokens, index.last + 1, "[") || token_equals(tokens, index.last + 1, "."))
        return false;
    tile->read = (struct span){t, index.last + 1};
    char *name = span_text(tokens, (struct span){t, t + 1});
    bool constant = declaration_find(tokens, name, t, &declared) && declared.is_pointer &&
                    declared.is_const && !declared.is_shared;
    free(name);
    bool usable = constant;
    for (int n = t; n < index.last && usable; n++) {
        usable = !assignment_at(tokens, n) &&
                 (token_kind(tokens, n) != TOKEN_NAME || !token_equals(tokens, n + 1, "("));
        if (token_kind(tokens, n) != TOKEN_NAME)
            continue;
        if (token_same(tokens, n, tiling->loop.variable))
            mentions = true;
        else
            usable = usable && read_name(mutation, tiling, n, tile);
    }
    bool of_x = dependence_has(&axes[0], tile->read), of_y = dependence_has(&axes[1], tile->read);
    if (!usable || !mentions || of_x == of_y)
        return false;
    tile->own = of_x ? 'x' : 'y';
    tile->along = of_x ? 'y' : 'x';
    tile->value = find_value(tokens, tile->read);
    tile->bytes = element_bytes(tokens, tile, declared.type);
    return strcmp(tiling->extents[of_x ? 1 : 0], "1") != 0;
}

static bool find_tiles(const struct mutation *mutation, const struct dependence *axes,
                       struct tiling *tiling) {
    tiling->count = 0;
    for (int t = tiling->loop.body.first; t < tiling->loop.body.last; t++) {
        struct tile tile;
        bool known = false;
        if (tiling->count == TILES_MAX || !read_tile(mutation, axes, tiling, t, &tile))
            continue;
        for (int k = 0; k < tiling->count; k++)
            known = known || span_same(&mutation->tokens, tiling->tiles[k].value, tile.value);
        if (!known)
            tiling->tiles[tiling->count++] = tile;
    }
    return tiling->count > 0;
}

/* The block's extents along x and y, of genes and numbers, and a third one of 1. */
static bool read_extents(const struct mutation *mutation, struct tiling *tiling) {
    struct json launch, element;
    if (!mutation_launch(mutation, &mutation->kernel, &launch))
        return false;
    char *third = mutation_extent(&launch, "block", 2, &element);
    bool usable = third != NULL && strcmp(third, "1") == 0;
    free(third);
    for (int axis = 0; axis < 2; axis++) {
        tiling->extents[axis] = mutation_extent(&launch, "block", axis, &element);
        usable = usable && mutation_is_of_genes(mutation, tiling->extents[axis]);
    }
    return usable;
}

bool tiling_read(const struct mutation *mutation, int site, struct tiling *tiling) {
    const struct token_list *tokens = &mutation->tokens;
    struct span body = mutation->kernel.body;
    struct dependence axes[] = {{.tokens = tokens, .body = body, .axis = "x"},
                                {.tokens = tokens, .body = body, .axis = "y"}};
    bool found = false;
    *tiling = (struct tiling){0};
    dependence_find(&axes[0]);
    dependence_find(&axes[1]);
    if (read_extents(mutation, tiling) && !axes[0].failed && !axes[1].failed)
        for (int t = body.first; t < body.last && !found; t++)
            found = read_loop(mutation, axes, t, tiling) && find_guard(mutation, tiling) &&
                    find_tiles(mutation, axes, tiling) && site-- == 0;
    dependence_release(&axes[0]);
    dependence_release(&axes[1]);
    return found;
}

void tiling_release(struct tiling *tiling) {
    free(tiling->extents[0]);
    free(tiling->extents[1]);
    *tiling = (struct tiling){0};
}

bool apply_tile_in_shared(struct mutation *mutation, int site) {
    struct tiling tiling;
    bool found = tiling_read(mutation, site, &tiling);
    if (found)
        tiling_print(mutation, &tiling);
    tiling_release(&tiling);
    return found;
}
