/* vectorize: loads and stores of several neighbouring elements. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { POINTERS_MAX = 16, LOOPS_MAX = 32 };

/* Any type T; a load is as wide as the hardware's widest allows. */
static const char helpers[] =
    "// Several neighbouring elements, which one instruction loads or stores.\n"
    "template <typename T, int N> struct alignas(N * sizeof(T)) element_pack {\n"
    "    T at[N];\n"
    "};\n"
    "\n"
    "template <int N, typename T> __device__ __forceinline__ element_pack<T, N> load_pack(const T "
    "*from) {\n"
    "    return *reinterpret_cast<const element_pack<T, N> *>(from);\n"
    "}\n"
    "\n"
    "template <int N, typename T> __device__ __forceinline__ element_pack<T, N> new_pack(const T "
    "*) {\n"
    "    return element_pack<T, N>{};\n"
    "}\n"
    "\n"
    "template <typename T, int N>\n"
    "__device__ __forceinline__ void store_pack(T *to, const element_pack<T, N> &pack) {\n"
    "    *reinterpret_cast<element_pack<T, N> *>(to) = pack;\n"
    "}\n"
    "\n"
    "template <int N, typename T> __device__ __forceinline__ bool is_aligned(const T *at) {\n"
    "    return reinterpret_cast<unsigned long long>(at) % (N * sizeof(T)) == 0;\n"
    "}\n"
    "\n";

/* p[OFFSET + v] or p[v] in a loop over v: what a pack can stand for. */
struct pack {
    struct span name;   /* p */
    struct span offset; /* empty: none */
    bool is_store;
    char *variable; /* the pack's name in the new source */
};

struct vector_loop {
    const struct token_list *tokens;
    struct loop loop;
    struct pack packs[POINTERS_MAX];
    int count;
    char *start, *lane; /* new variables: where a pack starts, the element in it */
};

/* Whether an index is v, or something + v, or v + something without v; sets the something. */
static bool split_index(const struct token_list *tokens, const struct loop *loop, struct span index,
                        struct span *offset) {
    char *name = span_text(tokens, (struct span){loop->variable, loop->variable + 1});
    int last = index.last - 1;
    bool found = false;
    *offset = (struct span){0, 0};
    if (index.last - index.first == 1) {
        found = token_equals(tokens, index.first, name);
    } else if (token_equals(tokens, last, name) && token_equals(tokens, last - 1, "+")) {
        *offset = (struct span){index.first, last - 1};
        found = true;
    } else if (token_equals(tokens, index.first, name) &&
               token_equals(tokens, index.first + 1, "+")) {
        *offset = (struct span){index.first + 2, index.last};
        found = true;
    }
    found = found && !span_mentions(tokens, *offset, name);
    /* a ? b : c + v, a << b + v and the like bind otherwise */
    for (int t = offset->first; t < offset->last && found; t++)
        if (token_equals(tokens, t, "?") || token_equals(tokens, t, "<<") ||
            token_equals(tokens, t, ">>") || token_equals(tokens, t, "&") ||
            token_equals(tokens, t, "|") || token_equals(tokens, t, "^") ||
            token_equals(tokens, t, "<") || token_equals(tokens, t, ">") ||
            token_equals(tokens, t, ","))
            found = false;
    free(name);
    return found;
}

/* Whether a name of the expression is declared or assigned in the loop's body. */
static bool is_local(const struct token_list *tokens, const struct loop *loop,
                     struct span expression) {
    for (int e = expression.first; e < expression.last; e++) {
        if (token_kind(tokens, e) != TOKEN_NAME)
            continue;
        for (int t = loop->body.first; t < loop->body.last; t++)
            if (token_same(tokens, t, e) &&
                (token_equals(tokens, t + 1, "=") || token_equals(tokens, t + 1, "+=") ||
                 token_equals(tokens, t + 1, "++") || token_equals(tokens, t - 1, "++") ||
                 token_equals(tokens, t + 1, ";") || token_equals(tokens, t + 1, "/=")))
                return true;
    }
    return false;
}

