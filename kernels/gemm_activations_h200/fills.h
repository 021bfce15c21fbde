/* Fills with structure: the number in each place of an input, a function of a seed and of the place. This text is
   compiled into the search, into the kernels that fill inputs on a GPU, and into the checks of exported kernels: all
   get the same numbers, bit for bit. So it uses integers, and sums and products of doubles that are rounded one by
   one: a fused multiply-add would round another number. Generated files: do not edit. */
#ifndef FILLS_H
#define FILLS_H

#ifdef __CUDACC__
#define FILL_FUNCTION static __device__
#define FILL_PRODUCT(a, b) __dmul_rn(a, b)
#else
#define FILL_FUNCTION static inline
static inline double fill_product(double a, double b)
{
    volatile double product = a * b;
    return product;
}
#define FILL_PRODUCT(a, b) fill_product(a, b)
#endif

typedef unsigned long long fill_bits;

enum filled_with {
    FILLED_UNIFORM = 8, /* the first eight are not computed here */
    FILLED_INTEGERS,
    FILLED_ARANGE,
    FILLED_SORTED,
    FILLED_SORTED_INTEGERS,
    FILLED_PERMUTATION,
    FILLED_PROBABILITIES,
    FILLED_SPARSE,
    FILLED_FILE,
    FILLED_SETUP
};

/* SplitMix64's finaliser (Steele, Lea, Flood 2014). */
FILL_FUNCTION fill_bits fill_hash(fill_bits word)
{
    word += 0x9e3779b97f4a7c15ull;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

FILL_FUNCTION fill_bits fill_random_bits(fill_bits seed, fill_bits i)
{
    return fill_hash(seed + i * 0xd1342543de82ef95ull);
}

/* In [0, 1), a multiple of 2^-53. */
FILL_FUNCTION double fill_fraction(fill_bits bits)
{
    return (double)(bits >> 11) / 9007199254740992.0;
}

/* Place i of n in a random order of 0 to n - 1: a random bijection of the next power of two, repeated until the
   number is below n, which takes less than two steps on average. */
FILL_FUNCTION fill_bits fill_permuted(fill_bits seed, fill_bits i, fill_bits n)
{
    int width = 1;
    while ((n - 1) >> width != 0)
        width++;
    const fill_bits mask = ((fill_bits)1 << width) - 1;
    do
        for (int round = 0; round < 4; round++) {
            const fill_bits key = fill_hash(seed + (fill_bits)round);
            i = (i + (key >> 32)) & mask;
            i = i * (key | 1) & mask;
            i ^= i >> (width + 1) / 2;
        }
    while (i >= n);
    return i;
}

/* Place k of a row of n numbers of [0, 1] that ascend: one in each of n steps, which are equal, or grow as the square or
   the cube does, so that numbers repeat and leave gaps. */
FILL_FUNCTION double fill_ascending(fill_bits seed, fill_bits r, fill_bits k, fill_bits n)
{
    const double t = ((double)k + fill_fraction(fill_random_bits(seed, r * n + k))) / (double)n;
    const fill_bits power = fill_hash(seed ^ fill_hash(r)) % 3;
    const double square = FILL_PRODUCT(t, t);
    return power == 0 ? t : power == 1 ? square : FILL_PRODUCT(square, t);
}

/* Place k of a row of n positive numbers whose sum is 1: the distances of random cuts, one near the end of each of n
   equal parts; and a random share of all for one place. */
FILL_FUNCTION double fill_probability(fill_bits seed, fill_bits r, fill_bits k, fill_bits n)
{
    const fill_bits of_row = fill_hash(seed ^ fill_hash(r));
    const double share = fill_fraction(of_row);
    const double from = k == 0 ? 0.0 : fill_fraction(fill_random_bits(seed, r * n + k));
    const double to = k + 1 == n ? 0.0 : fill_fraction(fill_random_bits(seed, r * n + k + 1));
    const double part = (1.0 + to - from) / (double)n;
    const double of_others = FILL_PRODUCT(part, 1.0 - share);
    return k == fill_hash(of_row) % n ? of_others + share : of_others;
}

/* Whether place i of a sparse tensor is not zero. */
FILL_FUNCTION int fill_is_present(double density, fill_bits seed, fill_bits i)
{
    return fill_fraction(fill_random_bits(~seed, i)) < density;
}

/* Place i of a tensor with rows of `row` elements, from UNIFORM to PROBABILITIES. `least` and `most` are the ends of
   the range; of ARANGE the first number and the step. A whole number is at most 2^53 in size. */
FILL_FUNCTION double fill_number(int fill, double least, double most, fill_bits seed, fill_bits i, fill_bits row)
{
    const fill_bits bits = fill_random_bits(seed, i);
    const double count = most - least + 1.0;
    double number;
    switch (fill) {
    case FILLED_UNIFORM:
        number = least + FILL_PRODUCT(most - least, fill_fraction(bits));
        break;
    case FILLED_INTEGERS:
        return least + (double)(bits % (fill_bits)count);
    case FILLED_ARANGE:
        return least + FILL_PRODUCT((double)i, most);
    case FILLED_SORTED:
        number = least + FILL_PRODUCT(most - least, fill_ascending(seed, i / row, i % row, row));
        break;
    case FILLED_SORTED_INTEGERS:
        number = least + (double)(fill_bits)FILL_PRODUCT(count, fill_ascending(seed, i / row, i % row, row));
        break;
    case FILLED_PERMUTATION:
        return (double)fill_permuted(fill_hash(seed ^ fill_hash(i / row)), i % row, row);
    case FILLED_PROBABILITIES:
        return fill_probability(seed, i / row, i % row, row);
    default:
        return 0.0;
    }
    return number < most ? number : most;
}

#endif
