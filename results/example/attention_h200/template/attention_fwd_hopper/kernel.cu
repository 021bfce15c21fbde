// FlashAttention forward on Hopper:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query
//   K, V   [B, H_KV, S_KV, D]    row j is one key; H / H_KV heads in a row share their keys
//   LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query
//   The extents may lie in any order: of Q and O strides say how far apart batches, heads and rows
//   begin, of K and V their tensor maps.
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//
// A block computes a unit: the BLOCK_M queries of one tile against the keys of one split. The copy
// engine brings tiles of BLOCK_N keys into two rings of buffers, one for K and one for V. Each
// warpgroup has 64 queries, and for each of them the largest score so far m, the sum l of
// exp(score - m), and O before its division by l. The blocks that share out the keys of a tile of
// queries are a cluster, and add up through each other's shared memory. README.md has the picture.

#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/hopper.cuh"
#include "lib/integer.cuh"
#include "lib/math.cuh"
#include "lib/smem.cuh"
#include "lib/strides.cuh"
#include "lib/warp.cuh"

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(GROUPS_KV) || !defined(K_STAGES) ||         \
    !defined(V_STAGES) || !defined(PRODUCER) || !defined(OVERLAP) || !defined(TURNS) ||            \
    !defined(KV_SPLITS) || !defined(LAZY_RESCALE) || !defined(POLYNOMIAL_EXP) ||                   \
    !defined(MIN_CTAS) || !defined(PERSISTENT) || !defined(ORDER) || !defined(D) ||                \
    !defined(CAUSAL) || !defined(BF16)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
using element = choose<BF16, bf16, f16>; // of Q, K, V and O
constexpr int block_m = BLOCK_M;         // queries a tile
constexpr int block_n = BLOCK_N;         // keys a tile
constexpr int groups_kv = GROUPS_KV;     // sets of warpgroups that take the tiles of keys in turn
constexpr int k_stages = K_STAGES;       // buffers for tiles of K
constexpr int v_stages = V_STAGES;       // and of V
constexpr bool producer = PRODUCER != PRODUCER_NONE; // warps of their own start the copies
constexpr bool producer_group = PRODUCER == PRODUCER_WARPGROUP; // a warpgroup, to give registers up
constexpr bool overlap = OVERLAP;           // the scores of a tile run beside P V of the one before
constexpr bool turns = TURNS;               // warpgroups take turns at the exponentials
constexpr int kv_splits = KV_SPLITS;        // parts of the keys that go to the blocks of a cluster
constexpr bool lazy_rescale = LAZY_RESCALE; // m follows the scores only when they outgrow it,
constexpr bool hopeful = LAZY_RESCALE == 2; // which is found out beside the first exponentials
constexpr int polynomial_exp = POLYNOMIAL_EXP; // of 8 exponentials so many without the exp2 unit
constexpr int min_ctas = MIN_CTAS;             // blocks a multiprocessor to leave registers for
constexpr bool persistent = PERSISTENT; // a block takes unit after unit, prefetching the next
constexpr bool tiles_first = ORDER == ORDER_TILES; // neighbouring blocks have the same keys

// ---- Derived sizes ----

constexpr int group_rows = 64;                 // queries of a warpgroup: what wgmma has
constexpr int groups_m = block_m / group_rows; // warpgroups that share out the queries
constexpr int groups = groups_m * groups_kv;   // warpgroups that compute
constexpr int consumers = groups * 128;
constexpr int threads = consumers + (producer_group ? 128 : producer ? 32 : 0);
constexpr int n_tiles = block_n / 8;  // a thread's scores lie in tiles of 8 keys,
constexpr int d_tiles = head_dim / 8; // its O in tiles of 8 columns
constexpr int score_registers = n_tiles * 4, o_registers = d_tiles * 4;
constexpr int panels = head_dim / 64; // a tile in shared memory: panels of 64 columns
constexpr int panel_bytes = block_n * 128;

// Registers of a thread: what it begins with and, where a producing warpgroup keeps but 24, what
// the others come to (template.json has the same sum). Nothing is moved where all have plenty.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (groups + 1) - 24) / groups / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool move_registers = producer_group && launch_registers <= 168;

