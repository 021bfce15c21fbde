/* Device-side printf. */
#include "ptx/harness.h"

static const char source[] =
    "extern \"C\" __global__ void say(const double *x, int n, int *counts) {\n"
    "    int i = threadIdx.x;\n"
    "    if (i % 2 == 0)\n"
    "        counts[i] = printf(\"%d of %u: %.3f %s %c %5lld|%-4x|%%\\n\", i, blockDim.x, x[i], "
    "\"is\",\n"
    "                           'a' + i, 1ll << 40, n);\n"
    "    else\n"
    "        counts[i] = printf(\"nothing\\n\");\n"
    "}\n";

static void test_prints_what_the_host_would(void **unused) {
    (void)unused;
    enum { THREADS = 4 };
    struct harness harness;
    double *x;
    int32_t *counts, n = 255;
    char *text = NULL, wanted[1024] = "";
    size_t bytes = 0;
    harness_open_cuda(&harness, source, "sm_80");
    uint64_t from = harness_buffer(&harness, "x", THREADS * 8, &x);
    uint64_t to = harness_buffer(&harness, "counts", THREADS * 4, &counts);
    for (int i = 0; i < THREADS; i++)
        x[i] = i / 3.0;
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &n, 4);
    harness_argument(&harness, &to, 8);
    harness.launch.print = open_memstream(&text, &bytes);
    harness_run(&harness, "say", 1, THREADS);
    fclose(harness.launch.print);
    for (int i = 0; i < THREADS; i += 2)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted),
                 "%d of %u: %.3f %s %c %5lld|%-4x|%%\n", i, THREADS, x[i], "is", 'a' + i, 1ll << 40,
                 n);
    strcat(wanted, "nothing\nnothing\n");
    assert_string_equal(text, wanted);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], i % 2 ? 0 : 7);
    free(text);
    harness_close(&harness);
}

/* Unbounded widths, an invalid conversion letter, a missing argument. */
static void test_accepts_any_format(void **unused) {
    (void)unused;
    struct harness harness;
    char *text = NULL;
    size_t bytes = 0;
    harness_open_cuda(
        &harness,
        "extern \"C\" __global__ void say(const char *format) { printf(format, 1, 2); "
        "}\n",
        "sm_80");
    char *format;
    uint64_t at = harness_buffer(&harness, "format", 64, &format);
    snprintf(format, 64, "%%99999999d %%.*d %%y %%");
    harness_argument(&harness, &at, 8);
    harness.launch.print = open_memstream(&text, &bytes);
    harness_run(&harness, "say", 1, 1);
    fclose(harness.launch.print);
    assert_in_range(bytes, 255, 1024);
    free(text);
    text = NULL;
    snprintf(format, 64, "%%s"); /* the string's address is 1 */
    harness.launch.print = open_memstream(&text, &bytes);
    assert_int_equal(harness_try(&harness, "say", 1, 1), -1);
    assert_int_equal(harness.fault.kind, PTX_FAULT_LOAD);
    fclose(harness.launch.print);
    free(text);
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints_what_the_host_would),
        cmocka_unit_test(test_accepts_any_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
