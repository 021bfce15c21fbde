/* Lane functions for x86-64 with AVX2 and FMA. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma")
#endif
#define LANES_VARIANT      lanes_avx2
#define LANES_VECTOR_BYTES 32
#include "ptx/lanes_all.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int lanes_avx2_is_for_x86_64;
#endif
