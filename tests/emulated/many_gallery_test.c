/* Random genomes of the gallery's kernels (docs/gallery.md): correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    static const char *const folders[] = {
        "templates/reduce_sum",
        "templates/transpose",
        "templates/gemm_f32",
        "templates/convolution_2d",
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        failed += try_many(folders[i], 0, 1);
    return failed;
}
