#include "device/nvml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static void slowdowns_in_words(void **state) {
    (void)state;
    char text[NVML_SLOWDOWN_SIZE];
    assert_string_equal(nvml_slowdowns(-1, text), ""); /* unknown */
    assert_string_equal(nvml_slowdowns(0, text), "");
    assert_string_equal(nvml_slowdowns(1, text), ""); /* idle */
    assert_string_equal(nvml_slowdowns(0x24, text), "power limit, hot");
    assert_true(strlen(nvml_slowdowns(INT64_MAX, text)) < NVML_SLOWDOWN_SIZE);
}

/* With a GPU its figures must be plausible; without one there must be a reason. */
static void tells_of_every_gpu_or_why_not(void **state) {
    (void)state;
    struct error error = {0};
    struct nvml *nvml = nvml_open(&error);
    if (nvml == NULL) {
        assert_non_null(strstr(error.text, "driver"));
        return;
    }
    for (int i = 0; i < nvml_count(nvml); i++) {
        struct nvml_gpu gpu, same;
        struct nvml_state is;
        struct nvml_process processes[8];
        assert_true(nvml_at(nvml, i, &gpu));
        assert_true(strlen(gpu.uuid) == 0 || strlen(gpu.uuid) == 32);
        assert_true(*gpu.uuid == '\0' || nvml_find(nvml, gpu.uuid, &same));
        nvml_read(nvml, &gpu, &is);
        assert_true(is.sm_mhz < 0 || is.sm_max_mhz < 0 || is.sm_mhz <= is.sm_max_mhz);
        assert_in_range(is.temperature_c + 1, 0, 151);
        assert_true(is.power_w < 0 || is.power_w < 5000);
        int64_t before_mj = nvml_energy_mj(nvml, &gpu);
        assert_true(before_mj == -1 || nvml_energy_mj(nvml, &gpu) >= before_mj);
        assert_true(is.memory_used_bytes <= is.memory_bytes);
        assert_true(nvml_processes(nvml, &gpu, processes, 8) >= -1);
    }
    struct nvml_gpu none;
    assert_false(nvml_at(nvml, 4096, &none));
    assert_false(nvml_find(nvml, "00000000000000000000000000000000", &none));
    assert_false(nvml_find(nvml, "", &none));
    nvml_close(nvml);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowdowns_in_words),
        cmocka_unit_test(tells_of_every_gpu_or_why_not),
    };
    return cmocka_run_group_tests_name("nvml", tests, NULL, NULL);
}
