/* Honest genomes of the templates of tests/templates are accepted on a GPU: 2,000 genomes with
   EVOTILE_LONG, else a sample (long/mechanisms.h). */
#include "gpu/honest_on_gpu.h"
#include "long/mechanisms.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "cuda:0",
                            .templates = mechanisms,
                            .template_count = MECHANISMS,
                            .genomes = full ? 2000 : 2 * MECHANISMS,
                            .verifications = full ? 20000 : 20 * MECHANISMS};
    honest_run(&honest);
}

int main(void) {
    return run_honest_test("mechanisms on a GPU", honest_genomes_are_accepted);
}
