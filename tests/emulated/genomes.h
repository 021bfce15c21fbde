/*
 * genomes: random genomes of a template, tried on the emulated device in this process: GENOMES of
 * each set of cases, a few by default.
 */
#ifndef EVOTILE_TESTS_EMULATED_GENOMES_H
#define EVOTILE_TESTS_EMULATED_GENOMES_H

#include "evaluate/tiny.h"

#include <time.h>

#include "base/random.h"
#include "device/emulated.h"
#include "evaluate/evaluator.h"
#include "pool/settings.h"
#include "session/image_cache.h"

/* A set of cases to draw genomes for. */
struct genome_set {
    const char *name, *device, *config, *folder;
};

/* Ragged shapes, grouped heads, strided rows; D and other specialised parameters as in the probe
   cases. */
static const struct genome_set genome_sets[] = {
    {"attention", TINY_DEVICE,
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"S\": 77, \"D\": 64},\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 35, \"S_KV\": 150, \"D\": 64, \"BSHD\": 1,\n"
     "   \"GAP\": 72, \"LSE\": 1}] }",
     "templates/attention_fwd"},
    {"causal attention", TINY_DEVICE,
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 1, \"S\": 77, \"D\": 128, \"CAUSAL\": 1, \"SCALE\": 0.4},\n"
     "  {\"B\": 2, \"H\": 1, \"S\": 70, \"S_KV\": 45, \"D\": 128, \"CAUSAL\": 1}] }",
     "templates/attention_fwd"},
    {"rows of softmax", TINY_DEVICE,
     "{ \"template\": \"softmax_rows\", \"cases\": [{\"ROWS\": 7, \"COLS\": 333},\n"
     "  {\"ROWS\": 130, \"COLS\": 65}] }",
     "templates/softmax_rows"},
    {"rows of floats", TINY_DEVICE,
     "{ \"template\": \"softmax_rows\", \"cases\": [{\"ROWS\": 3, \"COLS\": 129, \"F32\": 1}] }",
     "templates/softmax_rows"},
    {"Hopper attention", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"S\": 77, \"D\": 64},\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 35, \"S_KV\": 350, \"D\": 64, \"BSHD\": 1,\n"
     "   \"GAP\": 72, \"LSE\": 1}] }",
     "templates/attention_fwd/hopper"},
    {"causal Hopper attention of bf16", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 1, \"S\": 150, \"D\": 128, \"CAUSAL\": 1, \"BF16\": 1, \"SCALE\": 0.2},\n"
     "  {\"B\": 2, \"H\": 1, \"S\": 70, \"S_KV\": 45, \"D\": 128, \"CAUSAL\": 1, \"BF16\": 1}] }",
     "templates/attention_fwd/hopper"},
    {"attention of few queries", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/decode\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 8, \"H_KV\": 2, \"S\": 1, \"S_KV\": 400, \"D\": 128, \"LSE\": 1},\n"
     "  {\"B\": 2, \"H\": 3, \"H_KV\": 1, \"S\": 7, \"S_KV\": 60, \"D\": 128, \"BSHD\": 1,\n"
     "   \"GAP\": 72}] }",
     "templates/attention_fwd/decode"},
    {"few causal queries of bf16", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/decode\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 4, \"H_KV\": 2, \"S\": 9, \"S_KV\": 77, \"D\": 64, \"CAUSAL\": 1, "
     "\"BF16\": 1},\n"
     "  {\"B\": 2, \"H\": 1, \"S\": 20, \"S_KV\": 13, \"D\": 64, \"CAUSAL\": 1, \"BF16\": 1}] }",
     "templates/attention_fwd/decode"},
    {"attention over pages", "emulated:sm_90",
     "{ \"template\": \"attention_decode\", \"timing\": {\"inputs\": 1},\n"
     " \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"B\": 5, \"H\": 4, \"H_KV\": 1, \"S_KV\": 130, \"D\": 128, \"PAGE\": 16},\n"
     "  {\"B\": 2, \"H\": 6, \"H_KV\": 2, \"S\": 7, \"S_KV\": 77, \"D\": 128, \"PAGE\": 16,\n"
     "   \"BSHD\": 1, \"LSE\": 1}] }",
     "templates/attention_decode/split"},
    {"causal attention over pages of fp8", "emulated:sm_90",
     "{ \"template\": \"attention_decode\", \"timing\": {\"inputs\": 1},\n"
     " \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"B\": 4, \"H\": 4, \"H_KV\": 2, \"S\": 5, \"S_KV\": 90, \"D\": 128, \"PAGE\": 64,\n"
     "   \"FP8\": 1, \"CAUSAL\": 1, \"BSHD\": 1}] }",
     "templates/attention_decode/split"},
    {"attention over pages of one key in fp8", "emulated:sm_80",
     "{ \"template\": \"attention_decode\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 4, \"H\": 2, \"S\": 2, \"S_KV\": 90, \"D\": 64, \"PAGE\": 1, \"FP8\": 1,\n"
     "   \"BF16\": 1}] }",
     "templates/attention_decode/split"},
    {"attention over a contiguous cache of bf16", "emulated:sm_90",
     "{ \"template\": \"attention_decode\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 36, \"H\": 1, \"S_KV\": 60, \"D\": 64, \"BF16\": 1}] }",
     "templates/attention_decode/split"},
    {"attention of bf16", TINY_DEVICE,
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 50, \"S_KV\": 37, \"D\": 64, \"BF16\": 1,\n"
     "   \"BSHD\": 1, \"LSE\": 1}] }",
     "templates/attention_fwd"},
    /* Other numbers of columns, a V narrower than Q, windows, soft caps and sinks. */
    {"attention of a window", TINY_DEVICE,
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"S\": 150, \"D\": 32, \"CAUSAL\": 1, \"WINDOW\": 37, \"LSE\": 1},\n"
     "  {\"B\": 1, \"H\": 1, \"S\": 70, \"S_KV\": 45, \"D\": 32, \"CAUSAL\": 1, \"WINDOW\": 37}] }",
     "templates/attention_fwd"},
    /* Divided by the second case's scale, the sinks above zero would overflow. */
    {"attention of narrow V and sinks", "emulated:sm_90",
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 50, \"S_KV\": 137, \"D\": 192, \"DV\": 128,\n"
     "   \"BSHD\": 1, \"LSE\": 1, \"SINKS\": 1, \"BF16\": 1},\n"
     "  {\"B\": 1, \"H\": 5, \"S\": 20, \"S_KV\": 37, \"D\": 192, \"DV\": 128, \"LSE\": 1,\n"
     "   \"SCALE\": 1e-39, \"SINKS\": 1, \"BF16\": 1}] }",
     "templates/attention_fwd"},
    {"attention of 96 columns with everything", "emulated:sm_90",
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 45, \"S_KV\": 141, \"D\": 96, \"GAP\": 72,\n"
     "   \"LSE\": 1, \"CAUSAL\": 1, \"WINDOW\": 50, \"SOFT_CAP\": 20, \"SINKS\": 1}] }",
     "templates/attention_fwd"},
    /* Sequences of no rows, of one, and of all; then some with fewer keys than queries. */
    {"attention of variable lengths", "emulated:sm_80",
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 7, \"H\": 2, \"H_KV\": 1, \"S\": 77, \"S_KV\": 140, \"D\": 64, \"CAUSAL\": 1,\n"
     "   \"BSHD\": 1, \"GAP\": 72, \"LSE\": 1, \"VARLEN\": 1},\n"
     "  {\"B\": 6, \"H\": 1, \"S\": 150, \"S_KV\": 45, \"D\": 64, \"CAUSAL\": 1, \"VARLEN\": 1}] }",
     "templates/attention_fwd"},
    {"attention of variable lengths with everything", "emulated:sm_90",
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 4, \"H\": 2, \"H_KV\": 1, \"S\": 150, \"D\": 96, \"BF16\": 1, \"BSHD\": 1,\n"
     "   \"LSE\": 1, \"WINDOW\": 40, \"SOFT_CAP\": 20, \"SINKS\": 1, \"VARLEN\": 1}] }",
     "templates/attention_fwd"},
    {"Hopper attention of variable lengths", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 5, \"H\": 2, \"H_KV\": 1, \"S\": 150, \"S_KV\": 190, \"D\": 64, \"CAUSAL\": 1,\n"
     "   \"BSHD\": 1, \"GAP\": 72, \"LSE\": 1, \"VARLEN\": 1},\n"
     "  {\"B\": 4, \"H\": 1, \"S\": 150, \"S_KV\": 45, \"D\": 64, \"CAUSAL\": 1, \"VARLEN\": 1}] }",
     "templates/attention_fwd/hopper"},
    {"few queries of 256 columns, a window and sinks", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/decode\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 6, \"H_KV\": 2, \"S\": 7, \"S_KV\": 177, \"D\": 256, \"LSE\": 1,\n"
     "   \"WINDOW\": 70, \"SINKS\": 1, \"BF16\": 1}] }",
     "templates/attention_fwd/decode"},
    {"few causal queries of narrow V and a soft cap", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/decode\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"B\": 2, \"H\": 4, \"H_KV\": 2, \"S\": 9, \"S_KV\": 77, \"D\": 192, \"DV\": 96,\n"
     "   \"CAUSAL\": 1, \"WINDOW\": 30, \"SOFT_CAP\": 15, \"BSHD\": 1}] }",
     "templates/attention_fwd/decode"},
    {"gemm", TINY_DEVICE,
     "{ \"template\": \"gemm\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"M\": 77, \"N\": 60, \"K\": 50}, {\"M\": 40, \"N\": 131, \"K\": 9}] }",
     "tests/bench/gemm"},
    /* Splits combined by the blocks of a cluster, which need sm_90. */
    {"attention of clusters", "emulated:sm_90",
     "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 50, \"S_KV\": 137, \"D\": 128, \"CAUSAL\": 1,\n"
     "   \"LSE\": 1}], \"genes\": {\"KV_SPLITS\": [2, 4, 8], \"COMBINE\": [\"cluster\"]} }",
     "templates/attention_fwd"},
    {"sum", "emulated:sm_90",
     "{ \"template\": \"reduce_sum\", \"cases\": [{\"N\": 77777}, {\"N\": 130}] }",
     "templates/reduce_sum"},
    {"transpose", "emulated:sm_90",
     "{ \"template\": \"transpose\", \"cases\": [{\"ROWS\": 77, \"COLS\": 300},\n"
     "  {\"ROWS\": 260, \"COLS\": 36}] }",
     "templates/transpose"},
    {"transpose of halves", TINY_DEVICE,
     "{ \"template\": \"transpose\", \"cases\": [{\"ROWS\": 75, \"COLS\": 300, \"F32\": 0}] }",
     "templates/transpose"},
    {"product of floats", "emulated:sm_80",
     "{ \"template\": \"gemm_f32\", \"cases\": [{\"M\": 77, \"N\": 60, \"K\": 52},\n"
     "  {\"M\": 40, \"N\": 131, \"K\": 9}] }",
     "templates/gemm_f32"},
    {"large stages of floats", "emulated:sm_90",
     "{ \"template\": \"gemm_f32\", \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"M\": 140, \"N\": 290, \"K\": 100}] }",
     "templates/gemm_f32"},
    {"convolution", "emulated:sm_80",
     "{ \"template\": \"convolution_2d\", \"cases\": [{\"H\": 61, \"W\": 150, \"R\": 3},\n"
     "  {\"H\": 9, \"W\": 268, \"R\": 3}] }",
     "templates/convolution_2d"},
    {"convolution with many taps", "emulated:sm_90",
     "{ \"template\": \"convolution_2d\", \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"H\": 40, \"W\": 133, \"R\": 8}] }",
     "templates/convolution_2d"},
    {"time steps", "emulated:sm_80",
     "{ \"template\": \"stencil_2d\", \"cases\": [\n"
     "  {\"H\": 150, \"W\": 290, \"STEPS\": 12, \"COURANT\": 0.3},\n"
     "  {\"H\": 9, \"W\": 33, \"STEPS\": 25}] }",
     "templates/stencil_2d"},
    {"bodies", "emulated:sm_90",
     "{ \"template\": \"nbody\", \"cases\": [{\"N\": 700}, {\"N\": 2}] }", "templates/nbody"},
    {"rows of a residual", "emulated:sm_90",
     "{ \"template\": \"add_rms_norm\", \"cases\": [{\"ROWS\": 9, \"COLS\": 777},\n"
     "  {\"ROWS\": 3, \"COLS\": 2056}] }",
     "templates/add_rms_norm"},
    {"rows of a residual in half", "emulated:sm_80",
     "{ \"template\": \"add_rms_norm\", \"cases\": [{\"ROWS\": 70, \"COLS\": 96, \"BF16\": 0},\n"
     "  {\"ROWS\": 5, \"COLS\": 1031, \"BF16\": 0}] }",
     "templates/add_rms_norm"},
    {"rows of layer norm", "emulated:sm_90",
     "{ \"template\": \"layer_norm\", \"cases\": [{\"ROWS\": 9, \"COLS\": 777},\n"
     "  {\"ROWS\": 3, \"COLS\": 2056}] }",
     "templates/layer_norm"},
    {"rows of layer norm in float", "emulated:sm_80",
     "{ \"template\": \"layer_norm\", \"cases\": [{\"ROWS\": 70, \"COLS\": 96, \"F32\": 1},\n"
     "  {\"ROWS\": 5, \"COLS\": 1031, \"F32\": 1}] }",
     "templates/layer_norm"},
    {"losses", "emulated:sm_90",
     "{ \"template\": \"cross_entropy\", \"cases\": [{\"ROWS\": 19, \"VOCABULARY\": 777},\n"
     "  {\"ROWS\": 2, \"VOCABULARY\": 2056}] }",
     "templates/cross_entropy"},
    {"losses of float logits", "emulated:sm_80",
     "{ \"template\": \"cross_entropy\", \"cases\": [\n"
     "  {\"ROWS\": 33, \"VOCABULARY\": 96, \"F32\": 1},\n"
     "  {\"ROWS\": 3, \"VOCABULARY\": 1031, \"F32\": 1}] }",
     "templates/cross_entropy"},
    {"4-bit integers", "emulated:sm_90",
     "{ \"template\": \"quantized_gemv\", \"cases\": [\n"
     "  {\"M\": 1, \"N\": 50, \"K\": 1152}, {\"M\": 1, \"N\": 7, \"K\": 128}] }",
     "templates/quantized_gemv"},
    {"small groups of bf16", "emulated:sm_80",
     "{ \"template\": \"quantized_gemv\", \"cases\": [\n"
     "  {\"M\": 3, \"N\": 70, \"K\": 1120, \"GROUP\": 32, \"BF16\": 1},\n"
     "  {\"M\": 3, \"N\": 33, \"K\": 96, \"GROUP\": 32, \"BF16\": 1}] }",
     "templates/quantized_gemv"},
    {"4-bit integers for 8 rows", TINY_DEVICE,
     "{ \"template\": \"quantized_gemv\", \"cases\": [\n"
     "  {\"M\": 8, \"N\": 33, \"K\": 1376, \"GROUP\": 64}] }",
     "templates/quantized_gemv"},
    {"sparse rows", "emulated:sm_90",
     "{ \"template\": \"spmv_csr\", \"cases\": [\n"
     "  {\"ROWS\": 1200, \"COLS\": 777, \"NONZEROS\": 9001},\n"
     "  {\"ROWS\": 7000, \"COLS\": 50, \"NONZEROS\": 300}] }",
     "templates/spmv_csr"},
    {"a long sparse row", "emulated:sm_80",
     "{ \"template\": \"spmv_csr\", \"cases\": [{\"ROWS\": 2, \"COLS\": 9000, \"NONZEROS\": "
     "20011}] }",
     "templates/spmv_csr"},
    /* Most sequences have fewer keys than queries: some queries see none. */
    {"causal attention with more queries than keys", "emulated:sm_90",
     "{ \"template\": \"attention_decode\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 8, \"H\": 2, \"H_KV\": 1, \"S\": 16, \"S_KV\": 24, \"D\": 64, \"CAUSAL\": 1}],\n"
     " \"genes\": {\"SCHEDULE\": [\"stream_k\"]} }",
     "templates/attention_decode/split"},
    /* On 58 multiprocessors 132 tiles are a round and shares, 58 a round, 12 shares alone. */
    {"shared sums of floats", "emulated:sm_89",
     "{ \"template\": \"gemm_f32\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"M\": 383, \"N\": 350, \"K\": 21}, {\"M\": 64, \"N\": 920, \"K\": 9},\n"
     "  {\"M\": 90, \"N\": 99, \"K\": 35}],\n"
     " \"genes\": {\"SCHEDULE\": [\"stream_k\"], \"BLOCK_M\": [32], \"BLOCK_N\": [32], "
     "\"MIN_CTAS\": [1]} }",
     "templates/gemm_f32"},
    {"sparse rows summed by a scan", "emulated:sm_80",
     "{ \"template\": \"spmv_csr\", \"cases\": [\n"
     "  {\"ROWS\": 301, \"COLS\": 777, \"NONZEROS\": 4003},\n"
     "  {\"ROWS\": 900, \"COLS\": 50, \"NONZEROS\": 130}], \"genes\": {\"METHOD\": [\"scan\"]} }",
     "templates/spmv_csr"},
    /* Operands stored either way, batches, and each epilogue. */
    {"product of bf16 with GELU", "emulated:sm_90",
     "{ \"template\": \"gemm/mma\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"M\": 72, \"N\": 136, \"K\": 200, \"TRANS_B\": 1, \"EPILOGUE\": 2},\n"
     "  {\"M\": 3, \"N\": 200, \"K\": 264, \"TRANS_B\": 1, \"EPILOGUE\": 2}] }",
     "templates/gemm/mma"},
    {"batches of halves with a residual", "emulated:sm_80",
     "{ \"template\": \"gemm/mma\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"M\": 40, \"N\": 264, \"K\": 75, \"BATCH\": 2, \"TRANS_A\": 1, \"BF16\": 0,\n"
     "   \"EPILOGUE\": 4}] }",
     "templates/gemm/mma"},
    {"product of bf16 with SiLU by wgmma", "emulated:sm_90",
     "{ \"template\": \"gemm/hopper\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"M\": 72, \"N\": 136, \"K\": 200, \"TRANS_B\": 1, \"EPILOGUE\": 3},\n"
     "  {\"M\": 3, \"N\": 200, \"K\": 264, \"TRANS_B\": 1, \"EPILOGUE\": 3}] }",
     "templates/gemm/hopper"},
    {"batches of halves with a residual by wgmma", "emulated:sm_90",
     "{ \"template\": \"gemm/hopper\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"M\": 40, \"N\": 264, \"K\": 75, \"BATCH\": 2, \"TRANS_A\": 1, \"BF16\": 0,\n"
     "   \"EPILOGUE\": 4}] }",
     "templates/gemm/hopper"},
    /* Several heads in a query tile: fewer queries than it has rows, and tiles of any rest. */
    {"Hopper attention of packed heads", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 16, \"H_KV\": 2, \"S\": 5, \"S_KV\": 100, \"D\": 64, \"LSE\": 1},\n"
     "  {\"B\": 2, \"H\": 8, \"H_KV\": 1, \"S\": 1, \"S_KV\": 70, \"D\": 64, \"BSHD\": 1},\n"
     "  {\"B\": 1, \"H\": 8, \"H_KV\": 1, \"S\": 130, \"S_KV\": 45, \"D\": 64, \"BSHD\": 1,\n"
     "   \"GAP\": 72, \"LSE\": 1}], \"genes\": {\"PACK_HEADS\": [2, 4, 8]} }",
     "templates/attention_fwd/hopper"},
    {"causal Hopper attention of packed heads", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 1, \"H\": 8, \"H_KV\": 1, \"S\": 17, \"S_KV\": 130, \"D\": 128, \"CAUSAL\": 1,\n"
     "   \"BF16\": 1, \"LSE\": 1},\n"
     "  {\"B\": 1, \"H\": 16, \"H_KV\": 2, \"S\": 100, \"S_KV\": 60, \"D\": 128, \"CAUSAL\": 1,\n"
     "   \"BF16\": 1, \"BSHD\": 1}], \"genes\": {\"PACK_HEADS\": [2, 4, 8]} }",
     "templates/attention_fwd/hopper"},
    {"Hopper attention of packed heads and variable lengths", "emulated:sm_90",
     "{ \"template\": \"attention_fwd/hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"B\": 4, \"H\": 8, \"H_KV\": 1, \"S\": 40, \"S_KV\": 90, \"D\": 64, \"CAUSAL\": 1,\n"
     "   \"BSHD\": 1, \"GAP\": 72, \"LSE\": 1, \"VARLEN\": 1},\n"
     "  {\"B\": 3, \"H\": 8, \"H_KV\": 1, \"S\": 33, \"S_KV\": 20, \"D\": 64, \"CAUSAL\": 1,\n"
     "   \"VARLEN\": 1}], \"genes\": {\"PACK_HEADS\": [2, 4, 8]} }",
     "templates/attention_fwd/hopper"},
    /* Columns that no vector divides, and rows long enough for splits of each group of loads. */
    {"few rows of bf16 with a bias", "emulated:sm_90",
     "{ \"template\": \"gemm/gemv\", \"timing\": {\"inputs\": 1},\n"
     "  \"limits\": {\"smem_bytes\": 232448}, \"cases\": [\n"
     "  {\"M\": 1, \"N\": 43, \"K\": 9000, \"TRANS_B\": 1, \"EPILOGUE\": 1},\n"
     "  {\"M\": 5, \"N\": 21, \"K\": 4104, \"TRANS_B\": 1, \"EPILOGUE\": 1, \"BATCH\": 2},\n"
     "  {\"M\": 2, \"N\": 8, \"K\": 8200, \"TRANS_B\": 1, \"EPILOGUE\": 1}] }",
     "templates/gemm/gemv"},
    {"few rows of halves with a residual", "emulated:sm_80",
     "{ \"template\": \"gemm/gemv\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
     "  {\"M\": 16, \"N\": 37, \"K\": 4104, \"TRANS_B\": 1, \"BATCH\": 2, \"BF16\": 0,\n"
     "   \"EPILOGUE\": 4}, {\"M\": 3, \"N\": 70, \"K\": 8200, \"TRANS_B\": 1, \"BF16\": 0,\n"
     "   \"EPILOGUE\": 4}, {\"M\": 1, \"N\": 9, \"K\": 9008, \"TRANS_B\": 1, \"BF16\": 0,\n"
     "   \"EPILOGUE\": 4}] }",
     "templates/gemm/gemv"},
};
enum { GENOME_SETS = sizeof genome_sets / sizeof *genome_sets };

