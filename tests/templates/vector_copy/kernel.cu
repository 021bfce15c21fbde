// y = a x; template.json describes the genes. Kernels that are C++ templates need no extern "C": a launch names one by
// an expression, which instantiates it.

namespace copies {

template <int count> struct load_of;
template <> struct load_of<1> { using type = float; };
template <> struct load_of<2> { using type = float2; };
template <> struct load_of<4> { using type = float4; };
template <int count> using load = typename load_of<count>::type;

template <int threads, typename Load, int items>
__global__ void scale(const float *x, float *y, int whole, int left, float a) {
    constexpr int vector = sizeof(Load) / sizeof(float);
    const int first = blockIdx.x * threads * items + threadIdx.x;
#pragma unroll
    for (int item = 0; item < (FAULT == FAULT_ONE_ITEM ? 1 : items); ++item) {
        const int i = first + item * threads;
        if (i < whole) {
            Load values = ((const Load *)x)[i];
            for (int v = 0; v < vector; ++v)
                ((float *)&values)[v] *= a;
            ((Load *)y)[i] = values;
        }
    }
    if (FAULT != FAULT_NO_TAIL && blockIdx.x == 0 && threadIdx.x < left)
        y[whole * vector + threadIdx.x] = a * x[whole * vector + threadIdx.x];
}

// The numbers behind the last whole load.
template <int vector> __global__ void rest(const float *x, float *y, int count, float a) {
    static_assert(vector > 1, "a load of one number leaves none behind");
    const int i = count / vector * vector + threadIdx.x;
    if (i < count)
        y[i] = a * x[i];
}

} // namespace copies
