/* Single opcodes in PTX text, on random and edge-case operands, compared with independent C code.
 */
#include "ptx/harness.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

typedef uint64_t (*expected_function)(uint64_t a, uint64_t b, uint64_t c);

static float f32(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static uint64_t bits32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static double f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t bits64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* f16 decoded by definition. */
static double f16(uint64_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = (double)(bits & 1023);
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 & 1 ? -value : value;
}
/* The nearest f16 by search; ties to even. */
static uint64_t bits16(double value) {
    if (isnan(value))
        return 0x7fff;
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (magnitude >= 65520)
        return sign | 0x7c00;
    uint64_t low = 0, high = 0x7c00; /* f16(low) <= magnitude < f16(high) */
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (f16(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - f16(low);
    double above = (high == 0x7c00 ? 65536 : f16(high)) - magnitude;
    bool up = above < below || (above == below && (low & 1));
    return sign | (up ? high : low);
}

static uint64_t low(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return a & 0xffffffff;
}
static uint64_t add(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return a + b;
}
static uint64_t sub(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return a - b;
}
static uint64_t mul(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return a * b;
}
static uint64_t mad(uint64_t a, uint64_t b, uint64_t c) {
    return a * b + c;
}
static uint64_t mul_hi_u32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return (uint64_t)(uint32_t)a * (uint32_t)b >> 32;
}
static uint64_t mul_hi_s32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return (uint64_t)((int64_t)(int32_t)a * (int32_t)b >> 32);
}
static uint64_t mul_wide_s32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}
static uint64_t mad_wide_u16(uint64_t a, uint64_t b, uint64_t c) {
    return (a & 0xffff) * (b & 0xffff) + c;
}
/* The low word of a times b's, and c. */
static uint64_t mad_wide_u32(uint64_t a, uint64_t b, uint64_t c) {
    return (a & 0xffffffff) * (b & 0xffffffff) + c;
}
static uint64_t dp4a_s32_u32(uint64_t a, uint64_t b, uint64_t c) {
    for (int i = 0; i < 32; i += 8)
        c += (uint64_t)((int8_t)(a >> i) * (int)(uint8_t)(b >> i));
    return c;
}
static uint64_t dp2a_hi_u32_s32(uint64_t a, uint64_t b, uint64_t c) {
    return c + (a & 0xffff) * (uint64_t)(int8_t)(b >> 16) +
           (a >> 16 & 0xffff) * (uint64_t)(int8_t)(b >> 24);
}
static uint64_t prmt_b4e(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t bytes = b << 32 | (a & 0xffffffff),
             result = 0; /* from byte c downwards, wrapping around */
    for (uint64_t i = 0; i < 4; i++)
        result |= (bytes >> (((c & 3) - i) & 7) * 8 & 255) << 8 * i;
    return result;
}
static uint64_t div_s32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    int32_t x = (int32_t)a, y = (int32_t)b;
    return y == 0 ? ~0ull : y == -1 ? 0 - a : (uint64_t)(x / y);
}
static uint64_t rem_u64(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return b ? a % b : ~0ull;
}
static uint64_t shl_b32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    uint32_t by = (uint32_t)b;
    return by > 31 ? 0 : a << by;
}
static uint64_t shr_s32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    uint32_t by = (uint32_t)b;
    return (uint64_t)((int32_t)a >> (by > 31 ? 31 : by));
}
static uint64_t shf_l(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t both = b << 32 | (uint32_t)a;
    return both << (c & 31) >> 32;
}
static uint64_t bfe_s32(uint64_t a, uint64_t b, uint64_t c) {
    uint32_t position = b & 255, length = c & 255, result = 0;
    uint32_t word = (uint32_t)a;
    uint32_t top = position + length - 1 > 31 ? 31 : position + length - 1;
    uint32_t sign = length ? word >> top & 1 : 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t bit = i < length && position + i <= 31 ? word >> (position + i) & 1 : sign;
        result |= bit << i;
    }
    return result;
}
static uint64_t prmt(uint64_t a, uint64_t b, uint64_t c) {
    unsigned char bytes[8], out[4];
    uint32_t x = (uint32_t)a, y = (uint32_t)b, result;
    memcpy(bytes, &x, 4);
    memcpy(bytes + 4, &y, 4);
    for (int i = 0; i < 4; i++) {
        unsigned char byte = bytes[c >> 4 * i & 7];
        out[i] = c >> (4 * i + 3) & 1 ? (byte & 128 ? 255 : 0) : byte;
    }
    memcpy(&result, out, 4);
    return result;
}
static uint64_t lop3_e8(uint64_t a, uint64_t b, uint64_t c) { /* majority */
    return (a & b) | (a & c) | (b & c);
}
static uint64_t clz(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    uint64_t count = 0;
    for (int i = 31; i >= 0 && !(a >> i & 1); i--)
        count++;
    return count;
}
static uint64_t add_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits32(f32(a) + f32(b));
}
static uint64_t add_rz_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    volatile float x = f32(a), y = f32(b);
    fesetround(FE_TOWARDZERO);
    volatile float sum = x + y;
    fesetround(FE_TONEAREST);
    return bits32(sum);
}
static uint64_t flushed(uint64_t bits) {
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}
static uint64_t mul_ftz_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return flushed(bits32(f32(flushed(a)) * f32(flushed(b))));
}
static uint64_t fma_f32(uint64_t a, uint64_t b, uint64_t c) {
    return bits32(fmaf(f32(a), f32(b), f32(c)));
}
static uint64_t fma_f64(uint64_t a, uint64_t b, uint64_t c) {
    return bits64(fma(f64(a), f64(b), f64(c)));
}
static uint64_t sat_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    float sum = f32(a) + f32(b);
    return bits32(isnan(sum) || sum < 0 ? 0 : sum > 1 ? 1 : sum) & ~(sum == 0 ? 1ull << 31 : 0);
}
static uint64_t min_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    if (isnan(f32(a)))
        return b;
    if (isnan(f32(b)))
        return a;
    if (f32(a) == 0 && f32(b) == 0)
        return a | b; /* -0 if either is */
    return f32(a) < f32(b) ? a : b;
}
static uint64_t div_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits32(f32(a) / f32(b));
}
static uint64_t add_f16(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits16(f16(a) + f16(b));
}
static uint64_t fma_f16(uint64_t a, uint64_t b, uint64_t c) {
    /* exact in 64-bit long double, except where the result overflows anyway */
    long double sum = (long double)f16(a) * f16(b) + f16(c);
    return isnan(sum) ? 0x7fff : bits16((double)sum);
}
static uint64_t mul_f16x2(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits16(f16(a & 0xffff) * f16(b & 0xffff)) |
           bits16(f16(a >> 16 & 0xffff) * f16(b >> 16 & 0xffff)) << 16;
}
static uint64_t cvt_f16_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits16(f32(a));
}
/* The largest f16 not above, or the smallest not below: the nearest f16 or its neighbour in value
   order. */
