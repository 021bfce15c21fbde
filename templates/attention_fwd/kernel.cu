// FlashAttention forward:  O = softmax(Q K^T / sqrt(D)) V, half in and out.
//
//   Q, O   [B, H, S, D]        row i of one (batch, head) pair, a "head" below, is one query
//   K, V   [B, H, S_KV, D]     row j is one key
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (aligned at the last query and the last key).
//   A query that sees no key gives a row of zeros.
//
// A thread block computes one unit: the BLOCK_M queries of one tile against the keys of one split. It
// walks the keys in tiles of BLOCK_N and keeps, for each query, the largest score so far m, the sum l of
// exp(score - m), and O without its division by l. README.md has the picture.

#include "lib/cp_async.cuh"
#include "lib/half.cuh"
#include "lib/ldmatrix.cuh"
#include "lib/math.cuh"
#include "lib/mma.cuh"
#include "lib/tile.cuh"
#include "lib/types.cuh"
#include "lib/warp.cuh"

// ---- Genes ----------------------------------------------------------------------------------------

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(WARPS) || !defined(WARPS_KV) ||               \
    !defined(COPY) || !defined(STAGES) || !defined(KV_SPLITS) || !defined(SWIZZLE) ||                \
    !defined(ACC_QK) || !defined(ACC_PV) || !defined(Q_IN_REGISTERS) || !defined(LAZY_RESCALE) ||    \
    !defined(MIN_CTAS) || !defined(PERSISTENT)
#error "a gene of attention_fwd is not defined: see genes in template.json"
#endif
#if !defined(D) || !defined(CAUSAL)
#error "a specialised dimension of attention_fwd is not defined: D, CAUSAL"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
constexpr int block_m = BLOCK_M;               // queries a tile
constexpr int block_n = BLOCK_N;               // keys a tile
constexpr int warps = WARPS;                   // warps a block
constexpr int warps_kv = WARPS_KV;             // groups of warps that share out the keys of a tile
constexpr bool copy_plain = COPY == COPY_PLAIN;   // through registers, one buffer
constexpr bool copy_joint = COPY == COPY_JOINT;   // cp.async, K and V of a tile in one group
constexpr bool copy_apart = COPY == COPY_APART;   // cp.async, K and V waited for one by one
constexpr copy how_copied = copy_plain ? copy::through_registers : copy::in_flight;
constexpr int stages = copy_plain ? 1 : STAGES;   // buffers for tiles of K, and as many for V
constexpr int kv_splits = KV_SPLITS;           // parts of the keys that go to different blocks
constexpr arrangement rows_lie = SWIZZLE == SWIZZLE_XOR ? arrangement::chunks_swapped // rows in shared memory
                                 : SWIZZLE == SWIZZLE_PAD ? arrangement::padded
                                                          : arrangement::plain;
constexpr bool qk_in_half = ACC_QK == ACC_QK_F16;    // accumulate the scores in half
constexpr bool pv_in_half = ACC_PV == ACC_PV_F16;    // accumulate O in half
constexpr bool q_in_registers = Q_IN_REGISTERS;      // Q held in registers, else read from shared memory
constexpr bool lazy_rescale = LAZY_RESCALE;          // rescale O only when some row's maximum grew
constexpr int min_ctas = MIN_CTAS;                   // blocks a multiprocessor the compiler must allow
constexpr bool persistent = PERSISTENT > 0;          // blocks take units from a queue until it is empty

// ---- Derived sizes --------------------------------------------------------------------------------

constexpr int threads = warps * 32;
constexpr int warps_m = warps / warps_kv;          // warps that share out the queries
constexpr int warp_rows = block_m / warps_m;       // queries of a warp
constexpr int warp_keys = block_n / warps_kv;      // keys of a tile that a warp works on: its slice
constexpr int m_tiles = warp_rows / 16;            // the warp's tensor-core tiles: of 16 queries,
constexpr int n_tiles = warp_keys / 8;             // of 8 keys,
constexpr int d_tiles = head_dim / 8;              // of 8 columns of O,
constexpr int k_steps = head_dim / 16;             // of 16 columns of Q and K
constexpr int o_words = pv_in_half ? 2 : 4;        // registers of one tile of O

