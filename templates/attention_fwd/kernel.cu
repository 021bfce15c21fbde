// FlashAttention forward:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query
//   K, V   [B, H_KV, S_KV, D]    row j is one key; H / H_KV heads in a row share their keys
//   LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query
//   The extents may lie in any order: strides say how far apart batches, heads and rows begin.
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//
// A block computes a unit: the BLOCK_M queries of one tile against the keys of one split. It walks
// the keys in tiles of BLOCK_N and keeps, for each query, the largest score so far m, the sum l of
// exp(score - m), and O before its division by l. README.md has the picture.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/dependent.cuh"
#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/integer.cuh"
#include "lib/last.cuh"
#include "lib/math.cuh"
#include "lib/mma.cuh"
#include "lib/queue.cuh"
#include "lib/smem.cuh"
#include "lib/strides.cuh"
#include "lib/tile.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(WARPS) || !defined(WARPS_KV) ||             \
    !defined(MATH) || !defined(COPY) || !defined(LOAD) || !defined(K_STAGES) ||                    \
    !defined(V_STAGES) || !defined(KV_SPLITS) || !defined(COMBINE) || !defined(SWIZZLE) ||         \
    !defined(ACC_QK) || !defined(ACC_PV) || !defined(Q_IN_REGISTERS) || !defined(OVERLAP) ||       \
    !defined(LAZY_RESCALE) || !defined(FAST_MATH) || !defined(UNROLL) || !defined(MIN_CTAS) ||     \
    !defined(PERSISTENT) || !defined(ORDER) || !defined(D) || !defined(CAUSAL) || !defined(BF16)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
using element = choose<BF16, bf16, f16>;        // of Q, K, V and O
constexpr int block_m = BLOCK_M;                // queries a tile
constexpr int block_n = BLOCK_N;                // keys a tile
constexpr int warps = WARPS;                    // warps a block
constexpr int warps_kv = WARPS_KV;              // groups of warps that share out the keys of a tile
constexpr bool simt = MATH == MATH_SIMT;        // products without tensor cores
constexpr bool copy_plain = COPY == COPY_PLAIN; // K and V through registers, one buffer
constexpr bool copy_joint = COPY == COPY_JOINT; // cp.async, K and V of a tile waited for together
constexpr bool copy_apart = COPY == COPY_APART; // cp.async, each waited for when it is needed
constexpr int k_stages = copy_plain ? 1 : K_STAGES;        // buffers for tiles of K,
constexpr int v_stages = copy_apart ? V_STAGES : k_stages; // and of V
constexpr copy kv_copy = copy_plain            ? copy::through_registers
                         : LOAD == LOAD_WIDE   ? copy::in_flight
                         : LOAD == LOAD_NARROW ? copy::in_flight_narrow
                                               : copy::in_flight_l1;
constexpr int kv_splits = KV_SPLITS; // parts of the keys that go to different blocks, added up by
constexpr bool early = COMBINE == COMBINE_EARLY;        // a second kernel that waits for the first,
constexpr bool by_last = COMBINE == COMBINE_LAST;       // the last of the blocks to end its part,
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // or all of them, which are a cluster
constexpr arrangement rows_lie = SWIZZLE == SWIZZLE_XOR   ? arrangement::chunks_swapped
                                 : SWIZZLE == SWIZZLE_PAD ? arrangement::padded
                                                          : arrangement::plain;
constexpr bool qk_in_half = ACC_QK == ACC_QK_F16; // accumulate the scores in half
constexpr bool pv_in_half = ACC_PV == ACC_PV_F16; // accumulate O in half
constexpr bool q_in_registers =
    Q_IN_REGISTERS && !simt; // a warp holds its queries, else reads them every tile
constexpr bool overlap =
    OVERLAP && !simt && !copy_plain;        // the scores of a tile before P V of the tile before it
