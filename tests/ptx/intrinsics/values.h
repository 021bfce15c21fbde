/*
 * values: intrinsics and what they give, by their documentation: a call of x, y and z, which are
 * unsigned unless the row says otherwise, and the same in C. Rows of SIMD and DPX intrinsics
 * describe the results of the fields a, b and c of x, y and z, each of `bits` bits.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_INTRINSICS_VALUES_H
#define EVOTILE_TESTS_DEVICE_PTX_INTRINSICS_VALUES_H

#include "ptx/ast.h"
#include "ptx/half.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct value_row {
    const char *call;
    enum type type;
    uint64_t (*model)(uint64_t x, uint64_t y, uint64_t z); /* integers */
    double (*one)(double x), (*two)(double x, double y);   /* allowed error of an fp32 result */
    long double (*wide)(long double x),
        (*wide_two)(long double x, long double y); /* allowed error of an fp64 result */
    double ulps;
    int since; /* 0: a call; else the architecture of a PTX instruction */
};

/* ---- fields ---- */

static inline int64_t value_field(uint64_t word, int at, int bits, bool is_signed) {
    uint64_t field = word >> at & ((1ull << bits) - 1);
    return is_signed && field >> (bits - 1) & 1 ? (int64_t)field - (1ll << bits) : (int64_t)field;
}
static inline int64_t value_wrapped(int64_t value, int bits, bool is_signed) {
    return value_field((uint64_t)value, 0, bits, is_signed);
}
static inline int64_t value_clamped(int64_t value, int bits, bool is_signed) {
    int64_t most = (1ll << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}
static inline int64_t value_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t value_most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* X(call, name in C, bits, is_signed, whether the fields are added up, their result) */
#define TO_EACH(X, call, name, is_signed, ...)                                                     \
    X("__v" #call "2(x, y)", name##_2, 16, is_signed, false, __VA_ARGS__)                          \
    X("__v" #call "4(x, y)", name##_4, 8, is_signed, false, __VA_ARGS__)
#define TO_EACH_ALONE(X, call, name, is_signed, ...)                                               \
    X("__v" #call "2(x)", name##_2, 16, is_signed, false, __VA_ARGS__)                             \
    X("__v" #call "4(x)", name##_4, 8, is_signed, false, __VA_ARGS__)
#define SUMMED(X, call, name, is_signed, ...)                                                      \
    X("__v" #call "2(x, y)", name##_2, 16, is_signed, true, __VA_ARGS__)                           \
    X("__v" #call "4(x, y)", name##_4, 8, is_signed, true, __VA_ARGS__)
#define COMPARED(X, sign, letter, is_signed)                                                       \
    COMPARED_BY(X, ge##letter, is_signed, a >= b)                                                  \
    COMPARED_BY(X, gt##letter, is_signed, a > b)                                                   \
    COMPARED_BY(X, le##letter, is_signed, a <= b)                                                  \
    COMPARED_BY(X, lt##letter, is_signed, a < b)
#define COMPARED_BY(X, name, is_signed, ...)                                                       \
    TO_EACH(X, cmp##name, cmp_##name, is_signed, -(__VA_ARGS__))                                   \
    TO_EACH(X, set##name, set_##name, is_signed, (__VA_ARGS__))
/* Of 32 bits and of pairs, signed and not. */
#define OF_EACH_KIND(X, call, name, arguments, ...)                                                \
    X("__v" call "_s32" arguments, name##_s32, 32, true, false, __VA_ARGS__)                       \
    X("__v" call "_u32" arguments, name##_u32, 32, false, false, __VA_ARGS__)                      \
    X("__v" call "_s16x2" arguments, name##_s16x2, 16, true, false, __VA_ARGS__)                   \
    X("__v" call "_u16x2" arguments, name##_u16x2, 16, false, false, __VA_ARGS__)
#define RECTIFIED(X, call, name, arguments, ...)                                                   \
    X("__v" call "_s32_relu" arguments, name##_relu_s32, 32, true, false,                          \
      value_most(__VA_ARGS__, 0))                                                                  \
    X("__v" call "_s16x2_relu" arguments, name##_relu_s16x2, 16, true, false,                      \
      value_most(__VA_ARGS__, 0))
#define PICKED(X, kind, bits, is_signed)                                                           \
    X("pick_max_" #kind "(x, y)", pick_max_##kind, bits, is_signed, false, a >= b ? ~a : b)        \
    X("pick_min_" #kind "(x, y)", pick_min_##kind, bits, is_signed, false, a <= b ? ~a : b)

#define SUM value_wrapped(a + b, bits, is_signed)
#define FIELDS(X)                                                                                  \
    TO_EACH_ALONE(X, abs, abs, true, a < 0 ? -a : a)                                               \
    TO_EACH_ALONE(X, absss, absss, true, value_clamped(a < 0 ? -a : a, bits, true))                \
    TO_EACH_ALONE(X, neg, neg, true, -a)                                                           \
    TO_EACH_ALONE(X, negss, negss, true, value_clamped(-a, bits, true))                            \
    TO_EACH(X, absdiffs, absdiffs, true, a > b ? a - b : b - a)                                    \
    TO_EACH(X, absdiffu, absdiffu, false, a > b ? a - b : b - a)                                   \
    TO_EACH(X, add, add, false, a + b)                                                             \
    TO_EACH(X, addss, addss, true, value_clamped(a + b, bits, true))                               \
    TO_EACH(X, addus, addus, false, value_clamped(a + b, bits, false))                             \
    TO_EACH(X, sub, sub, false, a - b)                                                             \
    TO_EACH(X, subss, subss, true, value_clamped(a - b, bits, true))                               \
    TO_EACH(X, subus, subus, false, value_clamped(a - b, bits, false))                             \
    TO_EACH(X, avgs, avgs, true, (a + b + (a + b >= 0)) >> 1)                                      \
    TO_EACH(X, avgu, avgu, false, (a + b + 1) >> 1)                                                \
    TO_EACH(X, haddu, haddu, false, (a + b) >> 1)                                                  \
    TO_EACH(X, maxs, maxs, true, value_most(a, b))                                                 \
    TO_EACH(X, maxu, maxu, false, value_most(a, b))                                                \
    TO_EACH(X, mins, mins, true, value_least(a, b))                                                \
    TO_EACH(X, minu, minu, false, value_least(a, b))                                               \
    SUMMED(X, sads, sads, true, a > b ? a - b : b - a)                                             \
    SUMMED(X, sadu, sadu, false, a > b ? a - b : b - a)                                            \
    COMPARED_BY(X, eq, false, a == b)                                                              \
    COMPARED_BY(X, ne, false, a != b)                                                              \
    COMPARED(X, signed, s, true)                                                                   \
    COMPARED(X, unsigned, u, false)                                                                \
    OF_EACH_KIND(X, "iaddmax", iaddmax, "(x, y, z)", value_most(SUM, c))                           \
    OF_EACH_KIND(X, "iaddmin", iaddmin, "(x, y, z)", value_least(SUM, c))                          \
    OF_EACH_KIND(X, "imax3", imax3, "(x, y, z)", value_most(value_most(a, b), c))                  \
    OF_EACH_KIND(X, "imin3", imin3, "(x, y, z)", value_least(value_least(a, b), c))                \
    RECTIFIED(X, "iaddmax", iaddmax, "(x, y, z)", value_most(SUM, c))                              \
    RECTIFIED(X, "iaddmin", iaddmin, "(x, y, z)", value_least(SUM, c))                             \
    RECTIFIED(X, "imax3", imax3, "(x, y, z)", value_most(value_most(a, b), c))                     \
    RECTIFIED(X, "imin3", imin3, "(x, y, z)", value_least(value_least(a, b), c))                   \
    RECTIFIED(X, "imax", imax, "(x, y)", value_most(a, b))                                         \
    RECTIFIED(X, "imin", imin, "(x, y)", value_least(a, b))                                        \
    PICKED(X, s32, 32, true)                                                                       \
    PICKED(X, u32, 32, false)                                                                      \
    PICKED(X, s16x2, 16, true)                                                                     \
    PICKED(X, u16x2, 16, false)

#define FIELDS_MODEL(call, name, field_bits, is_of_sign, adds, ...)                                \
    static inline uint64_t value_##name(uint64_t x, uint64_t y, uint64_t z) {                      \
        const int bits = field_bits;                                                               \
        const bool is_signed = is_of_sign;                                                         \
        uint64_t result = 0;                                                                       \
        for (int at = 0; at < 32; at += bits) {                                                    \
            int64_t a = value_field(x, at, bits, is_signed);                                       \
            int64_t b = value_field(y, at, bits, is_signed);                                       \
            int64_t c = value_field(z, at, bits, is_signed);                                       \
            uint64_t field = (uint64_t)(__VA_ARGS__);                                              \
            (void)b, (void)c;                                                                      \
            result += adds ? field : (field & ((1ull << bits) - 1)) << at;                         \
        }                                                                                          \
        return result & UINT32_MAX;                                                                \
    }
FIELDS(FIELDS_MODEL)

/* ---- whole numbers: X(call, name in C, type, result) ---- */

static inline uint64_t value_dot(uint64_t x, uint64_t y, uint64_t z, int count, int first,
                                 bool is_signed) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += value_field(x, 32 / count * i, 32 / count, is_signed) *
               value_field(y, first + 8 * i, 8, is_signed);
    return (z + (uint64_t)sum) & UINT32_MAX;
}
static inline uint64_t value_reversed(uint64_t x, int bits) {
    uint64_t result = 0;
    for (int i = 0; i < bits; i++)
        result |= (x >> i & 1) << (bits - 1 - i);
    return result;
}
static inline uint64_t value_bytes(uint64_t x, uint64_t y, uint64_t selector) {
    uint64_t both = x | y << 32, result = 0;
    for (int i = 0; i < 4; i++)
        result |= (both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
static inline uint64_t value_nth_set(uint64_t mask, int base, int offset) {
    int position = base, left = (offset < 0 ? -offset : offset) - 1, step = offset > 0 ? 1 : -1;
    if (offset == 0)
        return mask >> base & 1 ? (uint64_t)base : UINT32_MAX;
    for (; position >= 0 && position < 32; position += step)
        if (mask >> position & 1 && left-- == 0)
            return (uint64_t)position;
    return UINT32_MAX;
}

#define S32(x) ((int64_t)(int32_t)(x))
#define S24(x) value_field(x, 0, 24, true)
#define NUMBERS(X)                                                                                 \
    X("__dp4a((int)x, (int)y, (int)z)", dp4a_s, U32, value_dot(x, y, z, 4, 0, true))               \
    X("__dp4a(x, y, z)", dp4a_u, U32, value_dot(x, y, z, 4, 0, false))                             \
    X("__dp2a_lo((int)x, (int)y, (int)z)", dp2a_ls, U32, value_dot(x, y, z, 2, 0, true))           \
    X("__dp2a_lo(x, y, z)", dp2a_lu, U32, value_dot(x, y, z, 2, 0, false))                         \
    X("__dp2a_hi((int)x, (int)y, (int)z)", dp2a_hs, U32, value_dot(x, y, z, 2, 16, true))          \
    X("__dp2a_hi(x, y, z)", dp2a_hu, U32, value_dot(x, y, z, 2, 16, false))                        \
    X("__brev(x)", brev, U32, value_reversed(x, 32))                                               \
    X("__brevll(x)", brevll, U64, value_reversed(x, 64))                                           \
    X("__clz(x)", clz, U32, (uint64_t)(x ? __builtin_clzll(x) - 32 : 32))                          \
    X("__clzll(x)", clzll, U64, (uint64_t)(x ? __builtin_clzll(x) : 64))                           \
    X("__ffs(x)", ffs, U32, (uint64_t)__builtin_ffsll((long long)x))                               \
    X("__ffsll(x)", ffsll, U64, (uint64_t)__builtin_ffsll((long long)x))                           \
    X("__popc(x)", popc, U32, (uint64_t)__builtin_popcountll(x))                                   \
    X("__popcll(x)", popcll, U64, (uint64_t)__builtin_popcountll(x))                               \
    X("__fns(x, y % 32, (int)(z % 9) - 4)", fns, U32,                                              \
      value_nth_set(x, (int)(y % 32), (int)(z % 9) - 4))                                           \
    X("__byte_perm(x, y, z)", byte_perm, U32, value_bytes(x, y, z))                                \
    X("__funnelshift_l(x, y, z)", funnel_l, U32, (y << 32 | x) << (z & 31) >> 32)                  \
    X("__funnelshift_lc(x, y, z)", funnel_lc, U32, (y << 32 | x) << (z < 32 ? z : 32) >> 32)       \
    X("__funnelshift_r(x, y, z)", funnel_r, U32, (y << 32 | x) >> (z & 31))                        \
    X("__funnelshift_rc(x, y, z)", funnel_rc, U32, (y << 32 | x) >> (z < 32 ? z : 32))             \
    X("__sad(x, y, z)", sad, U32,                                                                  \
      z + (uint64_t)(S32(x) > S32(y) ? S32(x) - S32(y) : S32(y) - S32(x)))                         \
    X("__usad(x, y, z)", usad, U32, z + (x > y ? x - y : y - x))                                   \
    X("__hadd(x, y)", hadd, U32, (uint64_t)((S32(x) + S32(y)) >> 1))                               \
    X("__rhadd(x, y)", rhadd, U32, (uint64_t)((S32(x) + S32(y) + 1) >> 1))                         \
    X("__uhadd(x, y)", uhadd, U32, (x + y) >> 1)                                                   \
    X("__urhadd(x, y)", urhadd, U32, (x + y + 1) >> 1)                                             \
    X("__mul24(x, y)", mul24, U32, (uint64_t)(S24(x) * S24(y)))                                    \
    X("__umul24(x, y)", umul24, U32, (x & 0xffffff) * (y & 0xffffff))                              \
    X("__mulhi(x, y)", mulhi, U32, (uint64_t)(S32(x) * S32(y)) >> 32)                              \
    X("__umulhi(x, y)", umulhi, U32, x *y >> 32)                                                   \
    X("__mul64hi(x, y)", mul64hi, U64, (uint64_t)((__int128)(int64_t)x * (int64_t)y >> 64))        \
    X("__umul64hi(x, y)", umul64hi, U64, (uint64_t)((unsigned __int128)x * y >> 64))               \
    X("x / (y | 1) + x % (z | 1)", divide, U64, x / (y | 1) + x % (z | 1))                         \
    X("abs((int)x) + min((int)x, (int)y) + max(y, z)", choose, U32,                                \
      (uint64_t)(S32(x) < 0 ? -S32(x) : S32(x)) + (uint64_t)value_least(S32(x), S32(y)) +          \
          (y > z ? y : z))

#define NUMBER_MODEL(call, name, type, ...)                                                        \
    static inline uint64_t value_##name(uint64_t x, uint64_t y, uint64_t z) {                      \
        (void)y, (void)z;                                                                          \
        uint64_t result = (__VA_ARGS__);                                                           \
        return type_bytes(TYPE_##type) == 4 ? result & UINT32_MAX : result;                        \
    }
/* 32-bit results of 64-bit operands fit as well. */
NUMBERS(NUMBER_MODEL)

/* ---- PTX: X(instruction with %0 for the result and %1 to %3 for x to z, name in C, the first
   architecture, result) ---- */

/* An fp32 rounded to `digits` fraction bits: to nearest, ties to even or away from zero; or
   truncated. */
static inline uint64_t value_rounded(uint64_t x, int digits, bool nearest, bool away) {
    double value = bits_float((uint32_t)x);
    if (value != value || isinf(value) || value == 0)
        return x;
    int exponent = ilogb(value) < -126 ? -126 : ilogb(value);
    double units = ldexp(value, digits - exponent);
    double whole = !nearest ? trunc(units) : away ? round(units) : nearbyint(units);
    float narrow = (float)ldexp(whole, exponent - digits);
    return float_bits(copysignf(narrow, (float)value));
}
static inline uint64_t value_pack(uint64_t a, uint64_t b, uint64_t c, int bits, bool is_signed) {
    uint64_t ones = (1u << bits) - 1;
    uint64_t high = (uint64_t)value_clamped((int32_t)a, bits, is_signed) & ones;
    uint64_t low = (uint64_t)value_clamped((int32_t)b, bits, is_signed) & ones;
    return c << 2 * bits | high << bits | low;
}
static inline bool value_is_normal(uint64_t x) {
    return isnormal(bits_float((uint32_t)x)) || (x & INT32_MAX) == 0;
}
static inline bool value_is_nan(uint64_t x) {
    return isnan(bits_float((uint32_t)x));
}
/* PTX leaves the NaN's payload open, and so does the comparison. */
static inline uint64_t value_signs(uint64_t x, uint64_t y, bool most) {
    float a = fabsf(bits_float((uint32_t)x)), b = fabsf(bits_float((uint32_t)y));
    if (isnan(a) && isnan(b))
        return 0;
    float chosen = isnan(a) ? b : isnan(b) ? a : (a > b) == most ? a : b;
    return float_bits(chosen) | ((x ^ y) & 0x80000000);
}
#define WITH_SIGNS(what)                                                                           \
    "{ .reg .pred p, q; " what ".xorsign.abs.f32 %0, %1, %2; testp.notanumber.f32 p, %1; "         \
    "testp.notanumber.f32 q, %2; and.pred p, p, q; selp.b32 %0, 0, %0, p; }"

#define PIECES(X)                                                                                  \
    X("cvt.pack.sat.u16.s32 %0, %1, %2;", pack_u16, 80, value_pack(x, y, 0, 16, false))            \
    X("cvt.pack.sat.s16.s32 %0, %1, %2;", pack_s16, 80, value_pack(x, y, 0, 16, true))             \
    X("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;", pack_u8, 80, value_pack(x, y, z, 8, false))       \
    X("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;", pack_s8, 80, value_pack(x, y, z, 8, true))        \
    X("mul24.hi.u32 %0, %1, %2;", mul24_hi_u, 80, (x & 0xffffff) * (y & 0xffffff) >> 16)           \
    X("mul24.hi.s32 %0, %1, %2;", mul24_hi_s, 80, (uint64_t)(S24(x) * S24(y)) >> 16)               \
    X("mad24.lo.s32 %0, %1, %2, %3;", mad24_lo_s, 80, (uint64_t)(S24(x) * S24(y)) + z)             \
    X("mad24.hi.u32 %0, %1, %2, %3;", mad24_hi_u, 80, ((x & 0xffffff) * (y & 0xffffff) >> 16) + z) \
    X("mad.hi.sat.s32 %0, %1, %2, %3;", mad_hi_sat, 80,                                            \
      (uint64_t)value_clamped((S32(x) * S32(y) >> 32) + S32(z), 32, true))                         \
    X("cvt.rna.tf32.f32 %0, %1;", tf32_rna, 80,                                                    \
      value_is_nan(x) ? x & ~0x1fffull : value_rounded(x, 10, true, true))                         \
    X("{ .reg .pred p; testp.normal.f32 p, %1; selp.u32 %0, 1, 0, p; }", normal, 80,               \
      value_is_normal(x))                                                                          \
    X("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }", subnormal, 80,         \
      !value_is_normal(x) && isfinite(bits_float((uint32_t)x)))                                    \
    X(WITH_SIGNS("min"), min_signs, 90, value_signs(x, y, false))                                  \
    X(WITH_SIGNS("max"), max_signs, 90, value_signs(x, y, true))                                   \
    X("cvt.rn.relu.tf32.f32 %0, %1;", tf32_rn_relu, 90,                                            \
      value_is_nan(x) ? 0x7fffe000                                                                 \
      : x >> 31       ? 0                                                                          \
                      : value_rounded(x, 10, true, false))                                               \
    X("cvt.rz.tf32.f32 %0, %1;", tf32_rz, 90,                                                      \
      value_is_nan(x) ? 0x7fffe000 : value_rounded(x, 10, false, false))

#define PIECES_MODEL(call, name, since, ...)                                                       \
    static inline uint64_t value_##name(uint64_t x, uint64_t y, uint64_t z) {                      \
        (void)y, (void)z;                                                                          \
        return (uint64_t)(__VA_ARGS__)&UINT32_MAX;                                                 \
    }
PIECES(PIECES_MODEL)

/* ---- functions, and the error that the CUDA C++ Programming Guide states in ulp ---- */

static inline long double value_rsqrt(long double x) {
    return 1 / sqrtl(x);
}
/* Rounded once. */
static inline long double value_sqrt(long double x) {
    return sqrt((double)x);
}
static inline double value_rsqrtf(double x) {
    return 1 / sqrt(x);
}
static inline double value_rcbrtf(double x) {
    return 1 / cbrt(x);
}
static inline double value_exp10f(double x) {
    return (double)powl(10, x);
}
static inline long double value_exp10(long double x) {
    return powl(10, x);
}
static inline double value_sinpif(double x) {
    double turn = remainder(x, 2); /* so that whole turns are exact */
    double part = fabs(turn) > 0.5 ? copysign(1 - fabs(turn), turn) : turn;
    return (double)sinl(acosl(-1) * part);
}
static inline double value_cospif(double x) {
    return (double)sinl(acosl(-1) * (0.5L - fabsl(remainderl(x, 2))));
}

#define PIECES_ROW(instruction, name, first, ...)                                                  \
    {.call = instruction, .type = TYPE_U32, .model = value_##name, .since = first},
#define FIELDS_ROW(text, name, ...) {.call = text, .type = TYPE_U32, .model = value_##name},
#define NUMBER_ROW(text, name, row_type, ...)                                                      \
    {.call = text, .type = TYPE_##row_type, .model = value_##name},
#define FLOAT_ROW(name, host, bound)                                                               \
    { .call = #name "(x)", .type = TYPE_F32, .one = host, .ulps = bound }
#define FLOAT_OF_TWO_ROW(name, host, bound)                                                        \
    { .call = #name "(x, y)", .type = TYPE_F32, .two = host, .ulps = bound }
#define DOUBLE_ROW(name, host, bound)                                                              \
    { .call = #name "(x)", .type = TYPE_F64, .wide = host, .ulps = bound }
#define DOUBLE_OF_TWO_ROW(name, host, bound)                                                       \
    { .call = #name "(x, y)", .type = TYPE_F64, .wide_two = host, .ulps = bound }

static const struct value_row value_rows[] = {
    FIELDS(FIELDS_ROW) NUMBERS(NUMBER_ROW) PIECES(PIECES_ROW) FLOAT_ROW(rsqrtf, value_rsqrtf, 2),
    FLOAT_ROW(cbrtf, cbrt, 1),
    FLOAT_ROW(rcbrtf, value_rcbrtf, 1),
    FLOAT_ROW(expf, exp, 1),
    FLOAT_ROW(exp2f, exp2, 2),
    FLOAT_ROW(exp10f, value_exp10f, 2),
    FLOAT_ROW(expm1f, expm1, 1),
    FLOAT_ROW(logf, log, 1),
    FLOAT_ROW(log2f, log2, 1),
    FLOAT_ROW(log10f, log10, 2),
    FLOAT_ROW(log1pf, log1p, 1),
    FLOAT_ROW(sinf, sin, 2),
    FLOAT_ROW(cosf, cos, 2),
    FLOAT_ROW(tanf, tan, 4),
    FLOAT_ROW(sinpif, value_sinpif, 1),
    FLOAT_ROW(cospif, value_cospif, 1),
    FLOAT_ROW(asinf, asin, 2),
    FLOAT_ROW(acosf, acos, 2),
    FLOAT_ROW(atanf, atan, 2),
    FLOAT_ROW(sinhf, sinh, 3),
    FLOAT_ROW(coshf, cosh, 2),
    FLOAT_ROW(tanhf, tanh, 2),
    FLOAT_ROW(asinhf, asinh, 3),
    FLOAT_ROW(acoshf, acosh, 4),
    FLOAT_ROW(atanhf, atanh, 3),
    FLOAT_ROW(erff, erf, 2),
    FLOAT_ROW(erfcf, erfc, 4),
    FLOAT_ROW(tgammaf, tgamma, 5),
    FLOAT_ROW(sqrtf, sqrt, 0),
    FLOAT_ROW(floorf, floor, 0),
    FLOAT_ROW(ceilf, ceil, 0),
    FLOAT_ROW(truncf, trunc, 0),
    FLOAT_ROW(roundf, round, 0),
    FLOAT_ROW(rintf, rint, 0),
    FLOAT_ROW(fabsf, fabs, 0),
    FLOAT_ROW(logbf, logb, 0),
    FLOAT_OF_TWO_ROW(hypotf, hypot, 3),
    FLOAT_OF_TWO_ROW(powf, pow, 4),
    FLOAT_OF_TWO_ROW(atan2f, atan2, 3),
    FLOAT_OF_TWO_ROW(fmodf, fmod, 0),
    FLOAT_OF_TWO_ROW(remainderf, remainder, 0),
    FLOAT_OF_TWO_ROW(fdimf, fdim, 0),
    FLOAT_OF_TWO_ROW(fmaxf, fmax, 0),
    FLOAT_OF_TWO_ROW(fminf, fmin, 0),
    FLOAT_OF_TWO_ROW(copysignf, copysign, 0),
    DOUBLE_ROW(rsqrt, value_rsqrt, 1),
    DOUBLE_ROW(cbrt, cbrtl, 1),
    DOUBLE_ROW(exp, expl, 1),
    DOUBLE_ROW(exp2, exp2l, 1),
    DOUBLE_ROW(exp10, value_exp10, 1),
    DOUBLE_ROW(expm1, expm1l, 1),
    DOUBLE_ROW(log, logl, 1),
    DOUBLE_ROW(log2, log2l, 1),
    DOUBLE_ROW(log10, log10l, 1),
    DOUBLE_ROW(log1p, log1pl, 1),
    DOUBLE_ROW(sin, sinl, 2),
    DOUBLE_ROW(cos, cosl, 2),
    DOUBLE_ROW(tan, tanl, 2),
    DOUBLE_ROW(asin, asinl, 2),
    DOUBLE_ROW(acos, acosl, 2),
    DOUBLE_ROW(atan, atanl, 2),
    DOUBLE_ROW(sinh, sinhl, 2),
    DOUBLE_ROW(cosh, coshl, 1),
    DOUBLE_ROW(tanh, tanhl, 1),
    DOUBLE_ROW(asinh, asinhl, 3),
    DOUBLE_ROW(acosh, acoshl, 3),
    DOUBLE_ROW(atanh, atanhl, 2),
    DOUBLE_ROW(erf, erfl, 2),
    DOUBLE_ROW(erfc, erfcl, 5),
    DOUBLE_ROW(tgamma, tgammal, 10),
    DOUBLE_ROW(sqrt, value_sqrt, 0),
    DOUBLE_ROW(floor, floorl, 0),
    DOUBLE_ROW(ceil, ceill, 0),
    DOUBLE_ROW(trunc, truncl, 0),
    DOUBLE_ROW(round, roundl, 0),
    DOUBLE_ROW(rint, rintl, 0),
    DOUBLE_ROW(logb, logbl, 0),
    DOUBLE_OF_TWO_ROW(hypot, hypotl, 2),
    DOUBLE_OF_TWO_ROW(pow, powl, 2),
    DOUBLE_OF_TWO_ROW(atan2, atan2l, 2),
    DOUBLE_OF_TWO_ROW(fmod, fmodl, 0),
    DOUBLE_OF_TWO_ROW(remainder, remainderl, 0),
    DOUBLE_OF_TWO_ROW(fdim, fdiml, 0),
    DOUBLE_OF_TWO_ROW(fmax, fmaxl, 0),
    DOUBLE_OF_TWO_ROW(fmin, fminl, 0),
};
enum { VALUE_ROWS = sizeof value_rows / sizeof *value_rows };

#endif