// exp(x / sqrt(D)) = 2^(x * score_scale)
constexpr float score_scale = 1.4426950408889634f * (head_dim == 64 ? 0.125f : 0.08838834764831845f);
// A power of two near it, for which x * score_scale is exact: see online_softmax.
constexpr float coarse_score_scale = head_dim == 64 ? 0.25f : 0.125f;

// ---- Shared memory, in bytes ----------------------------------------------------------------------
//
//   0        K, `stages` tiles of block_n rows
//   v_smem   V, `stages` tiles of the same shape
//   q_smem   Q, one tile of block_m rows, unless q_in_registers
//   The merge of the warp groups (m, l, O of half of the groups at most) overlays all of these.
//   ticket   two words, when persistent

using kv_tile = tile<block_n, head_dim, rows_lie, threads>;
using q_tile = tile<block_m, head_dim, rows_lie, threads>;

constexpr int v_smem = stages * kv_tile::bytes;
constexpr int q_smem = 2 * stages * kv_tile::bytes;
constexpr int tiles_bytes = q_smem + (q_in_registers ? 0 : q_tile::bytes);
constexpr int merge_words = m_tiles * (4 * d_tiles + 4); // of one thread
constexpr int merge_bytes = warps_kv / 2 * warps_m * 32 * merge_words * 4;
constexpr int ticket_smem = max_of(tiles_bytes, merge_bytes);
constexpr int smem_bytes = ticket_smem + (persistent ? 16 : 0);

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(warps % warps_kv == 0, "the groups that share out the keys have equally many warps");
static_assert(block_m % (16 * warps_m) == 0, "a warp works on whole tensor-core tiles of 16 queries");
static_assert(block_n % (16 * warps_kv) == 0, "a warp works on slices of 16 keys");
static_assert(!copy_joint || stages >= 2, "a joint copy needs a second buffer");
static_assert(stages >= 1 && stages <= 4 && kv_splits >= 1 && min_ctas >= 1, "");
static_assert((warps_kv & (warps_kv - 1)) == 0, "the merge halves the groups until one is left");
static_assert(threads <= 1024, "a block has at most 1024 threads");
static_assert(smem_bytes <= SMEM_LIMIT, "shared memory over the limit");

extern __shared__ __align__(128) unsigned char smem[];

// ---- What a warp keeps in registers ---------------------------------------------------------------
// Layouts of the fragments: lib/mma.cuh. With g = lane / 4 a thread holds parts of rows g and g + 8 of
// each m tile: "row half" h = 0, 1 of m tile m.

using q_fragments = u32[m_tiles][k_steps][4];
using score_fragments = float[m_tiles][n_tiles][4];
using o_fragments = choose<pv_in_half, u32, float>[m_tiles][d_tiles][o_words];
using o_sums = float[m_tiles][d_tiles][4];

struct row_state {
    float largest[m_tiles][2]; // m: the largest score so far, not scaled
    float sum[m_tiles][2];     // l: of this thread's keys alone, until total_rows

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i) {
            largest[i / 2][i % 2] = minus_infinity;
            sum[i / 2][i % 2] = 0;
        }
    }
};

// What a thread is: its place in the block.
struct place {
    int lane, g, t;    // g = lane / 4, t = lane % 4
    int warp_m;        // which of the warps that share out the queries
    int group;         // which slice of a tile's keys
    int first_row;     // of the warp, within the tile of queries
    int first_key;     // of the warp, within a tile of keys
};

__device__ __forceinline__ place find_place()
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_m = warp % warps_m, group = warp / warps_m;
    return {lane, lane / 4, lane % 4, warp_m, group, warp_m * warp_rows, group * warp_keys};
}

// One unit of work, and the part of the keys that it needs.
struct unit {
    int head, first_row, split;
    int first_tile, end_tile; // tiles of keys
};

