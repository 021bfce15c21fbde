/*
 * samples: kernels of common kinds (modelled on NVIDIA's CUDA samples, newly written), compiled
 * unchanged and compared with C; on any device.
 *
 *     samples_open(&bench, "emulated:sm_90");
 *     samples[i].check(&bench);                  // fails the test that it runs in
 *     samples_close(&bench);
 */
#ifndef EVOTILE_TESTS_DEVICE_PTX_SAMPLES_H
#define EVOTILE_TESTS_DEVICE_PTX_SAMPLES_H

/* required before cmocka.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/device.h"
#include "device/nvrtc.h"
#include "ptx/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_BUFFERS_MAX = 8, SAMPLE_SOURCE_MAX = 1 << 14 };

struct samples {
    struct device *device;
    struct nvrtc *nvrtc;
    uint64_t state; /* of the random numbers */
    /* State of the running sample. */
    struct device_module *module;
    struct device_sequence sequence;
    uint64_t buffers[SAMPLE_BUFFERS_MAX];
    int buffer_count;
};

static inline void samples_must(bool good, const struct error *error) {
    if (!good)
        fail_msg("%s", error->text);
}

static inline void samples_open(struct samples *bench, const char *spec) {
    struct error error = {0};
    *bench = (struct samples){.state = 88172645463325252ull};
    bench->device = device_open(spec, &error);
    samples_must(bench->device != NULL, &error);
    bench->nvrtc = nvrtc_open(&error);
    samples_must(bench->nvrtc != NULL, &error);
}

static inline void samples_close(struct samples *bench) {
    nvrtc_close(bench->nvrtc);
    device_close(bench->device);
}

static inline uint32_t samples_random(struct samples *bench) {
    bench->state ^= bench->state << 13;
    bench->state ^= bench->state >> 7;
    bench->state ^= bench->state << 17;
    return (uint32_t)(bench->state >> 16);
}

/* A random number in [low, high). */
static inline float samples_between(struct samples *bench, float low, float high) {
    return low + (high - low) * (float)(samples_random(bench) >> 8) / 16777216.0f;
}

/* ---- one sample: compile, arguments, launch, read ---- */

static inline void sample_begin(struct samples *bench, const char *name) {
    struct error error = {0};
    struct device_image image;
    char path[256], source[SAMPLE_SOURCE_MAX] = "", architecture[64], include[512], library[512];
    char reason[REASON_SIZE] = "";
    const char *home = getenv("CUDA_HOME");
    snprintf(path, sizeof path, "tests/ptx/samples/%s.cu", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(source, 1, sizeof source - 1, file) < sizeof source - 1);
    fclose(file);
    int capability = bench->device->info.compute_capability;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%s", capability,
             capability == 90 ? "a" : "");
    snprintf(include, sizeof include, "-I%s/include", home ? home : EVOTILE_CUDA_HOME);
    snprintf(library, sizeof library, "-I%s/include/cccl", home ? home : EVOTILE_CUDA_HOME);
    const char *options[] = {architecture, "--std=c++17", "--ptxas-options=-v",
                             "-lineinfo",  include,       library};
    int status = nvrtc_compile(bench->nvrtc, path, source, options, 6, &image, reason, &error);
    if (status != 0)
        fail_msg("%s: %s", path, status > 0 ? reason : error.text);
    status = bench->device->backend->module_load(bench->device, &image, &bench->module, &error);
    samples_must(status == 0, &error);
    nvrtc_image_release(&image);
    bench->sequence = (struct device_sequence){.count = 1};
    bench->sequence.launches[0] =
        (struct device_launch){.module = bench->module, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    bench->buffer_count = 0;
}

static inline void sample_argument(struct samples *bench, const void *value, int bytes) {
    struct device_launch *launch = &bench->sequence.launches[0];
    struct device_argument *argument = &launch->arguments[launch->argument_count++];
    argument->size = bytes;
    memcpy(argument->bytes, value, (size_t)bytes);
}

static inline void sample_number(struct samples *bench, int value) {
    sample_argument(bench, &value, 4);
}

/* A buffer initialised with `data`; NULL: zeros. */
static inline uint64_t sample_buffer(struct samples *bench, const void *data, size_t bytes) {
    const struct device_backend *backend = bench->device->backend;
    struct error error = {0};
    uint64_t address;
    samples_must(backend->memory_new(bench->device, "buffer", bytes, &address, &error) == 0,
                 &error);
    samples_must((data ? backend->write(bench->device, address, data, bytes, &error)
                       : backend->fill32(bench->device, address, 0, bytes / 4, &error)) == 0,
                 &error);
    bench->buffers[bench->buffer_count++] = address;
    sample_argument(bench, &address, 8);
    return address;
}

