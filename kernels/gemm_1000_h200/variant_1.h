// variant_1.h: the genes of variant 1 of gemm. Generated: do not edit.
//
// genome:
//   SWAP=0,BLOCK_M=64,BLOCK_N=128,BLOCK_K=64,CONSUMERS=1,PINGPONG=0,PRODUCER=warp,STAGES=6,
//   CLUSTER_M=2,CLUSTER_N=1,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=0,STORE=direct,
//   GROUP=2,MIN_CTAS=2
// for TRANS_A=0,TRANS_B=0,BF16=1,EPILOGUE=0 only
// key: f554baa691cac010121804b3f042a71f (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   M=1000,N=1000,K=1000             p50 7.30 us, p90 7.33 us

#define SWAP 0
#define BLOCK_M 64
#define BLOCK_N 128
#define BLOCK_K 64
#define CONSUMERS 1
#define PINGPONG 0
#define PRODUCER_WARP 0
#define PRODUCER_WARPGROUP 1
#define PRODUCER PRODUCER_WARP
#define STAGES 6
#define CLUSTER_M 2
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
#define GROUP 2
#define MIN_CTAS 2
#define TRANS_A 0
#define TRANS_B 0
#define BF16 1
#define EPILOGUE 0
#define EVOTILE_GENOME 0x01d39712ac38a596ull