// Cuts the tiles of keys that this tile of queries can see at all into kv_splits even parts.
__device__ __forceinline__ unit find_unit(int head, int row_tile, int split, int S, int S_KV)
{
    const int first_row = row_tile * block_m;
    const int last_row = min(first_row + block_m, S) - 1;
    const int seen_keys = causal ? max(min(S_KV, last_row + S_KV - S + 1), 0) : S_KV;
    const int seen_tiles = ceil_div(seen_keys, block_n);
    const int share = ceil_div(seen_tiles, kv_splits);
    const int first_tile = min(split * share, seen_tiles);
    return {head, first_row, split, first_tile, min(first_tile + share, seen_tiles)};
}

// The units of a block. Without a queue it has one, named by the block's place in the grid. With one it
// begins with the unit of its own number and takes further numbers from a counter that starts at zero. The
// longest units (with a causal mask, the last queries) come first.
struct queue {
    u32 *const counter_gmem;
    const int heads, S, S_KV, row_tiles;
    u32 number, turn = 0, fetched = 0;

    __device__ __forceinline__ queue(u32 *counter, int heads, int S, int S_KV)
        : counter_gmem(counter), heads(heads), S(S), S_KV(S_KV), row_tiles(ceil_div(S, block_m)), number(blockIdx.x)
    {
    }

    __device__ __forceinline__ unit current()
    {
        if constexpr (!persistent)
            return find_unit(blockIdx.x, causal ? row_tiles - 1 - blockIdx.y : blockIdx.y, blockIdx.z, S, S_KV);
        if (threadIdx.x == 0) // ask for the next number now: the answer comes while this unit is worked on
            fetched = gridDim.x + atomicAdd(counter_gmem, 1u);
        const int head = number % heads, rest = number / heads, tile = rest / kv_splits;
        return find_unit(head, causal ? row_tiles - 1 - tile : tile, rest % kv_splits, S, S_KV);
    }

    // Moves on to the next unit; false if there is none.
    __device__ __forceinline__ bool next()
    {
        if constexpr (!persistent)
            return false;
        u32 *ticket_place_smem = reinterpret_cast<u32 *>(smem + ticket_smem) + turn++ % 2;
        if (threadIdx.x == 0)
            *ticket_place_smem = fetched;
        __syncthreads(); // the number is there to be read, and every warp has read the tiles of this unit
        number = *ticket_place_smem; // written again two units on, past the next unit's barrier
        return number < static_cast<u32>(heads) * row_tiles * kv_splits;
    }
};

// ---- Steps ----------------------------------------------------------------------------------------

// The n-th tile of keys of a unit goes to buffer n % stages.
__device__ __forceinline__ u32 buffer_of(int tile, const unit &u)
{
    return static_cast<u32>(tile - u.first_tile) % stages * kv_tile::bytes;
}

// Starts the copy of a tile of K; there is nothing to copy past the unit's last.
__device__ __forceinline__ void load_k(u32 base_smem, const f16 *k_gmem, const unit &u, int tile, int S_KV)
{
    if (tile < u.end_tile)
        kv_tile::load<how_copied>(base_smem + buffer_of(tile, u), k_gmem, tile * block_n, S_KV);
}

__device__ __forceinline__ void load_v(u32 base_smem, const f16 *v_gmem, const unit &u, int tile, int S_KV)
{
    load_k(base_smem + v_smem, v_gmem, u, tile, S_KV);
}

// The warp's queries as fragments, straight from global memory; rows at or past S are zeros.
__device__ __forceinline__ void load_q_fragments(q_fragments &q_rmem, const f16 *q_gmem, int first_row, int S,
                                                 const place &p)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int k = 0; k < k_steps; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int row = first_row + p.first_row + m * 16 + p.g + i % 2 * 8;
                const int column = k * 16 + i / 2 * 8 + p.t * 2;
                q_rmem[m][k][i] = row < S ? *reinterpret_cast<const u32 *>(
                                                q_gmem + static_cast<i64>(row) * head_dim + column)
                                          : 0;
            }
}

__device__ __forceinline__ void load_q(q_fragments &q_rmem, u32 base_smem, const f16 *q_gmem, const unit &u, int S,
                                       const place &p)
{
    if constexpr (q_in_registers)
        load_q_fragments(q_rmem, q_gmem, u.first_row, S, p);
    else
        q_tile::load<how_copied>(base_smem + q_smem, q_gmem, u.first_row, S);
}