static inline void sample_run(struct samples *bench, const char *kernel, unsigned grid_x,
                              unsigned grid_y, unsigned block_x, unsigned block_y,
                              unsigned smem_bytes) {
    struct device_launch *launch = &bench->sequence.launches[0];
    char reason[REASON_SIZE] = "";
    launch->kernel = kernel;
    launch->grid[0] = grid_x;
    launch->grid[1] = grid_y;
    launch->block[0] = block_x;
    launch->block[1] = block_y;
    launch->smem_bytes = smem_bytes;
    if (bench->device->backend->run(bench->device, &bench->sequence, 10, reason) != VERDICT_OK)
        fail_msg("%s", reason);
}

static inline void sample_read(struct samples *bench, uint64_t address, void *to, size_t bytes) {
    struct error error = {0};
    samples_must(bench->device->backend->read(bench->device, address, to, bytes, &error) == 0,
                 &error);
}

static inline void sample_end(struct samples *bench) {
    for (int i = 0; i < bench->buffer_count; i++)
        bench->device->backend->memory_free(bench->device, bench->buffers[i]);
    bench->device->backend->module_unload(bench->device, bench->module);
}

static inline void sample_near(double got, double wanted, double tolerance, const char *what) {
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%s: %.9g, but must be %.9g within %.3g", what, got, wanted, tolerance);
}

/* ---- the samples ---- */

static inline void check_reduction(struct samples *bench) {
    enum { N = 5000 };
    static float in[N];
    double wanted = 0;
    float got;
    for (int i = 0; i < N; i++)
        wanted += in[i] = samples_between(bench, -1, 1);
    sample_begin(bench, "reduction");
    sample_buffer(bench, in, sizeof in);
    uint64_t sum = sample_buffer(bench, NULL, 4);
    sample_number(bench, N);
    sample_run(bench, "reduction", 3, 1, 256, 1, 0);
    sample_read(bench, sum, &got, 4);
    sample_near(got, wanted, 1e-3, "sum");
    sample_end(bench);
}

static inline void check_scan(struct samples *bench) {
    enum { N = 700, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS };
    int in[N], got[N], wanted = 0;
    for (int i = 0; i < N; i++)
        in[i] = (int)(samples_random(bench) % 1000);
    sample_begin(bench, "scan");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_buffer(bench, NULL, 4 * BLOCKS);
    sample_buffer(bench, NULL, 4);
    sample_number(bench, N);
    sample_run(bench, "scan", BLOCKS, 1, THREADS, 1, 4 * THREADS);
    sample_read(bench, out, got, sizeof got);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], wanted += in[i]);
    sample_end(bench);
}

static inline void check_transpose(struct samples *bench) {
    enum { ROWS = 70, COLUMNS = 45 };
    float in[ROWS * COLUMNS], got[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = samples_between(bench, -1, 1);
    sample_begin(bench, "transpose");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, ROWS);
    sample_number(bench, COLUMNS);
    sample_run(bench, "transpose", 2, 3, 32, 8, 0);
    sample_read(bench, out, got, sizeof got);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            assert_memory_equal(&got[column * ROWS + row], &in[row * COLUMNS + column], 4);
    sample_end(bench);
}

static inline void check_histogram(struct samples *bench) {
    enum { WORDS = 3000 };
    static uint32_t in[WORDS];
    uint32_t got[256], wanted[256] = {0};
    for (int i = 0; i < WORDS; i++) {
        in[i] = samples_random(bench) & samples_random(bench);
        for (int shift = 0; shift < 32; shift += 8)
            wanted[in[i] >> shift & 255]++;
    }
    sample_begin(bench, "histogram");
    sample_buffer(bench, in, sizeof in);
    uint64_t bins = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, WORDS);
    sample_run(bench, "histogram", 4, 1, 96, 1, 0);
    sample_read(bench, bins, got, sizeof got);
    assert_memory_equal(got, wanted, sizeof got);
    sample_end(bench);
}