constexpr bool lazy_rescale = LAZY_RESCALE; // rescale O only when the m of some row grew
constexpr bool fast_math = FAST_MATH;       // 1 / l to a unit in the last place, by one instruction
constexpr int unroll = UNROLL;              // tiles of keys that the loop over them holds
constexpr int min_ctas = MIN_CTAS;          // blocks a multiprocessor to leave registers for
constexpr bool persistent = PERSISTENT > 0; // blocks draw units from a queue until it is empty
constexpr bool tiles_first = ORDER == ORDER_TILES; // neighbours share a head's keys, else a place
constexpr bool late_first =
    (ORDER == ORDER_REVERSED) != causal; // queries, from the last to the first

// ---- Derived sizes ----

constexpr int threads = warps * 32;
constexpr int warps_m = warps / warps_kv;     // warps that share out the queries
constexpr int warp_rows = block_m / warps_m;  // queries of a warp
constexpr int warp_keys = block_n / warps_kv; // keys of a tile that a warp works on: its slice
constexpr int m_tiles = warp_rows / 16;       // the warp's tensor-core tiles: of 16 queries,
constexpr int n_tiles = warp_keys / 8;        // of 8 keys,
constexpr int d_tiles = head_dim / 8;         // of 8 columns of O,
constexpr int k_steps = head_dim / 16;        // of 16 columns of Q and K

constexpr float log2_e = 1.4426950408889634f;
constexpr float usual_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)

// ---- Shared memory, in bytes ----
//
//   0        K, `k_stages` tiles of block_n rows
//   v_smem   V, `v_stages`
//   q_smem   Q, one tile of block_m rows, unless q_in_registers
//            (when the groups of warps merge, m, l and O of half of them at most overlay all of
//            these)
//   parts    what each other block of a cluster hands this one: m, l and its columns of O
//   tickets  two words, when persistent

using kv_tile = tile<block_n, head_dim, rows_lie, threads>;
using q_tile = tile<block_m, head_dim, rows_lie, threads>;

constexpr int v_smem = k_stages * kv_tile::bytes;
constexpr int q_smem = v_smem + v_stages * kv_tile::bytes;
constexpr int tiles_bytes = q_smem + (q_in_registers ? 0 : q_tile::bytes);
constexpr int merge_words = m_tiles * (4 * d_tiles + 4); // of one thread
constexpr int merge_bytes = warps_kv / 2 * warps_m * 32 * merge_words * 4;
constexpr int parts_smem = max_of(tiles_bytes, merge_bytes);
constexpr int part_tiles = in_cluster ? d_tiles / kv_splits : 1; // of 8 columns, that a block ends
constexpr int part_words = m_tiles * (4 + 4 * part_tiles);       // of one thread
constexpr int parts_bytes = in_cluster ? (kv_splits - 1) * part_words * warps_m * 32 * 4 : 0;
constexpr int tickets_smem = parts_smem + parts_bytes;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(warps % warps_kv == 0, "the groups that share out the keys have equally many warps");
static_assert((warps_kv & (warps_kv - 1)) == 0, "the merge halves the groups until one is left");
static_assert(block_m % (16 * warps_m) == 0,
              "a warp works on whole tensor-core tiles of 16 queries");
static_assert(block_n % (16 * warps_kv) == 0, "a warp works on slices of 16 keys");
static_assert(!copy_joint || k_stages >= 2, "a joint copy needs a second buffer");
static_assert(!simt || (!qk_in_half && !pv_in_half), "without tensor cores sums are floats");
static_assert(!in_cluster || (kv_splits > 1 && kv_splits <= 8 && d_tiles % kv_splits == 0),
              "a block of a cluster ends whole tiles of 8 columns");
static_assert(!in_cluster || !persistent, "a cluster works on one unit");
static_assert(!BF16 || (!qk_in_half && !pv_in_half), "bf16 is not accumulated in half");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- What a thread holds ----
// Fragments are laid out as lib/mma.cuh says: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of each tile of 16 queries.

