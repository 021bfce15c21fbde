/*
 * Checks the table of forms (forms/table.h), which tests/gpu/opcodes_test.c runs on a GPU, without
 * a GPU: it covers every opcode, operation, comparison and conversion of the decoder; every form
 * runs; and differences of another device are detected.
 */
/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/forms/bench.h"
#include "ptx/machine.h"
#include "ptx/opcodes.h"

/* Opcodes that are not compared here, and the tests that compare them with a GPU. */
static const struct {
    const char *name, *where;
} elsewhere[] = {
    {"trap", "gpu/exploits_test"},     {"brkpt", "a trap"},
    {"wmma", "gpu/samples_test"},      {"setmaxnreg", "gpu/hopper_test"},
    {"tensormap", "gpu/samples_test"}, {"multimem", "nowhere: it is refused"},
};

/* All forms, decoded. */
struct decoded {
    struct form_list list;
    struct ptx_memory *memory;
    struct ptx_module *module;
};

static int decode_all(void **state) {
    static struct decoded decoded;
    struct error error = {0};
    form_list_make(&decoded.list);
    decoded.memory = ptx_memory_new();
    char *ptx = forms_ptx(&decoded.list, 0, decoded.list.count);
    decoded.module = ptx_module_new(ptx, decoded.memory, &error);
    free(ptx);
    if (!decoded.module)
        fail_msg("%s", error.text);
    *state = &decoded;
    return 0;
}

static int release_all(void **state) {
    struct decoded *decoded = *state;
    ptx_module_free(decoded->module);
    ptx_memory_free(decoded->memory);
    form_list_free(&decoded->list);
    return 0;
}

static bool is_used(const struct decoded *decoded, lanes_function function) {
    for (int i = 0; i < decoded->module->kernel_count; i++) {
        const struct kernel *kernel = &decoded->module->kernels[i];
        for (uint32_t j = 0; j < kernel->code_count; j++)
            if (kernel->code[j].lanes == function)
                return true;
    }
    return false;
}

static void every_form_is_decoded(void **state) {
    const struct decoded *decoded = *state;
    assert_int_equal(decoded->module->kernel_count, decoded->list.count);
    for (int i = 0; i < decoded->list.count; i++)
        if (decoded->module->kernels[i].info.error)
            fail_msg("%s", decoded->module->kernels[i].info.error);
}

static void every_opcode_has_a_form(void **state) {
    const struct decoded *decoded = *state;
    for (int i = 0; opcode_at(i); i++) {
        const char *name = opcode_at(i)->name;
        bool found = false;
        for (int j = 0; j < decoded->list.count && !found; j++) {
            const char *opcode = decoded->list.forms[j].opcode;
            found = strcspn(opcode, ".") == strlen(name) && !strncmp(opcode, name, strlen(name));
        }
        for (size_t j = 0; j < sizeof elsewhere / sizeof *elsewhere && !found; j++)
            found = !strcmp(elsewhere[j].name, name);
        if (!found)
            fail_msg("no row of forms/table.h has the opcode '%s'", name);
    }
}

static void every_operation_has_a_form(void **state) {
    const struct decoded *decoded = *state;
    struct lanes_row row;
    for (int i = 0; decoded->module->lanes.row_at(&row, i); i++)
        if (!is_used(decoded, row.function))
            fail_msg("no row of forms/table.h has '%s', %d bytes, for types 0x%x", row.name,
                     row.out_width, row.types);
}

static void every_comparison_has_a_form(void **state) {
    const struct decoded *decoded = *state;
    const char *name;
    uint32_t types;
    lanes_function function;
    for (int i = 0; (function = decoded->module->lanes.compare_at(i, &name, &types)) != NULL; i++)
        if (!is_used(decoded, function))
            fail_msg("no row of forms/table.h compares with '%s' types 0x%x", name, types);
}

