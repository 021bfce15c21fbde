/*
 * hopper: kernels that use Hopper's instructions (tests/device/hopper/), run on a device and
 * compared with results computed on the host. The same tests run on the emulated device
 * (tests/device/hopper_test.c) and on a GPU (tests/gpu/hopper_test.c). All numbers are small
 * integers, so that every sum is exact in fp32 and in half: results are compared for equality.
 *
 *     struct hopper hopper;
 *     hopper_open(&hopper, "emulated:sm_90");        // without such a device the checks are
 * skipped check_products(&hopper); hopper_close(&hopper);
 */
#ifndef EVOTILE_TESTS_DEVICE_HOPPER_H
#define EVOTILE_TESTS_DEVICE_HOPPER_H

/* cmocka.h needs the headers above. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "device/device.h"
#include "device/nvrtc.h"

#include <stdlib.h>
#include <string.h>

struct hopper {
    struct device *device;
    struct nvrtc *nvrtc;
    uint64_t random;
};

static inline void hopper_open(struct hopper *hopper, const char *spec) {
    struct error error = {0};
    *hopper = (struct hopper){.random = 88172645463325252ull};
    hopper->nvrtc = nvrtc_open(&error);
    hopper->device = hopper->nvrtc != NULL ? device_open(spec, &error) : NULL;
    if (hopper->device == NULL)
        print_message("%s\n", error.text);
}

static inline void hopper_close(struct hopper *hopper) {
    if (hopper->device != NULL)
        device_close(hopper->device);
    nvrtc_close(hopper->nvrtc);
}

/* Compiles a file of tests/device/hopper with the text `more` appended (may be empty), and an
   option (may be NULL). */
static inline struct device_module *hopper_compile(struct hopper *hopper, const char *name,
                                                   const char *more, const char *option) {
    const char *options[] = {"--gpu-architecture=sm_90a",
                             "--std=c++17",
                             "--ptxas-options=-v",
                             "-lineinfo",
                             "-Itemplates",
                             option};
    struct error error = {0};
    struct device_image image;
    struct device_module *module;
    char path[256], reason[REASON_SIZE] = "";
    if (hopper->device == NULL || hopper->device->info.compute_capability != 90)
        skip();
    snprintf(path, sizeof path, "tests/device/hopper/%s", name);
    char *source = path_read_file(path, 1 << 20, NULL, &error);
    assert_non_null(source);
    char *whole = malloc(strlen(source) + strlen(more) + 1);
    strcat(strcpy(whole, source), more);
    if (nvrtc_compile(hopper->nvrtc, name, whole, options, option != NULL ? 6 : 5, &image, reason,
                      &error) != 0)
        fail_msg("%s%s", reason, error.text);
    if (hopper->device->backend->module_load(hopper->device, &image, &module, &error) < 0)
        fail_msg("%s", error.text);
    nvrtc_image_release(&image);
    free(whole);
    free(source);
    return module;
}

static inline void hopper_unload(struct hopper *hopper, struct device_module *module) {
    hopper->device->backend->module_unload(hopper->device, module);
}

/* Allocates device memory and copies `from` to it, or fills it with 0xff (NULL). */
static inline uint64_t hopper_buffer(struct hopper *hopper, const char *name, size_t bytes,
                                     const void *from) {
    struct error error = {0};
    uint64_t address;
    const struct device_backend *backend = hopper->device->backend;
    assert_int_equal(bytes % 4, 0);
    if (backend->memory_new(hopper->device, name, bytes, &address, &error) < 0 ||
        (from != NULL ? backend->write(hopper->device, address, from, bytes, &error)
                      : backend->fill32(hopper->device, address, ~0u, bytes / 4, &error)) < 0)
        fail_msg("%s", error.text);
    return address;
}

static inline void hopper_read(struct hopper *hopper, uint64_t address, void *to, size_t bytes) {
    struct error error = {0};
    if (hopper->device->backend->read(hopper->device, address, to, bytes, &error) < 0)
        fail_msg("%s", error.text);
}

static inline void hopper_free(struct hopper *hopper, uint64_t address) {
    hopper->device->backend->memory_free(hopper->device, address);
}

/* ---- launches ---- */

