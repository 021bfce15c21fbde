/* The second half: bf16 and clusters (many.h). */
#include "emulated/many.h"

int main(void) {
    return try_many("templates/attention_fwd", 1, 2);
}