constexpr float log2_e = 1.4426950408889634f;
constexpr float usual_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)
constexpr float headroom = 8.0f; // weights may grow to 2^8 before m must follow

// ---- Shared memory, in bytes ----
//
//   0         K, `k_stages` tiles, then V, `v_stages` tiles: a panel of 64 columns after the other
//             (when sets of warpgroups merge, m, l and O of half of them at most overlay these)
//   barriers  of each buffer two: full (the copy has landed), empty (all have read it)
//   parts     what each other block of the cluster hands this one: m, l and its columns of O

constexpr int tile_bytes = panels * panel_bytes;
constexpr int v_smem = k_stages * tile_bytes;
constexpr int merge_words = o_registers + 4; // of one thread: m, l of two rows, and O
constexpr int merge_bytes = groups_kv / 2 * groups_m * 128 * merge_words * 4;
constexpr int barriers_smem = max_of(v_smem + v_stages * tile_bytes, merge_bytes);
constexpr int parts_smem = barriers_smem + 16 * (k_stages + v_stages);
constexpr int part_registers = o_registers / kv_splits; // of O, that one block of a cluster ends
constexpr int part_words = part_registers + 4;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(block_m % group_rows == 0, "a warpgroup has 64 queries");
static_assert(block_n % 16 == 0, "the product with V takes 16 keys at a time");
static_assert((groups_kv & (groups_kv - 1)) == 0, "the merge halves the sets until one is left");
static_assert(k_stages % groups_kv == 0 && v_stages % groups_kv == 0,
              "a buffer serves one set: who waits at its barrier has seen the phase before");
static_assert(!persistent || (producer && groups_kv == 1 && kv_splits == 1),
              "tiles of the next unit come while the buffers of this one are in use");
static_assert(o_registers % kv_splits == 0 && part_registers % 4 == 0, "a block ends whole tiles");
static_assert(!turns || groups_kv == 1, "each warpgroup has as many turns");
static_assert(!hopeful || !overlap, "P of the tile before is still being read");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- What a thread holds ----
// Fragments are laid out as lib/wgmma.cuh says: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of its warp's 16.

using q_fragments = u32[head_dim / 16][4];
using weight_fragments = u32[block_n / 16][4]; // P, rounded to half: a of the product with V
using score_sums = float[score_registers];
using o_sums = float[o_registers];

struct row_state {
    float largest[2] = {minus_infinity, minus_infinity}; // m, not scaled
    float scale[2];                                      // a weight is 2^(score * scale - shift)
    float shift[2] = {0, 0};
    float sum[2] = {0, 0}; // l, until total_rows of own keys alone

    DEVICE row_state(float scale_) : scale{scale_, scale_} {
    }
};

// The thread's place in the block.
struct place {
    // By a shuffle the compiler learns that all lanes have the same: what follows from it, down to
    // the operands of products, is computed once a warp.
    int warp = __shfl_sync(full_warp, threadIdx.x / 32, 0);
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int group = warp / 4;                           // its warpgroup,
    int set = groups_kv > 1 ? group / groups_m : 0; // that one's set,
    int first_row = group % groups_m * group_rows;  // its first query within the tile of queries
    int warp_row = warp % 4 * 16;                   // and the warp's within the warpgroup's
};

// What one launch works on; `inverse`s are for divide.
struct problem {
    int S, S_KV, batches, heads;
    int x_inverse, y_inverse; // of the units in a row and in a column, as a grid would have them
    int group_inverse;        // of H / H_KV, the heads that share their keys
    float scale;              // exp(scale given * x) = 2^(scale * x)
    strides q, o;
};

struct unit {
    int batch, head, kv_head, first_row;
    int first_tile, end_tile; // the tiles of keys of its split; none, if they are equal
};

// The keys that rows before `row_end` see.
DEVICE int seen_keys(int row_end, int S, int S_KV) {
    return causal ? max(min(S_KV, row_end + S_KV - S), 0) : S_KV;
}