static inline struct device_launch hopper_launch(struct device_module *module, const char *kernel,
                                                 unsigned threads) {
    return (struct device_launch){
        .module = module, .kernel = kernel, .grid = {1, 1, 1}, .block = {threads, 1, 1}};
}

static inline void hopper_pointer(struct device_launch *launch, uint64_t address) {
    struct device_argument *argument = &launch->arguments[launch->argument_count++];
    argument->size = 8;
    memcpy(argument->bytes, &address, 8);
}

static inline void hopper_int(struct device_launch *launch, int value) {
    struct device_argument *argument = &launch->arguments[launch->argument_count++];
    argument->size = 4;
    memcpy(argument->bytes, &value, 4);
}

static inline void hopper_map(struct device_launch *launch, const struct tensor_map *map) {
    launch->arguments[launch->argument_count++] =
        (struct device_argument){.size = TENSOR_MAP_BYTES, .map = map};
}

static inline enum verdict hopper_try(struct hopper *hopper, const struct device_launch *launch,
                                      char *reason) {
    struct device_sequence sequence = {.count = 1, .launches = {*launch}};
    return hopper->device->backend->run(hopper->device, &sequence, 10, reason);
}

static inline void hopper_run(struct hopper *hopper, const struct device_launch *launch) {
    char reason[REASON_SIZE] = "";
    if (hopper_try(hopper, launch, reason) != VERDICT_OK)
        fail_msg("%s: %s", launch->kernel, reason);
}

/* ---- numbers ---- */

static inline uint64_t hopper_random(struct hopper *hopper) {
    hopper->random ^= hopper->random << 13;
    hopper->random ^= hopper->random >> 7;
    hopper->random ^= hopper->random << 17;
    return hopper->random >> 8;
}

/* -2 to 2, as half and as bf16. */
static const uint16_t hopper_halves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
static const uint16_t hopper_bfloats[] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};

/* Fills a matrix with `rows` x `columns` small integers, and their bits. */
static inline void hopper_matrix(struct hopper *hopper, int count, bool bfloat, int8_t *numbers,
                                 uint16_t *bits) {
    for (int i = 0; i < count; i++) {
        int value = (int)(hopper_random(hopper) % 5);
        numbers[i] = (int8_t)(value - 2);
        bits[i] = (bfloat ? hopper_bfloats : hopper_halves)[value];
    }
}

/* A packed tensor of 2-byte elements, [slow][fast]. */
static inline struct tensor_map hopper_matrix_map(uint64_t address, int slow, int fast,
                                                  int box_slow, int box_fast,
                                                  enum tensor_swizzle swizzle) {
    return (struct tensor_map){.address = address,
                               .extents = {(uint64_t)fast, (uint64_t)slow},
                               .strides = {(uint64_t)fast * 2},
                               .box = {(uint32_t)box_fast, (uint32_t)box_slow},
                               .rank = 2,
                               .element_bytes = 2,
                               .swizzle = (uint8_t)swizzle};
}

static const int hopper_spans[SWIZZLE_COUNT] = {
    [SWIZZLE_NONE] = 16, [SWIZZLE_32B] = 32, [SWIZZLE_64B] = 64, [SWIZZLE_128B] = 128};

/* ---- products ---- */

enum { PRODUCT_M = 64, MMA_DEPTH_MAX = 64, PRODUCT_N_MAX = 256 };

struct product_case {
    int type; /* product_types */
    int n;
    int a; /* product_lefts */
    bool b_mn_major;
    enum tensor_swizzle swizzle;
};

static const char *const product_types[] = {"float, f16", "float, bf16", "u32, f16"};
static const char *const product_lefts[] = {"registers", "k_major", "mn_major"};
static const char *const product_swizzles[SWIZZLE_COUNT] = {
    [SWIZZLE_NONE] = "none",
    [SWIZZLE_32B] = "by_32",
    [SWIZZLE_64B] = "by_64",
    [SWIZZLE_128B] = "by_128",
};

