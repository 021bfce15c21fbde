// FlashAttention forward for few queries (decoding):  O = softmax(scale Q K^T) V, half or bf16.
//
//   Q, O   [B, H, S, D]          S is small: K and V are most of the bytes, and are read once;
//                                O has DV columns
//   K, V   [B, H_KV, S_KV, D]    V has DV; row j is one key; G = H / H_KV heads in a row share
//   their keys LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a
//   query The extents may be in any order: strides give the distance between batches, heads and
//   rows. CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   WINDOW: only if i + S_KV - S - j < WINDOW, unless it is 0. SOFT_CAP c, unless it is 0: the
//   scaled score s becomes c * tanh(s / c). SINKS: one more score per head, of a key without value.
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//
// The queries of the G heads that share keys are rows of one matrix: row r is query r / G of head
// r % G. A block computes 16 of these rows against the keys of one KV split. Each of its warps
// streams key tiles of its own through a pipeline of its own, and keeps m, l and O of the rows: no
// warp waits for another before the end, when the block adds their results up. README.md has more.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/integer.cuh"
#include "lib/last_block.cuh"
#include "lib/math.cuh"
#include "lib/mma.cuh"
#include "lib/online_softmax.cuh"
#include "lib/pdl.cuh"
#include "lib/smem.cuh"
#include "lib/softmax.cuh"
#include "lib/strides.cuh"
#include "lib/tile.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(WARPS) || !defined(WARP_KEYS) || !defined(STAGES) || !defined(KV_SPLITS) ||           \
    !defined(COMBINE) || !defined(MIN_CTAS) || !defined(D) || !defined(DV) || !defined(CAUSAL) ||  \
    !defined(BF16) || !defined(WINDOW) || !defined(SOFT_CAP) || !defined(SINKS)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int head_dim = D;
constexpr int v_dim = DV; // columns of V and O
constexpr bool causal = CAUSAL;
constexpr int window = WINDOW;     // keys that a query sees up to its own position; 0: all
constexpr int soft_cap = SOFT_CAP; // c of c * tanh(score / c); 0: none
constexpr bool has_sinks = SINKS;
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int warps = WARPS;                    // warps per block, each with its own pipeline
constexpr int warp_keys = WARP_KEYS;            // keys per tile
constexpr int stages = STAGES;       // pipeline stages of a warp, of a tile of K and of V
constexpr int kv_splits = KV_SPLITS; // blocks that share the keys of a row tile
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY; // combine kernel launched early (PDL)
// The last block to finish combines; or the blocks of a cluster, through their shared memory.
constexpr bool combine_by_last_block = kv_splits > 1 && COMBINE == COMBINE_LAST;
constexpr bool combine_in_cluster = kv_splits > 1 && COMBINE == COMBINE_CLUSTER;
constexpr int min_ctas = MIN_CTAS; // minimum resident blocks per SM (launch bounds)

// ---- Derived sizes ----

constexpr int threads = warps * 32;
constexpr int row_tile = 16;           // rows of a block: one MMA tile
constexpr int n_tiles = warp_keys / 8; // MMA tiles of 8 keys,
constexpr int d_tiles = v_dim / 8;     // of 8 columns of O,
constexpr int k_steps = head_dim / 16; // of 16 columns of Q and K
constexpr int row_threads = v_dim / 4; // threads that combine a row, four columns each
constexpr float default_scale = head_dim == 32    ? 0.17677669529663689f // 1 / sqrt(D)
                                : head_dim == 64  ? 0.125f
                                : head_dim == 96  ? 0.10206207261596577f
                                : head_dim == 128 ? 0.08838834764831845f
                                : head_dim == 192 ? 0.07216878364870323f
                                                  : 0.0625f;

// ---- Shared memory, in bytes ----
//
//   of each warp: `stages` times a tile of K and one of V.
//   After the mainloop, in their place, of each warp: O of row_tile rows, of o_pitch floats so that
//   the stores of a fragment touch every bank once; after all of these m and l; and behind them, in
//   a cluster, what the block found: O of row_tile rows, and m and l.

using k_tile = tile<warp_keys, head_dim, smem_layout::xor_swizzled, 32>;
using v_tile = tile<warp_keys, v_dim, smem_layout::xor_swizzled, 32>;
constexpr int stage_bytes = k_tile::bytes + v_tile::bytes;
constexpr int o_pitch = v_dim + 8;
constexpr int o_words = row_tile * o_pitch; // of a warp
constexpr int ml_smem = warps * o_words * 4;
constexpr int part_smem = ml_smem + warps * row_tile * 8;
constexpr int part_ml_smem = part_smem + row_tile * v_dim * 4;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim % 32 == 0 && head_dim <= 256 && v_dim % 32 == 0 && v_dim <= head_dim,
              "D and DV are multiples of 32, 256 at most");