/* Of two tests, 0 and 1, whether this one takes the set: each takes a quarter; both take all of
   them in `make check-long` and if GENOMES or SETS ask for more. */
static inline bool takes_set(int set, int test) {
    return set % 4 == test || getenv("EVOTILE_LONG") != NULL || getenv("GENOMES") != NULL ||
           getenv("SETS") != NULL;
}

struct sample {
    struct config *config;
    struct evaluation_settings settings;
    struct device *device;
    struct ptx_racecheck *racecheck; /* NULL: not instrumented */
    struct cache *cache;
    struct compiler *compiler;
    struct evaluator *evaluator;
    const struct template *template;
    double compile_s, verify_s;
};

static inline void open_sample(struct sample *sample, const struct genome_set *set,
                               bool instrumented) {
    struct error error = {0};
    *sample = (struct sample){0};
    sample->config = config_from_text("config.json", set->config, set->folder, &error);
    if (sample->config == NULL)
        fail_msg("%s", error.text);
    sample->device = device_open(set->device, &error);
    assert_non_null(sample->device);
    if (instrumented)
        sample->racecheck = emulated_attach_racecheck(sample->device, TEMPLATE_TAG_SYMBOL);
    sample->cache = cache_new(NULL, 0);
    const struct image_cache images = image_cache_on_disk(sample->cache);
    evaluation_settings_from_config(&sample->settings, sample->config);
    sample->compiler = compiler_new(&sample->settings, &sample->device->info, &images, &error);
    if (sample->compiler == NULL)
        fail_msg("%s", error.text);
    sample->evaluator = evaluator_new(&sample->settings, sample->device, sample->compiler, &error);
    sample->template = compiler_template(sample->compiler, 0, &error);
    if (sample->evaluator == NULL || sample->template == NULL)
        fail_msg("%s", error.text);
}

