// variant_5.h: the genes of variant 5 of attention_fwd, for mma. Generated: do not edit.
//
// genome:
//   BLOCK_M=32,BLOCK_N=64,WARPS=2,WARPS_KV=1,MATH=mma,COPY=joint,LOAD=wide,K_STAGES=2,V_STAGES=2,
//   KV_SPLITS=1,COMBINE=kernel,SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,OVERLAP=0,
//   LAZY_RESCALE=0,FAST_MATH=0,UNROLL=1,MIN_CTAS=1,MAX_REGISTERS=0,L2_KEEP=none,PERSISTENT=0,
//   ORDER=heads
// for D=64,CAUSAL=1,BF16=0,DV=64,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 only
// key: a156f9d11f16756d63ee60fadc608403 (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   B=1,H=8,S=64,D=64,CAUSAL=1       p50 2.64 us, p90 2.65 us

#define BLOCK_M 32
#define BLOCK_N 64
#define WARPS 2
#define WARPS_KV 1
#define MATH_MMA 0
#define MATH_SIMT 1
#define MATH MATH_MMA
#define COPY_PLAIN 2
#define COPY_JOINT 3
#define COPY_APART 4
#define COPY COPY_JOINT
#define LOAD_WIDE 5
#define LOAD_NARROW 6
#define LOAD_L1 7
#define LOAD LOAD_WIDE
#define K_STAGES 2
#define V_STAGES 2
#define KV_SPLITS 1
#define COMBINE_KERNEL 8
#define COMBINE_EARLY 9
#define COMBINE_LAST 10
#define COMBINE_CLUSTER 11
#define COMBINE COMBINE_KERNEL
#define SWIZZLE_NONE 12
#define SWIZZLE_XOR 13
#define SWIZZLE_PAD 14
#define SWIZZLE SWIZZLE_XOR
#define ACC_QK_F32 15
#define ACC_QK_F16 16
#define ACC_QK ACC_QK_F32
#define ACC_PV_F32 15
#define ACC_PV_F16 16
#define ACC_PV ACC_PV_F32
#define Q_IN_REGISTERS 1
#define OVERLAP 0
#define LAZY_RESCALE 0
#define FAST_MATH 0
#define UNROLL 1
#define MIN_CTAS 1
#define MAX_REGISTERS 0
#define L2_KEEP_NONE 12
#define L2_KEEP_K 17
#define L2_KEEP_V 18
#define L2_KEEP L2_KEEP_NONE
#define PERSISTENT 0
#define ORDER_HEADS 19
#define ORDER_TILES 20
#define ORDER_REVERSED 21
#define ORDER ORDER_HEADS
#define D 64
#define CAUSAL 1
#define BF16 0
#define DV 64
#define WINDOW 0
#define SOFT_CAP 0
#define SINKS 0
#define VARLEN 0
#define EVOTILE_GENOME 0x18c165298bb91663ull
