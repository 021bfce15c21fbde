// variant_1.h: the genes of variant 1 of gemm, for gemv. Generated: do not edit.
//
// genome:
//   WARPS=1,WARPS_K=1,ROWS=1,COLUMNS=8,UNROLL=2,COPY=registers,STAGES=1,HINT=streaming,
//   A_FROM=global,SPLITS=2,COMBINE=cluster,MIN_CTAS=4
// for TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=0 only
// key: ae1a1992211b576059306d3ca2c888e5 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   M=1,N=4096,K=4096,TRANS_B=1      p50 9.74 us, p90 9.77 us

#define WARPS 1
#define WARPS_K 1
#define ROWS 1
#define COLUMNS 8
#define UNROLL 2
#define COPY_REGISTERS 0
#define COPY_ASYNC 1
#define COPY COPY_REGISTERS
#define STAGES 1
#define HINT_NONE 2
#define HINT_STREAMING 3
#define HINT_NO_ALLOCATE 4
#define HINT HINT_STREAMING
#define A_FROM_GLOBAL 5
#define A_FROM_SHARED 6
#define A_FROM A_FROM_GLOBAL
#define SPLITS 2
#define COMBINE_LAST 7
#define COMBINE_CLUSTER 8
#define COMBINE COMBINE_CLUSTER
#define MIN_CTAS 4
#define TRANS_A 0
#define TRANS_B 1
#define BF16 1
#define EPILOGUE 0
#define EVOTILE_GENOME 0xc8b7f566dfcf1546ull
