// Black-Scholes prices of European calls and puts, with CUDA's math functions.
__device__ float below(float d) {
    return 0.5f * erfcf(-d * 0.70710678f);
}
extern "C" __global__ void options(const float *price, const float *strike, const float *years, float *call,
                                   float *put, int n) {
    const float rate = 0.02f, volatility = 0.3f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float root = sqrtf(years[i]);
        const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                         (volatility * root);
        const float d2 = d1 - volatility * root, discount = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * below(d1) - discount * below(d2);
        put[i] = discount * below(-d2) - price[i] * below(-d1);
    }
}
