// variant_1.h: the genes of variant 1 of gemm. Generated: do not edit.
//
// genome:
//   SWAP=0,BLOCK_M=128,BLOCK_N=160,BLOCK_K=64,CONSUMERS=2,PINGPONG=1,PRODUCER=warpgroup,STAGES=5,
//   CLUSTER_M=1,CLUSTER_N=2,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=1,STORE=tma,GROUP=16,
//   MIN_CTAS=1
// for TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=2 only
// key: ca0fdeaa8bad4b1149b40b55cc4344de (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   M=4096,N=14336,K=4096,TRANS_B=1,EPILOGUE=2 p50 740.69 us, p90 750.13 us

#define SWAP 0
#define BLOCK_M 128
#define BLOCK_N 160
#define BLOCK_K 64
#define CONSUMERS 2
#define PINGPONG 1
#define PRODUCER_WARP 0
#define PRODUCER_WARPGROUP 1
#define PRODUCER PRODUCER_WARPGROUP
#define STAGES 5
#define CLUSTER_M 1
#define CLUSTER_N 2
#define SCHEDULE_SPLITS 2
#define SCHEDULE_STREAM_K 3
#define SCHEDULE SCHEDULE_SPLITS
#define SPLITS 1
#define COMBINE_LAST 4
#define COMBINE_CLUSTER 5
#define COMBINE COMBINE_LAST
#define PERSISTENT 1
#define STORE_DIRECT 6
#define STORE_TMA 7
#define STORE STORE_TMA
#define GROUP 16
#define MIN_CTAS 1
#define TRANS_A 0
#define TRANS_B 1
#define BF16 1
#define EPILOGUE 2
#define EVOTILE_GENOME 0x04090590b7b1a423ull
