// Types and constants that the device code needs without any system header.
#ifndef EVOTILE_LIB_TYPES
#define EVOTILE_LIB_TYPES

// A device function that is always inlined, so that reference arguments stay in registers.
#define DEVICE __device__ __forceinline__

using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// An IEEE half as stored in memory. Arithmetic is done in float; half.cuh converts.
struct f16 {
    u16 bits;
};

// A bfloat16: the upper half of a float.
struct bf16 {
    u16 bits;
};

// std::conditional_t: A if the condition holds, else B.
template <bool condition, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;

constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
constexpr u32 full_warp_mask = 0xffffffffu;

__host__ __device__ constexpr int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

__host__ __device__ constexpr int max_of(int a, int b) {
    return a > b ? a : b;
}

__host__ __device__ constexpr int min_of(int a, int b) {
    return a < b ? a : b;
}

#endif
