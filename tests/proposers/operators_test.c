/* Every operator of mutate has a text that it changes, in the way that is expected, and one that it
   must leave alone; comments, texts and macros are never changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "proposers/operators/operators.h"

#define HEAD  "extern \"C\" __global__ void f(const float *x, float *y, int n) {\n"
#define ROW   HEAD "    const int thread = threadIdx.x;\n"
#define PASS  "    for (int i = thread; i < n; i += THREADS)\n"
#define PAIRS "    for (int i = 2 * thread; i < n; i += 2 * THREADS)\n"
#define TREE(combine)                                                                              \
    HEAD                                                                                           \
        "    __shared__ float part[THREADS];\n    const int t = threadIdx.x;\n    float v = "      \
        "x[t];\n"                                                                                  \
        "    part[t] = v;\n    __syncthreads();\n"                                                 \
        "    for (int h = THREADS / 2; h > 0; h /= 2) {\n        if (t < h)\n            " combine \
        "\n        __syncthreads();\n    }\n    v = part[0];\n    y[t] = v;\n}\n"

#define SOLUTION                                                                                   \
    "{ // a solution\n  \"genes\": { \"THREADS\": { \"values\": [64, 128, 256], \"default\": 64 "  \
    "} },\n"                                                                                       \
    "  \"source\": \"kernel.cu\",\n  \"launches\": [ { \"kernel\": \"f\", \"grid\": "              \
    "[\"ceil_div(N, "                                                                              \
    "THREADS)\", 1, 1], \"block\": [\"THREADS\", 1, 1], \"arguments\": [\"x\"] } ]\n}\n"

/* Blocks of BX times BY threads, and a product of matrices for them. */
#define FLAT(third)                                                                                \
    "{ \"genes\": { \"BX\": { \"values\": [32], \"default\": 32 }, \"BY\": { \"values\": [8], "    \
    "\"default\": 8 } },\n  \"source\": \"kernel.cu\", \"launches\": [ { \"kernel\": \"f\", "      \
    "\"grid\": [\"ceil_div(N, BX)\", \"ceil_div(M, BY)\", 1], \"block\": [\"BX\", " third          \
    ", 1] } ] }"
#define PRODUCT(guard, loop)                                                                       \
    "extern \"C\" __global__ void f(const float *a, const float *b, float *y, int m, int n, int "  \
    "d) {\n    const int c = blockIdx.x * BX + threadIdx.x;\n    const int r = blockIdx.y * BY + " \
    "threadIdx.y;\n    " guard "\n    float s = 0.0f;\n    " loop "\n    y[r * n + c] = s;\n}\n"
#define GUARD "if (r >= m || c >= n)\n        return;"
#define TERMS "for (int k = 0; k < d; ++k)\n        "

