/* Honest genomes of the gallery's kernels are accepted on a GPU: with EVOTILE_LONG 500 of each,
   else a sample (long/gallery.h). */
#include "gpu/honest_on_gpu.h"
#include "long/gallery.h"

static void honest_genomes_are_accepted(void **state) {
    (void)state;
    const int genomes = (getenv("EVOTILE_LONG") != NULL ? 500 : 4) * GALLERY;
    struct honest honest = {.device = "cuda:0",
                            .templates = gallery,
                            .template_count = GALLERY,
                            .genomes = genomes,
                            .verifications = 10 * genomes,
                            .longest = 400};
    honest_run(&honest);
}

int main(void) {
    return run_honest_test("gallery on a GPU", honest_genomes_are_accepted);
}
