// variant_9.h: the genes of variant 9 of gemm. Generated: do not edit.
//
// genome:
//   SWAP=0,BLOCK_M=128,BLOCK_N=128,BLOCK_K=64,CONSUMERS=2,PINGPONG=0,PRODUCER=warpgroup,STAGES=7,
//   CLUSTER_M=1,CLUSTER_N=1,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=1,STORE=direct,
//   GROUP=8,MIN_CTAS=1
// for TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=0 only
// key: 365d284d69dda07c749b441143fb87fb (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   M=512,N=4096,K=14336,TRANS_B=1   p50 94.84 us, p90 96.29 us

#define SWAP 0
#define BLOCK_M 128
#define BLOCK_N 128
#define BLOCK_K 64
#define CONSUMERS 2
#define PINGPONG 0
#define PRODUCER_WARP 0
#define PRODUCER_WARPGROUP 1
#define PRODUCER PRODUCER_WARPGROUP
#define STAGES 7
#define CLUSTER_M 1
#define CLUSTER_N 1
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
#define STORE STORE_DIRECT
#define GROUP 8
#define MIN_CTAS 1
#define TRANS_A 0
#define TRANS_B 1
#define BF16 1
#define EPILOGUE 0
#define EVOTILE_GENOME 0x000a10b27cb37d21ull
