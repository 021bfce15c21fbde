// variant_5.h: the genes of variant 5 of attention_fwd_hopper. Generated: do not edit.
//
// genome:
//   BLOCK_M=256,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
//   KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=1,ORDER=tiles
// for D=64,CAUSAL=0,BF16=0 only
// key: d4888e3dd85fa1230078d8151a0575c7 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90a by NVRTC 13.0
// latency per call:
//   B=4,H=16,S=512,D=64              p50 14.06 us, p90 14.13 us

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
#define PERSISTENT 1
#define ORDER_HEADS 3
#define ORDER_TILES 4
#define ORDER ORDER_TILES
#define D 64
#define CAUSAL 0
#define BF16 0
#define EVOTILE_GENOME 0x70a96a4e8ab86990ull
