/* Honest genomes are accepted on the emulated device: 10,000 verifications with EVOTILE_LONG, else
   a sample (long/honest.h). */
#include "long/honest.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "emulated:sm_90",
                            .genomes = full ? 250 : 7,
                            .verifications = full ? 10000 : 42,
                            .longest = full ? 64 : 48};
    honest_run(&honest);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest_genomes_are_accepted)};
    return cmocka_run_group_tests_name("honest", tests, NULL, NULL);
}
