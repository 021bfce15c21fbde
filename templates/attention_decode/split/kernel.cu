// Attention of a few queries over a cache of keys:  O = softmax(scale Q K^T) V, f16 or bf16.
//
//   Q, O    [B, H, S, D]            S is small: K and V are most of the bytes, and are read once
//   K, V    [pages, H_KV, PAGE, D]  key j of sequence b is row j % PAGE of page table[b][j / PAGE];
//           [B, H_KV, S_KV, D]      without pages (PAGE 0): row j of sequence b
//   LSE     [B, H, S], or null      the logarithm of the sum of exp(scale * score) of a query
//   The extents may be in any order: strides give the distances. G = H / H_KV heads share keys.
//   K and V may be e4m3; their numbers are then multiplied by k_scale and v_scale of their head,
//   which are positive.
//   CAUSAL: query i sees key j only if j <= i + length - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE. Rows of K and V that
//   hold no token are never read: they may be NaN.
//
// A block has PIPELINES pipelines of ROW_WARPS warps. Each streams key tiles of its own through
// stages of its own, and keeps m, l and O of 16 rows a warp: no pipeline waits for another before
// the end of the unit, when the block adds their results up. README.md has more.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/fp8.cuh"
#include "lib/fragments.cuh"
#include "lib/integer.cuh"
#include "lib/last_block.cuh"
#include "lib/mbarrier.cuh"
#include "lib/mma.cuh"
#include "lib/named_barrier.cuh"
#include "lib/online_softmax.cuh"
#include "lib/smem.cuh"
#include "lib/smem_rows.cuh"
#include "lib/stream_k.cuh"
#include "lib/strides.cuh"
#include "lib/tma.cuh"

// ---- Genes ----

#if !defined(PIPELINES) || !defined(ROW_WARPS) || !defined(TILE_KEYS) || !defined(STAGES) ||       \
    !defined(COPY) || !defined(SCHEDULE) || !defined(KV_SPLITS) || !defined(COMBINE) ||            \
    !defined(LEAST_TILES) || !defined(MIN_CTAS) || !defined(D) || !defined(PAGE) ||                \
    !defined(CAUSAL) || !defined(BF16) || !defined(FP8)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int head_dim = D;
constexpr int page_keys = PAGE;
constexpr bool paged = PAGE > 0, causal = CAUSAL, fp8 = FP8;
using element = conditional_t<BF16, bf16, f16>; // element type of Q and O
constexpr int pipelines = PIPELINES;            // per block
constexpr int row_warps = ROW_WARPS;            // warps of a pipeline, 16 rows each
constexpr int tile_keys = TILE_KEYS;            // keys per tile
constexpr int stages = STAGES;            // pipeline stages, of a tile of K and of V
constexpr bool bulk = COPY == COPY_BULK;  // rows by the copy engine, not 16 bytes by a thread
constexpr bool stream_k = SCHEDULE == SCHEDULE_STREAM_K; // equal shares of all keys of the batch
constexpr int kv_splits = KV_SPLITS;                     // blocks that share the keys of a unit
constexpr int least_tiles = LEAST_TILES;                 // of a block's share
constexpr bool combine_in_cluster = !stream_k && kv_splits > 1 && COMBINE == COMBINE_CLUSTER;
constexpr int min_ctas = MIN_CTAS; // minimum resident blocks per SM (launch bounds)

// ---- Derived sizes ----

constexpr int pipeline_threads = row_warps * 32;
constexpr int threads = pipelines * pipeline_threads;
constexpr int row_tile = row_warps * 16;  // rows of a block: an MMA tile a warp
constexpr int n_tiles = tile_keys / 8;    // MMA tiles of 8 keys,
constexpr int d_tiles = head_dim / 8;     // of 8 columns of O,
constexpr int k_steps = head_dim / 16;    // of 16 columns of Q and K
constexpr int row_threads = head_dim / 4; // threads that combine a row, four columns each
constexpr int page_words = ceil_div(tile_keys, 32);
constexpr int slot_stride = stream_k ? 2 : 1; // parts that a block may leave
constexpr float default_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)

// ---- Shared memory, in bytes ----
//
//   of each pipeline: `stages` times a tile of K and one of V.
//   After the mainloop, in their place, of each pipeline: O of row_tile rows, of o_pitch floats so
//   that the stores of a fragment touch every bank once; after all of these m and l; and behind
//   them, in a cluster, what the block found: O of row_tile rows, and m and l.
//   Behind either the full barriers of each stage, for bulk copies.