// Starts the copies that are in flight when the first tile is waited for. Each commit closes the group of
// one tile (K and V apart, or joint); groups may be empty, so that their count is the same for every tile.
constexpr int pending_copies = copy_apart ? 2 * stages - 2 : stages - 2; // younger than the one waited for

__device__ __forceinline__ void start_pipeline(u32 base_smem, const f16 *k_gmem, const f16 *v_gmem, const unit &u,
                                               int S_KV)
{
    if constexpr (copy_plain)
        return;
#pragma unroll
    for (int ahead = 0; ahead < (copy_apart ? stages : stages - 1); ++ahead) {
        load_k(base_smem, k_gmem, u, u.first_tile + ahead, S_KV);
        if constexpr (copy_apart)
            cp_async_commit();
        if (ahead < stages - 1) {
            load_v(base_smem, v_gmem, u, u.first_tile + ahead, S_KV);
            cp_async_commit();
        }
    }
}

// Scores Q K^T of the warp's queries and its slice of the tile in buffer k_tile_smem.
__device__ __forceinline__ void scores(score_fragments &s_rmem, q_fragments &q_rmem, u32 base_smem,
                                       u32 k_tile_smem, const place &p)
{
    choose<qk_in_half, u32, float> sums_rmem[m_tiles][n_tiles][qk_in_half ? 2 : 4] = {};
#pragma unroll
    for (int k = 0; k < k_steps; ++k) {
        if constexpr (!q_in_registers) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m)
                ldmatrix_x4(q_rmem[m][k], base_smem + q_smem +
                                              q_tile::offset(p.first_row + m * 16 + p.lane % 16, k * 2 + p.lane / 16));
        }
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4]; // keys n*8..+7 and, in [2] and [3], the next 8
            ldmatrix_x4(k_rmem, k_tile_smem + kv_tile::offset(p.first_key + n * 8 + p.lane / 16 * 8 + p.lane % 8,
                                                          k * 2 + p.lane / 8 % 2));
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16(sums_rmem[m][n], q_rmem[m][k], k_rmem[0], k_rmem[1]);
                mma_m16n8k16(sums_rmem[m][n + 1], q_rmem[m][k], k_rmem[2], k_rmem[3]);
            }
        }
    }
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if constexpr (qk_in_half)
                    s_rmem[m][n][i] = i % 2 ? high_half_to_float(sums_rmem[m][n][i / 2])
                                            : low_half_to_float(sums_rmem[m][n][i / 2]);
                else
                    s_rmem[m][n][i] = sums_rmem[m][n][i];
            }
}

// Sets the scores of keys past the end, and of keys that a query must not see, to minus infinity.
// first_row and first_key are the warp's, `diagonal` is S_KV - S.
__device__ __forceinline__ void mask(score_fragments &s_rmem, int first_row, int first_key, int S_KV,
                                     int diagonal, const place &p)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = first_row + m * 16 + p.g + i / 2 * 8;
            const int end = causal ? min(S_KV, row + diagonal + 1) : S_KV;
            const int seen = end - first_key - p.t * 2 - i % 2;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                if (n * 8 >= seen)
                    s_rmem[m][n][i] = minus_infinity;
        }
}

// 2^(scale * (value - largest)) is computed as 2^(scale * value - scale * largest) in one multiply-add.
// Beyond 2^26 the rounding of scale * largest would exceed the range of a half; there scores are 8 or
// more apart, and a power of two for the scale, which makes the product exact, loses nothing.
__device__ __forceinline__ float row_scale(float largest)
{
    return fabsf(largest) < 67108864.0f ? score_scale : coarse_score_scale;
}

// Turns scores into weights exp(score - m) for the new m of each row, brings l and O of the tiles before
// to the new m, and adds the weights to l.
__device__ __forceinline__ void online_softmax(score_fragments &s_rmem, row_state &rows, o_fragments &o_rmem)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float old_weight[2];
        bool grew = false;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const float before = rows.largest[m][h];
            float largest = before;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                largest = fmaxf(largest, fmaxf(s_rmem[m][n][h * 2], s_rmem[m][n][h * 2 + 1]));
            largest = lanes_max<4>(largest);
            const float scale = row_scale(largest);
            const float shift = largest == minus_infinity ? 0.0f : largest * scale;
            old_weight[h] = exp2_fast(before * scale - shift);
            float sum = 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