static inline void check_tiled_product(struct samples *bench) {
    enum { N = 48 };
    float a[N * N], b[N * N], got[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = samples_between(bench, -1, 1);
        b[i] = samples_between(bench, -1, 1);
    }
    sample_begin(bench, "tiled_product");
    sample_buffer(bench, a, sizeof a);
    sample_buffer(bench, b, sizeof b);
    uint64_t c = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, N);
    sample_run(bench, "tiled_product", N / 16, N / 16, 16, 16, 0);
    sample_read(bench, c, got, sizeof got);
    for (int i = 0; i < N * N; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += (double)a[i / N * N + k] * b[k * N + i % N];
        sample_near(got[i], sum, 1e-4, "product");
    }
    sample_end(bench);
}

static inline void samples_halves(struct samples *bench, uint16_t *halves, int count, float low,
                                  float high) {
    for (int i = 0; i < count; i++)
        halves[i] = float_to_half(samples_between(bench, low, high));
}

static inline void check_wmma_product(struct samples *bench) {
    enum { N = 64 };
    static uint16_t a[N * N], b[N * N];
    static float c[N * N], got[N * N];
    samples_halves(bench, a, N * N, -1, 1);
    samples_halves(bench, b, N * N, -1, 1);
    for (int i = 0; i < N * N; i++)
        c[i] = samples_between(bench, -1, 1);
    sample_begin(bench, "wmma_product");
    sample_buffer(bench, a, sizeof a);
    sample_buffer(bench, b, sizeof b);
    sample_buffer(bench, c, sizeof c);
    uint64_t d = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, N);
    sample_run(bench, "wmma_product", N / 16, N / 16, 32, 1, 0);
    sample_read(bench, d, got, sizeof got);
    for (int i = 0; i < N * N; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += (double)half_to_float(a[i / N * N + k]) * half_to_float(b[i % N * N + k]);
        sample_near(got[i], 2 * sum + c[i], 1e-3, "product");
    }
    sample_end(bench);
}

/* A matrix element of wmma_shapes: f16, bf16 or tf32, row-major. */
static inline double samples_element(const void *matrix, int index, char format) {
    const uint16_t *narrow = matrix;
    uint32_t bits;
    memcpy(&bits, (const uint8_t *)matrix + 4 * (format == 't' ? index : 0), 4);
    return format == 'h'   ? half_to_float(narrow[index])
           : format == 'b' ? bfloat_to_float(narrow[index])
                           : bits_float((bits + 0x1000) & ~0x1fffu); /* __float_to_tf32 rounds */
}

static inline void check_wmma_shapes(struct samples *bench) {
    static uint16_t a[512], b[512], c[512], e[512];
    static float f[128], g[128], got[1280];
    samples_halves(bench, a, 512, -1, 1);
    samples_halves(bench, b, 512, -1, 1);
    for (int i = 0; i < 512; i++) {
        c[i] = float_to_bfloat(samples_between(bench, -1, 1));
        e[i] = float_to_bfloat(samples_between(bench, -1, 1));
        f[i % 128] = samples_between(bench, -1, 1);
        g[i % 128] = samples_between(bench, -1, 1);
    }
    const struct {
        int m, n, k;
        const void *left, *right;
        char format;
    } products[] = {{32, 8, 16, a, b, 'h'},
                    {8, 32, 16, a, b, 'h'},
                    {16, 16, 16, c, e, 'b'},
                    {32, 8, 16, c, e, 'b'},
                    {16, 16, 8, f, g, 't'}};
    sample_begin(bench, "wmma_shapes");
    const void *const inputs[] = {a, b, c, e, f, g};
    const size_t bytes[] = {sizeof a, sizeof b, sizeof c, sizeof e, sizeof f, sizeof g};
    for (int i = 0; i < 6; i++)
        sample_buffer(bench, inputs[i], bytes[i]);
    uint64_t d = sample_buffer(bench, NULL, sizeof got);
    sample_run(bench, "wmma_shapes", 1, 1, 32, 1, 0);
    sample_read(bench, d, got, sizeof got);
    for (int p = 0; p < 5; p++)
        for (int i = 0; i < 256; i++) {
            int n = products[p].n;
            double sum = 0;
            for (int k = 0; k < products[p].k; k++)
                sum += samples_element(products[p].left, i / n * products[p].k + k,
                                       products[p].format) *
                       samples_element(products[p].right, k * n + i % n, products[p].format);
            sample_near(got[256 * p + i], sum, 1e-4, "product");
        }
    sample_end(bench);
}

