/* Random genomes of attention_fwd_hopper: correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/attention_fwd/hopper", 0, 1);
}
