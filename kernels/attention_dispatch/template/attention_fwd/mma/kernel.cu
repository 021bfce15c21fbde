// FlashAttention forward:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query; O has DV columns
//   K, V   [B, H_KV, S_KV, D]    V has DV; row j is one key; H / H_KV heads in a row share their
//   keys LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query The
//   extents may be in any order: strides give the distance between batches, heads and rows. CAUSAL:
//   query i sees key j only if j <= i + S_KV - S (the last query sees the last key). WINDOW: only
//   if i + S_KV - S - j < WINDOW, unless it is 0. SOFT_CAP c, unless it is 0: the scaled score s
//   becomes c * tanh(s / c). SINKS: one more score per head, of a key without value. A query that
//   sees no key gives a row of zeros, and minus infinity for LSE. VARLEN: there is one batch, and
//   sequence b has its rows cu_seqlens[b] to cu_seqlens[b + 1]; S and S_KV are then its own numbers
//   of rows, and LSE is [H, total].
//
// A block computes one work unit: the BLOCK_M queries of one query tile against the keys of one KV
// split. The mainloop iterates over key tiles of BLOCK_N and keeps, for each query, the running
// maximum m, the sum l of exp(score - m), and the unnormalised O. README.md has a diagram.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/integer.cuh"
#include "lib/last_block.cuh"
#include "lib/math.cuh"
#include "lib/mma.cuh"
#include "lib/pdl.cuh"
#include "lib/sequences.cuh"
#include "lib/smem.cuh"
#include "lib/softmax.cuh"
#include "lib/tile.cuh"
#include "lib/tile_scheduler.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(WARPS) || !defined(WARPS_KV) ||             \
    !defined(MATH) || !defined(COPY) || !defined(LOAD) || !defined(K_STAGES) ||                    \
    !defined(V_STAGES) || !defined(KV_SPLITS) || !defined(COMBINE) || !defined(SWIZZLE) ||         \
    !defined(ACC_QK) || !defined(ACC_PV) || !defined(Q_IN_REGISTERS) || !defined(OVERLAP) ||       \
    !defined(LAZY_RESCALE) || !defined(FAST_MATH) || !defined(UNROLL) || !defined(MIN_CTAS) ||     \
    !defined(MAX_REGISTERS) ||                                                                     \
    !defined(PERSISTENT) || !defined(ORDER) || !defined(D) || !defined(DV) || !defined(CAUSAL) ||  \
    !defined(BF16) || !defined(WINDOW) || !defined(SOFT_CAP) || !defined(SINKS) ||                 \
    !defined(VARLEN)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr int v_dim = DV; // columns of V and O
constexpr bool causal = CAUSAL;
constexpr int window = WINDOW;     // keys that a query sees up to its own position; 0: all
constexpr int soft_cap = SOFT_CAP; // c of c * tanh(score / c); 0: none
constexpr bool has_sinks = SINKS;
constexpr bool varlen = VARLEN;                 // sequences of different lengths, packed
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int block_m = BLOCK_M;                // queries per tile
constexpr int block_n = BLOCK_N;                // keys per tile
constexpr int warps = WARPS;                    // warps per block
constexpr int warps_kv = WARPS_KV;              // warp groups that split the keys of a tile
constexpr bool simt = MATH == MATH_SIMT;        // FMA instead of tensor cores
constexpr bool copy_plain = COPY == COPY_PLAIN; // synchronous loads through registers, one stage
constexpr bool copy_joint = COPY == COPY_JOINT; // cp.async, one wait for both K and V of a tile
constexpr bool copy_apart = COPY == COPY_APART; // cp.async, separate waits for K and V
constexpr int k_stages = copy_plain ? 1 : K_STAGES;        // pipeline stages of K
constexpr int v_stages = copy_apart ? V_STAGES : k_stages; // pipeline stages of V
constexpr load_mode kv_load_mode = copy_plain            ? load_mode::through_registers
                                   : LOAD == LOAD_WIDE   ? load_mode::async_16
                                   : LOAD == LOAD_NARROW ? load_mode::async_8
                                                         : load_mode::async_16_l1;
constexpr int kv_splits = KV_SPLITS; // split-KV: blocks that share the keys of a query tile
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY; // combine kernel launched early (PDL)
constexpr bool combine_by_last_block = COMBINE == COMBINE_LAST; // the last block to finish combines
constexpr bool combine_in_cluster = COMBINE == COMBINE_CLUSTER; // through DSMEM
constexpr smem_layout row_layout = SWIZZLE == SWIZZLE_XOR   ? smem_layout::xor_swizzled
                                   : SWIZZLE == SWIZZLE_PAD ? smem_layout::padded
                                                            : smem_layout::plain;
