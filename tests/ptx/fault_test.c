/* Faults are detected and reported with their source location. */
#include "ptx/harness.h"

/* Line 10 of each source is the faulty one. */
#define CUDA_HEAD                                                                                  \
    "\n\n\n\n\n\n\n"                                                                               \
    "extern \"C\" __global__ void faulty(float *x, int n) {\n"                                     \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x; extern __shared__ float smem[];\n"

static const struct {
    const char *what, *body;
    int n;
    enum ptx_fault_kind kind;
    const char *expected_text; /* part of the text */
    int thread;                /* x of the faulty thread, or -1: any */
} faulty_sources[] = {
    {"a store past the end", "x[i + n] = 1;", 1, PTX_FAULT_STORE,
     "stored 4 bytes to global memory at", 63},
    {"nothing wrong", "x[i + n] = 1;", 0, PTX_FAULT_NONE, "", -1},
    {"a load before the start", "x[i] = x[i - n];", 1, PTX_FAULT_LOAD,
     "4 bytes before the start of 'x'", 0},
    {"a misaligned vector", "*(float2 *)(x + n) = make_float2(1, 2);", 1, PTX_FAULT_MISALIGNED,
     "not a multiple of 8", 0},
    {"a null pointer", "*(float *)(4096ull * n) = 1;", 1, PTX_FAULT_STORE, "not in any allocation",
     0},
    {"past shared memory", "smem[i * n] = 1; __syncthreads(); x[i] = smem[i];", 5, PTX_FAULT_STORE,
     "out of bounds (256 bytes)", 13},
    {"an endless loop", "while (n) { x[0] += 1; }", 1, PTX_FAULT_TIMEOUT, "endless loop?", -1},
    {"a barrier that not all reach", "if (i < 32) asm volatile(\"bar.sync 1, 64;\"); x[i] = n;", 1,
     PTX_FAULT_DEADLOCK, "waits forever at barrier 1", 0},
    {"a shuffle that not all reach",
     "if (i % 32 < 16) x[i] = __shfl_sync(~0u, n, 1); else asm volatile(\"bar.sync 1, 64;\");", 1,
     PTX_FAULT_DEADLOCK, "waits forever", -1},
    {"a member mask without its caller", "x[i] = __shfl_sync(1, i, 0);", 1,
     PTX_FAULT_LANES_DISAGREE, "does not include its lane", 1},
    {"trap", "if (i == 5) __trap();", 1, PTX_FAULT_TRAP, "executed trap", 5},
    {"half a warp at ldmatrix",
     "unsigned r; if (i < 16) { asm volatile(\"ldmatrix.sync.aligned.m8n8.x1."
     "shared.b16 {%0}, [%1];\" : \"=r\"(r) : \"r\"(0)); x[i] = r; }",
     1, PTX_FAULT_LANES_DISAGREE, "all 32 are required", 0},
    {"metadata that names a place twice",
     "unsigned e = i == 53 ? 0xe5e4e4e4 : i % 4 == 1 ? 0xe4e4e4e4 : 0; float d = 0; "
     "asm volatile(\"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     "{%0,%0,%0,%0}, {%1,%1}, {%1,%1}, {%0,%0,%0,%0}, %1, 1;\" : \"+f\"(d) : \"r\"(e)); x[i] = d;",
     1, PTX_FAULT_UNDEFINED, "0xe5e4e4e4: 0x5 does not select two positions in ascending order",
     53},
};

static void test_faults(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof faulty_sources / sizeof *faulty_sources; i++) {
        char source[2048];
        struct harness harness;
        snprintf(source, sizeof source, CUDA_HEAD "    %s\n}\n", faulty_sources[i].body);
        harness_open_cuda(&harness, source, "sm_80");
        harness_buffer(&harness, "before", 64, NULL);
        uint64_t x = harness_buffer(&harness, "x", 64 * 4, NULL);
        harness_buffer(&harness, "behind", 64, NULL);
        harness_argument(&harness, &x, 8);
        harness_argument(&harness, &faulty_sources[i].n, 4);
        harness.launch.smem_bytes = 256;
        harness.launch.step_limit = 100000;
        int result = harness_try(&harness, "faulty", 1, 64);
        const struct ptx_fault *fault = &harness.fault;
        if (fault->kind != faulty_sources[i].kind ||
            !strstr(fault->text, faulty_sources[i].expected_text) ||
            result != (fault->kind ? -1 : 0))
            fail_msg("%s: %d, %s", faulty_sources[i].what, (int)fault->kind, fault->text);
        if (fault->kind && fault->line != 10)
            fail_msg("%s: line %d, %s", faulty_sources[i].what, fault->line, fault->text);
        if (fault->kind && !strstr(fault->text, "kernel.cu:10"))
            fail_msg("%s: %s", faulty_sources[i].what, fault->text);
        if (faulty_sources[i].thread >= 0)
            assert_int_equal(fault->thread[0], faulty_sources[i].thread);
        harness_close(&harness);
    }
}

