// What the reference and the plain kernel share for few and for many queries: elements as stored,
// the rows of a head, functions of either precision, and reductions.
#ifndef EVOTILE_ATTENTION_REFERENCE_COMMON
#define EVOTILE_ATTENTION_REFERENCE_COMMON

#include "lib/bfloat.cuh"
#include "lib/half.cuh"
#include "lib/types.cuh"

constexpr int threads = 128;
constexpr int warps = threads / 32;

struct alignas(16) eight_elements {
    u16 elements[8];
};

DEVICE float widen(u16 bits, bool is_bf16) {
    return is_bf16 ? bfloat_to_float(bf16{bits}) : half_to_float(f16{bits});
}

DEVICE double exponential(double x) {
    return exp(x);
}

DEVICE float exponential(float x) {
    return expf(x);
}

DEVICE double logarithm(double x) {
    return log(x);
}

DEVICE float logarithm(float x) {
    return logf(x);
}

DEVICE double hyperbolic_tangent(double x) {
    return tanh(x);
}

DEVICE float hyperbolic_tangent(float x) {
    return tanhf(x);
}

DEVICE void store(double *to, double value, bool) {
    *to = value;
}

DEVICE void store(u16 *to, float value, bool is_bf16) {
    *to = is_bf16 ? float_to_bfloat(value).bits : float_to_half(value).bits;
}

// The rows of a sequence in a tensor: those of a batch, or of packed ones some of batch 0.
struct sequence_rows {
    i64 batch, rows; // which batch of the tensor, and the rows of each
    i64 first;       // the sequence's first row in it
    int count;
};

// Which rows sequences have. Null: each has all rows of its batch; else sequence b has the rows
// from cu_seqlens[b] to cu_seqlens[b + 1] of packed tensors, and `rows` at most.
struct sequences {
    const int *cu_seqlens;
    int count, rows;

    DEVICE sequence_rows operator[](int number) const {
        if (!cu_seqlens)
            return {number, rows, 0, rows};
        const int first = cu_seqlens[number];
        return {0, cu_seqlens[count], first, cu_seqlens[number + 1] - first};
    }
};

// The matrix of one head; rows are `stride` elements apart.
template <typename element> struct matrix {
    element *first;
    i64 stride;

    // The rows `part` of head `head` of `heads`; `gap` unused elements follow each row.
    DEVICE matrix(element *tensor, const sequence_rows &part, i64 head, i64 heads, i64 columns,
                  bool rows_outside, i64 gap)
        : first(tensor +
                part.batch * part.rows * (heads * columns + (rows_outside ? gap : heads * gap)) +
                head * (rows_outside ? columns : part.rows * (columns + gap))),
          stride((rows_outside ? heads * columns : columns) + gap) {
        first += part.first * stride;
    }

    DEVICE element *row(i64 number) const {
        return first + number * stride;
    }
};

template <int lanes, typename real> DEVICE real group_max(real value) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const real other = __shfl_xor_sync(full_warp_mask, value, distance);
        value = other > value ? other : value;
    }
    return value;
}

template <int lanes, typename real> DEVICE real group_sum(real value) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(full_warp_mask, value, distance);
    return value;
}

template <typename real> constexpr real lowest = -1e30; // below every score

// How scores become probabilities: what a case may set beside its shape.
struct scoring {
    const float *sinks;           // one logit per head, or null
    int causal, window, soft_cap; // window and soft_cap: 0 for none
    float scale;                  // 0 selects 1 / sqrt(D)

    template <typename real> DEVICE real factor(int D) const {
        return scale > 0 ? scale : 1 / sqrt(static_cast<real>(D));
    }

    template <typename real> DEVICE real logit(real scaled) const {
        const real cap = soft_cap;
        return soft_cap > 0 ? cap * hyperbolic_tangent(scaled / cap) : scaled;
    }

    // Query `row` sees keys [begin, end).
    DEVICE int begin(int row, int S, int S_KV) const {
        return window > 0 ? max(row + S_KV - S - window + 1, 0) : 0;
    }

    DEVICE int end(int row, int S, int S_KV) const {
        return causal ? max(min(S_KV, row + S_KV - S + 1), 0) : S_KV;
    }

    // The sink joins a row's maximum and sum; what O is multiplied by.
    template <typename real> DEVICE real finish(real &row_max, real &sum, int head) const {
        real correction = 1;
        if (sinks) {
            const real sink = sinks[head], new_max = sink > row_max ? sink : row_max;
            correction = exponential(row_max - new_max);
            sum = sum * correction + exponential(sink - new_max);
            row_max = new_max;
        }
        return sum == 0 ? 0 : correction / sum; // 0: no key is visible
    }
};

#endif
