/* The first half of the random genomes of attention_fwd: correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/attention_fwd", 0, 2);
}
