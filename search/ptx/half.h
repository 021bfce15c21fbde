/*
 * half: branch-free conversions between the 16-bit formats and fp32, so that loops over lanes
 * vectorise. Narrowing rounds once, to nearest even; overflow gives infinity; a NaN stays a NaN.
 *
 *     float x = half_to_float(bits);
 *     uint16_t rounded = float_to_half(x);
 *
 * round_to_odd_float narrows a double such that rounding the result again, to a format of at most
 * 22 bits, equals rounding the double once.
 */
#ifndef EVOTILE_PTX_HALF_H
#define EVOTILE_PTX_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float bits_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double bits_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* After the shift the exponent is 112 too small: the multiplication corrects it, for subnormals
   too. */
static inline float half_to_float(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0;
    uint32_t bits = float_bits(bits_float(magnitude) * 0x1p112f) | special;
    return bits_float(bits | (uint32_t)(half & 0x8000) << 16);
}

/* Normal results are rounded by adding half of the last place, adjusted by the tie bit; subnormal
   results by an fp32 addition that aligns and rounds them. */
static inline uint16_t float_to_half(float value) {
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t subnormal = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00 : result; /* from 65520 on */
    result = magnitude > 0x7f800000u ? 0x7fff : result;
    return (uint16_t)(result | sign);
}

/* Narrows a sum as an H200's tensor cores do: a zero has no sign. */
static inline uint16_t round_accumulator_to_half(float sum) {
    uint16_t half = float_to_half(sum);
    return half == 0x8000 ? 0 : half;
}

/* fp8 (PTX ISA 5.2.3): e5m2 is the upper byte of a half; e4m3 has an exponent bias that is smaller
   by 8, no infinities, and one NaN of each sign. */
static inline float e5m2_to_float(uint8_t bits) {
    return half_to_float((uint16_t)(bits << 8));
}

static inline float e4m3_to_float(uint8_t bits) {
    uint32_t magnitude = float_bits(half_to_float((uint16_t)((bits & 0x7f) << 7)) * 0x1p8f);
    magnitude = (bits & 0x7f) == 0x7f ? 0x7fffffff : magnitude;
    return bits_float(magnitude | (uint32_t)(bits & 0x80) << 24);
}

static inline float bfloat_to_float(uint16_t bfloat) {
    return bits_float((uint32_t)bfloat << 16);
}

static inline uint16_t float_to_bfloat(float value) {
    uint32_t bits = float_bits(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000u ? 0x7fff : rounded);
}

/* `value + rest` is the exact number; |rest| is at most half of value's last place. */
static inline float round_to_odd_float(double value, double rest) {
    float near = (float)value;
    double residual = (value - (double)near) + rest;
    uint32_t bits = float_bits(near);
    if (!(residual != 0) || (bits & 1) || (bits & 0x7f800000u) == 0x7f800000u)
        return near;
    bool grows = (residual > 0) == !(bits >> 31);
    if (!(bits & 0x7fffffff)) /* a tiny number became zero: the sign is the residual's */
        return bits_float(residual > 0 ? 1 : 0x80000001u);
    return bits_float(grows ? bits + 1 : bits - 1);
}

/* a * b + c of 16-bit formats, to be rounded once more to such a format. The product is exact in
   fp64; the error of the sum is recovered by Knuth's two-sum. */
static inline float fma_to_odd(float a, float b, float c) {
    double product = (double)a * b, sum = product + c;
    double back = sum - product;
    double rest = (product - (sum - back)) + (c - back);
    return round_to_odd_float(sum, rest == rest ? rest : 0);
}

#endif
