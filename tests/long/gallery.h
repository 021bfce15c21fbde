/*
 * gallery: the kernels of docs/gallery.md, with the shapes on which honest.h tries random genomes
 * of them.
 */
#ifndef EVOTILE_TESTS_LONG_GALLERY_H
#define EVOTILE_TESTS_LONG_GALLERY_H

#include "long/honest.h"

static const struct honest_template gallery[] = {
    {"templates/reduce_sum", NULL, 1, {{"N", 1, 100000, 0}}},
    {"templates/transpose", NULL, 1, {{"ROWS", 1, 600, 0}, {"COLS", 1, 600, 0}, {"F32", 0, 0, 0}}},
    {"templates/transpose", NULL, 1, {{"ROWS", 1, 600, 0}, {"COLS", 1, 600, 0}, {"F32", 1, 1, 0}}},
    {"templates/gemm_f32", NULL, 1, {{"M", 1, 400, 0}, {"N", 1, 400, 0}, {"K", 1, 400, 0}}},
    {"templates/gemm/mma",
     NULL,
     1,
     {{"M", 1, 300, 0},
      {"N", 8, 600, 8},
      {"K", 8, 600, 8},
      {"TRANS_B", 0, 0, 0},
      {"BF16", 1, 1, 0},
      {"EPILOGUE", 4, 4, 0}}},
    {"templates/gemm/hopper",
     NULL,
     1,
     {{"M", 1, 300, 0},
      {"N", 8, 600, 8},
      {"K", 8, 600, 8},
      {"TRANS_B", 1, 1, 0},
      {"BF16", 1, 1, 0},
      {"EPILOGUE", 2, 2, 0}}},
    {"templates/gemm/gemv",
     NULL,
     1,
     {{"M", 1, 16, 0},
      {"N", 1, 300, 0},
      {"K", 8, 9000, 8},
      {"TRANS_B", 1, 1, 0},
      {"BF16", 1, 1, 0},
      {"EPILOGUE", 1, 1, 0}}},
    {"templates/convolution_2d", NULL, 1, {{"H", 1, 200, 0}, {"W", 1, 300, 0}, {"R", 3, 3, 0}}},
    {"templates/stencil_2d", NULL, 1, {{"H", 1, 200, 0}, {"W", 1, 300, 0}, {"STEPS", 1, 12, 0}}},
    {"templates/nbody", NULL, 1, {{"N", 1, 2000, 0}}},
    {"templates/add_rms_norm",
     NULL,
     1,
     {{"ROWS", 1, 60, 0}, {"COLS", 1, 9000, 0}, {"BF16", 1, 1, 0}}},
    {"templates/layer_norm", NULL, 1, {{"ROWS", 1, 60, 0}, {"COLS", 1, 9000, 0}, {"F32", 0, 0, 0}}},
    {"templates/cross_entropy",
     NULL,
     1,
     {{"ROWS", 1, 60, 0}, {"VOCABULARY", 1, 9000, 0}, {"F32", 0, 0, 0}}},
    {"templates/softmax_rows",
     NULL,
     1,
     {{"ROWS", 1, 60, 0}, {"COLS", 1, 9000, 0}, {"F32", 0, 0, 0}}},
    {"templates/quantized_gemv",
     NULL,
     1,
     {{"M", 2, 2, 0},
      {"N", 1, 600, 0},
      {"K", 32, 3000, 32},
      {"GROUP", 64, 64, 0},
      {"BF16", 0, 0, 0}}},
    {"templates/spmv_csr",
     NULL,
     1,
     {{"ROWS", 60, 600, 0}, {"COLS", 60, 600, 0}, {"NONZEROS", 1, 3000, 0}}},
};
enum { GALLERY = sizeof gallery / sizeof *gallery };

#endif
