/* Random genomes of attention_fwd/decode: correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/attention_fwd/decode", 0, 1);
}
