/*
 * CUDA intrinsics and math functions, as NVRTC compiles them for sm_80 and sm_90a: every function
 * that intrinsics/NAME.cu list decodes; integer functions (SIMD and DPX too) give the documented
 * results, and math functions are within the documented errors.
 */
#include "ptx/harness.h"
#include "ptx/kernels.h"

#include "ptx/forms/forms.h"
#include "ptx/intrinsics/values.h"

enum { TEXT_BYTES = 1 << 20, THREADS = 128, BLOCKS = 8, N = THREADS * BLOCKS };

static const char *const architectures[] = {"compute_80", "compute_90a"};

static void open_source(struct harness *harness, const char *source, const char *architecture) {
    static char log[1 << 20];
    char *ptx = compile_cuda(source, architecture, log, sizeof log);
    if (!ptx && !log[0])
        skip();
    if (!ptx)
        fail_msg("%s: %.2000s", architecture, log);
    harness_open(harness, ptx);
    free(ptx);
}

/* ---- lists ---- */

static void append_file(char *text, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "tests/ptx/intrinsics/%s.cu", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t used = strlen(text);
    used += fread(text + used, 1, TEXT_BYTES - 1 - used, file);
    fclose(file);
    assert_true(used < TEXT_BYTES - 1);
    text[used] = '\0';
}

static const char *const lists[] = {"integers", "math", "half", "bfloat", "others"};
enum { LISTS = sizeof lists / sizeof *lists };

/* The two architectures take turns; with EVOTILE_LONG=1 each list is compiled for both. */
static void all_are_known(void **state) {
    const char *const *list = *state;
    static char text[TEXT_BYTES];
    memset(text, 0, sizeof text);
    append_file(text, "prelude");
    append_file(text, *list);
    for (int a = 0; a < 2; a++) {
        if (getenv("EVOTILE_LONG") == NULL && (list - lists) % 2 != a)
            continue;
        struct harness harness;
        const struct ptx_kernel *kernel;
        int count = 0, unknown = 0;
        open_source(&harness, text, architectures[a]);
        for (; (kernel = kernel_at(harness.module, count)) != NULL; count++)
            if (kernel->error) {
                print_message("%s: %s\n", architectures[a], kernel->error);
                unknown++;
            }
        harness_close(&harness);
        assert_int_equal(unknown, 0);
        assert_true(count > 30);
    }
}

/* ---- values ---- */

static const char beginning[] =
    "typedef unsigned long long bits;\n"
    "template <class to> __device__ to as(bits from) {\n"
    "    to value; memcpy(&value, &from, sizeof value); return value; }\n"
    "template <class from> __device__ bits bits_of(from value) {\n"
    "    bits all = 0; memcpy(&all, &value, sizeof value); return all; }\n"
    "#define KERNEL(name, type, ...) extern \"C\" __global__ void name(const bits *in, bits *out) "
    "{\\\n"
    "    const int at = blockIdx.x * blockDim.x + threadIdx.x; \\\n"
    "    const type x = as<type>(in[3 * at]), y = as<type>(in[3 * at + 1]), \\\n"
    "               z = as<type>(in[3 * at + 2]); out[at] = bits_of(__VA_ARGS__); }\n"
    "__device__ unsigned either(bool which, unsigned x) { return which ? ~x : x; }\n"
    "__device__ unsigned halves(bool high, bool low, unsigned x) {\n"
    "    return x ^ (high ? 0xffff0000 : 0) ^ (low ? 0xffff : 0); }\n"
    "#define PICK(name, of) __device__ unsigned pick_##name(of x, of y) { bool which;\\\n"
    "    const unsigned it = __vib##name(x, y, &which); return either(which, it); }\n"
    "#define PICK_PAIR(name) __device__ unsigned pick_##name(unsigned x, unsigned y) {\\\n"
    "    bool high, low; const unsigned it = __vib##name(x, y, &high, &low);\\\n"
    "    return halves(high, low, it); }\n"
    "PICK(max_s32, int) PICK(min_s32, int) PICK(max_u32, unsigned) PICK(min_u32, unsigned)\n"
    "PICK_PAIR(max_s16x2) PICK_PAIR(min_s16x2) PICK_PAIR(max_u16x2) PICK_PAIR(min_u16x2)\n";

static const char *type_name(enum type type) {
    return type == TYPE_U32   ? "unsigned"
           : type == TYPE_U64 ? "bits"
           : type == TYPE_F32 ? "float"
                              : "double";
}