// Units as a grid has them, or counted along its rows. Under a causal mask the late queries, with
// most keys, come first.
DEVICE unit find_unit(int number, const problem &all) {
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    const int tiles_m = ceil_div(all.S, block_m);
    if constexpr (persistent) {
        const int line = divide(number, all.x_inverse);
        x = number - line * (tiles_first ? tiles_m : all.heads);
        z = divide(line, all.y_inverse);
        y = line - z * (tiles_first ? all.heads : all.batches);
    }
    const int head = tiles_first ? y : x, batch = tiles_first ? z : y, part = tiles_first ? x : z;
    const int kv_head = divide(head, all.group_inverse);
    const int turn = part / kv_splits, split = part % kv_splits;
    const int first_row = (causal ? tiles_m - 1 - turn : turn) * block_m;
    const int row_end = min(first_row + block_m, all.S);
    const int tiles = ceil_div(seen_keys(row_end, all.S, all.S_KV), block_n);
    const int share = ceil_div(tiles, kv_splits), first_tile = min(split * share, tiles);
    return {batch, head, kv_head, first_row, first_tile, min(first_tile + share, tiles)};
}

// Buffers (k_buffer, k_full ...), a ring of them, who fills them (loader, feeder), and release.
#include "rings.cuh"

// One warpgroup's walk over the tiles of its set.
struct walk {
    ring<k_stages> k;
    ring<v_stages> v;
    int tile;   // the next
    int masked; // tiles before this one need no mask
    int end;    // tiles from here on are not seen by any query of the warpgroup
    int row;    // the thread's row g
    int S, S_KV;

    DEVICE void begin(const unit &u, const place &p, int S_, int S_KV_) {
        S = S_, S_KV = S_KV_;
        const int first_row = u.first_row + p.first_row;
        row = first_row + p.warp_row + p.g;
        tile = u.first_tile + p.set;
        masked = seen_keys(first_row + 1, S, S_KV) / block_n;
        end = min(u.end_tile, ceil_div(seen_keys(first_row + group_rows, S, S_KV), block_n));
    }
};

// What it does with one tile: start_scores, mask, find_largest, outgrown, raise, weigh_all,
// take_weights, weigh_and_take, rescale, start_accumulate; begin_turn and end_turn.
#include "steps.cuh"

// What it does at the end: total_rows, merge_sets, hand_parts and end_part, or store_o.
#include "finish.cuh"

// ---- All tiles of a unit ----

// Scores become weights. True: m rose, and the caller multiplies O by old_weight.
DEVICE bool softmax(score_sums &s_rmem, float (&old_weight)[2], row_state &rows, const problem &all,
                    const place &p) {
    float largest[2];
    find_largest(largest, s_rmem);
    const bool raised = !lazy_rescale || outgrown(largest, rows, all);
    if (raised)
        raise(old_weight, rows, largest, all);
    begin_turn(p);
    weigh_all(s_rmem, rows);
    return raised;
}

// The same, and the weights are taken. When hopeful, those of the first keys are taken at the old m
// before it is known whether m must rise, so that no exponential waits for the maximum; where it
// must, they are taken again. (Of 16 keys: more would need more registers until that is known.)
DEVICE bool softmax_taken(weight_fragments &p_rmem, score_sums &s_rmem, float (&old_weight)[2],
                          row_state &rows, const problem &all, const place &p) {
    if constexpr (hopeful) {
        constexpr int first = 8;
        float largest[2], sum[4];
        begin_turn(p);
        weigh_and_take(p_rmem, sum, s_rmem, rows, 0, first);
        find_largest(largest, s_rmem);
        const bool raised = outgrown(largest, rows, all);
        if (raised) {
            raise(old_weight, rows, largest, all);
            weigh_and_take(p_rmem, sum, s_rmem, rows, 0, first);
        }
        weigh_and_take(p_rmem, sum, s_rmem, rows, first, score_registers);
        rows.sum[0] += sum[0] + sum[1];
        rows.sum[1] += sum[2] + sum[3];
        return raised;
    } else {
        const bool raised = softmax(s_rmem, old_weight, rows, all, p);
        take_weights(p_rmem, rows, s_rmem);
        return raised;
    }
}