/* All forms for one n; for the other n only those with the widest swizzle, without bf16. */
static inline int list_products(struct product_case *cases) {
    static const int columns[] = {64, 8,  16,  24,  32,  40,  48,  56,
                                  80, 96, 112, 128, 160, 192, 224, 256};
    int count = 0;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (int type = 0; type < 3; type++)
            for (int a = 0; a < 3; a++)
                for (int form = 0; form < 2 * SWIZZLE_COUNT; form++) {
                    struct product_case one = {type, columns[c], a, form % 2,
                                               (enum tensor_swizzle)(form / 2)};
                    if ((c > 0 && (one.swizzle != SWIZZLE_128B || a == 1 || type == 1)) ||
                        (type == 2 && one.n % 16 != 0))
                        continue;
                    cases[count++] = one;
                }
    return count;
}

static inline void check_product(struct hopper *hopper, struct device_module *module,
                                 const char *kernel, const struct product_case *one, int adds) {
    int8_t a[PRODUCT_M * MMA_DEPTH_MAX], b[PRODUCT_N_MAX * MMA_DEPTH_MAX];
    uint16_t a_bits[PRODUCT_M * MMA_DEPTH_MAX], b_bits[PRODUCT_N_MAX * MMA_DEPTH_MAX];
    static float d[PRODUCT_M * PRODUCT_N_MAX];
    int n = one->n, span = hopper_spans[one->swizzle];
    bool a_mn_major = one->a == 2;
    hopper_matrix(hopper, PRODUCT_M * MMA_DEPTH_MAX, one->type == 1, a, a_bits);
    hopper_matrix(hopper, n * MMA_DEPTH_MAX, one->type == 1, b, b_bits);
    uint64_t a_at = hopper_buffer(hopper, "a", sizeof a_bits, a_bits);
    uint64_t b_at = hopper_buffer(hopper, "b", (size_t)(n * MMA_DEPTH_MAX * 2), b_bits);
    uint64_t d_at = hopper_buffer(hopper, "d", (size_t)(PRODUCT_M * n * 4), NULL);
    struct tensor_map a_map = hopper_matrix_map(a_at, 64, 64, 64, span / 2, one->swizzle);
    struct tensor_map b_map =
        one->b_mn_major
            ? hopper_matrix_map(b_at, MMA_DEPTH_MAX, n, MMA_DEPTH_MAX, span / 2, one->swizzle)
            : hopper_matrix_map(b_at, n, MMA_DEPTH_MAX, n, span / 2, one->swizzle);
    struct device_launch launch = hopper_launch(module, kernel, 128);
    hopper_map(&launch, &a_map);
    hopper_map(&launch, &b_map);
    hopper_pointer(&launch, a_at);
    hopper_pointer(&launch, b_at);
    hopper_pointer(&launch, d_at);
    hopper_int(&launch, adds);
    hopper_run(hopper, &launch);
    hopper_read(hopper, d_at, d, (size_t)(PRODUCT_M * n * 4));
    for (int row = 0; row < PRODUCT_M; row++)
        for (int column = 0; column < n; column++) {
            int sum = adds;
            for (int k = 0; k < MMA_DEPTH_MAX; k++)
                sum += a[a_mn_major ? k * PRODUCT_M + row : row * MMA_DEPTH_MAX + k] *
                       b[one->b_mn_major ? k * n + column : column * MMA_DEPTH_MAX + k];
            if (d[row * n + column] != (float)sum)
                fail_msg("%s, n %d, a %s, b %s-major, swizzle %s, %s: row %d, column %d is %g, not "
                         "%d",
                         product_types[one->type], n, product_lefts[one->a],
                         one->b_mn_major ? "n" : "k", product_swizzles[one->swizzle],
                         adds ? "adding" : "not adding", row, column, d[row * n + column], sum);
        }
    hopper_free(hopper, a_at);
    hopper_free(hopper, b_at);
    hopper_free(hopper, d_at);
}

static inline void check_products(struct hopper *hopper) {
    static struct product_case cases[512];
    static char kernels[512 * 128], name[32];
    int count = list_products(cases);
    for (int i = 0; i < count; i++)
        sprintf(kernels + strlen(kernels),
                "PRODUCT(p%d, %s, %d, left::%s, major::%s, swizzle::%s)\n", i,
                product_types[cases[i].type], cases[i].n, product_lefts[cases[i].a],
                cases[i].b_mn_major ? "mn" : "k", product_swizzles[cases[i].swizzle]);
    struct device_module *module = hopper_compile(hopper, "products.cu", kernels, NULL);
    for (int i = 0; i < count; i++)
        for (int adds = 0; adds < 2; adds++) {
            snprintf(name, sizeof name, "p%d", i);
            check_product(hopper, module, name, &cases[i], adds);
        }
    hopper_unload(hopper, module);
}

