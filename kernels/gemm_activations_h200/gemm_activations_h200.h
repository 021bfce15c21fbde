/*
 * gemm_activations_h200: gemm, exported by evotile. Generated: do not edit.
 *
 * wgmma and TMA on Hopper: a producer warp, clusters with multicast, cooperative or ping-pong
 * consumers, few rows as columns
 *
 * Tuned on NVIDIA H200 for these shapes (measured p50 per call):
 *     M=4096,N=14336,K=4096,TRANS_B=1,EPILOGUE=2   740.69 us
 *     M=4096,N=14336,K=4096,TRANS_B=1,EPILOGUE=3   731.26 us
 * What it passed:
 *     from variant 1: probe cases (5 of 5), cases (1 of 1), timed outputs, edge shapes (1 case),
 *     hard inputs (1 case), work carried over in flush memory (1 case), race checker (1 of 5 cases
 *     and parts of 4); 23 inputs of seed 11400714819323198548; NVIDIA H200; warm and cold graphs 7,
 *      sustained
 *     from variant 2: probe cases (5 of 5), cases (1 of 1), timed outputs, hard inputs (1 case),
 *     work carried over in flush memory (1 case), race checker (1 of 5 cases and parts of 4); 24
 *     inputs of seed 11400714819323198519; NVIDIA H200; warm and cold graphs 7, sustained
 * Verified for shapes in these ranges:
 *     TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=2: M 1 to 4096, N 8 to 14336, K 8 to 4096, BATCH 1 to 3
 *     TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=3: M 1 to 4096, N 8 to 14336, K 8 to 4096, BATCH 1 to 3
 * gemm_activations_h200_launch refuses other shapes. gemm_activations_h200_launch_unverified takes every shape that
 * one of the kernels supports.
 *
 *     struct gemm_activations_h200_shape shape = {...};
 *     struct gemm_activations_h200_tensors tensors = {...};           // device pointers
 *     int64_t bytes = gemm_activations_h200_workspace_bytes(&shape);  // then cudaMalloc, if > 0
 *     int status = gemm_activations_h200_launch(&shape, &tensors, workspace, bytes, stream);
 *     if (status != 0)
 *         puts(gemm_activations_h200_error_string(status));
 *
 * Calls are thread-safe, run on the current device, which must have that architecture, and may be
 * captured in a graph: they neither allocate nor synchronise, except that the first call on a device
 * loads the machine code (milliseconds). Concurrent calls need separate workspaces.
 */
#ifndef GEMM_ACTIVATIONS_H200_H
#define GEMM_ACTIVATIONS_H200_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of the problem. */
struct gemm_activations_h200_shape {
    int64_t M; /* rows of A and C */
    int64_t N; /* columns of B and C */
    int64_t K; /* columns of A, rows of B */
    int64_t BATCH; /* products, with an A, a B and a C each */
    int64_t TRANS_A; /* 0: A is stored [M, K]; 1: [K, M] */
    int64_t TRANS_B; /* 0: B is stored [K, N]; 1: [N, K], as the weight of a linear layer */
    int64_t BF16; /* 1: bfloat16, 0: half */
    int64_t EPILOGUE; /* 0: none; 1: + bias[N]; 2: GELU(+ bias), the approximation by tanh; 3: SiLU(+ bias); 4: + residual[M, N] */
};

/* Device pointers, aligned to 16 bytes unless stated. Tensors are packed, the last extent innermost,
   unless they have strides. */
struct gemm_activations_h200_tensors {
    const void *a; /* bf16 if BF16, else f16 [BATCH, TRANS_A ? K : M, TRANS_A ? M : K] */
    const void *b; /* bf16 if BF16, else f16 [BATCH, TRANS_B ? N : K, TRANS_B ? K : N] */
    const void *bias; /* bf16 if BF16, else f16 [N]; NULL unless EPILOGUE >= 1 && EPILOGUE <= 3 */
    const void *residual; /* bf16 if BF16, else f16 [BATCH, M, N]; NULL unless EPILOGUE == 4 */
    void *c; /* bf16 if BF16, else f16 [BATCH, M, N] */
};

/* Why a call was rejected. Positive statuses are CUDA errors (cudaError_t). */
enum {
    GEMM_ACTIVATIONS_H200_NO_ARGUMENT = -1, /* a null pointer */
    GEMM_ACTIVATIONS_H200_MISALIGNED = -2,  /* an address or a stride is not a multiple of its alignment */
    GEMM_ACTIVATIONS_H200_NO_KERNEL = -3,   /* no kernel for this shape */
    GEMM_ACTIVATIONS_H200_WORKSPACE = -4,   /* the workspace is smaller than this shape needs */
    GEMM_ACTIVATIONS_H200_ARCHITECTURE = -5, /* the machine code is for another GPU: make SOURCE=1 */
    GEMM_ACTIVATIONS_H200_UNVERIFIED = -6    /* a shape outside the ranges that were verified */
};

/* The workspace's size for this shape, 0 if it needs none, or -1 if there is no kernel for it. */
int64_t gemm_activations_h200_workspace_bytes(const struct gemm_activations_h200_shape *shape);

/* Launches the kernels on the stream. Returns 0 or one of the statuses above; on an error none or
   only some kernels were launched. `workspace` is device memory of `workspace_bytes` bytes, aligned
   to 16 bytes, with any contents; NULL if none is needed. */
int gemm_activations_h200_launch(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream);

/* The same for a shape outside the verified ranges, whose result nothing has checked. */
int gemm_activations_h200_launch_unverified(const struct gemm_activations_h200_shape *shape,
        const struct gemm_activations_h200_tensors *tensors, void *workspace, size_t workspace_bytes,
        cudaStream_t stream);

/* A one-line message for any status. */
const char *gemm_activations_h200_error_string(int status);

#ifdef __cplusplus
}
#endif

#endif