/* Whether p[...] is an element, of memory behind a pointer or of a shared array. */
static bool is_array_of_numbers(const struct token_list *tokens, int t) {
    struct declaration declared;
    if (token_equals(tokens, token_partner(tokens, t + 1) + 1, "["))
        return false;
    char *name = span_text(tokens, (struct span){t, t + 1});
    bool found = declaration_find(tokens, name, t, &declared) &&
                 (declared.is_pointer != (declared.is_array && declared.is_shared));
    free(name);
    return found;
}

static struct pack *find_pack(struct vector_loop *vector, int name, struct span offset) {
    for (int p = 0; p < vector->count; p++)
        if (token_same(vector->tokens, vector->packs[p].name.first, name) &&
            span_same(vector->tokens, vector->packs[p].offset, offset))
            return &vector->packs[p];
    return NULL;
}

/* Whether the access is an assignment that every iteration makes. */
static bool is_plain_store(const struct vector_loop *vector, int t, struct span index) {
    const struct token_list *tokens = vector->tokens;
    bool braces = token_equals(tokens, vector->loop.body.first, "{");
    struct span inside = {vector->loop.body.first + braces, vector->loop.body.last - braces};
    return token_equals(tokens, index.last + 1, "=") && body_statement(tokens, inside, t) == t;
}

static bool is_modified(const struct token_list *tokens, int close) {
    static const char *const marks[] = {"=",  "+=", "-=", "*=", "/=", "++",
                                        "--", "|=", "^=", "&=", NULL};
    for (int m = 0; marks[m] != NULL; m++)
        if (token_equals(tokens, close + 1, marks[m]))
            return true;
    return false;
}

/* __ldg(&p[INDEX]) and __ldcs(&p[INDEX]), whose p is token t: a pack stands for all of it. */
static bool is_hinted(const struct token_list *tokens, int t, struct span index) {
    return token_equals(tokens, t - 1, "&") && token_equals(tokens, t - 2, "(") &&
           (token_equals(tokens, t - 3, "__ldg") || token_equals(tokens, t - 3, "__ldcs")) &&
           token_equals(tokens, index.last + 1, ")");
}

/* Finds the accesses of a loop that become packs. False if one forbids it: a pointer that is both
   read and written, or written in another way. */
static bool find_packs(struct vector_loop *vector) {
    const struct token_list *tokens = vector->tokens;
    for (int t = vector->loop.body.first; t < vector->loop.body.last; t++) {
        struct span index, offset;
        if (!access_read(tokens, t, &index))
            continue;
        bool written = is_modified(tokens, index.last);
        bool usable = split_index(tokens, &vector->loop, index, &offset) &&
                      !is_local(tokens, &vector->loop, offset) && is_array_of_numbers(tokens, t) &&
                      (!token_equals(tokens, t - 1, "&") || is_hinted(tokens, t, index));
        if (written && usable && !is_plain_store(vector, t, index))
            usable = false;
        struct pack *pack = usable ? find_pack(vector, t, offset) : NULL;
        if (!usable || (pack != NULL && pack->is_store == written))
            continue;
        if (pack != NULL || vector->count == POINTERS_MAX)
            return false; /* read and written: iterations may depend on each other */
        vector->packs[vector->count++] =
            (struct pack){.name = {t, t + 1}, .offset = offset, .is_store = written};
    }
    for (int p = 0; p < vector->count; p++)
        for (int q = 0; q < p; q++)
            if (token_same(tokens, vector->packs[p].name.first, vector->packs[q].name.first) &&
                vector->packs[p].is_store != vector->packs[q].is_store)
                return false;
    return vector->count > 0;
}

/* Whether neighbouring iterations, of one thread or of neighbouring threads, are neighbouring
   elements: a start of 0 and a step of 1, or a thread's number and more threads than that. */
static bool is_dense(const struct token_list *tokens, const struct loop *loop) {
    bool from_zero = span_is(tokens, loop->init, "0");
    if (loop->step.first >= loop->step.last)
        return from_zero;
    if (span_is(tokens, loop->init, "threadIdx.x"))
        return true;
    if (loop->init.last - loop->init.first != 1)
        return false;
    struct declaration declared;
    char *name = span_text(tokens, loop->init);
    bool found = declaration_find(tokens, name, loop->first, &declared) &&
                 span_is(tokens, declared.init, "threadIdx.x");
    free(name);
    return found;
}

