/* Operators that read a row once where several loops read it. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOOPS_MAX = 32 };

/* The same loop several times, and an expression that they read: p[v] or load_pack<N>(p + v). */
struct group {
    const struct token_list *tokens;
    struct loop loops[LOOPS_MAX];
    int count;
    struct span read;
};

/* An expression that reads at the loop's variable, at token t, perhaps with a cache hint. */
static bool read_expression(const struct token_list *tokens, const struct loop *loop, int t,
                            struct span *read) {
    struct span index;
    if (token_equals(tokens, t, "load_pack") && token_equals(tokens, t + 1, "<")) {
        int open = t + 2;
        while (open < loop->body.last && !token_equals(tokens, open, "("))
            open++;
        if (token_partner(tokens, open) < 0)
            return false;
        *read = (struct span){t, token_partner(tokens, open) + 1};
        index = (struct span){open + 1, read->last - 1};
    } else if ((token_equals(tokens, t, "__ldg") || token_equals(tokens, t, "__ldcs")) &&
               token_equals(tokens, t + 2, "&") && access_read(tokens, t + 3, &index) &&
               token_partner(tokens, t + 1) == index.last + 1) {
        *read = (struct span){t, index.last + 2};
    } else if (access_read(tokens, t, &index) && !token_equals(tokens, t - 1, "&")) {
        *read = (struct span){t, index.last + 1};
    } else {
        return false;
    }
    char *name = span_text(tokens, (struct span){loop->variable, loop->variable + 1});
    bool found = span_mentions(tokens, index, name);
    free(name);
    return found;
}

static int next_read(const struct token_list *tokens, const struct loop *loop, int from,
                     struct span read) {
    for (int t = from; t < loop->body.last; t++)
        if (t + read.last - read.first <= loop->body.last && !token_equals(tokens, t - 1, "&") &&
            span_same(tokens, (struct span){t, t + read.last - read.first}, read))
            return t;
    return -1;
}

/* Whether what is read is only read, by this kernel: a pointer to const, not to shared memory,
   whose names are all declared before `place`. */
static bool is_constant(const struct mutation *mutation, const struct loop *loop, struct span read,
                        int place) {
    const struct token_list *tokens = &mutation->tokens;
    bool pointer = false;
    for (int t = read.first; t < read.last; t++) {
        struct declaration declared;
        char *name = span_text(tokens, (struct span){t, t + 1});
        if (token_kind(tokens, t) == TOKEN_NAME && declaration_find(tokens, name, t, &declared) &&
            declared.is_pointer)
            pointer = declared.is_const;
        free(name);
        if (token_equals(tokens, t, "=") || token_equals(tokens, t, "++") ||
            token_equals(tokens, t, "--"))
            return false;
    }
    if (!pointer)
        return false;
    for (int t = read.first; t < read.last; t++)
        if (!token_same(tokens, t, loop->variable) &&
            !is_known_at(tokens, (struct span){t, t + 1}, place, mutation->kernel.body))
            return false;
    return true;
}

static bool is_thread_loop(const struct token_list *tokens, const struct loop *loop) {
    if (loop->step.first >= loop->step.last)
        return false;
    for (int t = loop->init.first; t < loop->init.last; t++)
        if (token_equals(tokens, t,
                         "+")) /* the rest behind packs, or behind what is kept already */
            return false;
    for (int t = loop->init.first; t < loop->init.last; t++) {
        struct declaration declared;
        char *name = span_text(tokens, (struct span){t, t + 1});
        bool thread = token_equals(tokens, t, "threadIdx") ||
                      (declaration_find(tokens, name, loop->first, &declared) &&
                       span_mentions(tokens, declared.init, "threadIdx"));
        free(name);
        if (thread)
            return true;
    }
    return false;
}

static bool is_usable(const struct token_list *tokens, const struct loop *loop) {
    return !loop_jumps(tokens, loop) && is_thread_loop(tokens, loop) &&
           !span_mentions(tokens, loop->body, "staged_value");
}

/* Whether the loop reads it only where shared memory does not hold it: ... : READ) */
static bool is_staged(const struct token_list *tokens, const struct loop *loop, struct span read) {
    int t = next_read(tokens, loop, loop->body.first, read);
    return t >= 0 && token_equals(tokens, t - 1, ":");
}