static uint64_t stepped16(uint64_t bits, int by) {
    int key = bits & 0x8000 ? -(int)(bits & 0x7fff) : (int)bits;
    key += by;
    return key < 0 || (key == 0 && by > 0) ? 0x8000 | (uint64_t)-key : (uint64_t)key;
}
static uint64_t cvt_rm_f16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    uint64_t near = bits16(f32(a));
    return f16(near) > (double)f32(a) ? stepped16(near, -1) : near;
}
static uint64_t cvt_rp_f16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    uint64_t near = bits16(f32(a));
    return f16(near) < (double)f32(a) ? stepped16(near, 1) : near;
}
static uint64_t cvt_rz_bf16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return isnan(f32(a)) ? 0x7fff : a >> 16;
}
/* Toward zero: excess bits are truncated. */
static uint64_t cvt_rz_bf16_u64(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    int top = a ? 63 - __builtin_clzll(a) : 0;
    uint64_t cut = top > 7 ? a >> (top - 7) << (top - 7) : a;
    return bits32((float)cut) >> 16;
}
static uint64_t cvt_ftz_f32_bf16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return flushed(a << 16 & 0xffff0000);
}
static uint64_t fma_relu_f16(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t sum = fma_f16(a, b, c);
    return (sum & 0x7fff) > 0x7c00 || !(sum >> 15) ? sum : 0;
}
static uint64_t lg2_ftz(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits32((float)log2(f32(flushed(a))));
}
static uint64_t bfe_u64(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t position = (uint32_t)b, length = (uint32_t)c, result = 0;
    for (uint64_t i = 0; i < 64 && i < length && position + i < 64; i++)
        result |= (a >> (position + i) & 1) << i;
    return result;
}
static uint64_t cvt_f32_f16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits32((float)f16(a & 0xffff));
}
static uint64_t cvt_f16x2(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits16(f32(a)) << 16 | bits16(f32(b));
}
static uint64_t cvt_bf16(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    if (isnan(f32(a)))
        return 0x7fff;
    /* The nearer of the two neighbours, ties to even. */
    uint64_t down = a >> 16 & 0xffff, rest = a & 0xffff;
    return rest > 0x8000 || (rest == 0x8000 && (down & 1)) ? down + 1 : down;
}
static uint64_t cvt_rzi_s32_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    float x = f32(a);
    return isnan(x)       ? 0
           : x >= 0x1p31f ? INT32_MAX
           : x < -0x1p31f ? 0x80000000
                          : (uint64_t)(int32_t)x;
}
static uint64_t cvt_rni_s64_f64(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    double x = f64(a);
    return isnan(x)      ? 1ull << 63
           : x >= 0x1p63 ? INT64_MAX
           : x < -0x1p63 ? 1ull << 63
                         : (uint64_t)(int64_t)rint(x);
}
static uint64_t cvt_rzi_s64_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    float x = f32(a);
    return isnan(x)       ? 1ull << 63
           : x >= 0x1p63f ? INT64_MAX
           : x < -0x1p63f ? 1ull << 63
                          : (uint64_t)(int64_t)x;
}
static uint64_t cvt_rn_f32_u64(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits32((float)a);
}
static uint64_t cvt_sat_u8_s32(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    int32_t x = (int32_t)a;
    return x < 0 ? 0 : x > 255 ? 255 : (uint64_t)x;
}
static uint64_t cvt_s8(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return (uint64_t)(int8_t)a;
}
static uint64_t cvt_rn_f32_f64(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits32((float)f64(a));
}
static uint64_t setp_lt(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return f32(a) < f32(b);
}
static uint64_t setp_geu(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return isnan(f32(a)) || isnan(f32(b)) || f32(a) >= f32(b);
}
static uint64_t setp_pair(uint64_t a, uint64_t b, uint64_t c) {
    /* p = (a < b) and c odd; q = (a >= b) and c odd */
    uint64_t less = (int32_t)a < (int32_t)b, odd = c & 1;
    return (less & odd) | ((less ^ 1) & odd) << 1;
}
static uint64_t copysign_f32(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return bits32(copysignf(f32(b), f32(a)));
}
static uint64_t slct(uint64_t a, uint64_t b, uint64_t c) {
    return (int32_t)c >= 0 ? a : b;
}
static uint64_t slct_float(uint64_t a, uint64_t b, uint64_t c) {
    return f32(c) >= 0 ? a : b;
}
static uint64_t slct_ftz(uint64_t a, uint64_t b, uint64_t c) {
    return f32(flushed(c)) >= 0 ? a : b;
}
static uint64_t lt_bf16(uint64_t a, uint64_t b, uint64_t c) {
    (void)c;
    return f32((a & 0xffff) << 16) < f32((b & 0xffff) << 16);
}
static uint64_t cvt_rna_tf32(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return isnan(f32(a)) ? 0x7fffe000 : (isfinite(f32(a)) ? a + 0x1000 : a) & 0xffffe000;
}
static uint64_t ex2(uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return bits32((float)exp2((double)f32(a)));
}

