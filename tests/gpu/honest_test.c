/* Honest genomes are accepted on a GPU: 100,000 verifications of at least 2,000 distinct genomes
   with EVOTILE_LONG, else a sample (long/honest.h). Each of JOBS processes compiles a genome, then
   checks its inputs: the GPU works for one while the others compile. */
#include "gpu/honest_on_gpu.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    bool full = getenv("EVOTILE_LONG") != NULL;
    struct honest honest = {.device = "cuda:0",
                            .genomes = full ? 2400 : 48,
                            .verifications = full ? 100800 : 2016,
                            .longest = 400};
    honest_run(&honest);
}

int main(void) {
    return run_honest_test("honest on a GPU", honest_genomes_are_accepted);
}