/* Collects the loops with the header of the one at t that read the same. They must be for all
   threads alike: none of them within another loop. */
static bool collect(const struct mutation *mutation, int t, int place, struct span read,
                    struct group *group) {
    const struct token_list *tokens = &mutation->tokens;
    *group = (struct group){.tokens = tokens, .read = read};
    for (int other = t; other < mutation->kernel.body.last && group->count < LOOPS_MAX; other++) {
        struct loop loop;
        if (!loop_read(tokens, other, &loop))
            continue;
        if (is_usable(tokens, &loop) && !is_staged(tokens, &loop, read) &&
            (group->count == 0 || span_same(tokens, loop.header, group->loops[0].header)) &&
            next_read(tokens, &loop, loop.body.first, read) >= 0)
            group->loops[group->count++] = loop;
        other = loop.last - 1;
    }
    return group->count > 1 && is_constant(mutation, &group->loops[0], read, place);
}

/* Finds group number `site`; returns the statement that its first loop is in, or -1. */
static int find_group(const struct mutation *mutation, int site, struct group *group) {
    const struct token_list *tokens = &mutation->tokens;
    struct span body = mutation->kernel.body;
    for (int t = body.first; t < body.last; t++) {
        struct loop loop;
        struct span read;
        int place = body_statement(tokens, body, t);
        if (place < 0 || !loop_read(tokens, t, &loop) || !is_usable(tokens, &loop))
            continue;
        for (int r = loop.body.first; r < loop.body.last; r++) {
            if (!read_expression(tokens, &loop, r, &read) ||
                next_read(tokens, &loop, loop.body.first, read) != r ||
                !collect(mutation, t, place, read, group) || site-- > 0)
                continue;
            return place;
        }
        t = loop.last - 1; /* a later loop of the same group is none of its own */
    }
    return -1;
}

/* ---- in registers ---- */

struct renaming {
    const struct group *group;
    const struct loop *loop;
    const char *text;
};

static bool rename_read(void *context, int *t, struct strbuf *out) {
    const struct renaming *renaming = context;
    if (next_read(renaming->group->tokens, renaming->loop, *t, renaming->group->read) != *t)
        return false;
    strbuf_print(out, "%s", renaming->text);
    *t += renaming->group->read.last - renaming->group->read.first - 1;
    return true;
}

/* TYPE NAME[GENE]; the loop's variable is 0 in the type's expression. */
static bool rename_variable(void *context, int *t, struct strbuf *out) {
    const struct group *group = context;
    if (!token_same(group->tokens, *t, group->loops[0].variable))
        return false;
    strbuf_print(out, "0");
    return true;
}

static void declare_array(struct mutation *mutation, struct group *group, int place,
                          const char *storage, const char *array, const char *gene) {
    struct strbuf line = {0};
    char *expression = span_renamed(group->tokens, group->read, rename_variable, group);
    mutation_declare_value_of(mutation);
    strbuf_print(&line, "%svalue_of<decltype(%s)>::type %s[%s > 0 ? %s : 1];\n    ", storage,
                 expression, array, gene, gene);
    mutation_replace(mutation, (struct span){place, place}, line.bytes);
    strbuf_release(&line);
    free(expression);
}

