/* Tensor maps from template.json to the kernel: every genome of tests/device/hopper/boxes is
   correct on ragged shapes. */
#include "evaluate/verify_fixture.h"

static void every_genome_is_right(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{\"ROWS\":1,\"COLS\":8}",
        "{\"ROWS\":64,\"COLS\":64}",
        "{\"ROWS\":77,\"COLS\":200,\"SCALED\":1}",
    };
    struct verify_fixture verify_fixture;
    verify_fixture_open(&verify_fixture, "emulated:sm_90");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        verify_fixture_load(&verify_fixture, "tests/device/hopper/boxes", shapes[s]);
        struct genome genome = genome_default(verify_fixture.template->space);
        for (int rows = 0; rows < 4; rows++)
            for (int swizzle = 0; swizzle < 2; swizzle++) {
                char reason[REASON_SIZE];
                struct verify_result found;
                struct verify_input input = {.seed = 17, .twice = true};
                genome.value[0] = (uint8_t)rows;
                genome.value[1] = (uint8_t)swizzle;
                verify_fixture_build(&verify_fixture, &genome, NULL, NULL);
                if (verify_fixture_run(&verify_fixture, &input, &found, reason) != VERDICT_OK)
                    fail_msg("%s, BOX_ROWS %d, SWIZZLE %d: %s", shapes[s], rows, swizzle, reason);
            }
    }
    verify_fixture_close(&verify_fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_genome_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
