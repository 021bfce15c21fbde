/*
 * across: the samples of communication between the blocks of a cluster and of bulk reductions,
 * which need sm_90. samples.h includes it and provides what it uses.
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_SAMPLES_ACROSS_H
#define EVOTILE_TESTS_DEVICE_PTX_SAMPLES_ACROSS_H

#include "ptx/tensor_map.h"

enum { ACROSS_BLOCKS = 4, ACROSS_GRID = 8, ACROSS_THREADS = 128 };

/* What a block receives from the previous block, and from the one before that. */
static inline void across_block(const int *in, int block, int *halo, uint32_t *bins, int *rows,
                                uint32_t *sums) {
    int first = block / ACROSS_BLOCKS * ACROSS_BLOCKS, most = -1000000;
    const int *before = in + (first + (block + 3) % ACROSS_BLOCKS) * ACROSS_THREADS;
    const int *further = in + (first + (block + 2) % ACROSS_BLOCKS) * ACROSS_THREADS;
    memset(bins, 0, 32 * sizeof *bins);
    for (int t = 0; t < ACROSS_THREADS; t++) {
        bins[before[t] & 31]++;
        most = further[t] > most ? further[t] : most;
    }
    for (int t = 0; t < ACROSS_THREADS; t++) {
        halo[t] = before[ACROSS_THREADS - 1 - t];
        rows[t] = before[ACROSS_THREADS - 1 - t] + most;
        sums[t] = (uint32_t)t + (uint32_t)further[t] + (uint32_t)before[t];
    }
}

static inline void check_across(struct samples *bench) {
    enum { N = ACROSS_GRID * ACROSS_THREADS };
    int in[N], halo[N], rows[N], wanted_halo[N], wanted_rows[N];
    uint32_t bins[ACROSS_GRID * 32], wanted_bins[ACROSS_GRID * 32], sums[ACROSS_THREADS];
    uint32_t total[ACROSS_THREADS], wanted_total[ACROSS_THREADS] = {0};
    uint16_t odd[ACROSS_THREADS];
    if (bench->device->info.compute_capability < 90)
        return;
    for (int i = 0; i < N; i++)
        in[i] = (int)(samples_random(bench) % 2000) - 1000;
    for (int block = 0; block < ACROSS_GRID; block++) {
        across_block(in, block, wanted_halo + block * ACROSS_THREADS, wanted_bins + block * 32,
                     wanted_rows + block * ACROSS_THREADS, sums);
        for (int t = 0; t < ACROSS_THREADS; t++)
            wanted_total[t] += sums[t];
    }
    sample_begin(bench, "across");
    sample_buffer(bench, in, sizeof in);
    uint64_t at[5];
    const size_t bytes[5] = {sizeof halo, sizeof bins, sizeof rows, sizeof total, sizeof odd};
    void *const out[5] = {halo, bins, rows, total, odd};
    for (int i = 0; i < 5; i++)
        at[i] = sample_buffer(bench, NULL, bytes[i]);
    sample_run(bench, "across", ACROSS_GRID, 1, ACROSS_THREADS, 1, 0);
    for (int i = 0; i < 5; i++)
        sample_read(bench, at[i], out[i], bytes[i]);
    assert_memory_equal(halo, wanted_halo, sizeof halo);
    assert_memory_equal(bins, wanted_bins, sizeof bins);
    assert_memory_equal(rows, wanted_rows, sizeof rows);
    assert_memory_equal(total, wanted_total, sizeof total);
    for (int t = 0; t < ACROSS_THREADS; t++) {
        int wanted = 0;
        for (int block = 0; block < ACROSS_GRID; block++)
            wanted += in[block * ACROSS_THREADS + t] & 1;
        assert_true(half_to_float(odd[t]) == (float)wanted);
    }
    sample_end(bench);
}

static inline void check_tensor_sums(struct samples *bench) {
    enum { ROWS = 13, COLUMNS = 20, STRIDE = 24, GRID = 3 };
    uint32_t got[ROWS * STRIDE], start[ROWS * STRIDE];
    struct tensor_map map = {.rank = 2,
                             .element_bytes = 4,
                             .extents = {16, 8},
                             .strides = {64},
                             .box = {16, 8},
                             .swizzle = SWIZZLE_NONE};
    if (bench->device->info.compute_capability < 90)
        return;
    for (int i = 0; i < ROWS * STRIDE; i++)
        start[i] = samples_random(bench);
    sample_begin(bench, "across");
    struct device_launch *launch = &bench->sequence.launches[0];
    launch->arguments[launch->argument_count++] =
        (struct device_argument){.size = TENSOR_MAP_BYTES, .map = &map};
    uint64_t to = sample_buffer(bench, start, sizeof start);
    sample_buffer(bench, NULL, GRID * TENSOR_MAP_BYTES);
    map.address = to;
    sample_run(bench, "tensor_sums", GRID, 1, 32, 1, 0);
    sample_read(bench, to, got, sizeof got);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < STRIDE; column++) {
            uint32_t wanted = start[row * STRIDE + column];
            if (row >= 8 && column >= 8 && column < COLUMNS)
                wanted += 6 * (uint32_t)((row - 8) * 16 + column - 8); /* 1 + 2 + 3 times */
            assert_int_equal(got[row * STRIDE + column], wanted);
        }
    sample_end(bench);
}

#endif