/* Adds numbers_product's expected result to `sums`; b is column-major. */
static inline void samples_number_products(const int8_t *a, const uint8_t *b, int m, int n, int k,
                                           bool a_signed, bool b_signed, bool saturates,
                                           int32_t *sums) {
    for (int i = 0; i < m * n; i++) {
        int64_t sum = sums[i];
        for (int j = 0; j < k; j++) {
            int x = a_signed ? a[i / n * k + j] : (uint8_t)a[i / n * k + j];
            sum += x * (b_signed ? (int8_t)b[i % n * k + j] : b[i % n * k + j]);
        }
        if (saturates)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        sums[i] = (int32_t)(uint32_t)sum;
    }
}

static inline void check_numbers_product(struct samples *bench) {
    enum { BYTES = 1024, NUMBERS = 896, DOUBLES = 128 };
    static int32_t numbers[NUMBERS], got[NUMBERS];
    static double e[32], f[32], sums[DOUBLES], got_sums[DOUBLES];
    union {
        int8_t are_signed[BYTES];
        uint8_t bytes[BYTES];
    } a, b;
    for (int i = 0; i < BYTES; i++) {
        a.bytes[i] = (uint8_t)samples_random(bench);
        b.bytes[i] = (uint8_t)samples_random(bench);
    }
    for (int i = 0; i < NUMBERS; i++) /* some sums exceed 32 bits */
        numbers[i] = i % 3 ? (int32_t)samples_random(bench) : i % 2 ? INT32_MAX - i : INT32_MIN + i;
    for (int i = 0; i < 32; i++) { /* sums are exact */
        e[i] = (double)(samples_random(bench) % 1000);
        f[i] = (double)(samples_random(bench) % 1000) / 8;
    }
    for (int i = 0; i < DOUBLES; i++)
        sums[i] = (double)(samples_random(bench) % 1000) - 500;
    sample_begin(bench, "numbers_product");
    sample_buffer(bench, a.bytes, BYTES);
    sample_buffer(bench, b.bytes, BYTES);
    sample_buffer(bench, e, sizeof e);
    sample_buffer(bench, f, sizeof f);
    uint64_t d = sample_buffer(bench, numbers, sizeof numbers);
    uint64_t g = sample_buffer(bench, sums, sizeof sums);
    sample_run(bench, "numbers_product", 1, 1, 32, 1, 0);
    sample_read(bench, d, got, sizeof got);
    sample_read(bench, g, got_sums, sizeof got_sums);
    samples_number_products(a.are_signed, a.bytes + 256, 16, 16, 16, true, true, false, numbers);
    samples_number_products(b.are_signed, b.bytes + 512, 32, 8, 16, false, false, false,
                            numbers + 256);
    samples_number_products(a.are_signed, a.bytes + 512, 8, 32, 16, true, true, false,
                            numbers + 512);
    samples_number_products(a.are_signed, b.bytes, 16, 8, 32, true, false, true, numbers + 768);
    for (int i = 0; i < NUMBERS; i++)
        if (got[i] != numbers[i])
            fail_msg("product %d: %d, but must be %d", i, got[i], numbers[i]);
    for (int i = 0; i < DOUBLES; i++) {
        for (int k = 0; k < 4; k++)
            sums[i] += e[i % 64 / 8 * 4 + k] * f[i % 8 * 4 + k];
        sample_near(got_sums[i], sums[i], 0, "product of doubles");
    }
    sample_end(bench);
}

/* The number at an index of a row of 16 bytes. */
static inline int samples_small_number(const uint32_t *row, int at, int bits, bool is_signed) {
    int number = (int)(row[at * bits / 32] >> at * bits % 32 & ((1u << bits) - 1));
    return is_signed && number >> (bits - 1) ? number - (1 << bits) : number;
}

