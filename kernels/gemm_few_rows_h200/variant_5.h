// variant_5.h: the genes of variant 5 of gemm, for hopper. Generated: do not edit.
//
// genome:
//   SWAP=1,BLOCK_M=64,BLOCK_N=16,BLOCK_K=128,CONSUMERS=1,PINGPONG=0,PRODUCER=warp,STAGES=5,
//   CLUSTER_M=1,CLUSTER_N=1,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=0,STORE=direct,
//   GROUP=8,MIN_CTAS=2
// for TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=0 only
// key: 603ed1349833672a699997d2a364f297 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   M=16,N=14336,K=4096,TRANS_B=1    p50 29.69 us, p90 29.91 us

#define SWAP 1
#define BLOCK_M 64
#define BLOCK_N 16
#define BLOCK_K 128
#define CONSUMERS 1
#define PINGPONG 0
#define PRODUCER_WARP 0
#define PRODUCER_WARPGROUP 1
#define PRODUCER PRODUCER_WARP
#define STAGES 5
#define CLUSTER_M 1
#define CLUSTER_N 1
#define SCHEDULE_SPLITS 2
#define SCHEDULE_STREAM_K 3
#define SCHEDULE SCHEDULE_SPLITS
#define SPLITS 1
#define COMBINE_LAST 4
#define COMBINE_CLUSTER 5
#define COMBINE COMBINE_LAST
#define PERSISTENT 0
#define STORE_DIRECT 6
#define STORE_TMA 7
#define STORE STORE_DIRECT
#define GROUP 8
#define MIN_CTAS 2
#define TRANS_A 0
#define TRANS_B 1
#define BF16 1
#define EPILOGUE 0
#define EVOTILE_GENOME 0x499daf9966b10a3aull