/* A pragma without a number is for a loop of a few iterations, which are known. */
static bool has_fixed_pragma(const struct token_list *tokens, const struct loop *loop) {
    int last = loop->first - 1;
    if (!directive_is(tokens, last, "pragma"))
        return false;
    const char *end = tokens->text + tokens->at[last].end;
    return loop->pragma < 0 ||
           (size_t)(end - tokens->text - tokens->at[last].start) <= strlen("#pragma unroll ");
}

static bool read_vector_loop(const struct mutation *mutation, int t, struct vector_loop *vector) {
    *vector = (struct vector_loop){.tokens = &mutation->tokens};
    return loop_read(&mutation->tokens, t, &vector->loop) &&
           !has_fixed_pragma(&mutation->tokens, &vector->loop) &&
           !loop_jumps(&mutation->tokens, &vector->loop) &&
           is_dense(&mutation->tokens, &vector->loop) && find_packs(vector);
}

/* ---- the new source ---- */

/* Replaces what packs stand for by an element of the pack. */
static bool rename_access(void *context, int *t, struct strbuf *out) {
    const struct vector_loop *vector = context;
    struct span index, offset;
    if (access_read(vector->tokens, *t + 3, &index) && is_hinted(vector->tokens, *t + 3, index)) {
        int access = *t + 3;
        if (!rename_access(context, &access, out))
            return false;
        *t = index.last + 1;
        return true;
    }
    if (!access_read(vector->tokens, *t, &index) ||
        !split_index(vector->tokens, &vector->loop, index, &offset))
        return false;
    struct pack *pack = find_pack(context, *t, offset);
    bool address =
        token_equals(vector->tokens, *t - 1, "&") && !is_hinted(vector->tokens, *t, index);
    if (pack == NULL || address ||
        (is_modified(vector->tokens, index.last) && !is_plain_store(vector, *t, index)))
        return false;
    strbuf_print(out, "%s.at[%s]", pack->variable, vector->lane);
    *t = index.last;
    return true;
}

static void print_address(struct strbuf *out, const struct vector_loop *vector,
                          const struct pack *pack, const char *start) {
    char *name = span_text(vector->tokens, pack->name);
    char *offset = span_text(vector->tokens, pack->offset);
    if (*offset != '\0')
        strbuf_print(out, "%s + (%s) + %s", name, offset, start);
    else
        strbuf_print(out, "%s + %s", name, start);
    free(name);
    free(offset);
}

/* Before anything is replaced, so that the loops of a group get the same names: then later
   operators see that they read the same. */
static void choose_names(const struct mutation *mutation, struct vector_loop *vector) {
    struct strbuf start = {0};
    char *variable =
        span_text(vector->tokens, (struct span){vector->loop.variable, vector->loop.variable + 1});
    strbuf_print(&start, "%s_pack_start", variable);
    vector->start = mutation_name(mutation, start.bytes);
    vector->lane = mutation_name(mutation, "lane");
    strbuf_release(&start);
    free(variable);
    for (int p = 0; p < vector->count; p++) {
        struct strbuf base = {0};
        char *name = span_text(vector->tokens, vector->packs[p].name);
        int before = 0;
        for (int q = 0; q < p; q++)
            before += token_same(vector->tokens, vector->packs[q].name.first,
                                 vector->packs[p].name.first);
        strbuf_print(&base, "%s_pack", name);
        if (before > 0)
            strbuf_print(&base, "%d", before + 1);
        vector->packs[p].variable = mutation_name(mutation, base.bytes);
        strbuf_release(&base);
        free(name);
    }
}

