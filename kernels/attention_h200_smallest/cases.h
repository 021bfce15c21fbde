/* What check.c knows of attention_h200_smallest. Written by evotile: do not edit. */
#include "attention_h200_smallest.h"

#define KERNEL "attention_h200_smallest"
#define RECORD_KIND "measured"
#define RECORD_DEVICE "NVIDIA H200"

#include <string.h>

enum {
    DIMENSIONS = 11,
    TENSORS = 5, /* without workspaces */
    SHAPES = 10,
    CASES = 2, /* the first of the shapes; these are timed */
};

/* In double precision on the CPU: the dimensions in the order of attention_h200_smallest_shape, inputs as stored, outputs
   as doubles. */
void attention_fwd_reference(const int64_t *dimensions, void *const *tensors);
#define kernel_reference attention_fwd_reference

struct tensor {
    const char *name, *dtype;
    int is_output;
    int64_t elements, row; /* no elements: not there for this shape */
};

struct checked_shape {
    const char *name;
    int64_t dimensions[DIMENSIONS];
    struct tensor tensors[TENSORS];
    double relative_l2, row_relative_l2; /* the most that is right */
    double operations;
    double p50_us, p90_us; /* as recorded at the export */
};

static const struct checked_shape shapes[SHAPES] = {
    {"B=1,H=1,S=128,D=64",
     {1, 1, 1, 128, 128, 64, 0, 0, 0, 0, 0},
     {{"q", "f16", 0, 8192, 64},
      {"k", "f16", 0, 8192, 64},
      {"v", "f16", 0, 8192, 64},
      {"o", "f16", 1, 8192, 64},
      {"lse", "f16", 1, 0, 0}},
     0.000900319, 0.00157661, 4194304.0, 2.7680, 2.7760},
    {"B=1,H=1,S=128,D=64,CAUSAL=1",
     {1, 1, 1, 128, 128, 64, 1, 0, 0, 0, 0},
     {{"q", "f16", 0, 8192, 64},
      {"k", "f16", 0, 8192, 64},
      {"v", "f16", 0, 8192, 64},
      {"o", "f16", 1, 8192, 64},
      {"lse", "f16", 1, 0, 0}},
     0.015625, 0.03125, 2097152.0, 2.8752, 2.8832},
    {"B=1,H=2,S=17,S_KV=33,D=64",
     {1, 2, 2, 17, 33, 64, 0, 0, 0, 0, 0},
     {{"q", "f16", 0, 2176, 64},
      {"k", "f16", 0, 4224, 64},
      {"v", "f16", 0, 4224, 64},
      {"o", "f16", 1, 2176, 64},
      {"lse", "f16", 1, 0, 0}},
     0.000977562, 0.00195413, 287232.0, 0, 0},
    {"B=2,H=3,H_KV=1,S=1,S_KV=70,D=64,LSE=1",
     {2, 3, 1, 1, 70, 64, 0, 0, 0, 1, 0},
     {{"q", "f16", 0, 384, 64},
      {"k", "f16", 0, 8960, 64},
      {"v", "f16", 0, 8960, 64},
      {"o", "f16", 1, 384, 64},
      {"lse", "f32", 1, 6, 6}},
     0.000977562, 0.00195413, 107520.0, 0, 0},
    {"B=2,H=2,S=130,S_KV=65,D=64,BSHD=1,SCALE=0.3",
     {2, 2, 2, 130, 65, 64, 0, 0, 1, 0, 1050253722},
     {{"q", "f16", 0, 33280, 64},
      {"k", "f16", 0, 16640, 64},
      {"v", "f16", 0, 16640, 64},
      {"o", "f16", 1, 33280, 64},
      {"lse", "f16", 1, 0, 0}},
     0.000977562, 0.00195413, 8652800.0, 0, 0},
    {"B=1,H=4,H_KV=2,S=100,D=64,BSHD=1,LSE=1",
     {1, 4, 2, 100, 100, 64, 0, 0, 1, 1, 0},
     {{"q", "f16", 0, 25600, 64},
      {"k", "f16", 0, 12800, 64},
      {"v", "f16", 0, 12800, 64},
      {"o", "f16", 1, 25600, 64},
      {"lse", "f32", 1, 400, 400}},
     0.000977562, 0.00195413, 10240000.0, 0, 0},
    {"B=1,H=2,S=17,S_KV=33,D=64,CAUSAL=1",
     {1, 2, 2, 17, 33, 64, 1, 0, 0, 0, 0},
     {{"q", "f16", 0, 2176, 64},
      {"k", "f16", 0, 4224, 64},
      {"v", "f16", 0, 4224, 64},
      {"o", "f16", 1, 2176, 64},
      {"lse", "f16", 1, 0, 0}},
     0.015625, 0.03125, 143616.0, 0, 0},
    {"B=2,H=3,H_KV=1,S=1,S_KV=70,D=64,CAUSAL=1,LSE=1",
     {2, 3, 1, 1, 70, 64, 1, 0, 0, 1, 0},
     {{"q", "f16", 0, 384, 64},
      {"k", "f16", 0, 8960, 64},
      {"v", "f16", 0, 8960, 64},
      {"o", "f16", 1, 384, 64},
      {"lse", "f32", 1, 6, 6}},
     0.015625, 0.03125, 53760.0, 0, 0},
    {"B=2,H=2,S=130,S_KV=65,D=64,CAUSAL=1,BSHD=1,SCALE=0.3",
     {2, 2, 2, 130, 65, 64, 1, 0, 1, 0, 1050253722},
     {{"q", "f16", 0, 33280, 64},
      {"k", "f16", 0, 16640, 64},
      {"v", "f16", 0, 16640, 64},
      {"o", "f16", 1, 33280, 64},
      {"lse", "f16", 1, 0, 0}},
     0.015625, 0.03125, 4326400.0, 0, 0},
    {"B=1,H=4,H_KV=2,S=100,D=64,CAUSAL=1,BSHD=1,LSE=1",
     {1, 4, 2, 100, 100, 64, 1, 0, 1, 1, 0},
     {{"q", "f16", 0, 25600, 64},
      {"k", "f16", 0, 12800, 64},
      {"v", "f16", 0, 12800, 64},
      {"o", "f16", 1, 25600, 64},
      {"lse", "f32", 1, 400, 400}},
     0.015625, 0.03125, 5120000.0, 0, 0},
};

/* Among the dimensions a real one is the bits of a float. */
static float real(int64_t bits)
{
    const uint32_t word = (uint32_t)bits;
    float number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static int64_t kernel_workspace_bytes(const int64_t *d)
{
    const struct attention_h200_smallest_shape shape = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], real(d[10])};
    return attention_h200_smallest_workspace_bytes(&shape);
}

static int kernel_launch(const int64_t *d, void *const *t, void *workspace,
                         int64_t workspace_bytes, cudaStream_t stream)
{
    const struct attention_h200_smallest_shape shape = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], real(d[10])};
    const struct attention_h200_smallest_tensors tensors = {t[0], t[1], t[2], t[3], t[4]};
    return attention_h200_smallest_launch(&shape, &tensors, workspace, (size_t)workspace_bytes, stream);
}

#define kernel_error_string attention_h200_smallest_error_string