constexpr bool qk_in_half = ACC_QK == ACC_QK_F16;        // scores accumulate in half
constexpr bool pv_in_half = ACC_PV == ACC_PV_F16;        // O accumulates in half
constexpr bool q_in_registers = Q_IN_REGISTERS && !simt; // not reloaded for every tile
constexpr bool overlap =
    OVERLAP && !simt && !copy_plain;        // QK^T of tile i+1 is issued before PV of tile i
constexpr bool lazy_rescale = LAZY_RESCALE; // rescale O only when the maximum of some row grew
constexpr bool fast_math = FAST_MATH;       // 1 / l by rcp.approx (1 ulp)
#include "pathologies.cuh"
constexpr int unroll = OVER_UNROLL ? OVER_UNROLL : UNROLL; // unroll factor of the mainloop
constexpr int min_ctas = MIN_CTAS;          // minimum resident blocks per SM (launch bounds)
constexpr bool persistent = PERSISTENT > 0; // blocks fetch work units from the tile scheduler
constexpr bool tiles_first = ORDER == ORDER_TILES; // consecutive blocks share a head's keys
// Schedule query tiles from the last to the first: under a causal mask the longest come first.
constexpr bool longest_first = (ORDER == ORDER_REVERSED) != causal;

// ---- Derived sizes ----

constexpr int threads = warps * 32;
constexpr int warps_m = warps / warps_kv;     // warps along the queries
constexpr int warp_rows = block_m / warps_m;  // queries per warp
constexpr int warp_keys = block_n / warps_kv; // keys of a tile per warp: the warp's slice
constexpr int m_tiles = warp_rows / 16;       // MMA tiles of a warp: 16 queries each,
constexpr int n_tiles = warp_keys / 8;        // 8 keys each,
constexpr int d_tiles = v_dim / 8;            // 8 columns of O each,
constexpr int k_steps = head_dim / 16;        // 16 columns of Q and K each

constexpr float default_scale = head_dim == 32    ? 0.17677669529663689f // 1 / sqrt(D)
                                : head_dim == 64  ? 0.125f
                                : head_dim == 96  ? 0.10206207261596577f
                                : head_dim == 128 ? 0.08838834764831845f
                                : head_dim == 192 ? 0.07216878364870323f
                                                  : 0.0625f;

// ---- Shared memory, in bytes ----
//
//   0               K, `k_stages` tiles of block_n rows
//   v_smem          V, `v_stages` tiles
//   q_smem          Q, one tile of block_m rows, unless q_in_registers
//                   (merge_warp_groups overlays all of these with m, l and O of up to half of the
//                   warp groups)
//   partials_smem   partial results (m, l, columns of O) from each other block of a cluster
//   scheduler_smem  two words of the tile scheduler, when persistent

using k_tile = tile<block_n, head_dim, row_layout, threads>;
using v_tile = tile<block_n, v_dim, row_layout, threads>;
using q_tile = tile<block_m, head_dim, row_layout, threads>;

constexpr int v_smem = k_stages * k_tile::bytes;
constexpr int q_smem = v_smem + v_stages * v_tile::bytes;
constexpr int tiles_bytes = q_smem + (q_in_registers ? 0 : q_tile::bytes);
constexpr int merge_words = m_tiles * (4 * d_tiles + 4); // per thread
constexpr int merge_bytes = warps_kv / 2 * warps_m * 32 * merge_words * 4;
constexpr int partials_smem = max_of(tiles_bytes, merge_bytes);
constexpr int owned_tiles =
    combine_in_cluster ? d_tiles / kv_splits : 1; // 8-column tiles of O that a block reduces
constexpr int partial_words = m_tiles * (4 + 4 * owned_tiles); // per thread
constexpr int partials_bytes =
    combine_in_cluster ? (kv_splits - 1) * partial_words * warps_m * 32 * 4 : 0;
constexpr int scheduler_smem = partials_smem + partials_bytes;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim % 32 == 0 && head_dim <= 256 && v_dim % 32 == 0 && v_dim <= head_dim,
              "D and DV are multiples of 32, 256 at most");
static_assert(warps % warps_kv == 0, "all warp groups have equally many warps");
static_assert((warps_kv & (warps_kv - 1)) == 0,
              "the merge halves the number of groups until one is left");