static void replace_loop(struct mutation *mutation, struct vector_loop *vector, const char *gene,
                         const char *whole) {
    const struct token_list *tokens = vector->tokens;
    const struct loop *loop = &vector->loop;
    struct strbuf out = {0};
    char *variable = span_text(tokens, (struct span){loop->variable, loop->variable + 1});
    char *type = span_text(tokens, loop->type), *init = span_text(tokens, loop->init);
    char *end = span_text(tokens, loop->end), *body = span_text(tokens, loop->body);
    char *step = loop->step.first < loop->step.last ? span_text(tokens, loop->step) : xstrdup("1");
    const char *start = vector->start, *lane = vector->lane;
    bool from_zero = strcmp(init, "0") == 0;
    char *inside = span_renamed(tokens, loop->body, rename_access, vector);

    char *pragma = loop->pragma >= 0
                       ? span_text(tokens, (struct span){loop->pragma, loop->pragma + 1})
                       : xstrdup("");
    strbuf_print(&out, "{\n%s%s    for (%s %s = ", pragma, *pragma != '\0' ? "\n" : "", type,
                 start);
    if (from_zero)
        strbuf_print(&out, "0; %s < %s; %s += ", start, whole, start);
    else
        strbuf_print(&out, "%s * %s; %s < %s; %s += ", init, gene, start, whole, start);
    if (strcmp(step, "1") == 0)
        strbuf_print(&out, "%s) {\n", gene);
    else
        strbuf_print(&out, "(%s) * %s) {\n", step, gene);
    for (int p = 0; p < vector->count; p++) {
        const struct pack *pack = &vector->packs[p];
        strbuf_print(&out, "        %sauto %s = %s<%s>(", pack->is_store ? "" : "const ",
                     pack->variable, pack->is_store ? "new_pack" : "load_pack", gene);
        print_address(&out, vector, pack, start);
        strbuf_print(&out, ");\n");
    }
    strbuf_print(&out, "#pragma unroll\n        for (int %s = 0; %s < %s; ++%s) {\n", lane, lane,
                 gene, lane);
    if (mentions_identifier(inside, variable))
        strbuf_print(&out, "            const %s %s = %s + %s;\n", type, variable, start, lane);
    strbuf_print(&out, "            %s\n        }\n", inside);
    for (int p = 0; p < vector->count; p++)
        if (vector->packs[p].is_store) {
            strbuf_print(&out, "        store_pack(");
            print_address(&out, vector, &vector->packs[p], start);
            strbuf_print(&out, ", %s);\n", vector->packs[p].variable);
        }
    strbuf_print(&out, "    }\n    for (%s %s = %s%s%s; %s < %s; ", type, variable, whole,
                 from_zero ? "" : " + ", from_zero ? "" : init, variable, end);
    if (strcmp(step, "1") == 0)
        strbuf_print(&out, "++%s)\n", variable);
    else
        strbuf_print(&out, "%s += %s)\n", variable, step);
    strbuf_print(&out, "        %s\n    }", body);
    int first = loop->pragma >= 0 ? loop->pragma : loop->first;
    mutation_replace(mutation, (struct span){first, loop->last}, out.bytes);

    strbuf_release(&out);
    char *const texts[] = {variable, type,          init,         end,    body,
                           step,     vector->start, vector->lane, inside, pragma};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (int p = 0; p < vector->count; p++)
        free(vector->packs[p].variable);
}

/* Takes away packs that cannot be named at `place`. */
static void drop_unknown(struct vector_loop *vector, int place, struct span body) {
    int kept = 0;
    for (int p = 0; p < vector->count; p++) {
        const struct pack *pack = &vector->packs[p];
        if (is_known_at(vector->tokens, pack->name, place, body) &&
            is_known_at(vector->tokens, pack->offset, place, body))
            vector->packs[kept++] = *pack;
    }
    vector->count = is_known_at(vector->tokens, vector->loop.end, place, body) ? kept : 0;
}

/* The parameter of the kernel that is one of two factors of an offset; -1: none. Where it is a
   multiple of the pack, every such offset is, and the condition is the same for all threads. */
static int stride_of(const struct mutation *mutation, struct span offset) {
    const struct token_list *tokens = &mutation->tokens;
    struct span parameters = mutation->kernel.parameters;
    if (offset.last - offset.first != 3 || !token_equals(tokens, offset.first + 1, "*"))
        return -1;
    for (int t = offset.first; t < offset.last; t += 2)
        for (int p = parameters.first; p < parameters.last; p++)
            if (token_kind(tokens, t) == TOKEN_NAME && token_same(tokens, p, t))
                return t;
    return -1;
}

