/* kernel_names: what launches call kernels, and what machine code calls them, as NVRTC says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "device/kernel_names.h"
#include "device/nvrtc.h"
#include "outcome/outcome.h"

static const char source[] =
    "#define TILE 8\n"
    "namespace ns { template <typename T, int n> __global__ void k(T *x) { x[0] = n; } }\n"
    "__global__ void over(float *x) { *x = 1; }\n"
    "__device__ int number;\n"
    "extern \"C\" __global__ void plain(float *x) { *x = 2; }\n";

static int compile(const char *const *kernels, int count, struct device_image *image,
                   char reason[REASON_SIZE]) {
    struct error error = {0};
    static const char *const options[] = {"--gpu-architecture=sm_90", "--ptxas-options=-v"};
    struct nvrtc *nvrtc = nvrtc_open(&error);
    if (nvrtc == NULL)
        fail_msg("%s", error.text);
    const struct nvrtc_program program = {.name = "k.cu",
                                          .source = source,
                                          .options = options,
                                          .option_count = 2,
                                          .kernels = kernels,
                                          .kernel_count = count};
    int status = nvrtc_compile_program(nvrtc, &program, false, image, reason, &error);
    nvrtc_close(nvrtc);
    return status;
}

static void expressions_are_compiled(void **state) {
    (void)state;
    static const char *const kernels[] = {"ns::k<float, TILE>", "ns::k<int, 2 * TILE>", "::over"};
    char reason[REASON_SIZE];
    struct device_image image;
    assert_int_equal(compile(kernels, 3, &image, reason), 0);
    char *names = kernel_names_copy(image.kernels);
    assert_string_equal(kernel_names_find(names, kernels[0]), "_ZN2ns1kIfLi8EEEvPT_");
    assert_string_equal(kernel_names_find(names, kernels[1]), "_ZN2ns1kIiLi16EEEvPT_");
    assert_string_equal(kernel_names_find(names, kernels[2]), "_Z4overPf");
    assert_string_equal(kernel_names_find(names, "plain"), "plain");
    assert_string_equal(kernel_names_find(NULL, "plain"), "plain");
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(image.ptx, kernel_names_find(names, kernels[i])));
    free(names);
    nvrtc_image_release(&image);
}

static void wrong_expressions_are_named(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *reason;
    } rows[] = {
        {"nope<3>", "k.cu has no kernel nope<3>: identifier \"nope\" is undefined"},
        {"ns::k<float>", "k.cu has no kernel ns::k<float>: cannot determine which instance of "
                         "function template \"ns::k\" is intended"},
        {"over)", "k.cu has no kernel over): "},
        {"TILE + 1", "k.cu has no kernel TILE + 1: Name expression must form address of a "
                     "__global__ function"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const kernels[] = {"ns::k<float, TILE>", rows[i].kernel};
        char reason[REASON_SIZE];
        struct device_image image;
        assert_int_equal(compile(kernels, 2, &image, reason), 1);
        if (strncmp(reason, rows[i].reason, strlen(rows[i].reason)) != 0)
            fail_msg("%s: %s", rows[i].kernel, reason);
    }
}

static void functions_of_kernels(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"plain", "plain"}, {"::over", "over"}, {"ns::k<a::b, 4>", "k"}, {"k<(1 > 0)>", "k"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *function = kernel_function(rows[i][0]);
        assert_string_equal(function, rows[i][1]);
        assert_int_equal(kernel_is_expression(rows[i][0]), i > 0);
        free(function);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_compiled),
        cmocka_unit_test(wrong_expressions_are_named),
        cmocka_unit_test(functions_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
