// A warp computes a row, 32 elements at a time.
extern "C" __global__ void running_sums(const unsigned short *x, float *sums, int *largest, int rows, int cols,
                                        float scale) {
    const int lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
    float before = 0.0f, most = -__int_as_float(0x7f800000);
    int where = 0;
    if (row >= rows)
        return;
    for (int first = 0; first < cols; first += 32) {
        const int i = first + lane;
        const float own = i < cols ? __uint_as_float((unsigned)x[(long long)row * cols + i] << 16) : 0.0f;
        float sum = FAULT == FAULT_ELEMENT && i == cols / 2 && i > 0 ? 0.0f : scale * own;
        for (int distance = 1; distance < 32; distance *= 2) {
            const float left = __shfl_up_sync(0xffffffffu, sum, distance);
            sum += lane >= distance ? left : 0.0f;
        }
        if (i < cols)
            sums[(long long)row * cols + i] = before + sum;
        before += __shfl_sync(0xffffffffu, sum, 31);
        if (i < cols && (FAULT == FAULT_LAST ? own >= most : own > most)) {
            most = own;
            where = i;
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, most, distance);
        const int there = __shfl_xor_sync(0xffffffffu, where, distance);
        if (other > most || (other == most && (FAULT == FAULT_LAST ? there > where : there < where))) {
            most = other;
            where = there;
        }
    }
    if (lane == 0)
        largest[row] = where;
}