/* ---- copies ---- */

struct copy_case {
    int rank, element_bytes;
    enum tensor_swizzle swizzle;
    int extents[4], box[4], at[4]; /* fastest dimension first */
};

static const struct copy_case copy_cases[] = {
    {2, 2, SWIZZLE_128B, {64, 100}, {64, 32}, {0, 0}},
    {2, 2, SWIZZLE_128B, {64, 100}, {64, 32}, {0, 90}},   /* beyond the last row */
    {2, 2, SWIZZLE_128B, {200, 40}, {64, 24}, {168, -5}}, /* before the start, past the end of a row
                                                           */
    {2, 2, SWIZZLE_128B, {72, 40}, {64, 24}, {-24, 0}},   /* before the first chunk */
    {2, 2, SWIZZLE_64B, {64, 50}, {32, 40}, {32, 17}},
    {2, 2, SWIZZLE_32B, {64, 50}, {16, 40}, {24, 3}},
    {2, 2, SWIZZLE_NONE, {64, 50}, {64, 40}, {8, 30}},
    {2, 2, SWIZZLE_NONE, {64, 50}, {8, 8}, {40, 100}}, /* entirely outside */
    {2, 4, SWIZZLE_128B, {32, 9}, {32, 8}, {4, 2}},
    {2, 4, SWIZZLE_NONE, {100, 9}, {100, 3}, {0, 7}},
    {2, 1, SWIZZLE_64B, {80, 33}, {64, 16}, {16, 20}},
    {3, 2, SWIZZLE_128B, {128, 20, 3}, {64, 16, 1}, {64, 10, 2}},
    {3, 2, SWIZZLE_64B, {32, 20, 5}, {32, 6, 3}, {0, 17, -1}},
    {4, 2, SWIZZLE_128B, {64, 77, 2, 3}, {64, 32, 1, 1}, {0, 64, 1, 2}},
    {4, 2, SWIZZLE_32B, {16, 7, 3, 3}, {16, 4, 2, 2}, {0, 5, 2, -1}},
    {4, 2, SWIZZLE_NONE, {24, 5, 6, 2}, {16, 3, 4, 2}, {16, 4, 4, 1}},
};

static inline struct tensor_map copy_map(const struct copy_case *one) {
    struct tensor_map map = {.rank = (uint8_t)one->rank,
                             .element_bytes = (uint8_t)one->element_bytes,
                             .swizzle = (uint8_t)one->swizzle};
    uint64_t stride = (uint64_t)one->element_bytes;
    for (int i = 0; i < one->rank; i++) {
        map.extents[i] = (uint64_t)one->extents[i];
        map.box[i] = (uint32_t)one->box[i];
        stride *= map.extents[i];
        if (i + 1 < one->rank)
            map.strides[i] = stride;
    }
    return map;
}

/* Returns the offset of byte `byte` of the box's element `index` (in the box's order) in the
   tensor, or -1 outside it; and its offset in shared memory. */
static inline int64_t copy_place(const struct copy_case *one, int index, int byte, int *in_smem) {
    static const int chunk_bits[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = 0, [SWIZZLE_32B] = 1, [SWIZZLE_64B] = 3, [SWIZZLE_128B] = 7};
    int64_t place = 0, step = 1;
    int linear = index * one->element_bytes + byte;
    *in_smem = linear ^ ((linear / 128 & chunk_bits[one->swizzle]) * 16);
    for (int i = 0, rest = index; i < one->rank; i++) {
        int position = one->at[i] + rest % one->box[i];
        if (position < 0 || position >= one->extents[i])
            return -1;
        place += position * step;
        step *= one->extents[i];
        rest /= one->box[i];
    }
    return place * one->element_bytes + byte;
}

