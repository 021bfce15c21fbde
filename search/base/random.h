/*
 * random: PCG's pcg64 (setseq_xsl_rr_128_64: 128 bits of state, 64 bits out, 2^127 streams) as a
 * plain value. Good statistics, but not for cryptography. It has no global state and never blocks;
 * two generators with the same seed and stream give the same numbers on every machine.
 *
 *     struct random random;
 *     random_seed(&random, seed, stream);
 *     int die = 1 + (int)random_below(&random, 6);
 *
 * Source: O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for
 * Random Number Generation", 2014, and its C++ library, which does the arithmetic.
 */
#ifndef EVOTILE_BASE_RANDOM_H
#define EVOTILE_BASE_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copy it to fork the sequence. The increment selects the stream and is odd. */
struct random {
    uint64_t state_high, state_low;
    uint64_t increment_high, increment_low;
};

/* Four words in hexadecimal, separated by colons, and the final NUL. */

/* Starts the sequence of `seed` in `stream`. Sequences of different streams are independent. */
void random_seed(struct random *random, uint64_t seed, uint64_t stream);

/* The next 64 bits. */
uint64_t random_next(struct random *random);

/* A uniform integer in 0 .. bound - 1; bound is positive. */
uint64_t random_below(struct random *random, uint64_t bound);

/* A uniform multiple of 2^-53 in [0, 1). */
double random_uniform(struct random *random);

#ifdef __cplusplus
}
#endif

#endif
