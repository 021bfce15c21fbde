/*
 * operands: random numbers for a register of a type: every fourth is one at an edge (NaN, infinity,
 * denormal, zero, the ends of a format and of those it is converted to), others have few digits, an
 * ordinary exponent, or any bits. The kinds, beside those:
 *
 *     count     mostly below 72, as shifts and positions are
 *     lane      0 to 31
 *     size      0 to 16
 *     few       one of four numbers
 *     crowd     nearly always the same in a warp
 *     block     the same in a block
 *     angle     within -pi and pi, or at an edge below
 *     ordinary  no exponent beyond 2^+-126
 *     matrix    in most warps between -2 and 2, in some any number, in few with an edge
 *     pairs     a sparse matrix's metadata: every four bits name two of four places, in their order
 *     picks     the same in any order
 *     halves    the same of tf32: every four bits name the first or the second of two
 *     fp8       four of them: in most warps below 2, in many of those not below 1/8
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_FORMS_OPERANDS_H
#define EVOTILE_TESTS_DEVICE_PTX_FORMS_OPERANDS_H

#include "ptx/ast.h"
#include "ptx/half.h"

#include <math.h>
#include <string.h>

enum operand_kind_of {
    KIND_ANY,
    KIND_COUNT,
    KIND_LANE,
    KIND_SIZE,
    KIND_FEW,
    KIND_CROWD,
    KIND_BLOCK,
    KIND_ANGLE,
    KIND_ORDINARY,
    KIND_MATRIX,
    KIND_PAIRS,
    KIND_PICKS,
    KIND_HALVES,
    KIND_FP8,
    KIND_COUNT_OF
};

static const char *const operand_kinds[] = {"",      "count", "lane",   "size",     "few",
                                            "crowd", "block", "angle",  "ordinary", "matrix",
                                            "pairs", "picks", "halves", "fp8"};

struct float_format {
    int bits, digits; /* of the number and of its fraction */
};

static inline struct float_format float_format_of(enum type type) {
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2:
        return (struct float_format){16, 10};
    case TYPE_BF16:
    case TYPE_BF16X2:
        return (struct float_format){16, 7};
    case TYPE_F64:
        return (struct float_format){64, 52};
    default:
        return (struct float_format){32, 23};
    }
}

/* One step of splitmix64. */
static inline uint64_t operand_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t low_bits(uint64_t value, int bits) {
    return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

/* sign, exponent (0 is that of 1.0; beyond the format's: infinity or denormals) and fraction. */
static inline uint64_t float_of(struct float_format format, bool sign, int exponent,
                                uint64_t fraction) {
    int width = format.bits - 1 - format.digits, bias = (1 << (width - 1)) - 1;
    int biased = exponent + bias;
    uint64_t most = (1ull << width) - 1;
    uint64_t field = biased <= 0 ? 0 : (uint64_t)biased > most ? most : (uint64_t)biased;
    return (uint64_t)sign << (format.bits - 1) | field << format.digits |
           low_bits(fraction, format.digits);
}

static inline uint64_t float_edge(struct float_format format, uint64_t random) {
    static const int exponents[] = {-1,  0,   1,    2,    7,    8,    9,    10,   14,
                                    15,  16,  23,   24,   30,   31,   32,   52,   53,
                                    62,  63,  64,   126,  127,  128,  -14,  -15,  -24,
                                    -25, -26, -125, -126, -127, -133, -134, -149, -150};
    enum { EXPONENTS = sizeof exponents / sizeof *exponents };
    bool sign = random & 1;
    uint64_t ones = ~0ull, pick = random >> 8;
    switch (random >> 1 & 15) {
    case 0:
    case 1:
        return float_of(format, sign, -5000, 0);
    case 2: /* the smallest and the largest denormal, and any */
        return float_of(format, sign, -5000, pick % 3 == 0 ? 1 : pick % 3 == 1 ? ones : pick);
    case 3:
        return float_of(format, sign, 5000, 0);
    case 4:
        return float_of(format, sign, 5000, 1ull << (format.digits - 1) | pick);
    case 5: { /* the smallest and the largest normal number */
        int bias = (1 << (format.bits - 2 - format.digits)) - 1;
        return pick & 1 ? float_of(format, sign, bias, ones) : float_of(format, sign, 1 - bias, 0);
    }
    case 6:
    case 7: /* a power of two and its neighbours */
        return float_of(format, sign, exponents[pick % EXPONENTS], 0) + (pick >> 32) % 3 - 1;
    case 8: /* and where such an interval ends */
        return float_of(format, sign, exponents[pick % EXPONENTS], ones << (pick >> 32) % 53);
    case 9: /* halves: 0.5, 1.5, 2.5, ... */
        return float_of(format, sign, (int)(pick % 8) - 1,
                        (pick >> 8) << (format.digits - 1 - (int)(pick % 4)));
    default:
        return float_of(format, sign, 0, 0);
    }
}

static inline uint64_t float_any(struct float_format format, uint64_t random, uint64_t more) {
    int cut = (int)(more % (unsigned)(format.digits + 1));
    switch (random % 8) {
    case 0:
    case 1:
        return float_edge(format, more);
    case 2:
        return low_bits(more, format.bits);
    case 3: /* few digits: ties */
    case 4:
        return float_of(format, random >> 8 & 1, (int)(random >> 16 & 31) - 16,
                        (more >> 8) >> cut << cut);
    case 5: /* near the ends of fp16 and fp32 */
        return float_of(format, random >> 8 & 1,
                        (random >> 9 & 1 ? -140 : -30) + (int)(random >> 16 & 31), more >> 8);
    default:
        return float_of(format, random >> 8 & 1, (int)(random >> 16 & 15) - 8, more);
    }
}

static inline uint64_t integer_any(int bits, uint64_t random, uint64_t more) {
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x100,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0xff80,
                                     0xffffff80,
                                     0xffff8000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     1ull << 32,
                                     0x7fffffffffffffff,
                                     1ull << 63,
                                     ~0ull,
                                     0xffffff,
                                     0x1000000,
                                     0x1000001,
                                     1ull << 53,
                                     (1ull << 53) + 1,
                                     ~0ull << 31,
                                     ~0ull << 15,
                                     ~0ull << 7};
    switch (random % 4) {
    case 0:
        return low_bits(edges[(random >> 8) % (sizeof edges / sizeof *edges)], bits);
    case 1: /* any magnitude, either sign */
        more >>= random >> 8 & 63;
        return low_bits(random >> 16 & 1 ? 0 - more : more, bits);
    default:
        return low_bits(more, bits);
    }
}