/* Conversions that PTX does not have and the decoder accepts: from and to untyped bits, and from
   single bytes to bf16. */
static bool is_converted(enum type to, enum type from) {
    bool bits = to == TYPE_B8 || to == TYPE_B16 || to == TYPE_B32 || to == TYPE_B64 ||
                from == TYPE_B8 || from == TYPE_B16 || from == TYPE_B32 || from == TYPE_B64;
    bool bytes =
        (to == TYPE_BF16 && type_bytes(from) == 1) || (from == TYPE_BF16 && type_bytes(to) == 1);
    return !bits && !bytes && !(to == TYPE_TF32 && from != TYPE_F32);
}

static bool decodes(const char *opcode, enum type to, enum type from) {
    struct form_row row = {.pattern = opcode, .groups = "d = t"};
    struct form form = {.row = &row, .result_count = 1, .operand_count = 1};
    struct form_list list = {.forms = &form, .count = 1};
    struct ptx_memory *memory = ptx_memory_new();
    struct error error = {0};
    snprintf(form.opcode, sizeof form.opcode, "%s", opcode);
    form.results[0] = (struct form_group){.type = to, .count = 1};
    form.operands[0] = (struct form_group){.type = from, .count = 1};
    if (to == TYPE_F16X2 || to == TYPE_BF16X2)
        form.operands[form.operand_count++] = form.operands[0];
    char *ptx = forms_ptx(&list, 0, 1);
    struct ptx_module *module = ptx_module_new(ptx, memory, &error);
    assert_non_null(module);
    bool is_known = module->kernels[0].info.error == NULL;
    ptx_module_free(module);
    ptx_memory_free(memory);
    free(ptx);
    return is_known;
}

static void every_conversion_has_a_form(void **state) {
    const struct decoded *decoded = *state;
    bool seen[TYPE_COUNT][TYPE_COUNT] = {0};
    static const char *const names[] = {
        [TYPE_U8] = "u8",   [TYPE_S8] = "s8",       [TYPE_U16] = "u16",       [TYPE_S16] = "s16",
        [TYPE_F16] = "f16", [TYPE_BF16] = "bf16",   [TYPE_U32] = "u32",       [TYPE_S32] = "s32",
        [TYPE_F32] = "f32", [TYPE_F16X2] = "f16x2", [TYPE_BF16X2] = "bf16x2", [TYPE_TF32] = "tf32",
        [TYPE_U64] = "u64", [TYPE_S64] = "s64",     [TYPE_F64] = "f64",       [TYPE_B128] = NULL,
    };
    for (int i = 0; i < decoded->list.count; i++) {
        enum type to, from;
        if (strncmp(decoded->list.forms[i].opcode, "cvt.", 4) != 0)
            continue;
        form_types(decoded->list.forms[i].opcode, &to, &from);
        seen[to][from] = true;
    }
    for (int to = 0; to < TYPE_COUNT; to++)
        for (int from = 0; from < TYPE_COUNT; from++) {
            char opcode[64];
            if (!names[to] || !names[from] || seen[to][from] ||
                !is_converted((enum type)to, (enum type)from))
                continue;
            snprintf(opcode, sizeof opcode, "cvt%s.%s.%s", to == TYPE_TF32 ? ".rna" : "", names[to],
                     names[from]);
            if (decodes(opcode, (enum type)to, (enum type)from))
                fail_msg("no row of forms/table.h has '%s'", opcode);
        }
}

/* The two lowest bits of one result. */
static void change_one(const struct form *form, uint64_t *results, int threads) {
    results[(size_t)form->result_slots * (size_t)(threads / 3)] ^= 3;
}

static void every_form_runs(void **state) {
    struct decoded *decoded = *state;
    struct form_plan plan = {
        .one = "emulated:sm_90", .other = "emulated:sm_90", .threads = 256, .jobs = 1};
    struct form_result *results = forms_judge(&decoded->list, &plan);
    int bad = forms_report(&decoded->list, results, stdout);
    for (int i = 0; i < decoded->list.count && !bad; i++)
        assert_true(results[i].compared > 0);
    forms_release(results, &decoded->list);
    assert_int_equal(bad, 0);
}