static inline void check_small_numbers(struct samples *bench) {
    enum { WORDS = 2 * 16 * 4, SUMS = 16 * 16 };
    static int32_t d[4 * SUMS], got[4 * SUMS];
    uint32_t a[WORDS], b[WORDS];
    for (int i = 0; i < WORDS; i++) {
        a[i] = samples_random(bench);
        b[i] = samples_random(bench);
    }
    for (int i = 0; i < 4 * SUMS; i++) /* some sums exceed 32 bits */
        d[i] = i % 3 ? (int32_t)samples_random(bench) : INT32_MAX - i;
    sample_begin(bench, "small_numbers");
    sample_buffer(bench, a, sizeof a);
    sample_buffer(bench, b, sizeof b);
    uint64_t sums = sample_buffer(bench, d, sizeof d);
    sample_run(bench, "small_numbers", 1, 1, 128, 1, 0);
    sample_read(bench, sums, got, sizeof got);
    for (int i = 0; i < 4 * SUMS; i++) {
        int what = i / SUMS, row = i % SUMS / 16, column = i % 16, bits = what < 2 ? 4 : 1;
        int64_t sum = d[i];
        for (int k = 0; k < 2 * 128 / bits; k++) {
            int part = k / (128 / bits), at = k % (128 / bits);
            int x = samples_small_number(a + (part * 16 + row) * 4, at, bits, what == 0);
            int y = samples_small_number(b + (part * 16 + column) * 4, at, bits, what == 0);
            sum += what == 3 ? x != y : x * y;
        }
        if (what == 1 && sum > INT32_MAX)
            sum = INT32_MAX;
        if (got[i] != (int32_t)(uint32_t)(uint64_t)sum)
            fail_msg("sum %d: %d, but must be %lld", i, got[i], (long long)sum);
    }
    sample_end(bench);
}

/* Sums are exact. */
static inline void check_sparse_product(struct samples *bench) {
    enum { M = 16, N = 8, K = 32 };
    float a[M * K], b[N * K], d[M * N], got[M * N];
    uint16_t left[M * K], right[N * K];
    for (int i = 0; i < M * K; i += 4) {
        uint32_t random = samples_random(bench);
        memset(a + i, 0, 4 * sizeof *a); /* two indices, which may be equal, or values may be zero
                                          */
        a[i + (int)(random & 3)] = (float)(random >> 4 & 7) - 3;
        a[i + (int)(random >> 2 & 3)] = (float)(random >> 8 & 7) - 3;
    }
    for (int i = 0; i < N * K; i++)
        b[i] = (float)(samples_random(bench) % 64) - 32;
    for (int i = 0; i < M * N; i++)
        d[i] = (float)(samples_random(bench) % 1000) / 8;
    for (int i = 0; i < M * K; i++)
        left[i] = float_to_half(a[i]);
    for (int i = 0; i < N * K; i++)
        right[i] = float_to_half(b[i]);
    sample_begin(bench, "sparse_product");
    sample_buffer(bench, left, sizeof left);
    sample_buffer(bench, right, sizeof right);
    uint64_t sums = sample_buffer(bench, d, sizeof d);
    sample_run(bench, "sparse_product", 1, 1, 32, 1, 0);
    sample_read(bench, sums, got, sizeof got);
    for (int i = 0; i < M * N; i++) {
        for (int k = 0; k < K; k++)
            d[i] += a[i / N * K + k] * b[i % N * K + k];
        sample_near(got[i], d[i], 0, "product");
    }
    sample_end(bench);
}

static inline void check_groups(struct samples *bench) {
    enum { N = 256 };
    float in[N], scans[N], got;
    uint32_t counts[3];
    double wanted = 0;
    for (int i = 0; i < N; i++)
        wanted += in[i] = (float)(samples_random(bench) % 100); /* sums are exact */
    sample_begin(bench, "groups");
    sample_buffer(bench, in, sizeof in);
    uint64_t sum = sample_buffer(bench, NULL, 4);
    uint64_t counted = sample_buffer(bench, NULL, sizeof counts);
    uint64_t scanned = sample_buffer(bench, NULL, sizeof scans);
    sample_run(bench, "groups", 2, 1, 128, 1, 0);
    sample_read(bench, sum, &got, 4);
    sample_read(bench, counted, counts, sizeof counts);
    sample_read(bench, scanned, scans, sizeof scans);
    sample_near(got, wanted, 0, "sum");
    assert_int_equal(counts[0], 2 * 43);
    assert_int_equal(counts[1], 2 * 4 * 5);
    assert_int_equal(counts[2], N);
    for (int i = 0; i < N; i++) {
        float expected = 10 * in[i / 4 * 4 + 2] + 1000.0f * (float)(i % 128 / 32);
        for (int j = i / 4 * 4; j <= i; j++)
            expected += in[j];
        sample_near(scans[i], expected, 0, "scan");
    }
    sample_end(bench);
}

