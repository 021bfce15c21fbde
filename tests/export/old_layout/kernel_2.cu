// kernel_2.cu: scaled_add, frozen by evotile. Written by a program: do not edit.
//
// c = 2 a + b, element by element, with selectable faults
//
// genome:
//   THREADS=64,ITEMS=1,BLOCKS=1,SPARE=0,ORDER=forward,FAULT=none
// for BIAS=1 only
// key: e2182b76a81c73aa340a847c41ae9d47 (its parts are in manifest.json)
// device: NVIDIA H200, emulated, driver none, compiled for sm_90 by NVRTC 13.0
// latency of a call:
//   ROWS=3,COLS=7,BIAS=1             p50 2.00 us, p90 2.00 us (predicted, not measured)
// replay: evotile replay old_layout

#define THREADS 64
#define ITEMS 1
#define BLOCKS 1
#define SPARE 0
#define ORDER_FORWARD 0
#define ORDER_BACKWARD 1
#define ORDER ORDER_FORWARD
#define FAULT_NONE 2
#define FAULT_WRONG 3
#define FAULT_SYNTAX 4
#define FAULT_TRAP 5
#define FAULT_HANG 6
#define FAULT FAULT_NONE
#define BIAS 1

// Read back from the loaded module: proof that it is this genome's.
extern "C" {
__device__ unsigned long long evotile_genome = 0x3bcff34459cf10d8ull;
}

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