/* Copies the box and, if the launch succeeds, compares the result. */
static inline enum verdict try_copy(struct hopper *hopper, struct device_module *module,
                                    const struct copy_case *one, bool is_store, char *reason) {
    struct tensor_map map = copy_map(one);
    struct error error = {0};
    size_t box_bytes = (size_t)tensor_map_box_bytes(&map), bytes = (size_t)one->element_bytes;
    for (int i = 0; i < one->rank; i++)
        bytes *= (size_t)one->extents[i];
    if (tensor_map_check(&map, &error) < 0)
        fail_msg("%s", error.text);
    uint8_t *tensor = malloc(bytes), *box = malloc(box_bytes), *expected = calloc(1, box_bytes),
            *found = malloc(bytes > box_bytes ? bytes : box_bytes);
    for (size_t i = 0; i < bytes; i++)
        tensor[i] = (uint8_t)(hopper_random(hopper) | 1);
    for (size_t i = 0; i < box_bytes; i++)
        box[i] = (uint8_t)(hopper_random(hopper) | 1);
    map.address = hopper_buffer(hopper, "tensor", bytes, tensor);
    uint64_t other = hopper_buffer(hopper, "box", box_bytes, is_store ? box : NULL);
    struct device_launch launch = hopper_launch(module, is_store ? "store_box" : "load_box", 64);
    hopper_map(&launch, &map);
    hopper_pointer(&launch, other);
    hopper_int(&launch, one->rank);
    for (int i = 0; i < 4; i++)
        hopper_int(&launch, one->at[i]);
    hopper_int(&launch, (int)box_bytes);
    enum verdict verdict = hopper_try(hopper, &launch, reason);
    for (int i = 0; i < (int)box_bytes / one->element_bytes; i++)
        for (int byte = 0; byte < one->element_bytes; byte++) {
            int in_smem;
            int64_t place = copy_place(one, i, byte, &in_smem);
            if (place < 0)
                continue;
            if (is_store)
                tensor[place] = box[in_smem];
            else
                expected[in_smem] = tensor[place];
        }
    size_t compared = verdict != VERDICT_OK ? 0 : is_store ? bytes : box_bytes;
    if (compared > 0)
        hopper_read(hopper, is_store ? map.address : other, found, compared);
    for (size_t i = 0; i < compared; i++)
        if (found[i] != (is_store ? tensor : expected)[i])
            fail_msg("copy %d, %s: byte %zu is %d, not %d", (int)(one - copy_cases),
                     is_store ? "stored" : "loaded", i, found[i],
                     (is_store ? tensor : expected)[i]);
    hopper_free(hopper, map.address);
    hopper_free(hopper, other);
    free(tensor), free(box), free(expected), free(found);
    return verdict;
}

static inline void check_copy(struct hopper *hopper, struct device_module *module,
                              const struct copy_case *one, bool is_store) {
    char reason[REASON_SIZE] = "";
    if (try_copy(hopper, module, one, is_store, reason) != VERDICT_OK)
        fail_msg("copy %d, %s: %s", (int)(one - copy_cases), is_store ? "stored" : "loaded",
                 reason);
}

/* Stores may not start there: CUDA Programming Guide, "Negative indices and out of bounds". */
static inline bool begins_before(const struct copy_case *one) {
    for (int i = 0; i < one->rank; i++)
        if (one->at[i] < 0)
            return true;
    return false;
}

static inline void check_copies(struct hopper *hopper) {
    struct device_module *module = hopper_compile(hopper, "copies.cu", "", NULL);
    for (size_t i = 0; i < sizeof copy_cases / sizeof *copy_cases; i++)
        for (int is_store = 0; is_store < (begins_before(&copy_cases[i]) ? 1 : 2); is_store++)
            check_copy(hopper, module, &copy_cases[i], is_store);
    for (int bytes = 16; bytes <= 4096; bytes *= 4) {
        uint32_t in[1024], out[1024];
        for (int i = 0; i < bytes / 4; i++)
            in[i] = (uint32_t)hopper_random(hopper);
        uint64_t from = hopper_buffer(hopper, "in", (size_t)bytes, in);
        uint64_t to = hopper_buffer(hopper, "out", (size_t)bytes, NULL);
        struct device_launch launch = hopper_launch(module, "move_bytes", 96);
        hopper_pointer(&launch, from);
        hopper_pointer(&launch, to);
        hopper_int(&launch, bytes);
        hopper_run(hopper, &launch);
        hopper_read(hopper, to, out, (size_t)bytes);
        for (int i = 0; i < bytes / 4; i++)
            assert_int_equal(out[i], in[i] + 1);
        hopper_free(hopper, from);
        hopper_free(hopper, to);
    }
    hopper_unload(hopper, module);
}

