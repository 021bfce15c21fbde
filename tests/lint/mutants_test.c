/* Mutants of PTX text: each kind, that only its instruction changes, and that the result is PTX. */
#include "lint/mutants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lint/mutant_kinds.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".file 1 \"/tmp/some/kernel.cu\"\n"
    ".visible .entry sums(.param .u64 p0, .param .u32 p1) {\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<16>;\n.reg .b64 %rd<8>;\n"
    ".shared .align 4 .b8 part[64];\n"
    ".loc 1 7 0\n"
    "ld.param.u64 %rd1, [p0];\nld.param.u32 %r9, [p1];\n"
    "mov.u32 %r1, %tid.x;\n"
    "$L_loop:\n"
    "ld.global.f32 %f1, [%rd1+8];\n"
    "add.f32 %f2, %f2, %f1;\n"
    "fma.rn.f32 %f3, %f1, %f1, %f3;\n"
    "max.f32 %f4, %f4, %f1;\n"
    "sub.f32 %f5, %f1, %f2;\n"
    "add.s32 %r1, %r1, 32;\n"
    "setp.lt.s32 %p1, %r1, %r9;\n"
    "@%p1 bra $L_loop;\n"
    "shfl.sync.bfly.b32 %r3|%p2, %r2, 16, 31, -1;\n"
    "cp.async.wait_group 0;\n"
    "bar.sync 0;\n"
    ".loc 1 9 0\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f6, %f7, %f8, %f9}, {%r4, %r5, %r6, %r7}, "
    "{%r10, %r11}, {%f6, %f7, %f8, %f9};\n"
    "st.global.v2.f32 [%rd1], {%f2, %f3};\n"
    "ret;\n}\n";

static void every_kind_is_found_and_changes_one_instruction(void **state) {
    (void)state;
    struct mutant_list list;
    struct error error = {0};
    assert_int_equal(mutants_find(&list, ptx, 1, &error), 0);
    int kinds = 0;
    for (const struct mutant_kind *kind = mutant_kinds; kind->name != NULL; kind++, kinds++) {
        bool found = false;
        for (int i = 0; i < list.count; i++)
            found = found || list.items[i].kind == kind->name;
        if (!found)
            fail_msg("no mutant: %s", kind->name);
    }
    assert_int_equal(kinds, MUTANT_KINDS);
    for (int i = 0; i < list.count; i++) {
        const struct mutant *mutant = &list.items[i];
        char *text = mutant_apply(mutant, ptx);
        struct ast *ast = ast_parse(text, &error);
        if (ast == NULL)
            fail_msg("%s: %s", mutant->change, error.text);
        ast_free(ast);
        assert_string_not_equal(text, ptx);
        assert_memory_equal(text, ptx, mutant->begin);
        const size_t rest = strlen(ptx) - mutant->end;
        assert_memory_equal(text + strlen(text) - rest, ptx + mutant->end, rest);
        /* Of one instruction: the old text has one semicolon, its last character. */
        assert_int_equal(memchr(ptx + mutant->begin, ';', mutant->end - mutant->begin) ==
                             ptx + mutant->end - 1,
                         true);
        assert_string_equal(mutant->file, "kernel.cu");
        assert_true(mutant->line == 7 || mutant->line == 9);
        free(text);
    }
    /* The first ones are all of other kinds. */
    for (int i = 0; i < kinds; i++)
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(list.items[i].kind, list.items[j].kind);
    mutants_release(&list);
}

static const struct {
    const char *kind, *text;
} expected[] = {
    {"a flipped comparison", "setp.ge.s32 %p1, %r1, %r9;"},
    {"a boundary off by one", "setp.le.s32 %p1, %r1, %r9;"},
    {"a skipped last iteration", "{ .reg .b32 %evotile_next; add.s32 %evotile_next, %r1, 32; "
                                 "setp.lt.s32 %p1, %evotile_next, %r9; }"},
    {"an inverted condition", "@!%p1 bra $L_loop;"},
    {"a load off by one", "ld.global.f32 %f1, [%rd1+12];"},
    {"a store off by one", "st.global.v2.f32 [%rd1+8], {%f2, %f3};"},
    {"a term left out", "mov.b32 %f3, %f3;"},
    {"another lane's number", "shfl.sync.bfly.b32 %r3|%p2, %r2, 8, 31, -1;"},
    {"a constant off by one", "add.s32 %r1, %r1, 33;"},
    {"swapped operands", "sub.f32 %f5, %f2, %f1;"},
    {"a minimum for a maximum", "min.f32 %f4, %f4, %f1;"},
    {"a dropped barrier", ";"},
    {"a dropped wait", ";"},
    {"a dropped store", ";"},
};

static void what_each_kind_makes(void **state) {
    (void)state;
    struct mutant_list list;
    struct error error = {0};
    assert_int_equal(mutants_find(&list, ptx, 1, &error), 0);
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        bool found = false;
        for (int i = 0; i < list.count; i++)
            found = found || (strcmp(list.items[i].kind, expected[e].kind) == 0 &&
                              strcmp(list.items[i].replacement, expected[e].text) == 0);
        if (!found)
            fail_msg("no mutant: %s", expected[e].text);
    }
    mutants_release(&list);
}

static void the_seed_decides_which(void **state) {
    (void)state;
    struct mutant_list one, other;
    struct error error = {0};
    assert_int_equal(mutants_find(&one, ptx, 5, &error), 0);
    assert_int_equal(mutants_find(&other, ptx, 5, &error), 0);
    assert_int_equal(one.count, other.count);
    for (int i = 0; i < one.count; i++)
        assert_string_equal(one.items[i].change, other.items[i].change);
    mutants_release(&other);
    bool differs = false;
    for (uint64_t seed = 6; seed < 16 && !differs; seed++) {
        assert_int_equal(mutants_find(&other, ptx, seed, &error), 0);
        for (int i = 0; i < one.count; i++)
            differs = differs || strcmp(one.items[i].change, other.items[i].change) != 0;
        mutants_release(&other);
    }
    assert_true(differs);
    mutants_release(&one);
}

static void text_that_is_no_ptx_is_an_error(void **state) {
    (void)state;
    struct mutant_list list;
    struct error error = {0};
    assert_int_equal(mutants_find(&list, "int main", 1, &error), -1);
    assert_int_equal(list.count, 0);
    mutants_release(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_found_and_changes_one_instruction),
        cmocka_unit_test(what_each_kind_makes),
        cmocka_unit_test(the_seed_decides_which),
        cmocka_unit_test(text_that_is_no_ptx_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
