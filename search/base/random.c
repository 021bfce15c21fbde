#include "base/random.h"

#include "base/error.h"

uint64_t random_below(struct random *random, uint64_t bound) {
    if (bound == 0)
        BUG("random_below with a bound of 0");
    /* The first 2^64 mod bound outputs are rejected, so that the rest divides evenly. */
    uint64_t rejected = (0 - bound) % bound;
    uint64_t bits;
    do
        bits = random_next(random);
    while (bits < rejected);
    return bits % bound;
}

double random_uniform(struct random *random) {
    return (double)(random_next(random) >> 11) * 0x1p-53;
}