static_assert(block_m % (16 * warps_m) == 0,
              "a warp works on whole tensor-core tiles of 16 queries");
static_assert(block_n % (16 * warps_kv) == 0, "a warp works on slices of 16 keys");
static_assert(!copy_joint || k_stages >= 2, "a joint load needs a second stage");
static_assert(!simt || (!qk_in_half && !pv_in_half),
              "without tensor cores accumulators are floats");
static_assert(!combine_in_cluster || (kv_splits > 1 && kv_splits <= 8 && d_tiles % kv_splits == 0),
              "a block of a cluster reduces whole tiles of 8 columns");
static_assert(!combine_in_cluster || !persistent, "a cluster processes one work unit");
static_assert(!BF16 || (!qk_in_half && !pv_in_half), "bf16 is not accumulated in half");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- Per-thread state ----
// Fragment layouts are those of lib/mma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of each tile of 16 queries.

using q_fragments = u32[m_tiles][k_steps][4];
using score_fragments = float[m_tiles][n_tiles][4];
using p_fragments = u32[m_tiles][n_tiles / 2][4]; // P as the A operand of PV
using o_fragments = conditional_t<pv_in_half, u32[m_tiles][d_tiles][2], float[m_tiles][d_tiles][4]>;
using o_float_fragments = float[m_tiles][d_tiles][4];

struct row_state {
    float row_max[m_tiles][2]; // m, before scaling
    float row_sum[m_tiles][2]; // l; covers only this thread's keys until finalize_row_sums

    DEVICE row_state() {
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i) {
            row_max[i / 2][i % 2] = minus_infinity;
            row_sum[i / 2][i % 2] = 0;
        }
    }
};

// The thread's coordinates within the block.
struct thread_coords {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int group = threadIdx.x / 32 / warps_m; // warp group: selects the slice of the keys
    // First query and first key of the warp within the query tile and the key tile.
    int first_row = threadIdx.x / 32 % warps_m * warp_rows, first_key = group * warp_keys;
};

// The scale of the scores in the softmax times log2(e), so that exponentials can use exp2. 0
// selects 1 / sqrt(D). With a soft cap c the scores are those of tanh, and the scale is c.
DEVICE float softmax_scale_log2(float given) {
    return (soft_cap ? soft_cap : given > 0 ? given : default_scale) * log2_e;
}

DEVICE float cap_scale(float given) {
    return soft_cap ? (given > 0 ? given : default_scale) / soft_cap : 0;
}

// Work units: kernel_params, work_unit and decode_work_unit, has_visible_keys.
#include "work_units.cuh"

// ---- Steps ----

// Loads to shared memory: load_k, load_v, load_q, and the pipeline prologue load_prologue.
#include "loads.cuh"

// Steps of one mainloop iteration: qk_gemm, mask, online_softmax, pv_gemm.
#include "qk_pv_mma.cuh"
#include "softmax.cuh"

// Epilogue of a work unit: finalize_row_sums, merge_warp_groups, store_o.
#include "epilogue.cuh"

// Split-KV: store_partial and combine_tile, or send_partials and reduce_and_store.
#include "split_kv.cuh"

// ---- The mainloop over the key tiles of a work unit ----

// Mainloop without overlap: S, softmax and O of one tile after another.
DEVICE void mainloop(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem,
                     const element *k_gmem, const element *v_gmem, const work_unit &work,
                     const kernel_params &params, const thread_coords &thread) {
    score_fragments s_rmem;
#pragma unroll unroll
    for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
        inject_pathologies(k_gmem, params.k.row, tile * block_n, work.S_KV);
        const bool visible = has_visible_keys(tile, work, thread);
        if constexpr (copy_plain) {
            __syncthreads(); // the previous tile has been read and may be overwritten
            load_k(k_gmem, work, tile, params);
            load_v(v_gmem, work, tile, params);
        } else {
            cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        }
        __syncthreads(); // Q, K and (joint) V of this tile have arrived; the previous tile has been
                         // read
        if constexpr (copy_joint)
            load_k(k_gmem, work, tile + k_stages - 1, params);
        if constexpr (!copy_plain) {
            load_v(v_gmem, work, tile + v_stages - 1, params);
            cp_async_commit();
        }
        if (visible)
            qk_gemm(s_rmem, q_rmem, k_tile_smem(tile, work), thread);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V of this tile has arrived; its K has been read and may be
                             // overwritten
            load_k(k_gmem, work, tile + k_stages, params);
            cp_async_commit();
        }
        if (visible) {
            cap_scores(s_rmem, params.cap_scale);
            mask(s_rmem, tile, work, thread);
            online_softmax(s_rmem, rows, o_rmem, params.scale);
            pv_gemm(o_rmem, s_rmem, v_tile_smem(tile, work), thread);
        }
    }
}