static_assert(warp_keys % 16 == 0, "a tile has whole MMA tiles of 16 keys");
static_assert(stages >= 2, "a tile is loaded while another one is computed");

// ---- State ----
// Fragment layouts are those of lib/mma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1).

using q_fragments = u32[k_steps][4];
using score_fragments = float[n_tiles][4];
using o_fragments = float[d_tiles][4];

// The scale of the scores in the softmax times log2(e); `given` 0 selects 1 / sqrt(D). With a soft
// cap c the scores are those of tanh, and the scale is c.
DEVICE float softmax_scale_log2(float given) {
    return (soft_cap ? soft_cap : given > 0 ? given : default_scale) * log2_e;
}

DEVICE float cap_scale(float given) {
    return soft_cap ? (given > 0 ? given : default_scale) / soft_cap : 0;
}

struct kernel_params {
    int S, S_KV, heads, group; // group: G = H / H_KV
    float scale;               // softmax scale times log2(e)
    float cap_scale;           // what scores are multiplied by before tanh, with a soft cap
    const float *sinks;        // one per head, or null
    strides q, k, v, o;
};

// A block's rows and its key tiles.
struct work_unit {
    int batch, kv_head, first_row, split;
    int first_tile, end_tile;
};

// The query of a row, and its head.
struct query {
    int head, number;
    bool exists;
};

DEVICE query query_of(int row, const work_unit &work, const kernel_params &params) {
    const int number = (work.first_row + row) / params.group;
    const int head = work.kv_head * params.group + (work.first_row + row) % params.group;
    return {head, number, number < params.S};
}

// The end of the keys that a query sees.
DEVICE int visible_end(int number, const kernel_params &params) {
    return causal ? max(min(params.S_KV, number + params.S_KV - params.S + 1), 0) : params.S_KV;
}

// The first of the keys that a query sees.
DEVICE int visible_begin(int number, const kernel_params &params) {
    return window ? max(number + params.S_KV - params.S - window + 1, 0) : 0;
}

// The tiles are divided among the splits in equal parts, give or take one.
DEVICE work_unit decode_work_unit(const kernel_params &params) {
    const int row_tiles = ceil_div(params.S * params.group, row_tile);
    const int kv_head = blockIdx.y / row_tiles, first_row = blockIdx.y % row_tiles * row_tile;
    const int last = min((first_row + row_tile - 1) / params.group, params.S - 1);
    const int passed = visible_begin(first_row / params.group, params) / warp_keys;
    const int end_tile = ceil_div(visible_end(last, params), warp_keys);
    const int tiles = end_tile - passed, split = blockIdx.x;
    return {static_cast<int>(blockIdx.z),
            kv_head,
            first_row,
            split,
            passed + static_cast<int>(static_cast<i64>(tiles) * split / kv_splits),
            passed + static_cast<int>(static_cast<i64>(tiles) * (split + 1) / kv_splits)};
}

// ---- Loads ----

// Fragments of Q; rows that do not exist are zeros.
DEVICE void load_q(q_fragments &q_rmem, const element *q, const work_unit &work,
                   const kernel_params &params) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const query it = query_of(lane / 4 + h * 8, work, params);
        const element *row_gmem = q + params.q.to_head(work.batch, it.exists ? it.head : 0) +
                                  multiply_wide(it.exists ? it.number : 0, params.q.row) +
                                  lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < k_steps * 2; ++i)
            q_rmem[i / 2][h + i % 2 * 2] =
                it.exists ? *reinterpret_cast<const u32 *>(row_gmem + i * 8) : 0;
    }
}

// Starts to copy rows [first, first + warp_keys) of a head by one warp, in panels of columns that
// its lanes divide; rows past `end` are zeros.
template <typename kv_tile>
DEVICE void load_rows(u32 tile_smem, const element *head_gmem, int stride, int first, int end) {
    constexpr int panel_chunks = power_in(kv_tile::row_chunks, 32);
    constexpr int pass_rows = 32 / panel_chunks; // by all lanes at a time
    const int lane = threadIdx.x % 32;
    const int panel_chunk = lane % panel_chunks, pass_row = lane / panel_chunks;
    const element *column_gmem = head_gmem + panel_chunk * 8;
#pragma unroll
    for (int i = 0; i < warp_keys / pass_rows; ++i) {
        const int row = pass_row + i * pass_rows, key = first + row;
        const element *row_gmem = column_gmem + multiply_wide(key < end ? key : 0, stride);
#pragma unroll
        for (int panel = 0; panel < kv_tile::row_chunks; panel += panel_chunks)
            cp_async_16(tile_smem + kv_tile::offset(row, panel + panel_chunk), row_gmem + panel * 8,
                        key < end);
    }
}

