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
    {"templates/convolution_2d", NULL, 1, {{"H", 1, 200, 0}, {"W", 1, 300, 0}, {"R", 3, 3, 0}}},
    {"templates/stencil_2d", NULL, 1, {{"H", 1, 200, 0}, {"W", 1, 300, 0}, {"STEPS", 1, 12, 0}}},
    {"templates/nbody", NULL, 1, {{"N", 1, 2000, 0}}},
};
enum { GALLERY = sizeof gallery / sizeof *gallery };

#endif