static const struct row {
    const char *entry, *source, *solution; /* a solution of NULL is SOLUTION */
    const char *expected; /* in the source or solution afterwards; NULL: it must not apply */
} rows[] = {
    {"vectorize", ROW PASS "        y[i] = 2.0f * x[i];\n}\n", NULL,
     "load_pack<VECTOR>(x + i_pack_start)"},
    {"vectorize", ROW PASS "        y[i] = 2.0f * x[i];\n}\n", NULL,
     "store_pack(y + i_pack_start, y_pack);"},
    {"vectorize",
     HEAD "    float s = 0;\n    for (int k = 0; k < n; ++k)\n        s += x[3 * n + k];\n    y[0] "
          "= s;\n}\n",
     NULL, "s += x_pack.at[lane];"},
    {"vectorize",
     "constexpr int four = 4;\n" ROW "#pragma unroll four\n" PASS "        y[i] = x[i];\n}\n", NULL,
     "#pragma unroll four\n    for (int i_pack_start = thread * VECTOR;"},
    {"vectorize", ROW PASS "        y[i] = __ldg(&x[i]);\n}\n", NULL,
     "y_pack.at[lane] = x_pack.at[lane];"},
    {"vectorize", ROW PASS "        y[i] = atomicAdd(&x[i], 1.0f);\n}\n", NULL, "atomicAdd(&x[i]"},
    /* an index that is no neighbour, a short loop, an array of arrays, a loop with a break, another
       start, one in place */
    {"vectorize", ROW PASS "        y[2 * i] = x[i * 4];\n}\n", NULL, NULL},
    {"vectorize", ROW PASS "    {\n        if (x[i] > 1.0f)\n            break;\n    }\n}\n", NULL,
     NULL},
    {"vectorize", HEAD "#pragma unroll\n    for (int i = 0; i < 4; ++i)\n        y[i] = x[i];\n}\n",
     NULL, NULL},
    {"vectorize",
     ROW "    __shared__ float s[4][4];\n    float v = 0;\n    for (int i = 0; i < n; ++i)\n"
         "        v += s[i][0];\n}\n",
     NULL, NULL},
    {"vectorize", HEAD "    for (int i = 5; i < n; ++i)\n        y[i] = x[i];\n}\n", NULL, NULL},
    {"vectorize", HEAD "    for (int i = 0; i < n; ++i)\n        y[i] = y[i] + 1.0f;\n}\n", NULL,
     NULL},
    {"vectorize", ROW PASS "        if (i % 3 == 0)\n            y[i] = 1.0f;\n}\n", NULL, NULL},

    {"keep_in_registers",
     ROW "    float a = 0, b = 0;\n" PAIRS "        a += x[i];\n" PAIRS
         "        b += x[i] * a;\n}\n",
     NULL, "kept[kept_number] = x[i];"},
    {"keep_in_registers",
     ROW "    float a = 0;\n" PAIRS "        a += __ldg(&x[i]);\n" PAIRS
         "        y[i] = __ldg(&x[i]) * a;\n}\n",
     NULL, "kept[kept_number] = __ldg(&x[i]);"},
    {"keep_in_registers", ROW "    float a = 0;\n" PAIRS "        a += x[i];\n    y[0] = a;\n}\n",
     NULL, NULL},
    {"keep_in_registers",
     ROW "    float a = 0;\n" PAIRS "        a += y[i];\n" PAIRS "        y[i] = y[i] * a;\n}\n",
     NULL, NULL},
    {"keep_in_registers",
     HEAD "    float a = 0, b = 0;\n    for (int i = 0; i < n; ++i)\n        a += x[i];\n"
          "    for (int i = 0; i < n; ++i)\n        b += x[i] * a;\n}\n",
     NULL, NULL},
    /* packs are kept where packs can be made */
    {"keep_in_registers",
     ROW "    float a = 0, b = 0;\n" PASS "        a += x[i];\n" PASS "        b += x[i] * a;\n}\n",
     NULL, NULL},

    {"stage_in_shared",
     ROW "    float a = 0, b = 0;\n" PASS "        a += x[i];\n" PASS "        b += x[i] * a;\n}\n",
     NULL, "(i < STAGED ? staged[i] : x[i])"},
    {"stage_in_shared", ROW PASS "        y[i] = x[i];\n}\n", NULL, NULL},

    {"warp_shuffle", TREE("part[t] = fmaxf(part[t], part[t + h]);"), NULL,
     "reduced = fmaxf(reduced, other);"},
    {"warp_shuffle", TREE("part[t] += part[h + t];"), NULL, "reduced += part[warp];"},
    {"warp_shuffle", TREE("part[t] = part[t] + part[t + 1];"), NULL, NULL},
    {"warp_shuffle", TREE("part[t] = part[t] + x[t + h];"), NULL, NULL},

    {"coarsen",
     HEAD "    const int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i >= n)\n        "
          "return;\n    y[i] = x[i];\n}\n",
     NULL, "ceil_div(ceil_div(N, THREADS), EACH_X)"},
    {"coarsen",
     HEAD "    const int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i >= n)\n        "
          "return;\n    y[i] = x[i];\n}\n",
     NULL, "(blockIdx.x * EACH_X + each)"},
    /* barriers before the guard: each element has a copy of what is shared and depends on it */
    {"coarsen",
     HEAD "    int i = blockIdx.x * THREADS + threadIdx.x;\n    const bool in = i < n;\n"
          "    i = i < n ? i : 0;\n    __shared__ float s[THREADS];\n    s[threadIdx.x] = x[i];\n"
          "    __syncthreads();\n    if (!in)\n        return;\n    y[i] = s[0];\n}\n",
     NULL, "s[each][threadIdx.x] = x[i[each]];"},
    /* the same without the clamp, which reads outside of x; a store and a barrier that only some
       elements reach */
    {"coarsen",
     HEAD "    int i = blockIdx.x * THREADS + threadIdx.x;\n    const bool in = i < n;\n"
          "    const float v = x[i];\n    if (!in)\n        return;\n    y[i] = v;\n}\n",
     NULL, NULL},
    {"coarsen",
     HEAD "    int i = blockIdx.x * THREADS + threadIdx.x;\n    i = i < n ? i : 0;\n    y[i] = 0;\n"
          "    if (i >= n)\n        return;\n    y[i] = x[i];\n}\n",
     NULL, NULL},
    {"coarsen",
     HEAD
     "    int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i < n)\n        __syncthreads();\n"
     "    if (i >= n)\n        return;\n    y[i] = x[i];\n}\n",
     NULL, NULL},
    /* no guard; a barrier; a grid that the kernel looks at */
    {"coarsen", HEAD "    const int i = blockIdx.x * THREADS + threadIdx.x;\n    y[i] = x[i];\n}\n",
     NULL, NULL},
    {"coarsen",
     HEAD
     "    const int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i >= n)\n        return;\n"
     "    __syncthreads();\n    y[i] = x[i];\n}\n",
     NULL, NULL},
    {"coarsen",
     HEAD
     "    const int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i >= n)\n        return;\n"
     "    y[i] = gridDim.x;\n}\n",
     NULL, NULL},

    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += a[r * d + k] * b[k * n + c];"), FLAT("\"BY\""),
     "s += a_tile[k_in][threadIdx.y] * b_tile[k_in][threadIdx.x];"},
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += a[r * d + k] * b[k * n + c];"), FLAT("\"BY\""),
     "    r = r < m ? r : 0;"},
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += a[r * d + k] * b[k * n + c];"), FLAT("\"BY\""),
     "    if (!live || !live2)\n        return;"},
    {"tile_in_shared", PRODUCT("", TERMS "s += half_to_float(a[r * d + k]) * (float)k;"),
     FLAT("\"BY\""), "a_tile[k_in][threadIdx.y] = half_to_float(a[r * d + k]);"},
    {"tile_in_shared", PRODUCT("", TERMS "for (int e = 0; e < 4; ++e)\n s += a[(r + e) * d + k];"),
     FLAT("\"BY\""), "a_tile[k_in][threadIdx.y * 4 + e]"},
    {"tile_in_shared",
     PRODUCT(GUARD, "for (int k = 0; k < BX; ++k)\n        s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    /* threads that would miss a barrier: a way out in a branch, a store before the way out, a loop
       whose length is not the block's, one below a condition, jumps */
    {"tile_in_shared",
     PRODUCT("if (c < n) { if (r >= m) return; }", TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT("if (c >= n) { if (r >= m) return; }", TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT(GUARD "\n    y[r * n + c] = 1.0f;", TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT("if (r >= m && c >= n) return;", TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared", PRODUCT("if (c % 2) return;", TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT(GUARD, "for (int k = 0; k < r; ++k)\n        s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT("int last = d;\n    for (int i = 0; i < c; ++i)\n        last = 2 * last;",
             "for (int k = 0; k < last; ++k)\n        s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared", PRODUCT(GUARD, "if (n > 3)\n    " TERMS "s += a[r * d + k] * b[k * n + c];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT(GUARD, TERMS "{ s += a[r * d + k] * b[k * n + c]; if (s > 9.0f) break; }"),
     FLAT("\"BY\""), NULL},
    /* what is not constant in the loop: a store, a pointer to what others may write, a row or an
       end that moves */
    {"tile_in_shared", PRODUCT(GUARD, TERMS "y[k] = a[r * d + k] * b[k * n + c];"), FLAT("\"BY\""),
     NULL},
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += y[r * d + k];"), FLAT("\"BY\""), NULL},
    {"tile_in_shared", PRODUCT("int q = r;", TERMS "s += a[q * d + k], q = m - q;"), FLAT("\"BY\""),
     NULL},
    {"tile_in_shared",
     PRODUCT("int q = d;", "for (int k = 0; k < q; ++k)\n s += a[r * d + k], q--;"), FLAT("\"BY\""),
     NULL},
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += a[r * d + k++];"), FLAT("\"BY\""), NULL},
    /* addresses that neighbours do not share: of both axes, by a detour, by a function, in a block
       of one row */
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += a[(r + c) * d + k];"), FLAT("\"BY\""), NULL},
    {"tile_in_shared",
     PRODUCT("int q = r;\n    if (c > 3)\n        q = 2;", TERMS "s += a[q * d + k];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared", PRODUCT("const int q = r + rank();", TERMS "s += a[q * d + k];"),
     FLAT("\"BY\""), NULL},
    {"tile_in_shared", PRODUCT(GUARD, TERMS "s += b[k * n + c];"), FLAT("1"), NULL},

    {"unroll", ROW PASS "        y[i] = x[i];\n}\n", NULL, "#pragma unroll unroll_factor"},
    {"unroll", ROW "#pragma unroll 1\n" PASS "        y[i] = x[i];\n}\n", NULL, NULL},
    {"unroll", HEAD "    // for (int i = 0; i < n; ++i)\n    y[0] = x[0];\n}\n", NULL, NULL},

    {"loop_order",
     HEAD "    for (int i = 0; i < n; ++i)\n        for (int j = 0; j < 4; ++j)\n            y[j] "
          "= x[i];\n}\n",
     NULL, "for (int j = 0; j < 4; ++j)\n        for (int i = 0; i < n; ++i)"},
    {"loop_order",
     HEAD "    for (int i = 0; i < n; ++i)\n        for (int j = 0; j < i; ++j)\n            y[j] "
          "= x[i];\n}\n",
     NULL, NULL},
    {"loop_order",
     HEAD
     "    for (int i = 0; i < n; ++i) {\n        y[i] = 0;\n        for (int j = 0; j < 4; ++j)\n"
     "            y[j] = x[i];\n    }\n}\n",
     NULL, NULL},

    {"literal_to_gene", "constexpr int tile = 16;\n" HEAD "}\n", NULL,
     "constexpr int tile = TILE;"},
    {"literal_to_gene", "constexpr int tile = THREADS;\n" HEAD "}\n", NULL, NULL},
    {"literal_to_gene", "// constexpr int tile = 16;\n" HEAD "}\n", NULL, NULL},

    {"read_only", ROW "    y[thread] = x[thread];\n}\n", NULL, "= __ldg(&x[thread]);"},
    {"read_only", HEAD "    y[0] += y[1];\n}\n", NULL, NULL},
    {"read_only",
     "struct pair { float a; };\nextern \"C\" __global__ void f(const pair *x, float *y) {\n    "
     "pair p = x[0];\n}\n",
     NULL, NULL},
    {"read_once", ROW "    y[thread] = x[thread];\n}\n", NULL, "= __ldcs(&x[thread]);"},
    {"read_once", HEAD "    const char *s = \"x[0]\"; // x[0]\n}\n", NULL, NULL},
    {"write_once", ROW "    y[thread] = x[thread];\n}\n", NULL, "__stcs(&y[thread], x[thread]);"},
    {"write_once", ROW "    y[thread] += x[thread];\n}\n", NULL, NULL},

    {"restrict", HEAD "}\n", NULL, "const float *__restrict__ x, float *__restrict__ y"},
    {"restrict", "extern \"C\" __global__ void f(const float *__restrict__ x, int n) {\n}\n", NULL,
     NULL},

    {"launch_bounds", HEAD "}\n", NULL, "void __launch_bounds__(THREADS, MIN_BLOCKS) f("},
    {"launch_bounds", "extern \"C\" __global__ void __launch_bounds__(64) f(int n) {\n}\n", NULL,
     NULL},
    {"launch_bounds", HEAD "}\n",
     "{ \"launches\": [ { \"kernel\": \"f\", \"grid\": [1, 1, 1], \"block\": [\"ROWS\", 1, 1] } ] "
     "}",
     NULL},

    {"fast_functions", HEAD "    y[0] = expf(x[0]);\n}\n", NULL, "__expf(x[0])"},
    {"fast_functions", HEAD "    y[0] = exp2f(x[0]) + __expf(x[1]); // expf(x)\n}\n", NULL, NULL},
    {"reciprocal_root", HEAD "    y[0] = x[0] / sqrtf(x[1]);\n}\n", NULL, "x[0] * rsqrtf(x[1])"},
    {"reciprocal_root", HEAD "    y[0] = sqrtf(x[1]) / x[0];\n}\n", NULL, NULL},

    {"hoist_division", ROW "    float s = x[0];\n" PASS "        y[i] = x[i] / s;\n}\n", NULL,
     "const float inverse = 1.0f / s;"},
    {"hoist_division", ROW "    float s = x[0];\n" PASS "        y[i] = x[i] / s;\n}\n", NULL,
     "y[i] = x[i] * inverse;"},
    /* whole numbers, a divisor that changes, one in memory */
    {"hoist_division", ROW "    int s = n;\n" PASS "        y[i] = i / s;\n}\n", NULL, NULL},
    {"hoist_division",
     ROW "    float s = x[0];\n" PASS "        { y[i] = x[i] / s; s += 1.0f; }\n}\n", NULL, NULL},
    {"hoist_division", ROW PASS "        y[i] = 1.0f / x[i];\n}\n", NULL, NULL},

    {"register_limit", HEAD "}\n", NULL,
     "{ \"option\": \"--maxrregcount=64\", \"when\": \"REGISTERS == 64\" }"},
    {"register_limit", HEAD "}\n",
     "{ \"options\": [ { \"option\": \"--maxrregcount=32\", \"when\": \"1\" } ] }", NULL},
    {"load_cache", HEAD "}\n", NULL,
     "\"--ptxas-options=-dlcm=cg\", \"when\": \"LOAD_CACHE == cg\""},
    {"load_cache", HEAD "}\n",
     "{ \"options\": [ { \"option\": \"--ptxas-options=-dlcm=ca\", \"when\": \"1\" } ] }", NULL},
    {"fast_math_option", HEAD "}\n", NULL, "\"--use_fast_math\", \"when\": \"FAST_MATH == 1\""},
    {"fast_math_option", HEAD "}\n",
     "{ \"options\": [ { \"option\": \"--ftz=true\", \"when\": \"1\" } ] }", NULL},

    {"block_sizes", HEAD "}\n", NULL, "[64, 96, 128, 192, 256]"},
    {"larger_values", HEAD "}\n",
     "{ \"genes\": { \"DEPTH\": { \"values\": [4, 8, 16], \"default\": 8 } }, \"launches\": [ { "
     "\"kernel\": \"f\", \"block\": [32, 1, 1] } ] }",
     "[4, 8, 16, 32]"},
    {"larger_values", HEAD "}\n", NULL, NULL}, /* a block's */
    {"larger_values", HEAD "}\n",
     "{ \"genes\": { \"KEEP\": { \"values\": [4, 8, 12], \"default\": 8 } }, \"launches\": [ { "
     "\"kernel\": \"f\", \"block\": [32, 1, 1] } ] }",
     NULL},
    {"block_sizes", TREE("part[t] += part[t + h];"), NULL, NULL},
};

static const struct edit_operator *find_operator(const char *name) {
    for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    fail_msg("%s is no operator", name);
    return NULL;
}

static void test_rows(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct row *row = &rows[r];
        const char *solution = row->solution != NULL ? row->solution : SOLUTION;
        struct mutation mutation;
        struct error error = {0};
        assert_int_equal(mutation_init(&mutation, row->source, solution, &error), 0);
        bool applies = find_operator(row->entry)->apply(&mutation, 0);
        if (applies != (row->expected != NULL))
            fail_msg("%s %s: %s", row->entry, applies ? "must not apply" : "must apply",
                     row->source);
        if (!applies)
            assert_int_equal(mutation.source_edits.count + mutation.solution_edits.count, 0);
        char *source = edit_list_apply(row->source, &mutation.source_edits);
        char *after = edit_list_apply(solution, &mutation.solution_edits);
        assert_non_null(source);
        assert_non_null(after);
        if (applies && strstr(source, row->expected) == NULL &&
            strstr(after, row->expected) == NULL)
            fail_msg("%s: no \"%s\" in\n%s\n%s", row->entry, row->expected, source, after);
        struct json_document document; /* solution.json stays JSON, comments and all */
        assert_int_equal(json_read_text(&document, "solution.json", after, &error), 0);
        json_release(&document);
        free(source);
        free(after);
        mutation_release(&mutation);
    }
}

/* Each operator occurs in the table above, both ways; its sites end, and its words are there. */
static void test_every_operator(void **state) {
    (void)state;
    for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++) {
        int applies = 0, refuses = 0;
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            if (strcmp(rows[r].entry, entry->name) != 0)
                continue;
            applies += rows[r].expected != NULL;
            refuses += rows[r].expected == NULL;
        }
        if (applies == 0 || refuses == 0)
            fail_msg("%s needs a text that it changes and one that it leaves", entry->name);
        assert_true(entry->weight > 0);
        assert_non_null(strstr(entry->hypothesis, entry->name));
        assert_true(strlen(entry->applies) > 10);
    }
}

