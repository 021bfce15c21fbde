// kernel.cu: scaled_add, frozen by evotile. Written by a program: do not edit.
//
// c = 2 a + b, element by element, with selectable faults
//
// genome:
//   THREADS=128,ITEMS=2,BLOCKS=8,SPARE=48,ORDER=backward,FAULT=none
// for BIAS=0 only
// key: ce1b483f6be45c054ecd1173ff444331 (its parts are in manifest.json)
// device: NVIDIA H200, emulated, driver none, compiled for sm_90 by NVRTC 13.0
// latency of a call:
//   ROWS=6,COLS=40                   p50 2.00 us, p90 2.00 us (predicted, not measured)
// replay: evotile replay old_layout

#define THREADS 128
#define ITEMS 2
#define BLOCKS 8
#define SPARE 48
#define ORDER_FORWARD 0
#define ORDER_BACKWARD 1
#define ORDER ORDER_BACKWARD
#define FAULT_NONE 2
#define FAULT_WRONG 3
#define FAULT_SYNTAX 4
#define FAULT_TRAP 5
#define FAULT_HANG 6
#define FAULT FAULT_NONE
#define BIAS 0

// Read back from the loaded module: proof that it is this genome's.
extern "C" {
__device__ unsigned long long evotile_genome = 0xf5c9125dfa964a97ull;
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