using kv_rows = smem_rows<tile_keys, head_dim * (fp8 ? 1 : 2), bulk>;
constexpr int stage_bytes = 2 * kv_rows::bytes;
constexpr int o_pitch = head_dim + 8;
constexpr int o_words = row_tile * o_pitch; // of a pipeline
constexpr int ml_smem = pipelines * o_words * 4;
constexpr int part_smem = ml_smem + pipelines * row_tile * 8;
constexpr int part_ml_smem = part_smem + row_tile * head_dim * 4;
constexpr int merge_end = combine_in_cluster ? part_ml_smem + row_tile * 8 : part_smem;
constexpr int barrier_smem = max_of(pipelines * stages * stage_bytes, merge_end);

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(tile_keys % 16 == 0, "a tile has whole MMA tiles of 16 keys");
static_assert(stages >= 2, "a tile is loaded while another one is computed");
static_assert(pipelines <= 15, "a pipeline of several warps has a named barrier");

// ---- State ----
// Fragment layouts are those of lib/mma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1). For e4m3 the columns of each 16 are permuted,
// so that a thread's four bytes are neighbours: those of Q and K alike, and those of O in store_warp.

using q_fragments = u32[k_steps][4];
using score_fragments = float[n_tiles][4];
using o_fragments = float[d_tiles][4];

// Between pages (sequences, without pages), heads and rows, in units of 16 bytes.
struct cache_strides {
    u32 page, head, row;
};

struct kernel_params {
    int sequences, S, heads, group, pages; // group: G; pages: of a sequence, at most
    float scale;                           // softmax scale times log2(e)
    strides q_strides, o_strides;
    cache_strides k_strides, v_strides;
    element *o;
    float *lse, *parts;
    u32 *counters;
};

// What the numbers of a unit's K and V are multiplied by.
struct unit_scales {
    float softmax, v; // softmax: the softmax scale times log2(e) and the scale of K
};

#include "work.cuh"  // work_unit, query, scheduler
#include "loads.cuh" // cache_rows, pipeline

// ---- Steps ----

// Fragments of Q; rows that do not exist are zeros.
DEVICE void load_q(q_fragments &q_rmem, const element *q, const work_unit &work,
                   const kernel_params &params) {
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x % pipeline_threads / 32 * 16;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const query it = query_of(warp_row + lane / 4 + h * 8, work, params);
        const element *row_gmem =
            q + params.q_strides.to_head(work.sequence, it.exists ? it.head : 0) +
            multiply_wide(it.exists ? it.number : 0, params.q_strides.row);
#pragma unroll
        for (int i = 0; i < k_steps * 2; ++i) {
            const int column = fp8 ? i / 2 * 16 + lane % 4 * 4 + i % 2 * 2 : i * 8 + lane % 4 * 2;
            q_rmem[i / 2][h + i % 2 * 2] =
                it.exists ? *reinterpret_cast<const u32 *>(row_gmem + column) : 0;
        }
    }
}

DEVICE void qk_gemm(score_fragments &s_rmem, const q_fragments &q_rmem, u32 k_smem) {
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        s_rmem[i / 4][i % 4] = 0;
#pragma unroll
    for (int step = 0; step < kv_rows::row_chunks / 2; ++step)
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_b_transposed<kv_rows>(k_rmem, k_smem, n * 8, step);
#pragma unroll
            for (int i = 0; i < 2; ++i) { // keys 8 i and following
                if constexpr (fp8) {
#pragma unroll
                    for (int j = 0; j < 2; ++j)
                        mma_m16n8k16<element>(s_rmem[n + i], q_rmem[step * 2 + j],
                                              widen_low<element>(k_rmem[i * 2 + j]),
                                              widen_high<element>(k_rmem[i * 2 + j]));
                } else {
                    mma_m16n8k16<element>(s_rmem[n + i], q_rmem[step], k_rmem[i * 2],
                                          k_rmem[i * 2 + 1]);
                }
            }
        }
}