// One warp's tiles and the stages through which they pass.
struct warp_pipeline {
    const element *k_gmem, *v_gmem; // of the head
    u32 first_smem;                 // of the warp's first stage
    int load_tile, load_stage;      // of the next load
    int end_tile;

    DEVICE warp_pipeline(const element *k, const element *v, const work_unit &work,
                         const kernel_params &params)
        : k_gmem(k + params.k.to_head(work.batch, work.kv_head)),
          v_gmem(v + params.v.to_head(work.batch, work.kv_head)),
          first_smem(smem_address(smem) + threadIdx.x / 32 * stages * stage_bytes),
          load_tile(work.first_tile + threadIdx.x / 32), load_stage(0), end_tile(work.end_tile) {
    }

    DEVICE u32 stage_smem(int stage) const {
        return first_smem + stage * stage_bytes;
    }

    // Starts the next load, if there is one. A group is committed in any case, so that the number
    // of groups that are younger than the one waited for is constant.
    DEVICE void load_next(const kernel_params &params) {
        if (load_tile < end_tile) {
            const u32 tile_smem = stage_smem(load_stage);
            load_rows<k_tile>(tile_smem, k_gmem, params.k.row, load_tile * warp_keys, params.S_KV);
            load_rows<v_tile>(tile_smem + k_tile::bytes, v_gmem, params.v.row,
                              load_tile * warp_keys, params.S_KV);
        }
        cp_async_commit();
        load_tile += warps;
        load_stage = load_stage + 1 == stages ? 0 : load_stage + 1;
    }
};

// ---- Steps ----

DEVICE void qk_gemm(score_fragments &s_rmem, const q_fragments &q_rmem, u32 k_smem) {
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        s_rmem[i / 4][i % 4] = 0;
#pragma unroll
    for (int k = 0; k < k_steps; ++k)
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_b_transposed<k_tile>(k_rmem, k_smem, n * 8, k);
            mma_m16n8k16<element>(s_rmem[n], q_rmem[k], k_rmem[0], k_rmem[1]);
            mma_m16n8k16<element>(s_rmem[n + 1], q_rmem[k], k_rmem[2], k_rmem[3]);
        }
}

// With a soft cap c: replaces scores by tanh(scale * score / c), which the softmax scales by c.
DEVICE void cap_scores(score_fragments &s_rmem, float cap_scale) {
    if constexpr (soft_cap > 0) {
#pragma unroll
        for (int i = 0; i < n_tiles * 4; ++i)
            s_rmem[i / 4][i % 4] = tanh_fast(s_rmem[i / 4][i % 4] * cap_scale);
    }
}

// Sets the scores of keys past the end, and of keys that the causal mask or the window hides, to
// minus infinity.
DEVICE void mask(score_fragments &s_rmem, const int (&begin)[2], const int (&end)[2],
                 int first_key) {
    if (first_key + warp_keys <= min(end[0], end[1]) &&
        (!window || first_key >= max(begin[0], begin[1])))
        return;
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        if (const int key = first_key + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
            key >= end[i % 4 / 2] || (window && key < begin[i % 4 / 2]))
            s_rmem[i / 4][i % 4] = minus_infinity;
}

DEVICE void pv_gemm(o_fragments &o_rmem, const score_fragments &p_rmem, u32 v_smem) {
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        const u32 p_pairs[4] = {pack_pair<element>(p_rmem[n][0], p_rmem[n][1]),
                                pack_pair<element>(p_rmem[n][2], p_rmem[n][3]),
                                pack_pair<element>(p_rmem[n + 1][0], p_rmem[n + 1][1]),
                                pack_pair<element>(p_rmem[n + 1][2], p_rmem[n + 1][3])};
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_b<v_tile>(v_rmem, v_smem, n * 8, d / 2);
            mma_m16n8k16<element>(o_rmem[d], p_pairs, v_rmem[0], v_rmem[1]);
            mma_m16n8k16<element>(o_rmem[d + 1], p_pairs, v_rmem[2], v_rmem[3]);
        }
    }
}

