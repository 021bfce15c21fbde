/*
 * attention_h200: attention_fwd_hopper, exported by evotile. Generated: do not edit.
 *
 * FlashAttention forward on Hopper, half or bf16: O = softmax(scale Q K^T) V, optionally causal,
 * with grouped heads, and LSE
 *
 * Tuned on NVIDIA H200 for these shapes (measured p50 per call):
 *     B=1,H=1,S=128,D=64                   2.86 us
 *     B=1,H=8,S=512,D=64                   5.02 us
 *     B=2,H=8,S=512,D=64                   6.00 us
 *     B=4,H=8,S=512,D=64                   7.82 us
 *     B=4,H=16,S=512,D=64                 14.06 us
 *     B=8,H=16,S=512,D=64                 24.71 us
 *     B=2,H=16,S=2048,D=64                69.65 us
 *     B=1,H=1,S=128,D=64,CAUSAL=1          3.14 us
 *     B=1,H=8,S=512,D=64,CAUSAL=1          5.00 us
 *     B=2,H=8,S=512,D=64,CAUSAL=1          5.82 us
 *     B=4,H=8,S=512,D=64,CAUSAL=1          7.53 us
 *     B=4,H=16,S=512,D=64,CAUSAL=1        11.01 us
 *     B=8,H=16,S=512,D=64,CAUSAL=1        19.11 us
 *     B=2,H=16,S=2048,D=64,CAUSAL=1       42.63 us
 * Other shapes run too if one of the kernels supports them.
 *
 *     struct attention_h200_shape shape = {...};
 *     struct attention_h200_tensors tensors = {...};           // device pointers
 *     int64_t bytes = attention_h200_workspace_bytes(&shape);  // then cudaMalloc, if > 0
 *     int status = attention_h200_launch(&shape, &tensors, workspace, bytes, stream);
 *     if (status != 0)
 *         puts(attention_h200_error_string(status));
 *
 * Calls are thread-safe, run on the current device, which must have that architecture, and may be
 * captured in a graph: they neither allocate nor synchronise, except that the first call on a device
 * loads the machine code (milliseconds). Concurrent calls need separate workspaces.
 */
#ifndef ATTENTION_H200_H
#define ATTENTION_H200_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of the problem. */
struct attention_h200_shape {
    int64_t B; /* batch */
    int64_t H; /* heads of Q and O */
    int64_t H_KV; /* heads of K and V; each serves H / H_KV neighbours */
    int64_t S; /* queries of a head */
    int64_t S_KV; /* keys of a head */
    int64_t D; /* columns of Q, K, V and O */
    int64_t CAUSAL; /* 1: query i sees key j only if j <= i + S_KV - S */
    int64_t BF16; /* 1: Q, K, V and O are bf16; 0: f16 */
    int64_t BSHD; /* 1: Q, K, V and O lie as [B, S, H, D]; 0: as [B, H, S, D] */
    int64_t LSE; /* 1: the log-sum-exp of each query is written too */
    float SCALE; /* what Q K^T is multiplied by; 0: 1 / sqrt(D) */
    int64_t GAP; /* elements between the rows of Q and K that are not theirs, as where they are slices of one tensor */
};

/* Device pointers, aligned to 16 bytes. Tensors are packed, the last extent innermost, unless they
   have strides. */
struct attention_h200_tensors {
    const void *q; /* bf16 if BF16, else f16 [B, H, S, D] */
    const void *k; /* bf16 if BF16, else f16 [B, H_KV, S_KV, D] */
    const void *v; /* bf16 if BF16, else f16 [B, H_KV, S_KV, D] */
    void *o; /* bf16 if BF16, else f16 [B, H, S, D] */
    void *lse; /* f32 [B * H * S]; NULL unless LSE */
    /* Strides in elements of each extent except the last, whose stride is 1, in the order of the
       extents above; each must be a multiple of 16 bytes. All 0 means packed: */
    int64_t q_strides[3]; /* BSHD ? S * Q_ROW : H * Q_HEAD, BSHD ? D : S * Q_ROW, (BSHD ? H * D : D) + GAP */
    int64_t k_strides[3]; /* BSHD ? S_KV * K_ROW : H_KV * K_HEAD, BSHD ? D : S_KV * K_ROW, (BSHD ? H_KV * D : D) + GAP */
    int64_t v_strides[3]; /* H_KV * S_KV * D, BSHD ? D : S_KV * D, BSHD ? H_KV * D : D */
    int64_t o_strides[3]; /* H * S * D, BSHD ? D : S * D, BSHD ? H * D : D */
};

/* Why a call was rejected. Positive statuses are CUDA errors (cudaError_t). */
enum {
    ATTENTION_H200_NO_ARGUMENT = -1, /* a null pointer */
    ATTENTION_H200_MISALIGNED = -2,  /* an address or a stride is not a multiple of 16 bytes */
    ATTENTION_H200_NO_KERNEL = -3,   /* no kernel for this shape */
    ATTENTION_H200_WORKSPACE = -4,   /* the workspace is smaller than this shape needs */
    ATTENTION_H200_ARCHITECTURE = -5 /* the machine code is for another GPU: make SOURCE=1 */
};

/* The workspace's size for this shape, 0 if it needs none, or -1 if there is no kernel for it. */
int64_t attention_h200_workspace_bytes(const struct attention_h200_shape *shape);

/* Launches the kernels on the stream. Returns 0 or one of the statuses above; on an error none or
   only some kernels were launched. `workspace` is device memory of `workspace_bytes` bytes, aligned
   to 16 bytes, with any contents; NULL if none is needed. */
int attention_h200_launch(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream);

/* A one-line message for any status. */
const char *attention_h200_error_string(int status);

#ifdef __cplusplus
}
#endif

#endif
