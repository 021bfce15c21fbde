/*
 * mechanisms: the templates of tests/templates, one for each mechanism of docs/templates.md, with
 * the shapes on which honest.h tries random genomes of them. Recorded answers
 * are to one shape alone. Left out is newton_root, of whose genes one stops the iteration too
 * early.
 */
#ifndef EVOTILE_TESTS_LONG_MECHANISMS_H
#define EVOTILE_TESTS_LONG_MECHANISMS_H

#include "long/honest.h"

static const struct honest_template mechanisms[] = {
    {"tests/templates/axpy/loop", NULL, 1, {{"N", 1, 3000, 0}}},
    {"tests/templates/axpy/vector", NULL, 1, {{"N", 1, 3000, 0}}},
    {"tests/templates/constant_filter",
     NULL,
     1,
     {{"H", 1, 40, 0}, {"W", 1, 60, 0}, {"R", 2, 2, 0}}},
    {"tests/templates/csr_product",
     NULL,
     1,
     {{"ROWS", 1, 100, 0}, {"COLS", 2, 100, 0}, {"PER_ROW", 1, 40, 0}}},
    {"tests/templates/gather_rows",
     NULL,
     1,
     {{"N", 1, 200, 0}, {"ROWS", 2, 100, 0}, {"COLS", 1, 200, 0}}},
    {"tests/templates/heat_steps",
     NULL,
     1,
     {{"ROWS", 1, 8, 0}, {"COLS", 1, 400, 0}, {"STEPS", 1, 40, 0}}},
    {"tests/templates/histogram", NULL, 1, {{"N", 1, 9000, 0}, {"BINS", 1, 256, 0}}},
    {"tests/templates/histogram_add", NULL, 1, {{"N", 1, 9000, 0}, {"BINS", 1, 256, 0}}},
    {"tests/templates/int8_product", NULL, 1, {{"M", 1, 40, 0}, {"N", 1, 40, 0}, {"K", 4, 128, 4}}},
    {"tests/templates/mean_loss", NULL, 1, {{"SAMPLES", 1, 1000, 0}, {"CLASSES", 1, 40, 0}}},
    {"tests/templates/mean_of_sines", NULL, 1, {{"N", 1, 300, 0}}},
    {"tests/templates/paged_gather",
     NULL,
     1,
     {{"SEQUENCES", 1, 20, 0}, {"PAGES", 1, 12, 0}, {"WIDTH", 1, 60, 0}}},
    {"tests/templates/residual_inplace", NULL, 1, {{"ROWS", 1, 30, 0}, {"COLS", 1, 300, 0}}},
    {"tests/templates/rms_rows", NULL, 1, {{"ROWS", 1, 30, 0}, {"COLS", 1, 300, 0}}},
    {"tests/templates/running_sums", NULL, 1, {{"ROWS", 1, 30, 0}, {"COLS", 1, 300, 0}}},
    {"tests/templates/scale_fp8", NULL, 1, {{"ROWS", 1, 60, 0}, {"COLS", 1, 200, 0}}},
    {"tests/templates/scaled_add", NULL, 1, {{"ROWS", 1, 60, 0}, {"COLS", 1, 200, 0}}},
    {"tests/templates/smooth_rows",
     NULL,
     1,
     {{"ROWS", 1, 30, 0}, {"COLS", 1, 300, 0}, {"WRAP", 1, 1, 0}}},
    {"tests/templates/sum_two_pass", NULL, 1, {{"N", 1, 30000, 0}}},
    {"tests/templates/take_columns",
     NULL,
     1,
     {{"ROWS", 6, 6, 0}, {"COLS", 40, 40, 0}, {"TAKEN", 9, 9, 0}}},
    {"tests/templates/two_pass_max", NULL, 1, {{"N", 1, 30000, 0}}},
    {"tests/templates/vector_copy", NULL, 1, {{"N", 1, 9000, 0}}},
    {"tests/templates/weighted_pick", NULL, 1, {{"ROWS", 1, 60, 0}, {"COLS", 1, 100, 0}}},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

#endif
