// variant_2.h: the genes of variant 2 of add_rms_norm. Generated: do not edit.
//
// genome:
//   THREADS=64,ROW_THREADS=64,CLUSTER=8,VECTOR=8,HELD=2,SUMS=float,CTAS_PER_SM=0,MIN_CTAS=16,
//   AHEAD=0,WEIGHT=early,STREAMING=stores
// for BF16=1 only
// key: d63661de64bf75ae0422f40bf021d45d (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   ROWS=16,COLS=8192                p50 2.06 us, p90 2.07 us

#define THREADS 64
#define ROW_THREADS 64
#define CLUSTER 8
#define VECTOR 8
#define HELD 2
#define SUMS_FLOAT 0
#define SUMS_ROUNDED 1
#define SUMS SUMS_FLOAT
#define CTAS_PER_SM 0
#define MIN_CTAS 16
#define AHEAD 0
#define WEIGHT_ONCE 2
#define WEIGHT_EARLY 3
#define WEIGHT_LATE 4
#define WEIGHT WEIGHT_EARLY
#define STREAMING_NONE 5
#define STREAMING_LOADS 6
#define STREAMING_STORES 7
#define STREAMING_BOTH 8
#define STREAMING STREAMING_STORES
#define BF16 1
#define EVOTILE_GENOME 0x29679f33eb2b06c0ull
#define EVOTILE_KERNELS (const void *)(add_rms_norm<true>), (const void *)(add_rms_norm<false>)