#pragma unroll
                for (int i = h * 2; i < h * 2 + 2; ++i) {
                    s_rmem[m][n][i] = exp2_fast(s_rmem[m][n][i] * scale - shift);
                    sum += s_rmem[m][n][i];
                }
            rows.sum[m][h] = rows.sum[m][h] * old_weight[h] + sum;
            rows.largest[m][h] = largest;
            grew |= largest > before;
        }
        if (lazy_rescale && !__any_sync(full_warp, grew))
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
#pragma unroll
            for (int i = 0; i < o_words; ++i) {
                if constexpr (pv_in_half)
                    o_rmem[m][d][i] = multiply_half2(o_rmem[m][d][i], pack_half2(old_weight[i], old_weight[i]));
                else
                    o_rmem[m][d][i] *= old_weight[i / 2];
            }
    }
}

// O += P V of the warp's slice of the tile in buffer v_tile_smem; the weights P go from the scores' layout
// to that of a left operand without leaving their registers.
__device__ __forceinline__ void accumulate(o_fragments &o_rmem, const score_fragments &p_rmem, u32 v_tile_smem,
                                           const place &p)
{
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        u32 left_rmem[m_tiles][4];
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                left_rmem[m][i] = pack_half2(p_rmem[m][n + i / 2][i % 2 * 2], p_rmem[m][n + i / 2][i % 2 * 2 + 1]);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4]; // columns d*8..+7 and, in [2] and [3], the next 8
            ldmatrix_x4_trans(v_rmem,
                              v_tile_smem + kv_tile::offset(p.first_key + n * 8 + p.lane % 16, d + p.lane / 16));
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16(o_rmem[m][d], left_rmem[m], v_rmem[0], v_rmem[1]);
                mma_m16n8k16(o_rmem[m][d + 1], left_rmem[m], v_rmem[2], v_rmem[3]);
            }
        }
    }
}

// O as floats, and l of each row over all keys of the warp.
__device__ __forceinline__ void total_rows(o_sums &sums_rmem, row_state &rows, const o_fragments &o_rmem)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
        for (int h = 0; h < 2; ++h)
            rows.sum[m][h] = lanes_sum<4>(rows.sum[m][h]);
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if constexpr (pv_in_half)
                    sums_rmem[m][d][i] = i % 2 ? high_half_to_float(o_rmem[m][d][i / 2])
                                               : low_half_to_float(o_rmem[m][d][i / 2]);
                else
                    sums_rmem[m][d][i] = o_rmem[m][d][i];
            }
    }
}

// What a sum taken at `largest` counts for at `common`, which is no less.
__device__ __forceinline__ float weight_at(float largest, float common)
{
    return largest == minus_infinity ? 0.0f : exp2_fast((largest - common) * score_scale);
}

// Adds up m, l and O of the groups that shared out the keys; the result is group 0's. In each round the
// upper half of the groups hand theirs, word by word and thread by thread, to the lower half.
__device__ __forceinline__ void merge_groups(o_sums &o_rmem, row_state &rows, const place &p)
{
    constexpr int slot_threads = warps_m * 32;
    float *merge_smem = reinterpret_cast<float *>(smem) + p.warp_m * 32 + p.lane;
    __syncthreads(); // every warp has read the last tile, over which the merge is written
#pragma unroll
    for (int half = warps_kv / 2; half > 0; half /= 2) {
        float *slot_smem = merge_smem + (p.group % half) * merge_words * slot_threads;
        if (p.group >= half && p.group < 2 * half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                float *word_smem = slot_smem + m * (4 * d_tiles + 4) * slot_threads;
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    word_smem[h * slot_threads] = rows.largest[m][h];
                    word_smem[(2 + h) * slot_threads] = rows.sum[m][h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i)
                    word_smem[(4 + i) * slot_threads] = o_rmem[m][i / 4][i % 4];
            }
        }
        __syncthreads(); // what the upper half wrote is there to be read
        if (p.group < half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                const float *word_smem = slot_smem + m * (4 * d_tiles + 4) * slot_threads;
                float own[2], other[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const float theirs = word_smem[h * slot_threads];
                    const float common = fmaxf(rows.largest[m][h], theirs);
                    own[h] = weight_at(rows.largest[m][h], common);
                    other[h] = weight_at(theirs, common);
                    rows.largest[m][h] = common;
                    rows.sum[m][h] = rows.sum[m][h] * own[h] + word_smem[(2 + h) * slot_threads] * other[h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i)
                    o_rmem[m][i / 4][i % 4] = o_rmem[m][i / 4][i % 4] * own[i % 4 / 2] +
                                              word_smem[(4 + i) * slot_threads] * other[i % 4 / 2];
            }
        }
        if (half > 1)
            __syncthreads(); // the slots have been read and may be written again
    }
}

