// variant_12.h: the genes of variant 12 of attention_fwd_hopper. Generated: do not edit.
//
// genome:
//   BLOCK_M=64,BLOCK_N=48,GROUPS_KV=1,K_STAGES=2,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
//   KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=4,PERSISTENT=0,ORDER=heads
// for D=64,CAUSAL=1,BF16=0 only
// key: 4617da039584b368682ed964d22ab8a6 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   B=8,H=16,S=512,D=64,CAUSAL=1     p50 19.11 us, p90 19.22 us

#define BLOCK_M 64
#define BLOCK_N 48
#define GROUPS_KV 1
#define K_STAGES 2
#define V_STAGES 1
#define PRODUCER_NONE 0
#define PRODUCER_WARP 1
#define PRODUCER_WARPGROUP 2
#define PRODUCER PRODUCER_WARPGROUP
#define OVERLAP 0
#define TURNS 0
#define KV_SPLITS 1
#define LAZY_RESCALE 2
#define POLYNOMIAL_EXP 0
#define MIN_CTAS 4
#define PERSISTENT 0
#define ORDER_HEADS 3
#define ORDER_TILES 4
#define ORDER ORDER_HEADS
#define D 64
#define CAUSAL 1
#define BF16 0
#define EVOTILE_GENOME 0xc66e0e7409c88e91ull