/* The operands have 64 significant bits. The body reads %a %b %c (b64), %al %bl %cl (b32), %as %bs
   %cs (b16) and writes %d (b64), of which `bits` bits are compared. `ulps` is the allowed error,
   where PTX leaves it open; if is_float, all NaNs are equal. */
static const struct {
    const char *body;
    expected_function expected;
    int bits;
    bool is_float;
    int ulps;
} operations[] = {
    {"add.s32 %dl, %al, %bl;", add, 32, false, 0},
    {"add.u64 %d, %a, %b;", add, 64, false, 0},
    {"sub.s16 %ds, %as, %bs;", sub, 16, false, 0},
    {"mul.lo.s32 %dl, %al, %bl;", mul, 32, false, 0},
    {"mul.lo.u64 %d, %a, %b;", mul, 64, false, 0},
    {"mad.lo.s32 %dl, %al, %bl, %cl;", mad, 32, false, 0},
    {"mul.hi.u32 %dl, %al, %bl;", mul_hi_u32, 32, false, 0},
    {"mul.hi.s32 %dl, %al, %bl;", mul_hi_s32, 32, false, 0},
    {"mul.wide.s32 %d, %al, %bl;", mul_wide_s32, 64, false, 0},
    {"mad.wide.u16 %dl, %as, %bs, %cl;", mad_wide_u16, 32, false, 0},
    {"mov.b64 {%al, %cl}, %a; mov.b64 {%bl, %dl}, %b; add.cc.u32 %al, %al, %bl;"
     "addc.u32 %cl, %cl, %dl; mov.b64 %d, {%al, %cl};",
     add, 64, false, 0},
    {"mov.b64 {%al, %cl}, %a; mov.b64 {%bl, %dl}, %b; sub.cc.u32 %al, %al, %bl;"
     "subc.u32 %cl, %cl, %dl; mov.b64 %d, {%al, %cl};",
     sub, 64, false, 0},
    {"mov.b64 {%cl, %el}, %c; mad.lo.cc.u32 %cl, %al, %bl, %cl;"
     "madc.hi.u32 %el, %al, %bl, %el; mov.b64 %d, {%cl, %el};",
     mad_wide_u32, 64, false, 0},
    {"dp4a.s32.u32 %dl, %al, %bl, %cl;", dp4a_s32_u32, 32, false, 0},
    {"dp2a.hi.u32.s32 %dl, %al, %bl, %cl;", dp2a_hi_u32_s32, 32, false, 0},
    {"prmt.b32.b4e %dl, %al, %bl, %cl;", prmt_b4e, 32, false, 0},
    {"div.s32 %dl, %al, %bl;", div_s32, 32, false, 0},
    {"rem.u64 %d, %a, %b;", rem_u64, 64, false, 0},
    {"shl.b32 %dl, %al, %bl;", shl_b32, 32, false, 0},
    {"shr.s32 %dl, %al, %bl;", shr_s32, 32, false, 0},
    {"shf.l.wrap.b32 %dl, %al, %bl, %cl;", shf_l, 32, false, 0},
    {"bfe.s32 %dl, %al, %bl, %cl;", bfe_s32, 32, false, 0},
    {"prmt.b32 %dl, %al, %bl, %cl;", prmt, 32, false, 0},
    {"lop3.b32 %dl, %al, %bl, %cl, 0xe8;", lop3_e8, 32, false, 0},
    {"clz.b32 %dl, %al;", clz, 32, false, 0},
    {"slct.b32.s32 %dl, %al, %bl, %cl;", slct, 32, false, 0},
    /* The rounding mode of one instruction must not affect the next. */
    {"mul.ftz.f32 %dl, %al, %bl; slct.b32.f32 %dl, %al, %bl, %cl;", slct_float, 32, false, 0},
    {"mul.f32 %dl, %al, %bl; slct.ftz.b32.f32 %dl, %al, %bl, %cl;", slct_ftz, 32, false, 0},
    {"mul.ftz.f32 %dl, %al, %bl; setp.lt.bf16 %p, %as, %bs; selp.u32 %dl, 1, 0, %p;", lt_bf16, 32,
     false, 0},
    {"cvt.rna.tf32.f32 %dl, %al;", cvt_rna_tf32, 32, true, 0},
    {"mov.b64 {%dl, %el}, %a; mov.b64 %d, {%bl, %dl}; shr.u64 %d, %d, 32;", low, 32, false, 0},
    {"add.f32 %dl, %al, %bl;", add_f32, 32, true, 0},
    {"add.rz.f32 %dl, %al, %bl;", add_rz_f32, 32, true, 0},
    {"mul.ftz.f32 %dl, %al, %bl;", mul_ftz_f32, 32, true, 0},
    {"fma.rn.f32 %dl, %al, %bl, %cl;", fma_f32, 32, true, 0},
    {"fma.rn.f64 %d, %a, %b, %c;", fma_f64, 64, true, 0},
    {"add.sat.f32 %dl, %al, %bl;", sat_f32, 32, true, 0},
    {"min.f32 %dl, %al, %bl;", min_f32, 32, true, 0},
    {"div.rn.f32 %dl, %al, %bl;", div_f32, 32, true, 0},
    {"copysign.f32 %dl, %al, %bl;", copysign_f32, 32, true, 0},
    {"ex2.approx.f32 %dl, %al;", ex2, 32, true, 2},
    {"add.f16 %ds, %as, %bs;", add_f16, 16, true, 0},
    {"fma.rn.f16 %ds, %as, %bs, %cs;", fma_f16, 16, true, 0},
    {"mul.f16x2 %dl, %al, %bl;", mul_f16x2, 32, true, 0},
    {"cvt.rn.f16.f32 %ds, %al;", cvt_f16_f32, 16, true, 0},
    {"cvt.rm.f16.f32 %ds, %al;", cvt_rm_f16, 16, true, 0},
    {"cvt.rp.f16.f32 %ds, %al;", cvt_rp_f16, 16, true, 0},
    {"cvt.rz.bf16.f32 %ds, %al;", cvt_rz_bf16, 16, true, 0},
    {"cvt.rz.bf16.u64 %ds, %a;", cvt_rz_bf16_u64, 16, true, 0},
    {"cvt.ftz.f32.bf16 %dl, %as;", cvt_ftz_f32_bf16, 32, true, 0},
    {"fma.rn.relu.f16 %ds, %as, %bs, %cs;", fma_relu_f16, 16, true, 0},
    {"lg2.approx.ftz.f32 %dl, %al;", lg2_ftz, 32, true, 2},
    {"bfe.u64 %d, %a, %bl, %cl;", bfe_u64, 64, false, 0},
    {"cvt.f32.f16 %dl, %as;", cvt_f32_f16, 32, true, 0},
    {"cvt.rn.f16x2.f32 %dl, %al, %bl;", cvt_f16x2, 32, true, 0},
    {"cvt.rn.bf16.f32 %ds, %al;", cvt_bf16, 16, true, 0},
    {"cvt.rzi.s32.f32 %dl, %al;", cvt_rzi_s32_f32, 32, false, 0},
    {"cvt.rni.s64.f64 %d, %a;", cvt_rni_s64_f64, 64, false, 0},
    {"cvt.rzi.s64.f32 %d, %al;", cvt_rzi_s64_f32, 64, false, 0},
    {"cvt.rn.f32.u64 %dl, %a;", cvt_rn_f32_u64, 32, true, 0},
    {"cvt.sat.u8.s32 %ds, %al;", cvt_sat_u8_s32, 16, false, 0},
    {"cvt.s32.s8 %dl, %as;", cvt_s8, 32, false, 0},
    {"cvt.rn.f32.f64 %dl, %a;", cvt_rn_f32_f64, 32, true, 0},
    {"setp.lt.f32 %p, %al, %bl; selp.u32 %dl, 1, 0, %p;", setp_lt, 32, false, 0},
    {"setp.geu.f32 %p, %al, %bl; selp.u32 %dl, 1, 0, %p;", setp_geu, 32, false, 0},
    {"and.b32 %el, %cl, 1; setp.ne.u32 %q, %el, 0; setp.lt.and.s32 %p|%q, %al, %bl, %q;"
     "selp.u32 %dl, 1, 0, %p; selp.u32 %el, 2, 0, %q; or.b32 %dl, %dl, %el;",
     setp_pair, 32, false, 0},
};