// Divides by l and writes the rows of the warp that exist; a row with nothing to attend to gives zeros.
__device__ __forceinline__ void store_o(f16 *o_gmem, const o_sums &o_rmem, const row_state &rows, int first_row,
                                        int S, const place &p)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int row = first_row + p.first_row + m * 16 + h * 8 + p.g;
            if (row >= S)
                continue;
            const float inverse = rows.sum[m][h] > 0 ? 1.0f / rows.sum[m][h] : 0.0f;
            f16 *row_gmem = o_gmem + static_cast<i64>(row) * head_dim + p.t * 2;
#pragma unroll
            for (int d = 0; d < d_tiles; ++d)
                *reinterpret_cast<u32 *>(row_gmem + d * 8) =
                    pack_half2(o_rmem[m][d][h * 2] * inverse, o_rmem[m][d][h * 2 + 1] * inverse);
        }
}

// Writes (m, l) of this split, and O before the division unless the split saw no key of that row.
__device__ __forceinline__ void store_partial(float *partial_o_gmem, float *partial_ml_gmem, const o_sums &o_rmem,
                                              const row_state &rows, const unit &u, int S, const place &p)
{
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
            if (row >= S)
                continue;
            const i64 place_gmem = (static_cast<i64>(u.head) * S + row) * kv_splits + u.split;
            if (p.t == 0)
                reinterpret_cast<float2 *>(partial_ml_gmem)[place_gmem] = {rows.largest[m][h], rows.sum[m][h]};
            if (rows.largest[m][h] == minus_infinity)
                continue;
            float *row_gmem = partial_o_gmem + place_gmem * head_dim + p.t * 2;
#pragma unroll
            for (int d = 0; d < d_tiles; ++d)
                *reinterpret_cast<float2 *>(row_gmem + d * 8) = {o_rmem[m][d][h * 2], o_rmem[m][d][h * 2 + 1]};
        }
}

// Brings a unit's result together and writes it, to O or to the workspaces of the combine kernel.
__device__ __forceinline__ void finish(f16 *o_gmem, float *partial_o_gmem, float *partial_ml_gmem,
                                       const o_fragments &o_rmem, row_state &rows, const unit &u, int S,
                                       const place &p)
{
    o_sums sums_rmem;
    total_rows(sums_rmem, rows, o_rmem);
    if constexpr (warps_kv > 1)
        merge_groups(sums_rmem, rows, p);
    if (p.group != 0)
        return;
    if constexpr (kv_splits > 1)
        store_partial(partial_o_gmem, partial_ml_gmem, sums_rmem, rows, u, S, p);
    else
        store_o(o_gmem + static_cast<i64>(u.head) * S * head_dim, sums_rmem, rows, u.first_row, S, p);
}

