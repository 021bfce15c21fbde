/* Random genomes of attention_decode/split: correct at ragged shapes, in pages and not (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/attention_decode/split", 0, 1);
}
