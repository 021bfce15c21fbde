/* Random genomes of the bench's gemm: correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("tests/bench/gemm", 0, 1);
}
