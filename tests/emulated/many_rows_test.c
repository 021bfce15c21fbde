/* Random genomes of softmax_rows: correct at ragged shapes (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/softmax_rows", 0, 1);
}