static inline void check_pipeline(struct samples *bench) {
    enum { TILE = 128, TILES = 7 };
    float in[TILES * TILE], sums[TILE], last[TILE];
    for (int i = 0; i < TILES * TILE; i++)
        in[i] = (float)(samples_random(bench) % 100); /* sums are exact */
    sample_begin(bench, "pipeline");
    sample_buffer(bench, in, sizeof in);
    uint64_t sum = sample_buffer(bench, NULL, sizeof sums);
    uint64_t end = sample_buffer(bench, NULL, sizeof last);
    sample_number(bench, TILES);
    sample_run(bench, "pipeline", 1, 1, TILE, 1, 0);
    sample_read(bench, sum, sums, sizeof sums);
    sample_read(bench, end, last, sizeof last);
    for (int t = 0; t < TILE; t++) {
        double expected = 0;
        for (int i = 0; i < TILES; i++)
            expected += in[i * TILE + t] - in[i * TILE + TILE - 1 - t] / 2;
        sample_near(sums[t], expected, 0, "sum");
        sample_near(last[t], in[TILES * TILE - 1 - t], 0, "last tile");
    }
    sample_end(bench);
}

static inline uint16_t samples_operation(int operation, uint16_t a, uint16_t b, bool is_bfloat) {
    double x = is_bfloat ? bfloat_to_float(a) : half_to_float(a);
    double y = is_bfloat ? bfloat_to_float(b) : half_to_float(b);
    double sum = x * y + x; /* exact in double precision */
    const double results[] = {
        x + y, x - y, x * y, sum, x > y ? x : y, x < y ? x : y, fabs(x), -y, sum > 0 ? sum : 0, x};
    float once = (float)results[operation];
    return is_bfloat ? float_to_bfloat(once) : float_to_half(once);
}

static inline void check_halves(struct samples *bench) {
    enum { PAIRS = 64, OPERATIONS = 10, SHUFFLE = 9 };
    uint16_t in[4][2 * PAIRS], got[2][2 * PAIRS * OPERATIONS];
    uint64_t out[2];
    for (int i = 0; i < 2 * PAIRS; i++)
        for (int j = 0; j < 4; j++) { /* eighths: no double rounding on the way to fp32 */
            float value = (float)(int)(samples_random(bench) % 129) / 8 - 8;
            in[j][i] = j < 2 ? float_to_half(value) : float_to_bfloat(value);
        }
    sample_begin(bench, "halves");
    for (int side = 0; side < 2; side++) {
        sample_buffer(bench, in[2 * side], sizeof in[0]);
        sample_buffer(bench, in[2 * side + 1], sizeof in[0]);
        out[side] = sample_buffer(bench, NULL, sizeof got[0]);
    }
    sample_run(bench, "halves", 1, 1, PAIRS, 1, 0);
    for (int side = 0; side < 2; side++) {
        sample_read(bench, out[side], got[side], sizeof got[0]);
        for (int i = 0; i < 2 * PAIRS; i++)
            for (int j = 0; j < OPERATIONS; j++) {
                uint16_t result = got[side][(i / 2 * OPERATIONS + j) * 2 + i % 2];
                int from = j == SHUFFLE ? i ^ 2 : i;
                uint16_t wanted =
                    samples_operation(j, in[2 * side][from], in[2 * side + 1][from], side == 1);
                if (result != wanted && (uint16_t)((result | wanted) << 1) != 0)
                    fail_msg("%s operation %d: 0x%04x, but must be 0x%04x",
                             side ? "bfloat16" : "half", j, result, wanted);
            }
    }
    sample_end(bench);
}

/* fp8 with `digits` fraction digits; e4m3 has no infinity. */
static inline double samples_small(int bits, int digits) {
    int exponents = 1 << (7 - digits), exponent = bits >> digits & (exponents - 1);
    int fraction = bits & ((1 << digits) - 1), bias = exponents / 2 - 1;
    double value = exponent ? ldexp(fraction + (1 << digits), exponent - bias - digits)
                            : ldexp(fraction, 1 - bias - digits);
    if (digits == 3 ? (bits & 0x7f) == 0x7f : exponent == exponents - 1)
        value = digits == 2 && fraction == 0 ? INFINITY : NAN;
    return bits & 0x80 ? -value : value;
}

/* The nearest finite value, ties to even, by exhaustive search. */
static inline int samples_to_small(double value, int digits) {
    int best = 0;
    for (int bits = 1; bits < 128; bits++) {
        double distance = fabs(samples_small(bits, digits) - fabs(value));
        double least = fabs(samples_small(best, digits) - fabs(value));
        if (isfinite(samples_small(bits, digits)) &&
            (distance < least || (distance == least && bits % 2 == 0)))
            best = bits;
    }
    return best | (signbit(value) ? 0x80 : 0);
}

