// variant_7.h: the genes of variant 7 of attention_fwd_hopper. Generated: do not edit.
//
// genome:
//   BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
//   KV_SPLITS=1,LAZY_RESCALE=0,POLYNOMIAL_EXP=3,MIN_CTAS=1,PERSISTENT=0,ORDER=heads
// for D=64,CAUSAL=1,BF16=0 only
// key: b4969ae73a37050b601fbd10a90e6c5e (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   B=1,H=1,S=128,D=64,CAUSAL=1      p50 3.14 us, p90 3.15 us

#define BLOCK_M 64
#define BLOCK_N 128
#define GROUPS_KV 1
#define K_STAGES 1
#define V_STAGES 1
#define PRODUCER_NONE 0
#define PRODUCER_WARP 1
#define PRODUCER_WARPGROUP 2
#define PRODUCER PRODUCER_WARPGROUP
#define OVERLAP 0
#define TURNS 0
#define KV_SPLITS 1
#define LAZY_RESCALE 0
#define POLYNOMIAL_EXP 3
#define MIN_CTAS 1
#define PERSISTENT 0
#define ORDER_HEADS 3
#define ORDER_TILES 4
#define ORDER ORDER_HEADS
#define D 64
#define CAUSAL 1
#define BF16 0
#define EVOTILE_GENOME 0x31a2de361feb8b1full
