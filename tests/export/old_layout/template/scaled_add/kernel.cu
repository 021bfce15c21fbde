// c = 2 a + b + BIAS over ROWS * COLS floats; template.json lists the faults.

#if FAULT == FAULT_SYNTAX
this is not CUDA
#endif

extern "C" __global__ void scaled_add(const float *a, const float *b, float *c, int ROWS, int COLS) {
    constexpr int step = ORDER == ORDER_FORWARD ? 1 : -1;
    const int count = ROWS * COLS;
    if constexpr (FAULT == FAULT_TRAP)
        asm volatile("trap;");
    if constexpr (FAULT == FAULT_HANG)
        for (volatile int turning = 1; turning;)
            ;
    for (int turn = blockIdx.x * THREADS * ITEMS; turn < count; turn += gridDim.x * THREADS * ITEMS) {
        for (int item = 0; item < ITEMS; ++item) {
            const int i = turn + (step > 0 ? item : ITEMS - 1 - item) * THREADS + threadIdx.x;
            if (i < count)
                c[i] = (FAULT == FAULT_WRONG ? 2.001f : 2.0f) * a[i] + b[i] + BIAS;
        }
    }
}