static const char frame[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry test(.param .u64 in, .param .u64 out) {\n"
    ".reg .b64 %%a, %%b, %%c, %%d, %%e, %%in, %%out, %%at; .reg .pred %%p, %%q;\n"
    ".reg .b32 %%al, %%bl, %%cl, %%dl, %%el, %%t; .reg .b16 %%as, %%bs, %%cs, %%ds;\n"
    "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out];\n"
    "mov.u32 %%t, %%tid.x; mul.wide.u32 %%at, %%t, 24; add.u64 %%in, %%in, %%at;\n"
    "mul.wide.u32 %%at, %%t, 8; add.u64 %%out, %%out, %%at;\n"
    "ld.global.u64 %%a, [%%in]; ld.global.u64 %%b, [%%in+8]; ld.global.u64 %%c, [%%in+16];\n"
    "cvt.u32.u64 %%al, %%a; cvt.u32.u64 %%bl, %%b; cvt.u32.u64 %%cl, %%c;\n"
    "cvt.u16.u64 %%as, %%a; cvt.u16.u64 %%bs, %%b; cvt.u16.u64 %%cs, %%c;\n"
    "mov.u64 %%d, 0; mov.u32 %%dl, 0; mov.u16 %%ds, 0;\n"
    "%s\n%s st.global.u64 [%%out], %%d; ret; }\n";

static uint64_t operand(uint64_t *state, int index) {
    static const uint64_t extremes[] = {0,
                                        1,
                                        0x8000,
                                        0x7c00,
                                        0xfc00,
                                        0x7e00,
                                        0x0001,
                                        0x03ff,
                                        0x0400,
                                        0x7bff,
                                        0x80000000,
                                        0x7fffffff,
                                        0xffffffff,
                                        0x7f800000,
                                        0xff800000,
                                        0x7fc00000,
                                        0x00000001,
                                        0x007fffff,
                                        0x00800000,
                                        0x7f7fffff,
                                        0x3f800000,
                                        0xbf800000,
                                        0x477fefff,
                                        0x477ff000,
                                        0x33000000,
                                        0x33000001,
                                        0x38800000,
                                        0x387fc000,
                                        1ull << 63,
                                        1ull << 62,
                                        ~0ull,
                                        0x7ff0000000000000,
                                        0x7ff8000000000000,
                                        31,
                                        32,
                                        33};
    uint64_t random = harness_random(state);
    enum { EXTREMES = sizeof extremes / sizeof *extremes };
    switch (random % 5) {
    case 0:
        return extremes[(random >> 8) % EXTREMES];
    case 1: /* an ordinary number in the low word */
        return bits32(
            (float)((double)(int32_t)(random >> 16) / (double)(1u << (random >> 8 & 31))));
    case 2:
        return bits64((double)(int64_t)random / (double)(1ull << (random >> 8 & 63)));
    case 3: /* halves of ordinary size */
        return (random >> 8 & 0x8fff8fff) + 0x30003000 + (uint64_t)index;
    default:
        return harness_random(state);
    }
}

static bool is_nan(uint64_t bits, int width) {
    return width == 16   ? (bits & 0x7fff) > 0x7c00
           : width == 32 ? (bits & 0x7fffffff) > 0x7f800000
                         : (bits & INT64_MAX) > 0x7ff0000000000000;
}

static bool agree(size_t index, uint64_t got, uint64_t wanted) {
    int width = operations[index].bits;
    uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
    got &= mask;
    wanted &= mask;
    if (got == wanted)
        return true;
    if (!operations[index].is_float)
        return false;
    if (strstr(operations[index].body, "16x2")) /* halves may be NaNs */
        return (is_nan(got & 0xffff, 16) ? is_nan(wanted & 0xffff, 16)
                                         : (got & 0xffff) == (wanted & 0xffff)) &&
               (is_nan(got >> 16, 16) ? is_nan(wanted >> 16, 16) : got >> 16 == wanted >> 16);
    if (strstr(operations[index].body, "bf16"))
        return (got & 0x7fff) > 0x7f80 && (wanted & 0x7fff) > 0x7f80;
    if (is_nan(got, width) && is_nan(wanted, width))
        return true;
    return llabs((long long)(got - wanted)) <= operations[index].ulps;
}

static void test_operations(void **unused) {
    (void)unused;
    enum { THREADS = 256, ROUNDS = 20 };
    uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        char text[4096];
        const char *body = operations[i].body;
        const char *collect = strstr(body, "%ds,")  ? "cvt.u64.u16 %d, %ds;"
                              : strstr(body, "%d,") ? ""
                                                    : "cvt.u64.u32 %d, %dl;";
        snprintf(text, sizeof text, frame, body, collect);
        struct harness harness;
        harness_open(&harness, text);
        uint64_t *in, *out;
        uint64_t in_address = harness_buffer(&harness, "in", THREADS * 24, &in);
        uint64_t out_address = harness_buffer(&harness, "out", THREADS * 8, &out);
        harness_argument(&harness, &in_address, 8);
        harness_argument(&harness, &out_address, 8);
        for (int round = 0; round < ROUNDS; round++) {
            for (int j = 0; j < 3 * THREADS; j++)
                in[j] = operand(&state, j);
            harness_run(&harness, "test", 1, THREADS);
            for (int j = 0; j < THREADS; j++) {
                const uint64_t *x = &in[3 * j];
                uint64_t wanted = operations[i].expected(x[0], x[1], x[2]);
                if (!agree(i, out[j], wanted))
                    fail_msg("%s of 0x%llx 0x%llx 0x%llx gave 0x%llx, not 0x%llx", body,
                             (unsigned long long)x[0], (unsigned long long)x[1],
                             (unsigned long long)x[2], (unsigned long long)out[j],
                             (unsigned long long)wanted);
            }
        }
        harness_close(&harness);
    }
}

static void test_all_halves_survive(void **unused) {
    (void)unused;
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".entry test(.param .u64 out) { .reg .b64 %o, %at; .reg .b32 %t, %n, %c, %f; .reg .b16 "
        "%h;\n"
        "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x;\n"
        "mad.lo.u32 %t, %c, %n, %t; cvt.u16.u32 %h, %t; cvt.f32.f16 %f, %h;\n"
        "cvt.rn.f16.f32 %h, %f; mul.wide.u32 %at, %t, 2; add.u64 %o, %o, %at;\n"
        "st.global.u16 [%o], %h; exit; }\n";
    struct harness harness;
    uint16_t *out;
    harness_open(&harness, text);
    uint64_t address = harness_buffer(&harness, "out", 65536 * 2, &out);
    harness_argument(&harness, &address, 8);
    harness_run(&harness, "test", 64, 1024);
    for (int i = 0; i < 65536; i++)
        assert_true(is_nan((uint64_t)i, 16) ? is_nan(out[i], 16) : out[i] == i);
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_all_halves_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
