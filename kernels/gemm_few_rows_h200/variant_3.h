// variant_3.h: the genes of variant 3 of gemm, for gemv. Generated: do not edit.
//
// genome:
//   WARPS=8,WARPS_K=1,ROWS=1,COLUMNS=2,UNROLL=8,COPY=registers,STAGES=1,HINT=no_allocate,
//   A_FROM=global,SPLITS=1,COMBINE=last,MIN_CTAS=2
// for TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=0 only
// key: 4fb1a58822498a13b5acecc7e44dde12 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   M=1,N=4096,K=14336,TRANS_B=1     p50 28.07 us, p90 28.17 us

#define WARPS 8
#define WARPS_K 1
#define ROWS 1
#define COLUMNS 2
#define UNROLL 8
#define COPY_REGISTERS 0
#define COPY_ASYNC 1
#define COPY COPY_REGISTERS
#define STAGES 1
#define HINT_NONE 2
#define HINT_STREAMING 3
#define HINT_NO_ALLOCATE 4
#define HINT HINT_NO_ALLOCATE
#define A_FROM_GLOBAL 5
#define A_FROM_SHARED 6
#define A_FROM A_FROM_GLOBAL
#define SPLITS 1
#define COMBINE_LAST 7
#define COMBINE_CLUSTER 8
#define COMBINE COMBINE_LAST
#define MIN_CTAS 2
#define TRANS_A 0
#define TRANS_B 1
#define BF16 1
#define EPILOGUE 0
#define EVOTILE_GENOME 0x096d2e417b3bf312ull
