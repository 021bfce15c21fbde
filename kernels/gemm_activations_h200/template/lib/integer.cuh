// Integer arithmetic where the compiler needs a hint.
#ifndef EVOTILE_LIB_INTEGER
#define EVOTILE_LIB_INTEGER

#include "lib/types.cuh"

// a * b in 64 bits by one multiplication. (For 64-bit operands the compiler does not know that the
// values fit 32 bits, and uses three.)
DEVICE i64 multiply_wide(int a, int b) {
    i64 result;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

DEVICE u64 multiply_wide(u32 a, u32 b) {
    u64 result;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

// Replaces a number by its square plus 1, by one instruction that stays though its result is unused.
DEVICE void square_plus_one(u32 &number) {
    asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(number));
}

// n / d, where inverse = (2^31 - 1) / d and 0 <= n, (n + 1) * d <= 2^31. Exact: 2^31 = d * inverse
// + r with 1 <= r <= d, so the product is less than (n + 1) / d by (n + 1) r / (2^31 d), which is
// greater than 0 and at most 1 / d.
DEVICE int divide(int n, int inverse) {
    return static_cast<int>(__umulhi(2u * n + 2u, inverse));
}

#endif