/* ---- barriers ---- */

static inline void check_barriers(struct hopper *hopper) {
    static const uint32_t expected[] = {3, 0, 1, 1, 1, 2, 1, 0, 1, 1280, 1284, 1};
    uint32_t found[sizeof expected / sizeof *expected];
    struct device_module *module = hopper_compile(hopper, "barriers.cu", "", NULL);
    uint64_t out = hopper_buffer(hopper, "out", sizeof found, NULL);
    struct device_launch launch = hopper_launch(module, "barriers", 128);
    hopper_pointer(&launch, out);
    hopper_run(hopper, &launch);
    hopper_read(hopper, out, found, sizeof found);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (found[i] != expected[i])
            fail_msg("step %zu: %u, not %u", i, found[i], expected[i]);
    hopper_free(hopper, out);
    hopper_unload(hopper, module);
}

/* ---- clusters ---- */

enum { CLUSTER_THREADS = 64, CLUSTER_BLOCKS_MAX = 48, CLUSTER_WORDS_MAX = 48 * 10 * 64 };

struct cluster_case {
    unsigned size[3], clusters[3];
};

static const struct cluster_case cluster_cases[] = {
    {{2, 1, 1}, {3, 2, 2}}, {{1, 2, 1}, {2, 3, 1}}, {{1, 1, 2}, {1, 1, 1}}, {{1, 2, 2}, {2, 1, 3}},
    {{4, 1, 1}, {1, 2, 3}}, {{1, 1, 8}, {2, 3, 1}}, {{2, 2, 2}, {1, 3, 2}}, {{8, 1, 1}, {3, 1, 1}},
};

/* A block of the grid: its index, and its position in its cluster. */
struct cluster_block {
    unsigned number, rank, at[3], cluster[3];
    unsigned first[3]; /* first block of the cluster */
};

static inline struct cluster_block cluster_block(const struct cluster_case *one, unsigned number) {
    struct cluster_block block = {.number = number};
    unsigned rest = number, step = 1;
    for (int i = 0; i < 3; i++) {
        unsigned extent = one->size[i] * one->clusters[i], place = rest % extent;
        rest /= extent;
        block.at[i] = place % one->size[i];
        block.cluster[i] = place / one->size[i];
        block.first[i] = place - block.at[i];
        block.rank += block.at[i] * step;
        step *= one->size[i];
    }
    return block;
}

/* Returns the grid index of the block with that rank in the same cluster. */
static inline unsigned cluster_peer(const struct cluster_case *one,
                                    const struct cluster_block *block, unsigned rank) {
    unsigned number = 0, step = 1;
    for (int i = 0; i < 3; i++) {
        number += (block->first[i] + rank % one->size[i]) * step;
        rank /= one->size[i];
        step *= one->size[i] * one->clusters[i];
    }
    return number;
}

static inline unsigned cluster_count(const struct cluster_case *one) {
    return one->size[0] * one->size[1] * one->size[2];
}

static inline struct device_module *
cluster_compile(struct hopper *hopper, const struct cluster_case *one, const char *option) {
    char kernels[64];
    snprintf(kernels, sizeof kernels, "CLUSTER(%u, %u, %u)\n", one->size[0], one->size[1],
             one->size[2]);
    return hopper_compile(hopper, "clusters.cu", kernels, option);
}

/* Computes the words that a kernel must write for one block; returns their number. */
static inline unsigned expect_exchange(const struct cluster_case *one,
                                       const struct cluster_block *block, uint32_t *words) {
    unsigned count = cluster_count(one), t;
    uint32_t *read = words + count * CLUSTER_THREADS, *places = read + CLUSTER_THREADS;
    for (unsigned from = 0; from < count; from++)
        for (t = 0; t < CLUSTER_THREADS; t++)
            words[from * CLUSTER_THREADS + t] =
                cluster_peer(one, block, from) * 100000 + block->rank * 1000 + t;
    for (t = 0; t < CLUSTER_THREADS; t++)
        read[t] = cluster_peer(one, block, (block->rank + 1) % count) * 1000 + t;
    for (t = 0; t < CLUSTER_THREADS; t++) /* words that are not written stay unchanged */
        places[t] = ~0u;
    for (t = 0; t < 16; t++)
        places[t] = t % 4 < 3 ? one->size[t % 4] * one->clusters[t % 4] : 0;
    places[16] = block->rank;
    places[17] = count;
    for (int i = 0; i < 3; i++) {
        places[18 + i] = block->at[i];
        places[21 + i] = one->size[i];
        places[24 + i] = block->cluster[i];
        places[27 + i] = one->clusters[i];
    }
    places[30] = places[31] = 0x3f800000 + block->rank % 2;
    places[63] = block->rank == 0 ? count * 64 * 65 / 2 : 0;
    return (count + 2) * CLUSTER_THREADS;
}

