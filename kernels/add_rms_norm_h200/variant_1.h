// variant_1.h: the genes of variant 1 of add_rms_norm. Generated: do not edit.
//
// genome:
//   THREADS=256,ROW_THREADS=256,CLUSTER=1,VECTOR=8,HELD=1,SUMS=float,CTAS_PER_SM=0,MIN_CTAS=6,
//   AHEAD=0,WEIGHT=early,STREAMING=none
// for BF16=1 only
// key: 3a50d3f58f369d727e65f0656360079e (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency per call:
//   ROWS=8192,COLS=4096              p50 66.81 us, p90 67.06 us

#define THREADS 256
#define ROW_THREADS 256
#define CLUSTER 1
#define VECTOR 8
#define HELD 1
#define SUMS_FLOAT 0
#define SUMS_ROUNDED 1
#define SUMS SUMS_FLOAT
#define CTAS_PER_SM 0
#define MIN_CTAS 6
#define AHEAD 0
#define WEIGHT_ONCE 2
#define WEIGHT_EARLY 3
#define WEIGHT_LATE 4
#define WEIGHT WEIGHT_EARLY
#define STREAMING_NONE 5
#define STREAMING_LOADS 6
#define STREAMING_STORES 7
#define STREAMING_BOTH 8
#define STREAMING STREAMING_NONE
#define BF16 1
#define EVOTILE_GENOME 0x2cf797b24fe87aceull
#define EVOTILE_KERNELS (const void *)(add_rms_norm<true>), (const void *)(add_rms_norm<false>)
