/* What a module uses: special registers, functions of the system, variables of its own. */
#include "ptx/uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(globals, body)                                                                      \
    ".version 8.3\n.target sm_90\n.address_size 64\n"                                              \
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n" globals              \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred "        \
    "%p<2>;\n"                                                                                     \
    ".reg .f32 %f<3>;\n" body "ret;\n}\n"

#define PRINT(text)                                                                                \
    "mov.u64 %rd1, " text ";\ncvta.global.u64 %rd2, %rd1;\n"                                       \
    "{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd2;\n"                                     \
    ".param .b64 param1;\nst.param.b64 [param1+0], 0;\n.param .b32 retval0;\n"                     \
    "call.uni (retval0), vprintf, (param0, param1);\nld.param.b32 %r1, [retval0+0];\n}\n"

static const char counter[] = "variable counter";

static const struct {
    const char *ptx, *uses;
} examples[] = {
    {KERNEL("", "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %laneid;\n"), ""},
    {KERNEL("", "mov.u32 %r1, %clock;\n"), "clock"},
    {KERNEL("", "mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %globaltimer;\n"), "clock64, globaltimer"},
    {KERNEL("", "mov.u32 %r1, %globaltimer_lo;\n"), "globaltimer_lo"},
    {KERNEL("", "mov.u64 %rd1, %gridid;\nmov.u32 %r1, %smid;\nmov.u32 %r2, %nsmid;\n"),
     "gridid, smid, nsmid"},
    {KERNEL("", "mov.u32 %r1, %warpid;\nmov.b32 %r2, %envreg2;\nmov.u32 %r3, %pm1;\n"),
     "warpid, envreg2, pm1"},
    {KERNEL("", ".reg .b32 %pmax;\nmov.u32 %pmax, 3;\nmov.u32 %r1, %pmax;\n"), ""},
    /* The genome's mark: neither read nor written. */
    {KERNEL(".visible .global .align 8 .u64 counter = 5;\n", ""), ""},
    {KERNEL(".global .align 4 .u32 counter;\n", "st.global.u32 [counter], 1;\n"), counter},
    {KERNEL(".global .align 4 .u32 counter;\n", "atom.global.add.u32 %r1, [counter], 1;\n"),
     counter},
    {KERNEL(".global .align 4 .u32 counter;\n", "red.global.add.u32 [counter+4], 1;\n"), counter},
    {KERNEL(".global .align 4 .u32 counter;\n", "ld.global.u32 %r1, [counter];\n"), ""},
    /* A table: its address is computed with, and only loads take it. */
    {KERNEL(".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n",
            "mov.u64 %rd1, table;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
            "ld.global.nc.u32 %r2, [%rd3];\nst.global.u32 [%rd4], %r2;\n"),
     ""},
    {KERNEL(".global .align 4 .u32 counter;\n",
            "mov.u64 %rd1, counter;\ncvta.global.u64 %rd2, %rd1;\nadd.s64 %rd3, %rd2, 4;\n"
            "st.u32 [%rd3], 1;\n"),
     counter},
    /* In a loop the copy comes after the store. */
    {KERNEL(".global .align 4 .u32 counter;\n",
            "l:\nst.global.u32 [%rd4], 1;\nmov.u64 %rd4, %rd3;\nmov.u64 %rd3, %rd2;\n"
            "mov.u64 %rd2, counter;\nbra l;\n"),
     counter},
    /* The address is kept where another kernel finds it. */
    {KERNEL(".global .align 4 .u32 counter;\n", "st.global.u64 [%rd4], counter;\n"), counter},
    {KERNEL(".global .align 4 .u32 counter;\n.global .align 8 .u64 pointer[1] = {counter};\n",
            "ld.global.u64 %rd1, [pointer];\nst.global.u32 [%rd1], 1;\n"),
     counter},
    {KERNEL(".global .align 4 .u32 counter;\n.global .align 4 .u32 b;\n",
            "selp.b64 %rd1, counter, b, %p1;\nst.global.u32 [%rd1], 1;\n"),
     "variable counter, variable b"},
    {KERNEL(".global .align 1 .b8 text[3] = {104, 105, 0};\n", PRINT("text")), "vprintf"},
    {KERNEL(".global .align 1 .b8 text[3] = {104, 105, 0};\n",
            PRINT("text") "st.global.u8 [%rd1], 1;\n"),
     "vprintf, variable text"},
    /* A function of the module's own may do anything, whatever its name. */
    {KERNEL(".global .align 4 .u32 counter;\n"
            ".func f (.param .b64 a) {\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\n"
            "st.u32 [%rd1], 1;\nret;\n}\n",
            "{\n.param .b64 param0;\nst.param.b64 [param0], counter;\ncall f, (param0);\n}\n"),
     counter},
    {KERNEL(".global .align 4 .u32 counter;\n"
            ".func (.param .b64 r) f () {\n.reg .b64 %rd<2>;\nmov.u64 %rd1, counter;\n"
            "st.param.b64 [r], %rd1;\nret;\n}\n",
            ""),
     counter},
    {KERNEL(".global .u32 a;\n.global .u32 b;\n.global .u32 c;\n.global .u32 d;\n.global .u32 e;\n"
            ".global .u32 f;\n",
            "st.global.u32 [a], 1;\nst.global.u32 [b], 1;\nst.global.u32 [c], 1;\n"
            "st.global.u32 [d], 1;\nst.global.u32 [e], 1;\nst.global.u32 [f], 1;\n"),
     "variable a, variable b, variable c, variable d, more variables"},
    /* As ptxas takes it: inline assembly can declare it so. */
    {KERNEL("", ".global .u32 counter;\nst.global.u32 [counter], 1;\n"), counter},
    /* A register that hides a table of its name. */
    {KERNEL(".global .align 8 .u64 table;\n.global .align 4 .u32 counter;\n",
            ".reg .b64 table;\nmov.u64 table, counter;\nst.global.u32 [table], 1;\n"),
     "variable table, variable counter"},
    {"not PTX", "unreadable PTX"},
};

