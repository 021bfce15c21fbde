// Correct: wgmma with both fences and its wait; what it read is overwritten after a barrier behind the wait.
// run: 1 blocks of 128 threads, 0
// buffer: out 512 output
#include "tests/faults/across.cuh"
extern "C" __global__ void faulty(float *out) {
    __shared__ alignas(128) unsigned short b[128]; // 16 x 8, as two core matrices
    float d[4] = {0, 0, 0, 0};
    b[threadIdx.x] = 0x3c00; // 1
    fence();
    __syncthreads();
    asm volatile("{ .reg .b64 to; .reg .b32 at; .reg .pred yes; shr.u32 at, %4, 4; cvt.u64.u32 to, at; "
                 "or.b64 to, to, 0x1000080000; setp.eq.u32 yes, at, at; wgmma.fence.sync.aligned; "
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%5, %5, %5, %5}, to, yes, 1, 1, 0; "
                 "wgmma.commit_group.sync.aligned; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(at(b)), "r"(0x3c003c00)
                 : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : : "memory");
    __syncthreads();
    b[threadIdx.x] = 0;
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
