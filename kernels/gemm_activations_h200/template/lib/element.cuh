// Operations on 16-bit tensor elements, selected by the element type, f16 or bf16.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

#include "lib/bfloat.cuh"
#include "lib/half.cuh"
#include "lib/types.cuh"

// Two floats rounded to `element` and packed, the lower half first: pack_pair<bf16>(low, high).
template <typename element> DEVICE u32 pack_pair(float low, float high);

template <> DEVICE u32 pack_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 pack_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

// The low or high element of a pair as a float.
template <typename element> DEVICE float unpack_low(u32 pair);
template <typename element> DEVICE float unpack_high(u32 pair);

template <> DEVICE float unpack_low<f16>(u32 pair) {
    return low_half_to_float(pair);
}

template <> DEVICE float unpack_high<f16>(u32 pair) {
    return high_half_to_float(pair);
}

template <> DEVICE float unpack_low<bf16>(u32 pair) {
    return __uint_as_float(pair << 16);
}

template <> DEVICE float unpack_high<bf16>(u32 pair) {
    return __uint_as_float(pair & 0xffff0000);
}

#endif
