/* Which options of a template reach the compiler. */
#include "template/compile_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void options_of_a_kernel_are_allowed(void **state) {
    (void)state;
    static const char *const options[] = {"--use_fast_math",
                                          "-use_fast_math",
                                          "--ftz=true",
                                          "-ftz=false",
                                          "--prec-div=false",
                                          "--prec-sqrt=true",
                                          "--fmad=false",
                                          "--maxrregcount=128",
                                          "-maxrregcount=64",
                                          "--extra-device-vectorization",
                                          "--restrict",
                                          "-DX=1",
                                          "-DX",
                                          "-DSCALE=0.5f",
                                          "-DX=-3",
                                          "--define-macro=X=1",
                                          "-UX",
                                          "--std=c++20",
                                          "-std=c++14",
                                          "-default-device",
                                          "-lineinfo",
                                          "-w",
                                          "--diag-suppress=177,550",
                                          "--ptxas-options=-O1",
                                          "-Xptxas=-dlcm=cg"};
    char why[OPTION_REFUSAL_SIZE];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!compile_option_allowed(options[i], why))
            fail_msg("%s: %s", options[i], why);
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    static const char *const options[] = {"--create-pch=/etc/cron.d/x",
                                          "-create-pch=x",
                                          "--pch",
                                          "--use-pch=x",
                                          "--pch-dir=/tmp",
                                          "--fdevice-time-trace=/etc/x",
                                          "-fdevice-time-trace=x",
                                          "--create-pch",
                                          "--create-pch /etc/x",
                                          "--pre-include=/etc/passwd",
                                          "-include=/etc/passwd",
                                          "--include-path=/etc",
                                          "-I/etc",
                                          "-I",
                                          "-D",
                                          "-U",
                                          "-D X=1",
                                          "-DX=$(shell touch x)",
                                          "-DX=`id`",
                                          "-DX=1;2",
                                          "-DX=\"a\"",
                                          "-DX=1\n#include <x>",
                                          "-DX=a b",
                                          "-D1=2",
                                          "--gpu-architecture=sm_80",
                                          "-arch=sm_80",
                                          "--ptxas-options=-o",
                                          "--ptxas-options=--output-file=/etc/x",
                                          "-Xptxas",
                                          "-Xptxas -v",
                                          "--maxrregcount",
                                          "--maxrregcount=",
                                          "--maxrregcount=1e9",
                                          "--maxrregcount=99999",
                                          "--use_fast_math=true",
                                          "--use_fast_mathx",
                                          "--std=c++17 --create-pch=x",
                                          "--std=",
                                          "--ftz=yes",
                                          "--diag-suppress=1,x",
                                          "--device-c",
                                          "--dlink-time-opt",
                                          "@/etc/passwd",
                                          "",
                                          "kernel.cu",
                                          "\x1b[31m"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char why[OPTION_REFUSAL_SIZE] = "";
        if (compile_option_allowed(options[i], why))
            fail_msg("%s is allowed", options[i]);
        assert_true(why[0] == '"' && strchr(why, '\n') == NULL && strchr(why, '\x1b') == NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_a_kernel_are_allowed),
        cmocka_unit_test(others_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
