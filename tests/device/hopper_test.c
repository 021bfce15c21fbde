/* Hopper's instructions by way of templates/lib/hopper.cuh: all of them compile. */
/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "device/nvrtc.h"

#include <stdlib.h>

static void every_primitive_compiles(void **state) {
    (void)state;
    static const char *const options[] = {"--gpu-architecture=sm_90a", "--std=c++17",
                                          "--ptxas-options=-v", "-lineinfo", "-Itemplates"};
    struct error error = {0};
    struct device_image image;
    char reason[REASON_SIZE] = "";
    struct nvrtc *nvrtc = nvrtc_open(&error);
    if (nvrtc == NULL)
        skip();
    char *source = path_read_file("tests/device/hopper/primitives.cu", 1 << 20, NULL, &error);
    assert_non_null(source);
    if (nvrtc_compile(nvrtc, "primitives.cu", source, options, 5, &image, reason, &error) != 0)
        fail_msg("%s%s", reason, error.text);
    nvrtc_image_release(&image);
    nvrtc_close(nvrtc);
    free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_primitive_compiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