// Mainloop with overlap (FlashAttention-3, section 3.2): QK^T of tile i+1 is issued before PV of
// tile i, which then runs beside the softmax. K is needed one tile ahead of V, so a joint cp.async
// group holds V of a tile and K of the next one.
DEVICE void mainloop_overlapped(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem,
                                const element *k_gmem, const element *v_gmem, const work_unit &work,
                                const kernel_params &params, const thread_coords &thread) {
    score_fragments s_rmem;
    p_fragments p_rmem;
    if (work.first_tile == work.end_tile)
        return;
    bool visible = has_visible_keys(work.first_tile, work, thread);
    cp_async_wait<copy_apart ? 2 * k_stages - 1 : k_stages - 1>();
    __syncthreads(); // Q and K of the first tile have arrived
    if (visible)
        qk_gemm(s_rmem, q_rmem, k_tile_smem(work.first_tile, work), thread);
    if constexpr (copy_apart) {
        __syncthreads(); // that K has been read and may be overwritten
        load_k(k_gmem, work, work.first_tile + k_stages, params);
        cp_async_commit();
    }
    if (visible) {
        cap_scores(s_rmem, params.cap_scale);
        mask(s_rmem, work.first_tile, work, thread);
        online_softmax(s_rmem, rows, o_rmem, params.scale);
        pack_probabilities(p_rmem, s_rmem);
    }
#pragma unroll unroll
    for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
        inject_pathologies(k_gmem, params.k.row, tile * block_n, work.S_KV);
        const bool next_visible =
            tile + 1 < work.end_tile && has_visible_keys(tile + 1, work, thread);
        cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        __syncthreads(); // the next K and (joint) V have arrived; K and the previous V have been
                         // read
        if constexpr (copy_joint)
            load_k(k_gmem, work, tile + k_stages, params);
        load_v(v_gmem, work, tile + v_stages - 1, params);
        cp_async_commit();
        if (next_visible)
            qk_gemm(s_rmem, q_rmem, k_tile_smem(tile + 1, work), thread);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V has arrived; the next K has been read and may be overwritten
            load_k(k_gmem, work, tile + 1 + k_stages, params);
            cp_async_commit();
        }
        if (next_visible) {
            cap_scores(s_rmem, params.cap_scale);
            mask(s_rmem, tile + 1, work, thread);
            if (!window || visible) // without a window no hidden tile precedes a visible one
                pv_mma(o_rmem, p_rmem, v_tile_smem(tile, work), thread);
            online_softmax(s_rmem, rows, o_rmem, params.scale);
            pack_probabilities(p_rmem, s_rmem);
        } else if (visible) {
            pv_mma(o_rmem, p_rmem, v_tile_smem(tile, work), thread);
        }
        visible = next_visible;
    }
}

// ---- The schedule ----

// The splits of a query tile are neighbours in the grid, so that they can form a cluster.
#if COMBINE != COMBINE_CLUSTER
#define CLUSTER
#elif ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#endif

// A kernel cannot have a register cap and launch bounds.
#if MAX_REGISTERS > 0
#define BOUNDS __maxnreg__(MAX_REGISTERS)
#else
#define BOUNDS __launch_bounds__(threads, min_ctas)
#endif