static inline unsigned expect_leave(const struct cluster_case *one,
                                    const struct cluster_block *block, uint32_t *words) {
    *words = block->rank == cluster_count(one) - 1 ? 0 : 5 * 32;
    return 1;
}

static inline unsigned expect_tell(const struct cluster_case *one,
                                   const struct cluster_block *block, uint32_t *words) {
    *words = 0;
    for (unsigned turn = 1; turn <= 10; turn++)
        for (unsigned from = 0; from < cluster_count(one); from++)
            *words = *words * 3 + turn * (cluster_peer(one, block, from) + 1);
    return 1;
}

static inline uint32_t spread_input(unsigned index) {
    return index * 2654435761u;
}

static inline unsigned expect_spread(const struct cluster_case *one,
                                     const struct cluster_block *block, uint32_t *words) {
    unsigned count = cluster_count(one);
    for (unsigned i = 0; i < count * CLUSTER_THREADS; i++)
        words[i] = spread_input(cluster_peer(one, block, i / CLUSTER_THREADS) * CLUSTER_THREADS +
                                i % CLUSTER_THREADS);
    return count * CLUSTER_THREADS;
}

static const struct {
    const char *kernel;
    unsigned (*expect)(const struct cluster_case *one, const struct cluster_block *block,
                       uint32_t *words);
    bool has_input;
} cluster_kernels[] = {
    {"exchange", expect_exchange, false},
    {"leave", expect_leave, false},
    {"tell", expect_tell, false},
    {"spread", expect_spread, true},
};

/* Runs a kernel on all clusters of the case; `wrong` gets the number of wrong words, `reason`
   describes the first. */
static inline enum verdict run_cluster_kernel(struct hopper *hopper, struct device_module *module,
                                              const struct cluster_case *one, size_t which,
                                              int *wrong, char *reason) {
    static uint32_t expected[CLUSTER_WORDS_MAX], found[CLUSTER_WORDS_MAX];
    uint32_t input[CLUSTER_BLOCKS_MAX * CLUSTER_THREADS];
    struct device_launch launch =
        hopper_launch(module, cluster_kernels[which].kernel, CLUSTER_THREADS);
    unsigned blocks = 1, words = 0;
    for (int i = 0; i < 3; i++)
        blocks *= launch.grid[i] = one->size[i] * one->clusters[i];
    assert_true(blocks <= CLUSTER_BLOCKS_MAX);
    for (unsigned number = 0; number < blocks; number++) {
        struct cluster_block block = cluster_block(one, number);
        words += cluster_kernels[which].expect(one, &block, expected + words);
    }
    for (unsigned i = 0; i < blocks * CLUSTER_THREADS; i++)
        input[i] = spread_input(i);
    uint64_t in = hopper_buffer(hopper, "in", blocks * CLUSTER_THREADS * 4, input);
    uint64_t out = hopper_buffer(hopper, "out", words * 4, NULL);
    hopper_pointer(&launch, out);
    if (cluster_kernels[which].has_input)
        hopper_pointer(&launch, in);
    enum verdict verdict = hopper_try(hopper, &launch, reason);
    *wrong = 0;
    if (verdict == VERDICT_OK)
        hopper_read(hopper, out, found, words * 4);
    for (unsigned i = 0; i < words && verdict == VERDICT_OK; i++)
        if (found[i] != expected[i] && (*wrong)++ == 0)
            snprintf(reason, REASON_SIZE, "word %u is %u, not %u", i, found[i], expected[i]);
    hopper_free(hopper, in);
    hopper_free(hopper, out);
    return verdict;
}

