/* template: what a source cannot have is refused with its line, before anything is compiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"
#include "template/unsupported.h"

static void what_cannot_be_had_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"__global__ void k(cudaTextureObject_t x) {}",
         "cudaTextureObject_t: a template has no textures and no surfaces: read a tensor"},
        {"    float a = tex2D<float>(image, x, y);", "tex2D: a template has no textures"},
        {"    surf2Dwrite(a, out, x, y);", "surf2Dwrite: a template has no textures"},
        {"    cudaMemcpyAsync(to, from, n, kind);",
         "cudaMemcpyAsync: a template has no host code: give its launches and workspaces in "
         "template.json"},
        {"    cudaMalloc(&p, n);", "cudaMalloc: a template has no host code"},
        {"    cudaLaunchKernel(f, g, b, a, 0, 0);", "cudaLaunchKernel: a template has no host"},
        {"    cublasSgemm(handle, a);",
         "cublasSgemm: a template calls no library between its kernels: write the step as a kernel "
         "of its own"},
        {"    cufftExecC2C(plan, a, b, 1);", "cufftExecC2C: a template calls no library"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        char source[512], expected[PATH_SIZE + 512];
        snprintf(source, sizeof source, "#include \"lib/a.cuh\"\n// tex2D\n%s\n", rows[i].line);
        example_put(&example, "example/kernel.cu", source);
        snprintf(expected, sizeof expected, "%s/kernel.cu:3: %s", example.folder, rows[i].message);
        assert_null(template_load(example.folder, &example_setting, &error));
        assert_int_equal(error.kind, ERROR_INPUT);
        if (strncmp(error.text, expected, strlen(expected)) != 0)
            fail_msg("\n  expected: %s\n  actual:   %s", expected, error.text);
    }
}

/* Words that only look like them. */
static void other_words_are_accepted(void **state) {
    (void)state;
    struct error error = {0};
    static const char *const words[] = {"texture_of", "cudaError", "my_cublas",
                                        "tex",        "surface",   "cublaz"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(unsupported_word(words[i], strlen(words[i])));
    example_put(&example, "example/kernel.cu",
                "// cudaMalloc\n/* tex2D\n */\nconst char *s = \"cublasSgemm\";\nint mytex2D;\n");
    struct template *template = template_load(example.folder, &example_setting, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    template_free(template);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_had_is_refused, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(other_words_are_accepted, example_setup, example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