DEVICE void pv_gemm(o_fragments &o_rmem, const score_fragments &p_rmem, u32 v_smem) {
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        const u32 p_pairs[4] = {pack_pair<element>(p_rmem[n][0], p_rmem[n][1]),
                                pack_pair<element>(p_rmem[n][2], p_rmem[n][3]),
                                pack_pair<element>(p_rmem[n + 1][0], p_rmem[n + 1][1]),
                                pack_pair<element>(p_rmem[n + 1][2], p_rmem[n + 1][3])};
#pragma unroll
        for (int step = 0; step < kv_rows::row_chunks / 2; ++step) {
            u32 v_rmem[4];
            load_b<kv_rows>(v_rmem, v_smem, n * 8, step);
#pragma unroll
            for (int i = 0; i < 2; ++i) { // chunk i of the step
                const u32 low = v_rmem[i * 2], high = v_rmem[i * 2 + 1]; // keys
                if constexpr (fp8) {
                    const int d = step * 4 + i * 2;
                    mma_m16n8k16<element>(o_rmem[d], p_pairs, widen_even<element>(low),
                                          widen_even<element>(high));
                    mma_m16n8k16<element>(o_rmem[d + 1], p_pairs, widen_odd<element>(low),
                                          widen_odd<element>(high));
                } else {
                    mma_m16n8k16<element>(o_rmem[step * 2 + i], p_pairs, low, high);
                }
            }
        }
    }
}

// ---- The mainloop: a pipeline's tiles of the unit ----

DEVICE void mainloop(o_fragments &o_rmem, softmax_rows &rows, pipeline &loads, const element *q,
                     const cache_rows &k, const cache_rows &v, const work_unit &work, float scale,
                     const kernel_params &params) {
    q_fragments q_rmem;
    int end[2];
#pragma unroll 1
    for (int i = 0; i < stages - 1; ++i)
        loads.load_next(k, v);
    load_q(q_rmem, q, work, params);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = threadIdx.x % pipeline_threads / 32 * 16 + threadIdx.x % 32 / 4 + h * 8;
        end[h] = visible_end(query_of(row, work, params).number, work, params);
    }
    for (int tile = work.first_tile + loads.number; tile < work.end_tile; tile += pipelines) {
        loads.wait();
        loads.load_next(k, v);
        score_fragments s_rmem;
        qk_gemm(s_rmem, q_rmem, loads.k_smem());
        mask_scores(s_rmem, end, tile * tile_keys);
        online_softmax(s_rmem, rows, o_rmem, scale);
        pv_gemm(o_rmem, s_rmem, loads.v_smem());
        loads.advance();
    }
    if constexpr (!bulk)
        cp_async_wait<0>();
}

#include "epilogue.cuh" // store_warp, add_up

// ---- The schedule ----

// The splits of a unit are neighbours in the grid, so that they can form a cluster.
#if SCHEDULE == SCHEDULE_SPLITS && COMBINE == COMBINE_CLUSTER && KV_SPLITS > 1
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER attention_decode(
    const element *__restrict__ q, const unsigned char *__restrict__ k,
    const unsigned char *__restrict__ v, const unsigned char *__restrict__ k8,
    const unsigned char *__restrict__ v8, const float *__restrict__ k_scale,
    const float *__restrict__ v_scale, const int *__restrict__ lengths,
    const int *__restrict__ page_table, element *__restrict__ o, float *__restrict__ lse,
    float *__restrict__ parts, u32 *__restrict__ counters, int B, int S, int heads, int group,
    int pages, float scale, u32 q_batch, u32 q_head, int q_row, u32 k_page, u32 k_head, u32 k_row,
    u32 v_page, u32 v_head, u32 v_row, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{B,
                               S,
                               heads,
                               group,
                               pages,
                               (scale > 0 ? scale : default_scale) * log2_e,
                               {q_batch, q_head, q_row},
                               {o_batch, o_head, o_row},
                               {k_page, k_head, k_row},
                               {v_page, v_head, v_row},
                               o,
                               lse,
                               parts,
                               counters};
    scheduler schedule(lengths, params);
    pipeline loads;
    work_unit work;
    while (schedule.next(work, params)) {
        const unit_scales scales{params.scale * (fp8 ? k_scale[work.kv_head] : 1.0f),
                                 fp8 ? v_scale[work.kv_head] : 1.0f};
        const cache_rows k_rows(fp8 ? k8 : k, work, params.k_strides);
        const cache_rows v_rows(fp8 ? v8 : v, work, params.v_strides);
        o_fragments o_rmem = {};
        softmax_rows rows;
        loads.begin(page_table, work, params);
        mainloop(o_rmem, rows, loads, q, k_rows, v_rows, work, scales.softmax, params);
        __syncthreads(); // every warp has read its last tile, which is overwritten now
        store_warp(o_rmem, rows, loads.number);
        __syncthreads(); // the results of all warps are there
        add_up(work, scales, params);
        if constexpr (stream_k) {
            if constexpr (bulk)
                fence_proxy_async(); // the copy engine writes where the results were
            __syncthreads();         // they have been read
        }
    }
}
