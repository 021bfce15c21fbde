/*
 * Random genomes of the gemm template's solutions and of the bench's gemm: correct at ragged shapes
 * (many.h). A few of each, with EVOTILE_LONG=1 as many as ran on an H200.
 */
#include "emulated/many.h"

#ifdef __SANITIZE_ADDRESS__
enum { GENOMES_OF_EACH = 4, GENOMES_OF_EACH_LONG = 20 };
#else
enum { GENOMES_OF_EACH = 6, GENOMES_OF_EACH_LONG = 500 };
#endif

int main(void) {
    const int genomes = getenv("EVOTILE_LONG") != NULL ? GENOMES_OF_EACH_LONG : GENOMES_OF_EACH;
    int failed = try_many("tests/bench/gemm", 0, 1);
    failed += try_genomes("templates/gemm/mma", 0, 1, genomes);
    failed += try_genomes("templates/gemm/hopper", 0, 1, genomes);
    failed += try_genomes("templates/gemm/gemv", 0, 1, genomes);
    return failed;
}
