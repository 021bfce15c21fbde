// A Fourier transform of 256 complex numbers a block, in double precision.
extern "C" __global__ void fourier(const double2 *in, double2 *out) {
    __shared__ double2 smem[256];
    const int i = threadIdx.x, base = blockIdx.x * 256;
    smem[i] = in[base + (__brev(i) >> 24)];
    __syncthreads();
    for (int half = 1; half < 256; half *= 2) {
        if ((i & half) == 0) {
            const int j = i | half;
            double sine, cosine;
            sincospi(-(double)(i & (half - 1)) / half, &sine, &cosine);
            const double2 a = smem[i], b = smem[j];
            const double real = b.x * cosine - b.y * sine, imaginary = b.x * sine + b.y * cosine;
            smem[i] = make_double2(a.x + real, a.y + imaginary);
            smem[j] = make_double2(a.x - real, a.y - imaginary);
        }
        __syncthreads();
    }
    out[base + i] = smem[i];
}