using q_fragments = u32[m_tiles][k_steps][4];
using score_fragments = float[m_tiles][n_tiles][4];
using weight_fragments = u32[m_tiles][n_tiles / 2][4]; // P: scores as a left operand
using o_fragments = choose<pv_in_half, u32[m_tiles][d_tiles][2], float[m_tiles][d_tiles][4]>;
using o_sums = float[m_tiles][d_tiles][4];

struct row_state {
    float largest[m_tiles][2]; // m, not scaled
    float sum[m_tiles][2];     // l, until total_rows of this thread's keys alone

    DEVICE row_state() {
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i) {
            largest[i / 2][i % 2] = minus_infinity;
            sum[i / 2][i % 2] = 0;
        }
    }
};

// The thread's place in the block.
struct place {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int group = threadIdx.x / 32 / warps_m; // its warp's slice of the keys
    // Of its warp, within a tile of queries and within a tile of keys.
    int first_row = threadIdx.x / 32 % warps_m * warp_rows, first_key = group * warp_keys;
};

// The scale that exponentials are taken with, of the one that is given.
DEVICE float scale_of(float given) {
    return (given > 0 ? given : usual_scale) * log2_e;
}

// What one launch works on; `inverse`s are for divide.
struct problem {
    int S, S_KV, heads, group_inverse; // of H / H_KV, the heads that share their keys
    float scale;                       // exp(scale given * x) = 2^(scale * x)
    strides q, k, v, o;
    int units_x, units_y, x_inverse,
        y_inverse; // the grid that units are numbered in, if persistent
};

struct unit {
    int batch, head, first_row, split;
    int first_tile, end_tile; // the tiles of keys of its split; none, if they are equal
};

// The unit that the block has drawn, or the only one it has. The tiles of keys that a tile of
// queries sees are cut into kv_splits even parts. Under a causal mask the late queries, with most
// keys, come first, unless reversed.
DEVICE unit find_unit(const queue &units, const problem &all) {
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if constexpr (persistent) {
        const int line = divide(units.number, all.x_inverse);
        x = units.number - line * all.units_x;
        z = divide(line, all.y_inverse);
        y = line - z * all.units_y;
    }
    const int head = tiles_first ? y : x, batch = tiles_first ? z : y, part = tiles_first ? x : z;
    const int turn = part / kv_splits, split = part % kv_splits;
    const int first_row = (late_first ? ceil_div(all.S, block_m) - 1 - turn : turn) * block_m;
    const int last_row = min(first_row + block_m, all.S) - 1;
    const int seen_keys =
        causal ? max(min(all.S_KV, last_row + all.S_KV - all.S + 1), 0) : all.S_KV;
    const int seen_tiles = ceil_div(seen_keys, block_n);
    const int share = ceil_div(seen_tiles, kv_splits);
    const int first_tile = min(split * share, seen_tiles);
    return {batch, head, first_row, split, first_tile, min(first_tile + share, seen_tiles)};
}

// Whether some query of the warp sees a key of its slice of a tile; if not, none sees one of a
// later tile's.
DEVICE bool is_seen(int tile, const unit &u, const problem &all, const place &p) {
    return !causal ||
           tile * block_n + p.first_key < u.first_row + p.first_row + warp_rows + all.S_KV - all.S;
}

// ---- Steps ----

// To shared memory: load_k, load_v, load_q, and start_copies of what comes before the first tile.
#include "copies.cuh"

// One tile: scores, mask, online_softmax, accumulate.
#include "products.cuh"
#include "softmax.cuh"

// The end of a unit: total_rows, merge_groups, store_o.
#include "finish.cuh"

// Of one split: store_part and combine_tile, or hand_parts and end_part.
#include "splits.cuh"

// ---- The walk over the tiles of keys of a unit ----