static inline uint64_t number_any(enum type type, uint64_t random, uint64_t more) {
    struct float_format format = float_format_of(type);
    if (type == TYPE_PRED)
        return more & 1;
    if (!type_is_float(type)) /* half of them narrowed like floats, since ld reads them as such */
        return integer_any(type_bytes(type) < 2 ? 16 : 8 * type_bytes(type), random, more);
    if (type == TYPE_F16X2 || type == TYPE_BF16X2)
        return float_any(format, random, more) | float_any(format, random >> 24, more >> 13) << 16;
    return float_any(format, random, more);
}

static inline uint64_t number_between(enum type type, double limit, uint64_t random) {
    double value = limit * ((double)(int32_t)random / 0x1p31);
    float narrow = (float)value;
    uint64_t high = random >> 32;
    switch (type) {
    case TYPE_F64:
        return double_bits(value);
    case TYPE_F16X2:
        return float_to_half(narrow) |
               (uint32_t)float_to_half((float)(limit * ((double)(int32_t)high / 0x1p31))) << 16;
    case TYPE_BF16X2:
        return float_to_bfloat(narrow) |
               (uint32_t)float_to_bfloat((float)(limit * ((double)(int32_t)high / 0x1p31))) << 16;
    default:
        return float_bits(narrow);
    }
}

/* Eight nibbles, each one of the first `count` below. */
static inline uint64_t operand_metadata(int count, uint64_t random) {
    static const uint8_t places[] = {0x4, 0xe, 0x8, 0xc, 0x9, 0xd, 0x1, 0x2, 0x3, 0x6, 0x7, 0xb};
    uint64_t metadata = 0;
    for (int i = 0; i < 8; i++, random >>= 8)
        metadata |= (uint64_t)places[(int)(random & 255) % count] << 4 * i;
    return metadata;
}

static inline uint64_t operand_number(enum type type, enum operand_kind_of kind, int thread,
                                      uint64_t seed) {
    uint64_t own = seed ^ (uint64_t)thread * 0xd1342543de82ef95u;
    uint64_t crowd = seed ^ (uint64_t)(thread / 32) * 0xd1342543de82ef95u;
    uint64_t block = seed ^ (uint64_t)(thread / 128) * 0xd1342543de82ef95u;
    uint64_t random = operand_random(&own), more = operand_random(&own);
    uint64_t mood = operand_random(&crowd);
    switch (kind) {
    case KIND_COUNT:
        return random % 4 ? more % 72 : number_any(type, random >> 8, more);
    case KIND_LANE:
        return more % 32;
    case KIND_SIZE:
        return more % 17;
    case KIND_FEW:
        return number_any(type, 2, more % 4);
    case KIND_CROWD: /* the same; or, in one warp of four, one that differs; or any */
        if (mood % 4 == 0)
            return number_any(type, random, more);
        return (mood >> 8 & 1) ^ (mood % 4 == 1 && thread % 32 == (int)(mood >> 16 & 31));
    case KIND_BLOCK:
        return number_any(type, operand_random(&block), operand_random(&block));
    case KIND_ANGLE:
        return random % 8 ? number_between(type, M_PI, more)
                          : low_bits(number_any(type, 0, more), 32) & ~(1ull << 30);
    case KIND_ORDINARY: {
        uint64_t number = number_any(type, random, more);
        uint64_t exponent = number >> 23 & 0xff;
        return exponent == 254 || exponent == 253 ? number & ~(1ull << 29) : number;
    }
    case KIND_MATRIX:
        if (mood % 16 == 0)
            return number_any(type, random, more);
        if (mood % 16 == 1 && random % 64 == 0)
            return number_any(type, 0, more);
        return number_between(type, mood % 16 < 4 ? 0x1p-13 : 2, more);
    case KIND_PAIRS:
        return operand_metadata(6, more);
    case KIND_PICKS:
        return operand_metadata(12, more);
    case KIND_HALVES:
        return operand_metadata(2, more);
    case KIND_FP8:
        if (mood % 8 == 0)
            return number_any(type, random, more);
        if (mood % 8 < 4)
            return more & (random % 4 ? 0xbfbfbfbf : 0x8f00bf00 >> random % 9);
        return (more & 0xbfbfbfbf) | 0x30303030;
    default:
        return number_any(type, random, more);
    }
}

#endif
