// variant_13.h: the genes of variant 13 of attention_fwd_hopper. Generated: do not edit.
//
// genome:
//   BLOCK_M=256,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
//   KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0,ORDER=heads
// for D=64,CAUSAL=1,BF16=0 only
// key: 8698e3f77d38e9ce515a87afe08315e9 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   B=2,H=16,S=2048,D=64,CAUSAL=1    p50 42.63 us, p90 42.71 us

#define BLOCK_M 256
#define BLOCK_N 64
#define GROUPS_KV 1
#define K_STAGES 2
#define V_STAGES 2
#define PRODUCER_NONE 0
#define PRODUCER_WARP 1
#define PRODUCER_WARPGROUP 2
#define PRODUCER PRODUCER_WARPGROUP
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
#define EVOTILE_GENOME 0x323f007b164a8f65ull
