// ldmatrix: one warp loads four 8x8 tiles of halves from shared memory. Lanes 8i to 8i+7 each give
// the address of one row (16 bytes, aligned to 16) of tile i. The eight rows of a tile should be in
// different banks.
#ifndef EVOTILE_LIB_LDMATRIX
#define EVOTILE_LIB_LDMATRIX

#include "lib/types.cuh"

// tile[i] of lane l: row l/4, columns 2(l%4) and 2(l%4)+1 of tile i.
DEVICE void ldmatrix_x4(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

// The same, transposed: rows 2(l%4) and 2(l%4)+1 of column l/4 of tile i.
DEVICE void ldmatrix_x4_trans(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

#endif