static void test_out_of_bounds_names_the_tensor(void **unused) {
    (void)unused;
    struct harness harness;
    int n = 1;
    harness_open_cuda(&harness, CUDA_HEAD "    x[i + n] = 1;\n}\n", "sm_80");
    uint64_t x = harness_buffer(&harness, "x", 64 * 4, NULL);
    harness_argument(&harness, &x, 8);
    harness_argument(&harness, &n, 4);
    assert_int_equal(harness_try(&harness, "faulty", 2, 32), -1);
    assert_non_null(strstr(harness.fault.file, "kernel.cu"));
    assert_int_equal(harness.fault.block[0], 1);
    assert_int_equal(harness.fault.thread[0], 31);
    assert_int_equal(harness.fault.address, x + 256);
    assert_non_null(strstr(harness.fault.text,
                           "faulty at kernel.cu:10: thread (31,0,0) of block (1,0,0) stored 4 "
                           "bytes to global memory at"));
    assert_non_null(strstr(harness.fault.text, "0 bytes past the end of 'x' (256 bytes)"));
    harness_close(&harness);
}

static void test_inlined_places_name_their_caller(void **unused) {
    (void)unused;
    struct harness harness;
    int n = 1;
    harness_open_cuda(&harness,
                      "__device__ __forceinline__ void put(float *x, int i) {\n"
                      "    x[i] = 1;\n}\n"
                      "extern \"C\" __global__ void faulty(float *x, int n) {\n\n"
                      "    put(x, threadIdx.x + n);\n}\n",
                      "sm_80");
    uint64_t x = harness_buffer(&harness, "x", 32 * 4, NULL);
    harness_argument(&harness, &x, 8);
    harness_argument(&harness, &n, 4);
    assert_int_equal(harness_try(&harness, "faulty", 1, 32), -1);
    if (!strstr(harness.fault.text, "kernel.cu:2, inlined at kernel.cu:6"))
        fail_msg("%s", harness.fault.text);
    harness_close(&harness);
}

static void test_use_after_release(void **unused) {
    (void)unused;
    struct ptx_memory *memory = ptx_memory_new();
    uint64_t first = ptx_memory_allocate(memory, "first", 100);
    uint64_t second = ptx_memory_allocate(memory, "second", 100);
    assert_true(first % 512 == 0 && second > first + 100);
    assert_non_null(ptx_memory_host_bytes(memory, first, 100));
    assert_non_null(ptx_memory_host_bytes(memory, first + 99, 1));
    assert_null(ptx_memory_host_bytes(memory, first + 99, 2));
    assert_null(ptx_memory_host_bytes(memory, first - 1, 1));
    assert_null(ptx_memory_host_bytes(memory, first, UINT64_MAX));
    ptx_memory_release(memory, first);
    assert_null(ptx_memory_host_bytes(memory, first, 1));
    assert_true(ptx_memory_allocate(memory, "third", 1) > second);
    ptx_memory_free(memory);
}

/* ---- invalid PTX ---- */

static const struct {
    const char *text, *expected_text;
} broken[] = {
    {"hello", "PTX line 1"},
    {".version 8.0\n.target sm_80\n.address_size 32\n", "64-bit addresses"},
    {".entry k() {", "not the end"},
    {".entry k() { mov.u32 %r1", "PTX line 1"},
    {".global .align 3 .u32 x;", "power of two"},
    {".global .b8 x[99999999999999999999];", "integer of at most"},
    {".global .b8 x[67108864][64];", "smaller variable"},
    {".shared .pred x;", "predicates"},
    {".global .u32 x[2] = {1, 2, 3};", "does not fit"},
    {".global .u64 x = y;", "value 0 of 'x'"},
    {".entry k() { .reg .b32 %r<99999999>; }", "integer of at most"},
    {"\x01", "expected"},
};

static void test_broken_text(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct ptx_memory *memory = ptx_memory_new();
        struct error error = {0};
        struct ptx_module *module = ptx_module_new(broken[i].text, memory, &error);
        if (module || !strstr(error.text, broken[i].expected_text))
            fail_msg("%s: %s", broken[i].text, error.text);
        ptx_memory_free(memory);
    }
}

