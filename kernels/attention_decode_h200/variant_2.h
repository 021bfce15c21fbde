// variant_2.h: the genes of variant 2 of attention_fwd. Generated: do not edit.
//
// genome:
//   WARPS=8,WARP_KEYS=16,STAGES=3,KV_SPLITS=1,COMBINE=kernel,MIN_CTAS=1
// for D=128,CAUSAL=0,BF16=0,DV=128,WINDOW=0,SOFT_CAP=0,SINKS=0 only
// key: 791d7983d7e9c42b41e6c9222f1a30dd (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   B=16,H=32,H_KV=8,S=1,S_KV=4096,D=128 p50 64.16 us, p90 64.49 us

#define WARPS 8
#define WARP_KEYS 16
#define STAGES 3
#define KV_SPLITS 1
#define COMBINE_KERNEL 0
#define COMBINE_EARLY 1
#define COMBINE_LAST 2
#define COMBINE_CLUSTER 3
#define COMBINE COMBINE_KERNEL
#define MIN_CTAS 1
#define D 128
#define CAUSAL 0
#define BF16 0
#define DV 128
#define WINDOW 0
#define SOFT_CAP 0
#define SINKS 0
#define EVOTILE_GENOME 0xd5a8ae17c1fb163full