// S, softmax, O: one tile after another.
DEVICE void attend(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem, const element *k_gmem,
                   const element *v_gmem, const unit &u, const problem &all, const place &p) {
    score_fragments s_rmem;
#pragma unroll unroll
    for (int tile = u.first_tile; tile < u.end_tile; ++tile) {
        const bool seen = is_seen(tile, u, all, p);
        if constexpr (copy_plain) {
            __syncthreads(); // the tile before has been read, and is now overwritten
            load_k(k_gmem, u, tile, all);
            load_v(v_gmem, u, tile, all);
        } else {
            cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        }
        __syncthreads(); // Q, K and (joint) V of this tile are there; the one before is read
        if constexpr (copy_joint)
            load_k(k_gmem, u, tile + k_stages - 1, all);
        if constexpr (!copy_plain) {
            load_v(v_gmem, u, tile + v_stages - 1, all);
            cp_async_commit();
        }
        if (seen)
            scores(s_rmem, q_rmem, k_tile_smem(tile, u), p);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V of this tile is there; its K is read, to be overwritten
            load_k(k_gmem, u, tile + k_stages, all);
            cp_async_commit();
        }
        if (seen) {
            mask(s_rmem, tile, u, all, p);
            online_softmax(s_rmem, rows, o_rmem, all.scale);
            accumulate(o_rmem, s_rmem, v_tile_smem(tile, u), p);
        }
    }
}

// The same, but the scores of a tile are computed before P V of the tile before, which then goes on
// beside the softmax. K is needed a tile ahead of V: joint copies are of V and the next tile's K.
DEVICE void attend_overlapped(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem,
                              const element *k_gmem, const element *v_gmem, const unit &u,
                              const problem &all, const place &p) {
    score_fragments s_rmem;
    weight_fragments p_rmem;
    if (u.first_tile == u.end_tile)
        return;
    bool seen = is_seen(u.first_tile, u, all, p);
    cp_async_wait<copy_apart ? 2 * k_stages - 1 : k_stages - 1>();
    __syncthreads(); // Q and K of the first tile are there
    if (seen)
        scores(s_rmem, q_rmem, k_tile_smem(u.first_tile, u), p);
    if constexpr (copy_apart) {
        __syncthreads(); // that K is read, to be overwritten
        load_k(k_gmem, u, u.first_tile + k_stages, all);
        cp_async_commit();
    }
    if (seen) {
        mask(s_rmem, u.first_tile, u, all, p);
        online_softmax(s_rmem, rows, o_rmem, all.scale);
        take_weights(p_rmem, s_rmem);
    }
#pragma unroll unroll
    for (int tile = u.first_tile; tile < u.end_tile; ++tile) {
        const bool next_seen = tile + 1 < u.end_tile && is_seen(tile + 1, u, all, p);
        cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        __syncthreads(); // the next K and (joint) V are there; V of the tile before and K are read
        if constexpr (copy_joint)
            load_k(k_gmem, u, tile + k_stages, all);
        load_v(v_gmem, u, tile + v_stages - 1, all);
        cp_async_commit();
        if (next_seen)
            scores(s_rmem, q_rmem, k_tile_smem(tile + 1, u), p);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V is there; the next K is read, to be overwritten
            load_k(k_gmem, u, tile + 1 + k_stages, all);
            cp_async_commit();
        }
        if (next_seen) {
            mask(s_rmem, tile + 1, u, all, p);
            accumulate_mma(o_rmem, p_rmem, v_tile_smem(tile, u), p);
            online_softmax(s_rmem, rows, o_rmem, all.scale);
            take_weights(p_rmem, s_rmem);
        } else if (seen) {
            accumulate_mma(o_rmem, p_rmem, v_tile_smem(tile, u), p);
        }
        seen = next_seen;
    }
}

// ---- The schedule ----