static inline void close_sample(struct sample *sample) {
    evaluator_free(sample->evaluator);
    compiler_free(sample->compiler);
    cache_free(sample->cache);
    device_close(sample->device);
    evaluation_settings_release(&sample->settings);
    config_free(sample->config);
}

static inline void check_findings(const struct sample *sample, const char *genome) {
    for (int i = 0; sample->racecheck && i < ptx_racecheck_finding_count(sample->racecheck); i++) {
        const struct ptx_finding *finding = ptx_racecheck_finding(sample->racecheck, i);
        if (!ptx_finding_is_cost(finding->kind))
            fail_msg("%s\nhas a fault, %s: %s", genome, ptx_finding_name(finding->kind),
                     finding->text);
    }
}

static inline void try_genome(struct sample *sample, const struct trial_request *request) {
    static struct trial_result result; /* too large for the stack under the sanitizer */
    struct error error = {0};
    struct device_image images[CASES_MAX];
    char name[GENOME_TEXT_SIZE];
    memset(&result, 0, sizeof result);
    genome_print(&request->genome, sample->template->space, name);
    int status = compiler_build(sample->compiler, request, images, &result, &error);
    if (status == 0) {
        status = evaluator_run(sample->evaluator, request, images, &result, &error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    if (status < 0)
        fail_msg("%s: %s", name, error.text);
    check_findings(sample, name);
    /* Register use is decided by the compiler and cannot be predicted by constraints. */
    if (result.outcome.verdict != VERDICT_OK && result.outcome.verdict != VERDICT_OVER_LIMIT)
        fail_msg("%s\nis %s: %s", name, verdict_name(result.outcome.verdict),
                 result.outcome.reason);
    if (result.outcome.uses[0] != '\0')
        fail_msg("%s\nuses %s", name, result.outcome.uses);
    sample->compile_s += result.outcome.compile_s;
    sample->verify_s += result.outcome.verify_s;
    trial_result_release(&result);
}

/* The seed varies by day only if GENOMES is set; otherwise make check is repeatable. */
static inline void try_random_genomes(const struct genome_set *set, bool instrumented, int count) {
    const char *asked = getenv("GENOMES");
    uint64_t seed = (uint64_t)(set - genome_sets) + 1;
    struct sample sample;
    struct random random;
    if (asked != NULL) {
        count = atoi(asked);
        seed += (uint64_t)time(NULL) * 16;
    }
    open_sample(&sample, set, instrumented);
    random_seed(&random, seed, 1);
    for (int i = 0; i < count; i++) {
        struct trial_request request = {
            .number = i, .seed = seed + (uint64_t)i, .under_tool = instrumented};
        assert_true(space_sample(sample.template->space, &random, &request.genome));
        try_genome(&sample, &request);
    }
    print_message("%d genomes: %.1f s of compiling, %.1f s of interpreting\n", count,
                  sample.compile_s, sample.verify_s);
    close_sample(&sample);
}

#endif
