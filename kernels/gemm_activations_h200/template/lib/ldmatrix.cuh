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

// The opposite of ldmatrix_x4: stores tile[i] of all lanes as tile i. sm_90.
DEVICE void stmatrix_x4(u32 row_smem, u32 tile0, u32 tile1, u32 tile2, u32 tile3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row_smem), "r"(tile0), "r"(tile1), "r"(tile2), "r"(tile3)
                 : "memory");
}

// Transposes an 8x8 tile of halves that the warp has as above: in and out, lane l has columns
// 2(l%4) and 2(l%4)+1 of row l/4.
DEVICE u32 movmatrix_trans(u32 tile) {
    u32 transposed;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(tile));
    return transposed;
}

#endif