// S, softmax, O: one tile after another.
DEVICE void attend(o_sums &o_rmem, row_state &rows, const q_fragments &q_rmem, walk &w, feeder &f,
                   const problem &all, const place &p) {
    for (; w.tile < w.end; w.tile += groups_kv) {
        score_sums s_rmem;
        weight_fragments p_rmem;
        float old_weight[2];
        const u32 k_full_smem = k_full(w.k.buffer), v_full_smem = v_full(w.v.buffer);
        mbarrier_wait(k_full_smem, w.k.parity);
        start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
        if (k_lag == 0)
            f.k_read_to(w.tile);
        if (v_lag == 0)
            f.v_read_to(w.tile);
        wgmma_wait<0>();
        wgmma_hold(s_rmem);
        release(k_full_smem);
        if (k_lag > 0)
            f.k_read_to(w.tile + k_lag);
        if (w.tile >= w.masked)
            mask(s_rmem, w, p);
        const bool raised = softmax_taken(p_rmem, s_rmem, old_weight, rows, all, p);
        if (raised)
            rescale(o_rmem, old_weight);
        mbarrier_wait(v_full_smem, w.v.parity);
        end_turn(p);
        start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
        w.k.advance(groups_kv);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        release(v_full_smem);
        if (v_lag > 0)
            f.v_read_to(w.tile + v_lag);
        w.v.advance(groups_kv);
    }
}

// The same, but the scores of a tile are computed beside P V of the tile before, and P V goes on
// beside the softmax.
DEVICE void attend_overlapped(o_sums &o_rmem, row_state &rows, const q_fragments &q_rmem, walk &w,
                              feeder &f, const problem &all, const place &p) {
    score_sums s_rmem;
    weight_fragments p_rmem;
    float old_weight[2];
    if (w.tile >= w.end)
        return;
    mbarrier_wait(k_full(w.k.buffer), w.k.parity);
    start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
    wgmma_wait<0>();
    wgmma_hold(s_rmem);
    release(k_full(w.k.buffer));
    w.k.advance(groups_kv);
    if (k_lag > 0)
        f.k_read_to(w.tile + k_lag);
    if (w.tile >= w.masked)
        mask(s_rmem, w, p);
    softmax(s_rmem, old_weight, rows, all, p);
    take_weights(p_rmem, rows, s_rmem);
    end_turn(p);
    w.tile += groups_kv;
    if (w.tile < w.end)
        mbarrier_wait(k_full(w.k.buffer), w.k.parity);
    for (; w.tile < w.end; w.tile += groups_kv) {
        const u32 k_full_smem = k_full(w.k.buffer), v_full_smem = v_full(w.v.buffer);
        start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
        mbarrier_wait(v_full_smem, w.v.parity);
        start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
        w.k.advance(groups_kv);
        w.v.advance(groups_kv);
        if (k_lag == 0)
            f.k_read_to(w.tile);
        if (v_lag == 0)
            f.v_read_to(w.tile - groups_kv);
        wgmma_wait<1>();
        wgmma_hold(s_rmem);
        release(k_full_smem);
        if (k_lag > 0)
            f.k_read_to(w.tile + k_lag);
        if (w.tile >= w.masked)
            mask(s_rmem, w, p);
        const bool raised = softmax(s_rmem, old_weight, rows, all, p);
        wgmma_hold(s_rmem);
        if (w.tile + groups_kv < w.end) // here, so that the wait below stays below the softmax
            mbarrier_wait(k_full(w.k.buffer), w.k.parity);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        release(v_full_smem);
        if (v_lag > 0)
            f.v_read_to(w.tile);
        if (raised)
            rescale(o_rmem, old_weight);
        take_weights(p_rmem, rows, s_rmem);
        end_turn(p);
    }
    if (k_lag == 0)
        f.k_read_to(w.tile);
    if (v_lag == 0)
        f.v_read_to(w.tile - groups_kv);
    mbarrier_wait(v_full(w.v.buffer), w.v.parity);
    start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
    wgmma_wait<0>();
    wgmma_hold(o_rmem);
    release(v_full(w.v.buffer));
    w.v.advance(groups_kv);
    f.v_read_to(w.tile);
}

