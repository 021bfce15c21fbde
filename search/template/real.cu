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