/* A kernel that cannot be decoded faults at launch, with the reason. */
static const struct {
    const char *body, *expected_text;
} unknown[] = {
    {"frobnicate.u32 %r1, %r2;", "'frobnicate.u32': unsupported opcode or form"},
    {"add.u33 %r1, %r2, %r3;", "'add.u33'"},
    {"ld.global.sideways.u32 %r1, [%rd1];", "unsupported modifier '.sideways'"},
    {"mov.u32 %r1, %r99;", "'%r99' is not declared"},
    {"mov.u32 %r1, %envreg7;", "'%envreg7' is not declared"},
    {"add.u32 %r1, %r2;", "has 2 operands"},
    {"bra nowhere;", "undefined label: 'nowhere'"},
    {"a: a: ret;", "defined twice"},
    {"add.u64 %rd1, %r1, %rd1;", "wrong size"},
    {"@%r1 bra a; a: ret;", "guard is not a predicate"},
    {"mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32 {%r1}, {%r1}, {%r1}, {%r1};", "shape"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, "
     "%r1}, {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, %r1}, %r1, 2;",
     "operand 6 is not an integer below 2"},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s8.s32 {%r1}, {%r1}, {%r1}, {%r1};", "shape"},
    {"call f; ret;", "'f' is not declared"},
    {"call %r1; ret;", "wrong size"},
};

static void test_unknown_forms(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char text[1024];
        struct harness harness;
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"source.cu\"\n"
                 ".entry k() { .reg .b32 %%r<9>; .reg .b64 %%rd<9>;\n.loc 1 77 3\n%s\n}\n"
                 ".entry fine() { ret; }\n",
                 unknown[i].body);
        harness_open(&harness, text);
        assert_int_equal(harness_try(&harness, "k", 1, 32), -1);
        assert_int_equal(harness.fault.kind, PTX_FAULT_UNKNOWN_OPCODE);
        if (!strstr(harness.fault.text, unknown[i].expected_text))
            fail_msg("%s: %s", unknown[i].body, harness.fault.text);
        if (i < 5)
            assert_non_null(strstr(harness.fault.text, "source.cu:77"));
        harness_run(&harness, "fine", 1, 32);
        harness_close(&harness);
    }
}

/* Calls that decode but fail when executed. */
static void test_failing_calls(void **unused) {
    (void)unused;
    static const struct {
        const char *body, *expected_text;
    } rows[] = {
        {"call f; ret;", "overflowed its stack of 8192 bytes"},
        {"mov.u64 %rd1, 5; call %rd1; ret;", "called 0x5, which is not a function"},
        {"mov.u64 %rd1, g; call %rd1; ret;", "not a function with these parameters"},
        {"mov.u64 %rd1, f; add.u64 %rd1, %rd1, 1; P: .callprototype _ (); call %rd1, P; ret;",
         "not a function with these"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        struct harness harness;
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n"
                 ".func f() { call f; call f; ret; }\n.func g(.param .b32 x) { ret; }\n"
                 ".entry k() { .reg .b64 %%rd<3>; %s }\n",
                 rows[i].body);
        harness_open(&harness, text);
        assert_int_equal(harness_try(&harness, "k", 1, 32), -1);
        assert_int_equal(harness.fault.kind, PTX_FAULT_UNDEFINED);
        if (!strstr(harness.fault.text, rows[i].expected_text))
            fail_msg("%s: %s", rows[i].body, harness.fault.text);
        harness_close(&harness);
    }
}

static void test_geometry(void **unused) {
    (void)unused;
    struct harness harness;
    harness_open(&harness, ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".entry k(.param .u32 n) .maxntid 64 { ret; }\n");
    assert_int_equal(harness_try(&harness, "k", 1, 32), -1); /* no argument */
    assert_int_equal(harness.fault.kind, PTX_FAULT_LAUNCH);
    harness_argument(&harness, &(int){1}, 4);
    harness_run(&harness, "k", 1, 64);
    assert_int_equal(harness_try(&harness, "k", 1, 96), -1);
    assert_int_equal(harness_try(&harness, "k", 0, 32), -1);
    assert_int_equal(harness.fault.kind, PTX_FAULT_LAUNCH);
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_out_of_bounds_names_the_tensor),
        cmocka_unit_test(test_inlined_places_name_their_caller),
        cmocka_unit_test(test_use_after_release),
        cmocka_unit_test(test_broken_text),
        cmocka_unit_test(test_unknown_forms),
        cmocka_unit_test(test_failing_calls),
        cmocka_unit_test(test_geometry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
