// What a linear layer does to its sums before it rounds them.
#ifndef EVOTILE_LIB_LINEAR_EPILOGUE
#define EVOTILE_LIB_LINEAR_EPILOGUE

#include "lib/math.cuh"
#include "lib/types.cuh"

// x / (1 + 2^-y): x for large y, and 0 for y towards minus infinity. For y < 0 it is
// x 2^y / (1 + 2^y), with 2^y as a square: the result is a normal number where 2^y and 1 / 2^-y no
// longer are.
DEVICE float times_sigmoid_base_2(float x, float y) {
    const float root = exp2_fast(-0.5f * fabsf(y)); // of 2^-|y|
    const float above = x * reciprocal_fast(1.0f + root * root);
    return y < 0 ? above * root * root : above;
}

// z sigmoid(z).
DEVICE float silu(float z) {
    return times_sigmoid_base_2(z, 1.4426950408889634f * z); // log2(e)
}

// GELU by tanh, which is z sigmoid(2 sqrt(2 / pi) (z + 0.044715 z^3)).
DEVICE float gelu_tanh(float z) {
    return times_sigmoid_base_2(z, z * (2.3022081984f + 0.1029432396f * z * z));
}

enum class linear_epilogue { none, bias, bias_gelu, bias_silu, residual };

// The sum with its element of the bias or of the residual.
template <linear_epilogue kind> DEVICE float apply_epilogue(float sum, float addend) {
    if constexpr (kind == linear_epilogue::none)
        return sum;
    else if constexpr (kind == linear_epilogue::bias_gelu)
        return gelu_tanh(sum + addend);
    else if constexpr (kind == linear_epilogue::bias_silu)
        return silu(sum + addend);
    else
        return sum + addend;
}

#endif
