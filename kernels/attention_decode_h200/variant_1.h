// variant_1.h: the genes of variant 1 of attention_fwd. Generated: do not edit.
//
// genome:
//   WARPS=8,WARP_KEYS=16,STAGES=3,KV_SPLITS=8,COMBINE=cluster,MIN_CTAS=1
// for D=128,CAUSAL=0,BF16=0,DV=128,WINDOW=0,SOFT_CAP=0,SINKS=0 only
// key: 1d74aadb5c3a397005e9ef9de2c2e19e (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   B=1,H=32,H_KV=8,S=1,S_KV=8192,D=128 p50 12.26 us, p90 12.35 us

#define WARPS 8
#define WARP_KEYS 16
#define STAGES 3
#define KV_SPLITS 8
#define COMBINE_KERNEL 0
#define COMBINE_EARLY 1
#define COMBINE_LAST 2
#define COMBINE_CLUSTER 3
#define COMBINE COMBINE_CLUSTER
#define MIN_CTAS 1
#define D 128
#define CAUSAL 0
#define BF16 0
#define DV 128
#define WINDOW 0
#define SOFT_CAP 0
#define SINKS 0
#define EVOTILE_GENOME 0x2397e85154bc6cf5ull
