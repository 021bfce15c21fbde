/*
 * Random genomes of the gallery's kernels (docs/gallery.md): correct at ragged shapes (many.h). A
 * few of each, with EVOTILE_LONG=1 as many as ran on an H200.
 */
#include "emulated/many.h"

#ifdef __SANITIZE_ADDRESS__
enum { GENOMES_OF_EACH = 4, GENOMES_OF_EACH_LONG = 20 };
#else
enum { GENOMES_OF_EACH = 4, GENOMES_OF_EACH_LONG = 500 };
#endif

int main(void) {
    static const char *const folders[] = {
        "templates/reduce_sum",     "templates/transpose",  "templates/gemm_f32",
        "templates/convolution_2d", "templates/stencil_2d", "templates/nbody",
        "templates/add_rms_norm",   "templates/layer_norm", "templates/cross_entropy",
        "templates/quantized_gemv", "templates/spmv_csr",
    };
    const int genomes = getenv("EVOTILE_LONG") != NULL ? GENOMES_OF_EACH_LONG : GENOMES_OF_EACH;
    int failed = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        failed += try_genomes(folders[i], 0, 1, genomes);
    return failed;
}