/* const int WHOLE = all pointers are aligned ? END - END % GENE : 0; */
static void declare_whole(struct mutation *mutation, const struct vector_loop *vectors, int count,
                          int place, const char *whole, const char *gene) {
    struct strbuf line = {0};
    const struct token_list *tokens = &mutation->tokens;
    char *end = span_text(tokens, vectors[0].loop.end),
         *type = span_text(tokens, vectors[0].loop.type);
    const struct pack *seen[LOOPS_MAX * POINTERS_MAX];
    int seen_count = 0;
    strbuf_print(&line, "const %s %s = ", type, whole);
    for (int v = 0; v < count; v++)
        for (int p = 0; p < vectors[v].count; p++) {
            const struct pack *pack = &vectors[v].packs[p];
            bool known = false;
            for (int s = 0; s < seen_count; s++)
                known = known || (token_same(tokens, seen[s]->name.first, pack->name.first) &&
                                  span_same(tokens, seen[s]->offset, pack->offset));
            if (known)
                continue;
            int stride = stride_of(mutation, pack->offset);
            char *name = span_text(tokens, stride >= 0 ? (struct span){stride, stride + 1}
                                                       : (struct span){0, 0});
            struct pack start = *pack;
            if (stride >= 0)
                start.offset = (struct span){0, 0};
            strbuf_print(&line, "%sis_aligned<%s>(", seen_count > 0 ? " && " : "", gene);
            print_address(&line, &vectors[v], &start, "0");
            strbuf_print(&line, stride >= 0 ? ") && %s %% %s == 0" : ")", name, gene);
            free(name);
            seen[seen_count++] = pack;
        }
    strbuf_print(&line, "\n        ? (%s) - (%s) %% %s : 0;\n    ", end, end, gene);
    mutation_replace(mutation, (struct span){place, place}, line.bytes);
    strbuf_release(&line);
    free(end);
    free(type);
}

static void vectorize_loops(struct mutation *mutation, struct vector_loop *vectors, int count,
                            int place) {
    char *gene =
        mutation_gene(mutation, "VECTOR", "elements of a load or store", "1, 2, 4, 8", "4");
    char *whole = mutation_name(mutation, "whole_packs");
    for (int v = 0; v < count; v++)
        choose_names(mutation, &vectors[v]);
    mutation_declare_once(mutation, "load_pack", helpers);
    declare_whole(mutation, vectors, count, place, whole, gene);
    for (int v = 0; v < count; v++)
        replace_loop(mutation, &vectors[v], gene, whole);
    mutation_set_place(mutation, vectors[0].loop.first);
    free(gene);
    free(whole);
}

bool loop_can_vectorize(const struct mutation *mutation, int t) {
    struct vector_loop vector;
    int place = body_statement(&mutation->tokens, mutation->kernel.body, t);
    if (place < 0 || !read_vector_loop(mutation, t, &vector))
        return false;
    drop_unknown(&vector, place, mutation->kernel.body);
    return vector.count > 0;
}

/* A site is a group of loops with the same header: they get one gene, so that what one of them
   keeps serves the others. */
bool apply_vectorize(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct span body = mutation->kernel.body;
    bool *taken = xcalloc((size_t)tokens->count + 1, sizeof *taken), done = false;
    struct vector_loop *vectors = xcalloc(LOOPS_MAX, sizeof *vectors);
    for (int t = body.first; t < body.last && !done; t++) {
        int place = body_statement(tokens, body, t), count = 0;
        if (taken[t] || place < 0 || !read_vector_loop(mutation, t, &vectors[0]))
            continue;
        for (int other = t; other < body.last && count < LOOPS_MAX; other++) {
            struct vector_loop *vector = &vectors[count];
            if (!read_vector_loop(mutation, other, vector) ||
                !span_same(tokens, vector->loop.header, vectors[0].loop.header))
                continue;
            taken[other] = true;
            drop_unknown(vector, place, body);
            count += vector->count > 0;
            other = vector->loop.last - 1;
        }
        if (count > 0 && site-- == 0) {
            vectorize_loops(mutation, vectors, count, place);
            done = true;
        }
    }
    free(taken);
    free(vectors);
    return done;
}
