// Conversions between the elements of tensors and float, selected by the type of the element.
#ifndef EVOTILE_LIB_WIDEN
#define EVOTILE_LIB_WIDEN

#include "lib/bfloat.cuh"
#include "lib/half.cuh"
#include "lib/types.cuh"

DEVICE float widen(f16 value) {
    return half_to_float(value);
}

DEVICE float widen(bf16 value) {
    return bfloat_to_float(value);
}

DEVICE float widen(float value) {
    return value;
}

// Rounds to nearest even.
template <typename element> DEVICE element narrow(float value);

template <> DEVICE f16 narrow<f16>(float value) {
    return float_to_half(value);
}

template <> DEVICE bf16 narrow<bf16>(float value) {
    return float_to_bfloat(value);
}

template <> DEVICE float narrow<float>(float value) {
    return value;
}

// The same of two floats, packed: `low` in bits 0-15, `high` in bits 16-31.
template <typename element> DEVICE u32 narrow_pair(float low, float high);

template <> DEVICE u32 narrow_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 narrow_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

#endif