/* A form with bound 0 detects every change, except between NaNs. */
static void a_difference_is_found(void **state) {
    struct decoded *decoded = *state;
    struct form_plan plan = {.one = "emulated:sm_90",
                             .other = "emulated:sm_90",
                             .threads = 256, /* a cluster of two blocks */
                             .jobs = 1,
                             .tamper = change_one};
    struct form_result *results = forms_judge(&decoded->list, &plan);
    int exact = 0, missed = 0;
    for (int i = 0; i < decoded->list.count; i++) {
        const struct form *form = &decoded->list.forms[i];
        exact += form->row->ulps == 0;
        missed += form->row->ulps == 0 && results[i].mismatches == 0;
        if (form->row->ulps == 0 && results[i].mismatches == 0 &&
            !type_is_float(form->results[0].type))
            fail_msg("a change of %s is not found", form->opcode);
    }
    forms_release(results, &decoded->list);
    assert_true(exact > 1000);
    assert_true(missed * 10 < exact);
}

static void a_crash_costs_one_form(void **state) {
    (void)state;
    static const struct form_row rows[] = {
        FORM("add.u32", "t = t t", 0),
        FORM("trap", "b32 = b32", 0, .body = "$f; mov.b32 $d, $a;"),
        FORM("sub.u32", "t = t t", 0),
    };
    struct form_list list = {0};
    for (int i = 0; i < 3; i++)
        form_list_expand(&list, &rows[i], rows[i].pattern);
    struct form_plan plan = {
        .one = "emulated:sm_90", .other = "emulated:sm_90", .threads = 128, .jobs = 2};
    struct form_result *results = forms_judge(&list, &plan);
    assert_true(results[0].compared > 0 && results[2].compared > 0);
    assert_string_equal(results[0].failure, "");
    assert_non_null(strstr(results[1].failure, "crashed"));
    assert_string_equal(results[2].failure, "");
    forms_release(results, &list);
    form_list_free(&list);
}

static void distances_are_right(void **state) {
    (void)state;
    assert_true(float_distance(TYPE_F32, 0x3f800000, 0x3f800001, 0) == 1);
    assert_true(float_distance(TYPE_F32, 0x3f800000, 0x3f7fffff, 0) == 0.5);
    assert_true(float_distance(TYPE_F32, 1, 0, 0) == 1);
    assert_true(float_distance(TYPE_F32, 0x80000000, 0, 0) == INFINITY);
    assert_true(float_distance(TYPE_F32, 0x7f800000, 0x7f7fffff, 0) <= 1);
    assert_true(float_distance(TYPE_F32, 0x7fc00000, 0x7fffffff, 0) == 0);
    assert_true(float_distance(TYPE_F32, 0x7fc00000, 0, 0) == INFINITY);
    assert_true(float_distance(TYPE_F32, 0x33800000, 0, 1) == 0.5);
    assert_true(float_distance(TYPE_F16, 0x3c00, 0x3c02, 0) == 2);
    assert_true(float_distance(TYPE_F64, 0x3ff0000000000000, 0x3ff0000000000003, 0) == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_decoded),
        cmocka_unit_test(every_opcode_has_a_form),
        cmocka_unit_test(every_operation_has_a_form),
        cmocka_unit_test(every_comparison_has_a_form),
        cmocka_unit_test(every_conversion_has_a_form),
        cmocka_unit_test(every_form_runs),
        cmocka_unit_test(a_difference_is_found),
        cmocka_unit_test(a_crash_costs_one_form),
        cmocka_unit_test(distances_are_right),
    };
    return cmocka_run_group_tests(tests, decode_all, release_all);
}
