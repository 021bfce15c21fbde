// variant_11.h: the genes of variant 11 of attention_fwd_hopper. Generated: do not edit.
//
// genome:
//   BLOCK_M=64,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warp,OVERLAP=0,TURNS=0,
//   KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0,ORDER=heads
// for D=64,CAUSAL=1,BF16=0 only
// key: 318b6e936ce3545ca26f0925d6ae36e2 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   B=4,H=16,S=512,D=64,CAUSAL=1     p50 11.01 us, p90 11.06 us

#define BLOCK_M 64
#define BLOCK_N 64
#define GROUPS_KV 1
#define K_STAGES 2
#define V_STAGES 2
#define PRODUCER_NONE 0
#define PRODUCER_WARP 1
#define PRODUCER_WARPGROUP 2
#define PRODUCER PRODUCER_WARP
#define OVERLAP 0
#define TURNS 0
#define KV_SPLITS 1
#define LAZY_RESCALE 1
#define POLYNOMIAL_EXP 0
#define MIN_CTAS 1
#define PERSISTENT 0
#define ORDER_HEADS 3
#define ORDER_TILES 4
#define ORDER ORDER_HEADS
#define D 64
#define CAUSAL 1
#define BF16 0
#define EVOTILE_GENOME 0xbd66eb3818d76cffull
