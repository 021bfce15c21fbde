/* Random genomes of attention_fwd_hopper, which has more sets than others: correct at ragged
   shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    const int genomes = getenv("EVOTILE_LONG") != NULL ? MANY_GENOMES_LONG : MANY_GENOMES;
    return try_genomes("templates/attention_fwd/hopper", 0, 1, genomes * 3 / 2);
}
