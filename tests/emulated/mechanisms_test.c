/* Honest genomes of the templates of tests/templates are accepted on the emulated device: 2,000
   genomes with EVOTILE_LONG, else two of each template (long/mechanisms.h). */
#include "long/mechanisms.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "emulated:sm_90",
                            .templates = mechanisms,
                            .template_count = MECHANISMS,
                            .genomes = full ? 2000 : 2 * MECHANISMS,
                            .verifications = full ? 20000 : 12 * MECHANISMS};
    honest_run(&honest);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest_genomes_are_accepted)};
    return cmocka_run_group_tests_name("mechanisms", tests, NULL, NULL);
}