static inline void check_small_floats(struct samples *bench) {
    enum { NUMBERS = 2048 };
    static float in[NUMBERS];
    static uint8_t got[2][NUMBERS];
    uint16_t halves[2][256];
    uint64_t out[4];
    for (int i = 0; i < NUMBERS; i++) { /* includes ties and halves of the least number */
        uint32_t bits = samples_random(bench);
        in[i] = ldexpf((float)(int)(bits % 129) - 64, (int)(bits >> 8 & 31) - 18);
        in[i] = i % 4 ? in[i] : half_to_float((uint16_t)bits);
        in[i] = isfinite(in[i]) && fabsf(in[i]) < 65504 ? in[i] : -65504;
    }
    sample_begin(bench, "small_floats");
    sample_buffer(bench, in, sizeof in);
    for (int i = 0; i < 4; i++)
        out[i] = sample_buffer(bench, NULL, i < 2 ? sizeof got[i] : sizeof halves[i - 2]);
    sample_number(bench, NUMBERS / 2);
    sample_run(bench, "small_floats", 1, 1, 128, 1, 0);
    for (int format = 0; format < 2; format++) {
        int digits = 3 - format;
        sample_read(bench, out[format], got[format], sizeof got[format]);
        sample_read(bench, out[2 + format], halves[format], sizeof halves[format]);
        for (int i = 0; i < NUMBERS; i++) {
            double value = format ? half_to_float(float_to_half(in[i])) : in[i];
            int wanted = samples_to_small(value, digits);
            if (got[format][i] != wanted)
                fail_msg("%.9g as e%dm%d: 0x%02x, but must be 0x%02x", value, 7 - digits, digits,
                         got[format][i], wanted);
        }
        for (int bits = 0; bits < 256; bits++) {
            double wanted = samples_small(bits, digits);
            double is = half_to_float(halves[format][bits]);
            if (!(is == wanted || (isnan(is) && isnan(wanted))))
                fail_msg("e%dm%d 0x%02x: %.9g, but must be %.9g", 7 - digits, digits, bits, is,
                         wanted);
        }
    }
    sample_end(bench);
}

static inline int samples_compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static inline void check_bitonic_sort(struct samples *bench) {
    enum { N = 256 };
    uint32_t keys[2 * N], got[2 * N];
    for (int i = 0; i < 2 * N; i++)
        keys[i] = samples_random(bench) % 1000;
    sample_begin(bench, "bitonic_sort");
    uint64_t sorted = sample_buffer(bench, keys, sizeof keys);
    sample_run(bench, "bitonic_sort", 2, 1, N, 1, 4 * N);
    sample_read(bench, sorted, got, sizeof got);
    qsort(keys, N, sizeof *keys, samples_compare);
    qsort(keys + N, N, sizeof *keys, samples_compare);
    assert_memory_equal(got, keys, sizeof got);
    sample_end(bench);
}

static inline void check_convolution(struct samples *bench) {
    enum { WIDTH = 150, HEIGHT = 3 };
    static const float filter[] = {0.05f, 0.09f, 0.12f, 0.15f, 0.18f, 0.15f, 0.12f, 0.09f, 0.05f};
    float in[WIDTH * HEIGHT], got[WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        in[i] = samples_between(bench, 0, 255);
    sample_begin(bench, "convolution");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, WIDTH);
    sample_run(bench, "convolution", 3, HEIGHT, 64, 1, 4 * (64 + 8));
    sample_read(bench, out, got, sizeof got);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double sum = 0;
        for (int k = -4; k <= 4; k++)
            if (i % WIDTH + k >= 0 && i % WIDTH + k < WIDTH)
                sum += (double)filter[k + 4] * in[i + k];
        sample_near(got[i], sum, 1e-3, "pixel");
    }
    sample_end(bench);
}

