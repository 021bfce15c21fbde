// reference.cu: what add_rms_norm computes, in double precision. Exported by evotile from
// the template's reference.cu with its includes inlined. Generated: do not edit.
//
// check.c compares large shapes with it, and compares it with reference.c.

typedef double real;
// What a reference in the type `real` finds before its source: the floating dtypes of tensors that are not C's own, as
// types that convert to `real`. Also compiled by a C++ compiler for the host, for an exported check.

__device__ inline real evotile_from_half(unsigned bits) {
    float magnitude = __uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f;
    if ((bits & 0x7c00u) == 0x7c00u)
        magnitude = __uint_as_float(0x7f800000u | (bits & 0x3ffu) << 13);
    return bits & 0x8000u ? -magnitude : magnitude;
}

struct f16 {
    unsigned short bits;
    __device__ operator real() const { return evotile_from_half(bits); }
};

struct bf16 {
    unsigned short bits;
    __device__ operator real() const { return __uint_as_float((unsigned)bits << 16); }
};

// It has one NaN of each sign and no infinity.
struct f8_e4m3 {
    unsigned char bits;
    __device__ operator real() const {
        float magnitude = __uint_as_float((bits & 0x7fu) << 20) * 0x1p120f;
        if ((bits & 0x7fu) == 0x7fu)
            magnitude = __uint_as_float(0x7fffffffu);
        return bits & 0x80u ? -magnitude : magnitude;
    }
};

struct f8_e5m2 {
    unsigned char bits;
    __device__ operator real() const { return evotile_from_half((unsigned)bits << 8); }
};

#line 1 "reference.cu"
// Residual add and RMS norm of rows: a block has one. The problem says what `real` is.

// Sums and maxima over the threads of a block, for references: any type, no other file, no speed.
// `threads` is a power of two.
#ifndef EVOTILE_LIB_BLOCK_TREE
#define EVOTILE_LIB_BLOCK_TREE

// `merge(a, b)` of a value of each thread of the block, which all of them get.
template <int threads, typename number, typename function>
__device__ number block_tree(number value, function merge) {
    __shared__ number values[threads];
    const int t = threadIdx.x;
    __syncthreads(); // an earlier result has been read
    values[t] = value;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads(); // every thread has written
        if (t < half)
            values[t] = merge(values[t], values[t + half]);
    }
    __syncthreads(); // the result is written
    return values[0];
}

template <int threads, typename number> __device__ number block_tree_sum(number value) {
    return block_tree<threads>(value, [](number a, number b) { return a + b; });
}

template <int threads, typename number> __device__ number block_tree_max(number value) {
    return block_tree<threads>(value, [](number a, number b) { return a > b ? a : b; });
}

#endif

constexpr int threads = 128;

extern "C" __global__ void add_rms_norm_reference(const void *before, real *x, const void *residual,
                                                  const void *weight, real *y, int COLS,
                                                  float EPSILON, int is_bfloat) {
    const long long start = (long long)blockIdx.x * COLS;
    auto element = [=](const void *from, long long n) -> real {
        return is_bfloat ? real(static_cast<const bf16 *>(from)[n])
                         : real(static_cast<const f16 *>(from)[n]);
    };
    real squares = 0;
    for (int c = threadIdx.x; c < COLS; c += threads) {
        const real sum = element(before, start + c) + element(residual, start + c);
        x[start + c] = sum;
        squares += sum * sum;
    }
    squares = block_tree_sum<threads>(squares);
    const real scale = 1 / sqrt(squares / COLS + real(EPSILON));
    for (int c = threadIdx.x; c < COLS; c += threads)
        y[start + c] = x[start + c] * scale * element(weight, c);
}
