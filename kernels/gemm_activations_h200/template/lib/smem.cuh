// Shared memory addresses, loads.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM

#include "lib/types.cuh"

// The 32-bit shared-state-space address that shared memory instructions take.
DEVICE u32 smem_address(const void *address) {
    return static_cast<u32>(__cvta_generic_to_shared(address));
}

// Loads 4 or 16 bytes, aligned to their size.
DEVICE u32 load_smem_4(u32 address) {
    u32 value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

DEVICE uint4 load_smem_16(u32 address) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

#endif