extern "C" __global__ void BOUNDS CLUSTER
    attention_fwd(const element *__restrict__ q, const element *__restrict__ k,
                  const element *__restrict__ v, const float *__restrict__ sinks,
                  element *__restrict__ o, float *__restrict__ lse,
                  const int *__restrict__ cu_seqlens_q, const int *__restrict__ cu_seqlens_k,
                  float *__restrict__ partial_o, float *__restrict__ partial_ml,
                  u32 *__restrict__ counters, int total_rows, int S, int S_KV, int heads,
                  int heads_per_kv_head_inverse, float scale, u32 q_batch, u32 q_head, int q_row,
                  u32 k_batch, u32 k_head, int k_row, u32 v_batch, u32 v_head, int v_row,
                  u32 o_batch, u32 o_head, int o_row, int work_units, int work_units_x,
                  int work_units_y, int x_inverse, int y_inverse) {
    const kernel_params params{S,
                               S_KV,
                               heads,
                               total_rows,
                               cu_seqlens_q,
                               cu_seqlens_k,
                               heads_per_kv_head_inverse,
                               softmax_scale_log2(scale),
                               cap_scale(scale),
                               sinks,
                               {q_batch, q_head, q_row},
                               {k_batch, k_head, k_row},
                               {v_batch, v_head, v_row},
                               {o_batch, o_head, o_row},
                               work_units_x,
                               work_units_y,
                               x_inverse,
                               y_inverse};
    const thread_coords thread{};
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents(); // the combine kernel may occupy SMs that this grid
                                            // leaves free
    tile_scheduler scheduler(counters, reinterpret_cast<u32 *>(smem + scheduler_smem));
    if constexpr (combine_in_cluster)
        cluster_arrive(); // this block runs: other blocks may write to its shared memory
    do {
        if constexpr (persistent)
            scheduler.prefetch_next_work();
        const work_unit work = decode_work_unit(scheduler, params);
        const int kv_head = divide(work.head, heads_per_kv_head_inverse);
        if constexpr (varlen && !combine_in_cluster)
            if (work.first_row >= work.S)
                continue;
        const element *k_gmem =
            k + to_sequence<varlen>(params.k, work.batch, kv_head, work.first_key);
        const element *v_gmem =
            v + to_sequence<varlen>(params.v, work.batch, kv_head, work.first_key);
        q_fragments q_rmem;
        o_fragments o_rmem = {};
        row_state rows;

        load_q(q_rmem, q + to_sequence<varlen>(params.q, work.batch, work.head, work.first_query),
               work, params, thread);
        load_prologue(k_gmem, v_gmem, work, params);
        if constexpr (overlap)
            mainloop_overlapped(o_rmem, rows, q_rmem, k_gmem, v_gmem, work, params, thread);
        else
            mainloop(o_rmem, rows, q_rmem, k_gmem, v_gmem, work, params, thread);
        o_float_fragments acc_rmem;
        finalize_row_sums(acc_rmem, rows, o_rmem);
        if constexpr (warps_kv > 1)
            merge_warp_groups(acc_rmem, rows, params.scale, thread);
        if constexpr (combine_in_cluster) {
            cluster_wait(); // all blocks of the cluster run
            if (thread.group == 0)
                send_partials(acc_rmem, rows, work.split);
            cluster_arrive();
            cluster_wait(); // the partial results of all blocks have arrived
            if (thread.group == 0)
                reduce_and_store(o, lse, acc_rmem, rows, work, params, thread);
        } else if (thread.group == 0) {
            kernel_params own = params;
            if constexpr (has_sinks && kv_splits == 1) {
                join_sinks(acc_rmem, rows, work.head, params);
                own.scale = 1;
            }
            if constexpr (kv_splits > 1)
                store_partial(partial_o, partial_ml, acc_rmem, rows, work, params, thread);
            else
                store_o(o, lse, acc_rmem, rows, work, own, thread);
        }
        if constexpr (combine_by_last_block)
            if (arrive_is_last_block(split_counter(counters, work, params), kv_splits))
                combine_tile(partial_o, partial_ml, o, lse, work, params);
    } while (persistent && scheduler.fetch_next_work(work_units));
}

// The combine kernel of split-KV (COMBINE kernel or early).
extern "C" __global__ void __launch_bounds__(256)
    attention_combine(const float *__restrict__ partial_o, const float *__restrict__ partial_ml,
                      const float *__restrict__ sinks, element *__restrict__ o,
                      float *__restrict__ lse, const int *__restrict__ cu_seqlens_q, int total_rows,
                      int S, int heads, float scale, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,
                               0,
                               heads,
                               total_rows,
                               cu_seqlens_q,
                               nullptr,
                               0,
                               softmax_scale_log2(scale),
                               0,
                               sinks,
                               {},
                               {},
                               {},
                               {o_batch, o_head, o_row}};
    constexpr int block_rows = 256 / row_threads; // some threads may be left over
    const int row = blockIdx.x * block_rows + threadIdx.x / row_threads;
    const sequence_rows queries = rows_of_sequence<varlen>(blockIdx.z, cu_seqlens_q, S);
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // all splits have been written to the workspace
    if (row < queries.count && (256 % row_threads == 0 || threadIdx.x < block_rows * row_threads))
        combine_row(partial_o, partial_ml, o, lse, queries.batch, blockIdx.y, queries.first + row,
                    params);
}