static void keep_in_loop(struct mutation *mutation, const struct group *group, int number,
                         const char *gene, const char *array, const char *counter) {
    const struct token_list *tokens = group->tokens;
    const struct loop *loop = &group->loops[number];
    struct strbuf out = {0}, element = {0};
    strbuf_print(&element, "%s[%s]", array, counter);
    struct renaming renaming = {group, loop, element.bytes};
    char *variable = span_text(tokens, (struct span){loop->variable, loop->variable + 1});
    char *type = span_text(tokens, loop->type), *init = span_text(tokens, loop->init);
    char *end = span_text(tokens, loop->end), *step = span_text(tokens, loop->step);
    char *body = span_text(tokens, loop->body), *read = span_text(tokens, group->read);
    char *inside = span_renamed(tokens, loop->body, rename_read, &renaming);
    strbuf_print(&out, "{\n#pragma unroll\n    for (int %s = 0; %s < %s; ++%s) {\n", counter,
                 counter, gene, counter);
    strbuf_print(&out, "        const %s %s = %s + %s * (%s);\n        if (%s < %s) {\n", type,
                 variable, init, counter, step, variable, end);
    if (number == 0)
        strbuf_print(&out, "            %s = %s;\n", element.bytes, read);
    strbuf_print(&out, "            %s\n        }\n    }\n", inside);
    strbuf_print(&out, "    for (%s %s = %s + %s * (%s); %s < %s; %s += %s)\n        %s\n    }",
                 type, variable, init, gene, step, variable, end, variable, step, body);
    int first = loop->pragma >= 0 ? loop->pragma : loop->first;
    mutation_replace(mutation, (struct span){first, loop->last}, out.bytes);
    strbuf_release(&out);
    strbuf_release(&element);
    char *const texts[] = {variable, type, init, end, step, body, read, inside};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

bool apply_keep_in_registers(struct mutation *mutation, int site) {
    struct group *group = xmalloc(sizeof *group);
    int place;
    do
        place = find_group(mutation, site++, group);
    while (place >= 0 && loop_can_vectorize(mutation, group->loops[0].first));
    if (place >= 0) {
        char *gene =
            mutation_gene(mutation, "KEEP", "elements or packs of a row that a thread keeps",
                          "0, 1, 2, 4, 8, 16", "4");
        char *array = mutation_name(mutation, "kept");
        char *counter = mutation_name(mutation, "kept_number");
        declare_array(mutation, group, place, "", array, gene);
        for (int l = 0; l < group->count; l++)
            keep_in_loop(mutation, group, l, gene, array, counter);
        mutation_set_place(mutation, group->loops[0].first);
        free(gene);
        free(array);
        free(counter);
    }
    free(group);
    return place >= 0;
}

/* ---- in shared memory ---- */

/* The first loop stores what it reads; a thread reads back what it stored itself, so that no
   barrier is needed. */
static void stage_in_loop(struct mutation *mutation, const struct group *group, int number,
                          const char *gene, const char *array) {
    const struct token_list *tokens = group->tokens;
    const struct loop *loop = &group->loops[number];
    struct strbuf out = {0}, element = {0};
    char *variable = span_text(tokens, (struct span){loop->variable, loop->variable + 1});
    char *header = span_text(tokens, loop->header), *read = span_text(tokens, group->read);
    if (number == 0)
        strbuf_print(&element, "staged_value");
    else
        strbuf_print(&element, "(%s < %s ? %s[%s] : %s)", variable, gene, array, variable, read);
    struct renaming renaming = {group, loop, element.bytes};
    char *inside = span_renamed(tokens, loop->body, rename_read, &renaming);
    strbuf_print(&out, "for (%s) {\n", header);
    if (number == 0)
        strbuf_print(&out,
                     "        const auto staged_value = %s;\n        if (%s < %s)\n"
                     "            %s[%s] = staged_value;\n",
                     read, variable, gene, array, variable);
    strbuf_print(&out, "        %s\n    }", inside);
    mutation_replace(mutation, (struct span){loop->first, loop->last}, out.bytes);
    strbuf_release(&out);
    strbuf_release(&element);
    free(variable);
    free(header);
    free(read);
    free(inside);
}

bool apply_stage_in_shared(struct mutation *mutation, int site) {
    struct group *group = xmalloc(sizeof *group);
    int place;
    /* Packs are kept in registers: their loops' variable is no number of a pack. */
    do
        place = find_group(mutation, site++, group);
    while (place >= 0 && !token_equals(group->tokens, group->read.first + 1, "["));
    if (place >= 0) {
        char *gene = mutation_gene(mutation, "STAGED", "elements of a row in shared memory",
                                   "0, 1024, 2048, 4096", "2048");
        char *array = mutation_name(mutation, "staged");
        declare_array(mutation, group, place, "__shared__ ", array, gene);
        for (int l = 0; l < group->count; l++)
            stage_in_loop(mutation, group, l, gene, array);
        mutation_set_place(mutation, group->loops[0].first);
        free(gene);
        free(array);
    }
    free(group);
    return place >= 0;
}