static void modules_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char uses[256] = "";
        ptx_list_uses(examples[i].ptx, uses, sizeof uses);
        if (strcmp(uses, examples[i].uses) != 0)
            fail_msg("\"%s\", not \"%s\": %s", uses, examples[i].uses, examples[i].ptx);
    }
}

/* The variants of a genome share a list. */
static void lists_are_united(void **state) {
    (void)state;
    char uses[256] = "";
    ptx_list_uses(KERNEL("", "mov.u64 %rd1, %clock64;\n"), uses, sizeof uses);
    ptx_list_uses(KERNEL("", "mov.u64 %rd1, %clock64;\nmov.u32 %r1, %clock;\n"), uses, sizeof uses);
    assert_string_equal(uses, "clock64, clock");
}

static void a_long_list_is_cut(void **state) {
    (void)state;
    char uses[24] = "";
    for (int i = 0; i < 3; i++)
        ptx_list_uses(KERNEL("", "mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %gridid;\n"
                                 "mov.u32 %r1, %smid;\n"),
                      uses, sizeof uses);
    assert_string_equal(uses, "clock64, gridid, ...");
}

/* A chain of copies in descending order takes a pass for each: beyond the limit every variable
   counts. */
static void a_long_chain_counts_as_a_write(void **state) {
    (void)state;
    char *ptx = malloc(100000), uses[256] = "";
    int length =
        sprintf(ptx, ".version 8.3\n.target sm_90\n.address_size 64\n"
                     ".global .u32 counter;\n.visible .entry k()\n{\n.reg .b64 %%rd<999>;\n"
                     "st.global.u32 [%%rd900], 1;\n");
    for (int i = 900; i > 0; i--)
        length += sprintf(ptx + length, "mov.u64 %%rd%d, %%rd%d;\n", i, i - 1);
    sprintf(ptx + length, "mov.u64 %%rd0, counter;\nret;\n}\n");
    ptx_list_uses(ptx, uses, sizeof uses);
    assert_string_equal(uses, counter);
    free(ptx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_read),
        cmocka_unit_test(lists_are_united),
        cmocka_unit_test(a_long_list_is_cut),
        cmocka_unit_test(a_long_chain_counts_as_a_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
