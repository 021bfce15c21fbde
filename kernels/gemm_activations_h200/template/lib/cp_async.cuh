// cp.async: asynchronous copies from global to shared memory. A thread's copies are grouped by
// commit. A wait is by group and covers only the thread's own copies: a barrier must follow before
// other threads' copies are read. sm_80 and later.
#ifndef EVOTILE_LIB_CP_ASYNC
#define EVOTILE_LIB_CP_ASYNC

#include "lib/smem.cuh"
#include "lib/types.cuh"

// Stores 16 bytes to shared memory synchronously. Aligned to 16.
DEVICE void store_smem_16(u32 target_smem, uint4 value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(target_smem), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

// Copies 16 bytes, bypassing L1, or, if not `inside`, writes 16 zero bytes and reads nothing. Both
// addresses are aligned to 16.
DEVICE void cp_async_16(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same, but cached in L1 for other blocks of the SM.
DEVICE void cp_async_16_l1(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same for 8 bytes, aligned to 8.
DEVICE void cp_async_8(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 8 : 0)
                 : "memory");
}

// The same for 4 bytes, aligned to 4.
DEVICE void cp_async_4(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 4 : 0)
                 : "memory");
}

// Closes the group of copies that this thread has issued since the last commit; it may be empty.
DEVICE void cp_async_commit() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}

// Waits until at most `pending` of this thread's latest groups are unfinished.
template <int pending> DEVICE void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

#endif
