/* Tensor maps from template.json to the kernel: every genome of tests/device/hopper/boxes is
   correct on ragged shapes. */
#include "trial/judged.h"

static void every_genome_is_right(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{\"ROWS\":1,\"COLS\":8}",
        "{\"ROWS\":64,\"COLS\":64}",
        "{\"ROWS\":77,\"COLS\":200,\"SCALED\":1}",
    };
    struct judged judged;
    judged_open(&judged, "emulated:sm_90");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        judged_load(&judged, "tests/device/hopper/boxes", shapes[s]);
        struct genome genome = genome_default(judged.template->space);
        for (int rows = 0; rows < 4; rows++)
            for (int swizzle = 0; swizzle < 2; swizzle++) {
                char reason[REASON_SIZE];
                struct judgement found;
                struct verify_input input = {.seed = 17, .twice = true};
                genome.value[0] = (uint8_t)rows;
                genome.value[1] = (uint8_t)swizzle;
                judged_build(&judged, &genome, NULL, NULL);
                if (judged_try(&judged, &input, &found, reason) != VERDICT_OK)
                    fail_msg("%s, BOX_ROWS %d, SWIZZLE %d: %s", shapes[s], rows, swizzle, reason);
            }
    }
    judged_close(&judged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_genome_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