static inline void check_clusters(struct hopper *hopper) {
    for (size_t i = 0; i < sizeof cluster_cases / sizeof *cluster_cases; i++) {
        const struct cluster_case *one = &cluster_cases[i];
        struct device_module *module = cluster_compile(hopper, one, NULL);
        for (size_t k = 0; k < sizeof cluster_kernels / sizeof *cluster_kernels; k++) {
            int wrong;
            char reason[REASON_SIZE] = "";
            if (run_cluster_kernel(hopper, module, one, k, &wrong, reason) != VERDICT_OK ||
                wrong > 0)
                fail_msg("%s in clusters of (%u,%u,%u): %d words are wrong. %s",
                         cluster_kernels[k].kernel, one->size[0], one->size[1], one->size[2], wrong,
                         reason);
        }
        hopper_unload(hopper, module);
    }
}

/* ---- the pipeline ---- */

enum { PIPELINE_M = 128, PIPELINE_N = 64, PIPELINE_STAGE_BYTES = (PIPELINE_M + PIPELINE_N) * 128 };

/* Runs the pipeline over `count` tiles; on VERDICT_OK `wrong` gets the number of wrong elements. */
static inline enum verdict run_pipeline(struct hopper *hopper, struct device_module *module,
                                        int count, int *wrong, char *reason) {
    int depth = 64 * count;
    int8_t *a = malloc((size_t)(PIPELINE_M * depth)), *b = malloc((size_t)(PIPELINE_N * depth));
    uint16_t *a_bits = malloc((size_t)(PIPELINE_M * depth) * 2);
    uint16_t *b_bits = malloc((size_t)(PIPELINE_N * depth) * 2);
    static float d[PIPELINE_M * PIPELINE_N];
    hopper_matrix(hopper, PIPELINE_M * depth, false, a, a_bits);
    hopper_matrix(hopper, PIPELINE_N * depth, false, b, b_bits);
    uint64_t a_at = hopper_buffer(hopper, "a", (size_t)(PIPELINE_M * depth) * 2, a_bits);
    uint64_t b_at = hopper_buffer(hopper, "b", (size_t)(PIPELINE_N * depth) * 2, b_bits);
    uint64_t d_at = hopper_buffer(hopper, "d", sizeof d, NULL);
    struct tensor_map a_map =
        hopper_matrix_map(a_at, PIPELINE_M, depth, PIPELINE_M, 64, SWIZZLE_128B);
    struct tensor_map b_map =
        hopper_matrix_map(b_at, PIPELINE_N, depth, PIPELINE_N, 64, SWIZZLE_128B);
    struct device_launch launch = hopper_launch(module, "pipeline", 384);
    launch.smem_bytes = 2 * PIPELINE_STAGE_BYTES;
    hopper_map(&launch, &a_map);
    hopper_map(&launch, &b_map);
    hopper_pointer(&launch, d_at);
    hopper_int(&launch, count);
    enum verdict verdict = hopper_try(hopper, &launch, reason);
    *wrong = 0;
    if (verdict == VERDICT_OK)
        hopper_read(hopper, d_at, d, sizeof d);
    for (int row = 0; row < PIPELINE_M && verdict == VERDICT_OK; row++)
        for (int column = 0; column < PIPELINE_N; column++) {
            int sum = 0;
            for (int k = 0; k < depth; k++)
                sum += a[row * depth + k] * b[column * depth + k];
            *wrong += d[row * PIPELINE_N + column] != (float)sum;
        }
    hopper_free(hopper, a_at);
    hopper_free(hopper, b_at);
    hopper_free(hopper, d_at);
    free(a), free(b), free(a_bits), free(b_bits);
    return verdict;
}

static inline void check_pipeline(struct hopper *hopper) {
    struct device_module *module = hopper_compile(hopper, "pipeline.cu", "", NULL);
    for (int count = 1; count < 9; count++) {
        int wrong;
        char reason[REASON_SIZE] = "";
        if (run_pipeline(hopper, module, count, &wrong, reason) != VERDICT_OK || wrong > 0)
            fail_msg("%d tiles: %d numbers are wrong. %s", count, wrong, reason);
    }
    hopper_unload(hopper, module);
}

#endif