/* A quarter of the integers equal another one in some of its bytes. */
static void fill(const struct value_row *row, uint64_t *in, uint64_t seed) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            uint64_t *number = &in[3 * i + k], one = seed + (uint64_t)k * 7919;
            *number = operand_number(row->type, KIND_ANY, i, one);
            if (type_is_float(row->type) && i % 2)
                *number = number_between(row->type, i % 4 == 1 ? 4 : 60,
                                         operand_random(&one) ^ *number * 0x9e3779b97f4a7c15u);
            else if (row->type == TYPE_U32 && i % 4 == 3 && k)
                *number = (in[3 * i] & 0xff00ffff) | (*number & 0xff0000);
            else if (row->type == TYPE_U32 && i % 4 == 1)
                for (int byte = 0; byte < 4; byte++) {
                    static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x81, 0xfe, 2};
                    *number = *number << 8 | edges[operand_random(&one) % 8];
                    *number &= 0xffffffff;
                }
        }
}

static double distance(const struct value_row *row, uint64_t got, const uint64_t *in) {
    if (row->type == TYPE_F32) {
        double x = bits_float((uint32_t)in[0]), y = bits_float((uint32_t)in[1]);
        float wanted = (float)(row->two ? row->two(x, y) : row->one(x)),
              value = bits_float((uint32_t)got);
        if (wanted == value || (wanted != wanted && value != value))
            return 0;
        return float_distance(TYPE_F32, float_bits(wanted), got & 0xffffffff, 0);
    }
    long double x = bits_double(in[0]), y = bits_double(in[1]);
    double wanted = (double)(row->wide_two ? row->wide_two(x, y) : row->wide(x)),
           value = bits_double(got);
    if (wanted == value || (wanted != wanted && value != value))
        return 0;
    return float_distance(TYPE_F64, double_bits(wanted), got, 0);
}

static int check(const struct value_row *row, const uint64_t *in, const uint64_t *got) {
    double worst = 0;
    for (int i = 0; i < N; i++) {
        const uint64_t *operands = in + 3 * i;
        if (row->model) {
            uint64_t wanted = row->model(operands[0], operands[1], operands[2]);
            if (wanted == got[i])
                continue;
            print_message("%s of 0x%llx, 0x%llx, 0x%llx: 0x%llx, not 0x%llx\n", row->call,
                          (unsigned long long)operands[0], (unsigned long long)operands[1],
                          (unsigned long long)operands[2], (unsigned long long)got[i],
                          (unsigned long long)wanted);
            return 1;
        }
        double off = distance(row, got[i], operands);
        worst = off > worst ? off : worst;
        if (!(off <= row->ulps)) {
            print_message("%s of 0x%llx, 0x%llx: 0x%llx is off by %.0f, allowed are %.0f\n",
                          row->call, (unsigned long long)operands[0],
                          (unsigned long long)operands[1], (unsigned long long)got[i], off,
                          row->ulps);
            return 1;
        }
    }
    return 0;
}

static int write_kernel(char *to, int index, int architecture) {
    const struct value_row *row = &value_rows[index];
    if (!row->since)
        return sprintf(to, "KERNEL(k%d, %s, %s)\n", index, type_name(row->type), row->call);
    if (row->since > architecture)
        return 0;
    return sprintf(
        to,
        "__device__ unsigned asm%d(unsigned x, unsigned y, unsigned z) {\n"
        "unsigned it; asm(\"%s\" : \"=r\"(it) : \"r\"(x), \"r\"(y), \"r\"(z)); return it; }\n"
        "KERNEL(k%d, unsigned, asm%d(x, y, z))\n",
        index, row->call, index, index);
}

static void values_are_right(void **state) {
    (void)state;
    static char text[TEXT_BYTES];
    static uint64_t seeds = 1;
    for (int a = 0; a < 2; a++) {
        struct harness harness;
        uint64_t *in, *out;
        int wrong = 0;
        char *at = text + snprintf(text, sizeof text, "%s", beginning);
        for (int i = 0; i < VALUE_ROWS; i++)
            at += write_kernel(at, i, a ? 90 : 80);
        open_source(&harness, text, architectures[a]);
        uint64_t from = harness_buffer(&harness, "in", 3 * N * sizeof *in, &in);
        uint64_t to = harness_buffer(&harness, "out", N * sizeof *out, &out);
        harness_argument(&harness, &from, sizeof from);
        harness_argument(&harness, &to, sizeof to);
        for (int i = 0; i < VALUE_ROWS; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%d", i);
            if (!ptx_module_kernel(harness.module, name))
                continue;
            fill(&value_rows[i], in, seeds++ * 0x9e3779b97f4a7c15u);
            harness_run(&harness, name, BLOCKS, THREADS);
            wrong += check(&value_rows[i], in, out);
        }
        harness_close(&harness);
        assert_int_equal(wrong, 0);
    }
}

int main(void) {
    struct CMUnitTest tests[LISTS + 1] = {cmocka_unit_test(values_are_right)};
    for (int i = 0; i < LISTS; i++)
        tests[1 + i] = (struct CMUnitTest){
            .name = lists[i], .test_func = all_are_known, .initial_state = (void *)&lists[i]};
    return _cmocka_run_group_tests("intrinsics", tests, LISTS + 1, NULL, NULL);
}