// The splits of a unit are neighbours in the grid.
#if COMBINE != COMBINE_CLUSTER
#define CLUSTER
#elif ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER
    attention_fwd(const element *__restrict__ q, const element *__restrict__ k,
                  const element *__restrict__ v, element *__restrict__ o, float *__restrict__ lse,
                  float *__restrict__ partial_o, float *__restrict__ partial_ml,
                  u32 *__restrict__ counters, int S, int S_KV, int heads, int group_inverse,
                  float scale, u32 q_batch, u32 q_head, int q_row, u32 k_batch, u32 k_head,
                  int k_row, u32 v_batch, u32 v_head, int v_row, u32 o_batch, u32 o_head, int o_row,
                  int units, int units_x, int units_y, int x_inverse, int y_inverse) {
    const problem all{S,
                      S_KV,
                      heads,
                      group_inverse,
                      scale_of(scale),
                      {q_batch, q_head, q_row},
                      {k_batch, k_head, k_row},
                      {v_batch, v_head, v_row},
                      {o_batch, o_head, o_row},
                      units_x,
                      units_y,
                      x_inverse,
                      y_inverse};
    const place p{};
    if constexpr (early)
        grid_dependents_launch(); // the second kernel takes what room this one leaves
    queue tickets(counters, reinterpret_cast<u32 *>(smem + tickets_smem));
    if constexpr (in_cluster)
        cluster_arrive(); // this block runs: others may write to its shared memory
    do {
        if constexpr (persistent)
            tickets.draw();
        const unit u = find_unit(tickets, all);
        const int kv_head = divide(u.head, group_inverse);
        const element *k_gmem = k + all.k.to_head(u.batch, kv_head);
        const element *v_gmem = v + all.v.to_head(u.batch, kv_head);
        q_fragments q_rmem;
        o_fragments o_rmem = {};
        row_state rows;

        load_q(q_rmem, q + all.q.to_head(u.batch, u.head), u, all, p);
        start_copies(k_gmem, v_gmem, u, all);
        if constexpr (overlap)
            attend_overlapped(o_rmem, rows, q_rmem, k_gmem, v_gmem, u, all, p);
        else
            attend(o_rmem, rows, q_rmem, k_gmem, v_gmem, u, all, p);
        o_sums sums_rmem;
        total_rows(sums_rmem, rows, o_rmem);
        if constexpr (warps_kv > 1)
            merge_groups(sums_rmem, rows, all.scale, p);
        if constexpr (in_cluster) {
            cluster_wait(); // all blocks run
            if (p.group == 0)
                hand_parts(sums_rmem, rows, u.split);
            cluster_arrive();
            cluster_wait(); // the parts of all blocks are there
            if (p.group == 0)
                end_part(o, lse, sums_rmem, rows, u, all, p);
        } else if (p.group == 0) {
            if constexpr (kv_splits > 1)
                store_part(partial_o, partial_ml, sums_rmem, rows, u, all, p);
            else
                store_o(o, lse, sums_rmem, rows, u, all, p);
        }
        if constexpr (by_last)
            if (arrive_last(counter_of(counters, u, all), kv_splits))
                combine_tile(partial_o, partial_ml, o, lse, u, all);
    } while (persistent && tickets.next(units));
}

// The second kernel, where there is one.
extern "C" __global__ void __launch_bounds__(256)
    attention_combine(const float *__restrict__ partial_o, const float *__restrict__ partial_ml,
                      element *__restrict__ o, float *__restrict__ lse, int S, int heads,
                      float scale, u32 o_batch, u32 o_head, int o_row) {
    const problem all{S, 0, heads, 0, scale_of(scale), {}, {}, {}, {o_batch, o_head, o_row}};
    const int row = blockIdx.x * (256 / row_threads) + threadIdx.x / row_threads;
    if constexpr (early)
        grid_dependency_wait(); // all splits are in the workspace
    if (row < S)
        combine_row(partial_o, partial_ml, o, lse, blockIdx.z, blockIdx.y, row, all);
}
