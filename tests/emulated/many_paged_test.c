/*
 * Random genomes of attention_decode/split: correct at ragged shapes, in pages and not (many.h).
 * Its sets differ in what is compiled in, and its kernel is slow to compile: fewer genomes.
 */
#include "emulated/many.h"

#ifdef __SANITIZE_ADDRESS__
enum { GENOMES = 8 };
#else
enum { GENOMES = 17 };
#endif

int main(void) {
    const int genomes = getenv("EVOTILE_LONG") != NULL ? MANY_GENOMES_LONG : GENOMES;
    return try_genomes("templates/attention_decode/split", 0, 1, genomes);
}
