/* A variable's value is read from NVRTC's machine code, and a damaged file is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "device/cubin.h"
#include "device/nvrtc.h"
#include "outcome/outcome.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t mark = 0x0123456789abcdef;

static void compile(struct device_image *image) {
    static const char source[] = "extern \"C\" __device__ unsigned long long mark = "
                                 "0x0123456789abcdefull;\n"
                                 "extern \"C\" __device__ unsigned long long unset;\n"
                                 "extern \"C\" __device__ int narrow = 3;\n"
                                 "extern \"C\" __global__ void f() { unset = mark + narrow; }\n";
    static const char *const options[] = {"--gpu-architecture=sm_90"};
    struct error error = {0};
    char reason[REASON_SIZE];
    struct nvrtc *nvrtc = nvrtc_open(&error);
    if (nvrtc == NULL || nvrtc_compile(nvrtc, "f.cu", source, options, 1, image, reason, &error))
        fail_msg("%s", error.text);
    nvrtc_close(nvrtc);
}

static void test_value(void **state) {
    struct device_image image;
    uint64_t value = 0;
    (void)state;
    compile(&image);
    assert_true(cubin_global_u64(image.cubin, image.cubin_bytes, "mark", &value));
    assert_int_equal(value, mark);
    assert_false(cubin_global_u64(image.cubin, image.cubin_bytes, "mar", &value));
    assert_false(cubin_global_u64(image.cubin, image.cubin_bytes, "marked", &value));
    assert_false(cubin_global_u64(image.cubin, image.cubin_bytes, "narrow", &value));
    assert_false(cubin_global_u64(image.cubin, image.cubin_bytes, "unset", &value));
    assert_false(cubin_global_u64(NULL, 0, "mark", &value));
    nvrtc_image_release(&image);
}

/* Each copy has its own allocation, whose end the sanitizers watch. */
static void test_damaged(void **state) {
    struct random random;
    struct device_image image;
    uint64_t value;
    (void)state;
    compile(&image);
    random_seed(&random, 1, 1);
    for (size_t size = 1; size < image.cubin_bytes; size++) {
        char *part = malloc(size);
        memcpy(part, image.cubin, size);
        if (cubin_global_u64(part, size, "mark", &value))
            assert_int_equal(value, mark);
        free(part);
    }
    for (int i = 0; i < 20000; i++) {
        char *copy = malloc(image.cubin_bytes);
        memcpy(copy, image.cubin, image.cubin_bytes);
        for (int n = 0; n < 4; n++)
            copy[random_below(&random, n % 2 == 0 ? 64 : image.cubin_bytes)] ^=
                (char)(1 << random_below(&random, 8));
        cubin_global_u64(copy, image.cubin_bytes, "mark", &value);
        free(copy);
    }
    nvrtc_image_release(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_value),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