// ---- The mainloop: a warp's tiles of the split ----

DEVICE void mainloop(o_fragments &o_rmem, softmax_rows &rows, const q_fragments &q_rmem,
                     warp_pipeline &loads, const work_unit &work, const kernel_params &params) {
    const int lane = threadIdx.x % 32;
    int begin[2], end[2], stage = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int number = query_of(lane / 4 + h * 8, work, params).number;
        begin[h] = visible_begin(number, params);
        end[h] = visible_end(number, params);
    }
    for (int tile = work.first_tile + threadIdx.x / 32; tile < work.end_tile; tile += warps) {
        cp_async_wait<stages - 2>();
        __syncwarp(); // all lanes' copies of this tile have arrived, and the tile before was read
        loads.load_next(params);
        score_fragments s_rmem;
        qk_gemm(s_rmem, q_rmem, loads.stage_smem(stage));
        cap_scores(s_rmem, params.cap_scale);
        mask(s_rmem, begin, end, tile * warp_keys);
        online_softmax(s_rmem, rows, o_rmem, params.scale);
        pv_gemm(o_rmem, s_rmem, loads.stage_smem(stage) + k_tile::bytes);
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
}

// The warps' results, the splits' results, O and LSE: add_up_block, add_up_splits.
#include "epilogue.cuh"

// ---- The schedule ----

// The splits of a row tile are neighbours in the grid, so that they can form a cluster.
#if COMBINE == COMBINE_CLUSTER && KV_SPLITS > 1
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER
    attention_decode(const element *__restrict__ q, const element *__restrict__ k,
                     const element *__restrict__ v, const float *__restrict__ sinks,
                     element *__restrict__ o, float *__restrict__ lse,
                     float *__restrict__ partial_o, float *__restrict__ partial_ml,
                     u32 *__restrict__ counters, int S, int S_KV, int heads, int group, float scale,
                     u32 q_batch, u32 q_head, int q_row, u32 k_batch, u32 k_head, int k_row,
                     u32 v_batch, u32 v_head, int v_row, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,
                               S_KV,
                               heads,
                               group,
                               softmax_scale_log2(scale),
                               cap_scale(scale),
                               sinks,
                               {q_batch, q_head, q_row},
                               {k_batch, k_head, k_row},
                               {v_batch, v_head, v_row},
                               {o_batch, o_head, o_row}};
    const work_unit work = decode_work_unit(params);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents(); // the combine kernel may occupy SMs that this grid
                                            // leaves free
    warp_pipeline loads(k, v, work, params);
    q_fragments q_rmem;
    o_fragments o_rmem = {};
    softmax_rows rows;
#pragma unroll
    for (int i = 0; i < stages - 1; ++i)
        loads.load_next(params);
    load_q(q_rmem, q, work, params);
    mainloop(o_rmem, rows, q_rmem, loads, work, params);

    cp_async_wait<0>();
    __syncthreads(); // every warp has read its last tile, which is overwritten now
    store_warp(o_rmem, rows);
    __syncthreads(); // the results of all warps are there
    add_up_block(o, lse, partial_o, partial_ml, work, params);
    if constexpr (combine_in_cluster)
        add_up_cluster(o, lse, work, params);
    else if constexpr (combine_by_last_block)
        if (arrive_is_last_block(counters + blockIdx.z * gridDim.y + blockIdx.y, kv_splits))
            add_up_splits(o, lse, partial_o, partial_ml, work, params);
}

// The combine kernel of the splits (COMBINE kernel or early): a row of the block's threads for each
// query.
extern "C" __global__ void __launch_bounds__(128)
    attention_decode_combine(const float *__restrict__ partial_o,
                             const float *__restrict__ partial_ml, const float *__restrict__ sinks,
                             element *__restrict__ o, float *__restrict__ lse, int S, int heads,
                             float scale, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,     0,  heads, 1,  softmax_scale_log2(scale), 0,
                               sinks, {}, {},    {}, {o_batch, o_head, o_row}};
    const int row = blockIdx.x * (128 / row_threads) + threadIdx.x / row_threads;
    const int column = threadIdx.x % row_threads * 4;
    const bool left_over = threadIdx.x >= 128 / row_threads * row_threads;
    const query it{static_cast<int>(blockIdx.y), row, row < S && !left_over};
    const int batch = blockIdx.z;
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // all splits have been written to the workspace
    if (it.exists)
        store_row(o, lse,
                  sum_splits(partial_o, partial_ml, column, row_index(batch, it, params), params),
                  column, batch, it, params);
}