// Tiles that later queries see and those of this warpgroup do not: given back unread.
DEVICE void pass_over(walk &w, feeder &f, const unit &u, const place &p) {
    for (; w.tile < u.end_tile; w.tile += groups_kv) {
        begin_turn(p);
        end_turn(p);
        mbarrier_wait(k_full(w.k.buffer), w.k.parity);
        release(k_full(w.k.buffer));
        w.k.advance(groups_kv);
        f.k_read_to(w.tile + groups_kv);
        mbarrier_wait(v_full(w.v.buffer), w.v.parity);
        release(v_full(w.v.buffer));
        w.v.advance(groups_kv);
        f.v_read_to(w.tile + groups_kv);
    }
}

// ---- The schedule ----

#if KV_SPLITS > 1 && ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#elif KV_SPLITS > 1
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER
    attention_fwd_hopper(const __grid_constant__ tensor_map k_map,
                         const __grid_constant__ tensor_map v_map, const element *__restrict__ q,
                         element *__restrict__ o, float *__restrict__ lse, int S, int S_KV,
                         int batches, int heads, int x_inverse, int y_inverse, int group_inverse,
                         float scale, u32 q_batch, u32 q_head, int q_row, u32 o_batch, u32 o_head,
                         int o_row) {
    const problem all{S,
                      S_KV,
                      batches,
                      heads,
                      x_inverse,
                      y_inverse,
                      group_inverse,
                      (scale > 0 ? scale : usual_scale) * log2_e,
                      {q_batch, q_head, q_row},
                      {o_batch, o_head, o_row}};
    const place p{};
    const int units = persistent ? batches * heads * ceil_div(S, block_m) : 1;
    const int first_unit = persistent ? blockIdx.x : 0, step = persistent ? gridDim.x : 1;
    make_barriers();
    if constexpr (kv_splits > 1)
        cluster_arrive(); // this block runs: others may write to its shared memory
    if (producer && p.warp >= consumers / 32) {
        if constexpr (move_registers)
            set_registers_down<24>();
        if (threadIdx.x == consumers) {
            loader copies{k_map, v_map};
            for (int number = first_unit; number < units; number += step)
                copies.load_all(find_unit(number, all));
        }
        return;
    }
    if constexpr (move_registers)
        set_registers_up<consumer_registers>();
    walk w;
    w.k.advance(p.set), w.v.advance(p.set);
    if (turns && p.group == groups - 1)
        end_turn(p); // warpgroup 0 may begin
    for (int number = first_unit; number < units; number += step) {
        const unit u = find_unit(number, all);
        element *o_gmem = o + all.o.to_head(u.batch, u.head);
        const i64 line = static_cast<i64>(u.batch * heads + u.head) * S; // of its first query
        feeder f{{k_map, v_map}, u, p.warp == (groups_m - 1) * 4 && threadIdx.x % 32 == 0};
        q_fragments q_rmem;
        o_sums o_rmem = {};
        row_state rows(all.scale);
        f.copies.begin(u);
        f.k_read_to(u.first_tile), f.v_read_to(u.first_tile);
        w.begin(u, p, S, S_KV);
        load_q(q_rmem, q + all.q.to_head(u.batch, u.head), w.row - p.g, all);
        (overlap ? attend_overlapped : attend)(o_rmem, rows, q_rmem, w, f, all, p);
        if (causal)
            pass_over(w, f, u, p);
        total_rows(rows);
        if constexpr (groups_kv > 1)
            merge_sets(o_rmem, rows, all, p);
        if constexpr (kv_splits > 1) {
            const int rank = cluster_rank();
            cluster_wait(); // all blocks run
            if (p.set == 0)
                hand_parts(o_rmem, rows, rank);
            cluster_arrive();
            cluster_wait(); // the parts of all blocks are there
            if (p.set == 0)
                end_part(o_gmem, lse, line, o_rmem, rows, rank, w, all, p);
        } else if (p.set == 0) {
            store_o(o_gmem, lse, line, o_rmem, rows, w, all, p);
        }
    }
}
