// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH

// 2^x to about 2 units in the last place; 0 for minus infinity; results below 2^-126 become 0.
__device__ __forceinline__ float exp2_fast(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// 1/x to about 1 unit in the last place.
__device__ __forceinline__ float reciprocal_fast(float x)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

#endif