// ---- The schedule ---------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(threads, min_ctas)
    attention_fwd(const f16 *__restrict__ q, const f16 *__restrict__ k, const f16 *__restrict__ v,
                  f16 *__restrict__ o, float *__restrict__ partial_o, float *__restrict__ partial_ml,
                  u32 *__restrict__ counter, int S, int S_KV, int heads)
{
    const place p = find_place();
    const u32 base = smem_address(smem);
    const int diagonal = S_KV - S;
    queue units(counter, heads, S, S_KV);
    do {
        const unit u = units.current();
        const f16 *q_gmem = q + static_cast<i64>(u.head) * S * head_dim;
        const f16 *k_gmem = k + static_cast<i64>(u.head) * S_KV * head_dim;
        const f16 *v_gmem = v + static_cast<i64>(u.head) * S_KV * head_dim;
        const int first_row = u.first_row + p.first_row;
        q_fragments q_rmem;
        score_fragments s_rmem;
        o_fragments o_rmem = {};
        row_state rows;
        rows.clear();

        load_q(q_rmem, base, q_gmem, u, S, p);
        start_pipeline(base, k_gmem, v_gmem, u, S_KV);
        for (int tile = u.first_tile; tile < u.end_tile; ++tile) {
            const int first_key = tile * block_n + p.first_key;
            const bool seen = !causal || first_key <= first_row + warp_rows - 1 + diagonal;
            const bool cut = first_key + warp_keys > (causal ? min(S_KV, first_row + diagonal + 1) : S_KV);

            if constexpr (copy_plain) {
                __syncthreads(); // every warp has read the tile before, which is now overwritten
                load_k(base, k_gmem, u, tile, S_KV);
                load_v(base, v_gmem, u, tile, S_KV);
            } else {
                cp_async_wait<pending_copies>();
            }
            __syncthreads(); // this tile (K alone, if apart) and Q are there; the tile before has been read
            if constexpr (copy_joint)
                load_k(base, k_gmem, u, tile + stages - 1, S_KV);
            if constexpr (!copy_plain) {
                load_v(base, v_gmem, u, tile + stages - 1, S_KV);
                cp_async_commit();
            }
            if (seen)
                scores(s_rmem, q_rmem, base, base + buffer_of(tile, u), p);
            if constexpr (copy_apart) {
                cp_async_wait<pending_copies>();
                __syncthreads(); // V of this tile is there; K of this tile has been read
                load_k(base, k_gmem, u, tile + stages, S_KV);
                cp_async_commit();
            }
            if (seen) {
                if (cut)
                    mask(s_rmem, first_row, first_key, S_KV, diagonal, p);
                online_softmax(s_rmem, rows, o_rmem);
                accumulate(o_rmem, s_rmem, base + v_smem + buffer_of(tile, u), p);
            }
        }
        finish(o, partial_o, partial_ml, o_rmem, rows, u, S, p);
    } while (units.next());
}

// Adds up the splits of each row: O = sum of O_i 2^(m_i - m) over sum of l_i 2^(m_i - m). A thread works
// on four columns of one row.
extern "C" __global__ void __launch_bounds__(256)
    attention_combine(const float *__restrict__ partial_o, const float2 *__restrict__ partial_ml,
                      f16 *__restrict__ o, int row_count)
{
    constexpr int row_threads = head_dim / 4;
    const int row = blockIdx.x * (256 / row_threads) + threadIdx.x / row_threads;
    const int column = threadIdx.x % row_threads * 4;
    if (row >= row_count)
        return;
    const float2 *ml_gmem = partial_ml + static_cast<i64>(row) * kv_splits;
    const float *part_gmem = partial_o + static_cast<i64>(row) * kv_splits * head_dim + column;
    float largest = minus_infinity;
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        largest = fmaxf(largest, ml_gmem[split].x);
    float sum = 0;
    float4 total = {};
#pragma unroll 8
    for (int split = 0; split < kv_splits; ++split) {
        const float2 ml = ml_gmem[split];
        if (ml.x == minus_infinity)
            continue; // this split saw no key of the row and wrote nothing
        const float weight = weight_at(ml.x, largest);
        const float4 part = *reinterpret_cast<const float4 *>(part_gmem + split * head_dim);
        sum += ml.y * weight;
        total.x += part.x * weight;
        total.y += part.y * weight;
        total.z += part.z * weight;
        total.w += part.w * weight;
    }
    const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
    const uint2 packed = {pack_half2(total.x * inverse, total.y * inverse),
                          pack_half2(total.z * inverse, total.w * inverse)};
    *reinterpret_cast<uint2 *>(o + static_cast<i64>(row) * head_dim + column) = packed;
}