static inline void check_options(struct samples *bench) {
    enum { N = 300 };
    float price[N], strike[N], years[N], call[N], put[N];
    for (int i = 0; i < N; i++) {
        price[i] = samples_between(bench, 5, 30);
        strike[i] = samples_between(bench, 1, 100);
        years[i] = samples_between(bench, 0.25f, 10);
    }
    sample_begin(bench, "options");
    sample_buffer(bench, price, sizeof price);
    sample_buffer(bench, strike, sizeof strike);
    sample_buffer(bench, years, sizeof years);
    uint64_t calls = sample_buffer(bench, NULL, sizeof call);
    uint64_t puts = sample_buffer(bench, NULL, sizeof put);
    sample_number(bench, N);
    sample_run(bench, "options", 2, 1, 128, 1, 0);
    sample_read(bench, calls, call, sizeof call);
    sample_read(bench, puts, put, sizeof put);
    for (int i = 0; i < N; i++) {
        double root = sqrt(years[i]), discount = strike[i] * exp(-0.02 * years[i]);
        double d1 = (log((double)price[i] / strike[i]) + (0.02 + 0.045) * years[i]) / (0.3 * root);
        double d2 = d1 - 0.3 * root;
        sample_near(call[i],
                    price[i] * erfc(-d1 * M_SQRT1_2) / 2 - discount * erfc(-d2 * M_SQRT1_2) / 2,
                    1e-4, "call");
        sample_near(put[i],
                    discount * erfc(d2 * M_SQRT1_2) / 2 - price[i] * erfc(d1 * M_SQRT1_2) / 2, 1e-4,
                    "put");
    }
    sample_end(bench);
}

static inline void check_bodies(struct samples *bench) {
    enum { N = 128 };
    float position[4 * N], got[4 * N];
    for (int i = 0; i < 4 * N; i++)
        position[i] = samples_between(bench, i % 4 == 3 ? 0.1f : -1, 1);
    sample_begin(bench, "bodies");
    sample_buffer(bench, position, sizeof position);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_number(bench, N);
    sample_run(bench, "bodies", N / 64, 1, 64, 1, 0);
    sample_read(bench, out, got, sizeof got);
    for (int i = 0; i < N; i++)
        for (int axis = 0; axis < 3; axis++) {
            double sum = 0, scale = 0;
            for (int j = 0; j < N; j++) {
                double square = 0.01;
                for (int k = 0; k < 3; k++)
                    square += pow((double)position[4 * j + k] - position[4 * i + k], 2);
                double pull = ((double)position[4 * j + axis] - position[4 * i + axis]) *
                              position[4 * j + 3] / (square * sqrt(square));
                sum += pull;
                scale += fabs(pull);
            }
            sample_near(got[4 * i + axis], sum, 1e-5 * scale + 1e-5, "acceleration");
        }
    sample_end(bench);
}

static inline void check_fourier(struct samples *bench) {
    enum { N = 256 };
    double in[2 * N], got[2 * N];
    for (int i = 0; i < 2 * N; i++)
        in[i] = samples_between(bench, -1, 1);
    sample_begin(bench, "fourier");
    sample_buffer(bench, in, sizeof in);
    uint64_t out = sample_buffer(bench, NULL, sizeof got);
    sample_run(bench, "fourier", 1, 1, N, 1, 0);
    sample_read(bench, out, got, sizeof got);
    for (int k = 0; k < N; k++) {
        double real = 0, imaginary = 0;
        for (int i = 0; i < N; i++) {
            double angle = -2 * M_PI * (double)(i * k % N) / N;
            real += in[2 * i] * cos(angle) - in[2 * i + 1] * sin(angle);
            imaginary += in[2 * i] * sin(angle) + in[2 * i + 1] * cos(angle);
        }
        sample_near(got[2 * k], real, 1e-12 * N, "real part");
        sample_near(got[2 * k + 1], imaginary, 1e-12 * N, "imaginary part");
    }
    sample_end(bench);
}

#include "ptx/samples/across.h"
#include "ptx/samples/control.h"

static const struct sample {
    const char *name;
    void (*check)(struct samples *bench);
} samples[] = {
    {"reduction", check_reduction},
    {"scan", check_scan},
    {"transpose", check_transpose},
    {"histogram", check_histogram},
    {"tiled product", check_tiled_product},
    {"wmma product", check_wmma_product},
    {"wmma shapes", check_wmma_shapes},
    {"product of numbers", check_numbers_product},
    {"small numbers", check_small_numbers},
    {"sparse product", check_sparse_product},
    {"cooperative groups", check_groups},
    {"barriers of the grid", check_whole_grid},
    {"large tiles", check_large_tiles},
    {"groups by label", check_labels},
    {"copies of groups", check_group_copies},
    {"groups of clusters", check_clusters},
    {"across a cluster", check_across},
    {"sums in a tensor", check_tensor_sums},
    {"calls", check_calls},
    {"pipeline", check_pipeline},
    {"halves", check_halves},
    {"small floats", check_small_floats},
    {"bitonic sort", check_bitonic_sort},
    {"convolution", check_convolution},
    {"options", check_options},
    {"bodies", check_bodies},
    {"Fourier transform", check_fourier},
};
enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

#endif