/* Code in comments, texts and directives is not code. */
static void test_no_code(void **state) {
    static const char source[] =
        "#define LOOP for (int i = 0; i < n; ++i) y[i] = expf(x[i]) / sqrtf(x[i]);\n"
        "#pragma message(\"constexpr int tile = 16;\")\n"
        "// constexpr int tile = 16; expf(1.0f)\n" HEAD
        "    /* for (int i = thread; i < n; i += THREADS) y[i] = x[i] / s; */\n"
        "    const char *s = \"y[0] = expf(x[0]);\", *r = R\"(for (int i = 0; i < n; ++i) y[i] = "
        "x[i];)\";\n"
        "}\n";
    (void)state;
    for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++) {
        struct mutation mutation;
        struct error error = {0};
        assert_int_equal(mutation_init(&mutation, source, SOLUTION, &error), 0);
        if (entry->apply(&mutation, 0) && mutation.source_edits.count > 0 &&
            strcmp(entry->name, "restrict") != 0 && strcmp(entry->name, "launch_bounds") != 0)
            fail_msg("%s changes what is no code: %s", entry->name,
                     mutation.source_edits.edits[0].text);
        mutation_release(&mutation);
    }
}

/* Names are taken from neither the source nor the genes. */
static void test_names(void **state) {
    struct mutation mutation;
    struct error error = {0};
    (void)state;
    assert_int_equal(
        mutation_init(&mutation, "constexpr int VECTOR = 1;\n" HEAD "}\n", SOLUTION, &error), 0);
    char *first = mutation_gene(&mutation, "VECTOR", "a", "1, 2", "1");
    char *second = mutation_gene(&mutation, "VECTOR", "a", "1, 2", "1");
    char *third = mutation_gene(&mutation, "THREADS", "a", "1, 2", "1");
    assert_string_equal(first, "VECTOR_2");
    assert_string_equal(second, "VECTOR_3");
    assert_string_equal(third, "THREADS_2");
    free(first);
    free(second);
    free(third);
    mutation_release(&mutation);
}

static void test_no_solution(void **state) {
    struct mutation mutation;
    struct error error = {0};
    (void)state;
    assert_int_equal(mutation_init(&mutation, "int a;\n", SOLUTION, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_int_equal(mutation_init(&mutation, HEAD "}\n", "[]", &error), -1);
    assert_int_equal(mutation_init(&mutation, HEAD "}\n", "{", &error), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_no_code),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
