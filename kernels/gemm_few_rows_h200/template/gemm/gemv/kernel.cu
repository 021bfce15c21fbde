// C = epilogue(A B) in half or bfloat16 with float sums, for few rows of A: sm_80 and later.
//
//   A         [BATCH, M, K]
//   B         [BATCH, N, K], stored as the weight of a linear layer
//   C         [BATCH, M, N], like the residual; the bias is [N]
//
// Such a call takes as long as DRAM needs for B, if enough loads are in flight. A warp reads
// COLUMNS rows of B, 16 bytes a lane, and multiplies each by ROWS rows of A. UNROLL loads for each
// column are a group, issued together; STAGES groups are in flight. WARPS_K warps and SPLITS blocks
// have different groups of the same sums. README.md of the problem has a diagram.

#include "lib/cluster.cuh"
#include "lib/cp_async.cuh"
#include "lib/element.cuh"
#include "lib/integer.cuh"
#include "lib/last_block.cuh"
#include "lib/linear_epilogue.cuh"
#include "lib/smem.cuh"
#include "lib/vector.cuh"
#include "lib/warp.cuh"
#include "lib/widen.cuh"

// ---- Genes ----

#if !defined(WARPS) || !defined(WARPS_K) || !defined(ROWS) || !defined(COLUMNS) ||                 \
    !defined(UNROLL) || !defined(COPY) || !defined(STAGES) || !defined(HINT) ||                    \
    !defined(A_FROM) || !defined(SPLITS) || !defined(COMBINE) || !defined(MIN_CTAS) ||             \
    !defined(TRANS_A) || !defined(TRANS_B) || !defined(BF16) || !defined(EPILOGUE)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

using element = conditional_t<BF16, bf16, f16>;
constexpr linear_epilogue epilogue = static_cast<linear_epilogue>(EPILOGUE);
constexpr int warps = WARPS;
constexpr int warps_k = WARPS_K; // warps that share sums
constexpr int rows = ROWS, columns = COLUMNS;
constexpr int unroll = UNROLL;
constexpr bool b_in_registers = COPY == COPY_REGISTERS; // else in shared memory
constexpr int stages = STAGES;                          // groups of loads in flight
constexpr bool a_in_smem = A_FROM == A_FROM_SHARED;
constexpr int splits = SPLITS;                          // blocks that share sums
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // and combine them as a cluster

// ---- Derived sizes ----

constexpr int threads = 32 * warps;
constexpr int block_columns = warps / warps_k * columns;
constexpr int elements = rows * block_columns; // of C, in a tile
constexpr int step_loads = 32 * warps_k;       // along K: one of each lane that shares a sum
constexpr int group_loads = step_loads * unroll;
constexpr int chains = rows * columns < 4 ? 2 : 1; // sums of a lane for an element, in turn

static_assert(!TRANS_A && TRANS_B, "rows of A and B are read along the sum");
static_assert(warps % warps_k == 0, "equally many warps share each sum");
static_assert(rows * columns <= 32, "a lane has one of the warp's sums at the end");
static_assert(elements <= threads, "a thread writes one element of C");
static_assert(!b_in_registers || stages <= 2, "registers hold a group of loads and the next one");
static_assert(!in_cluster || (splits > 1 && splits <= 8), "a cluster has at most 8 blocks");

// ---- Shared memory, in bytes ----
//
//   0         the sums of each of the WARPS_K warps; in a cluster also those of each block
//   b_offset  `stages` groups of loads of B, if they are copied: each thread reads what it copied
//   a_offset  the rows of A, as far as this block multiplies them

constexpr int sum_bytes = elements * (warps_k + (in_cluster ? splits : 0)) * 4;
constexpr int b_offset = ceil_div(sum_bytes, 16) * 16;
constexpr int a_offset = b_offset + (b_in_registers ? 0 : stages * unroll * columns * threads * 16);

extern __shared__ __align__(16) unsigned char smem[];

DEVICE float *sums_smem() {
    return reinterpret_cast<float *>(smem);
}

using load = vector<u32, 4>; // 8 elements
using group_of_b = load[unroll][columns];
using warp_sums = float[rows][columns][chains];

#include "sums.cuh"

// ---- Loads ----
//
// `whole`: rows end where a group of loads does, so that no load needs a condition.

// The loads of a block: [first, end) of a row's, a multiple of groups, perhaps beyond its end.
struct block_loads {
    int first, end;
    int row_loads; // in all of a row
};

// A hint keeps B out of L1, where A stays, or makes it leave L2 before other data.
DEVICE load load_b(const load *from_gmem) {
    uint4 loaded;
    if constexpr (HINT == HINT_STREAMING)
        loaded = __ldcs(reinterpret_cast<const uint4 *>(from_gmem));
    else if constexpr (HINT == HINT_NO_ALLOCATE)
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(loaded.x), "=r"(loaded.y), "=r"(loaded.z), "=r"(loaded.w)
                     : "l"(from_gmem));
    else
        loaded = __ldg(reinterpret_cast<const uint4 *>(from_gmem));
    return __builtin_bit_cast(load, loaded);
}

// What a warp reads of B: from column first_column of C on. Columns beyond the last are computed as
// the last, and not stored.
struct b_rows {
    const load *row_gmem[columns];
    int row_loads;

    DEVICE b_rows(const element *b_gmem, int first_column, int N, int K) : row_loads(K / 8) {
#pragma unroll
        for (int c = 0; c < columns; ++c)
            row_gmem[c] = reinterpret_cast<const load *>(
                b_gmem + multiply_wide(min_of(first_column + c, N - 1), K));
    }

    // The group whose first load of this lane is `first`; zeros beyond the ends of rows.
    template <bool whole> DEVICE void load_group(group_of_b &group, int first) const {
#pragma unroll
        for (int step = 0; step < unroll; ++step)
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                const int i = first + step * step_loads;
                group[step][c] = whole || i < row_loads ? load_b(row_gmem[c] + i) : load{};
            }
    }

    static DEVICE u32 place_smem(int stage, int step, int c) {
        return smem_address(smem) + b_offset +
               (((stage * unroll + step) * columns + c) * threads + threadIdx.x) * 16;
    }

    template <bool whole> DEVICE void copy_group(int stage, int first) const {
#pragma unroll
        for (int step = 0; step < unroll; ++step)
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                const int i = first + step * step_loads;
                const bool inside = whole || i < row_loads;
                cp_async_16(place_smem(stage, step, c), row_gmem[c] + (inside ? i : 0), inside);
            }
    }
};

// Rows of A from global memory, or from shared memory, to which the block has copied its part.
struct a_rows {
    const load *first_gmem;
    int rows_left; // from the first row on
    block_loads own;

    DEVICE load *row_smem(int r) const {
        return reinterpret_cast<load *>(smem + a_offset) + r * (own.end - own.first);
    }

    DEVICE void copy() const {
        for (int r = 0; r < rows; ++r)
            for (int i = own.first + threadIdx.x; i < own.end; i += threads) {
                const bool inside = r < rows_left && i < own.row_loads;
                cp_async_16(smem_address(row_smem(r) + i - own.first),
                            inside ? first_gmem + multiply_wide(r, own.row_loads) + i : first_gmem,
                            inside);
            }
        cp_async_commit();
    }

    template <bool whole> DEVICE load get(int r, int i) const {
        if constexpr (a_in_smem)
            return row_smem(r)[i - own.first];
        if (!whole && i >= own.row_loads)
            return load{};
        const int row = min_of(r, rows_left - 1); // the sums of rows beyond the last are not stored
        return __builtin_bit_cast(load, __ldg(reinterpret_cast<const uint4 *>(
                                            first_gmem + row * own.row_loads + i)));
    }
};

// ---- Sums ----

template <bool whole>
DEVICE void add_products(warp_sums &sums, const load (&b)[columns], const a_rows &a, int i) {
    load a_loads[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r)
        a_loads[r] = a.get<whole>(r, i);
#pragma unroll
    for (int word = 0; word < 4; ++word)
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            const u32 b_pair = b[c].values[word];
#pragma unroll
            for (int r = 0; r < rows; ++r) {
                const u32 a_pair = a_loads[r].values[word];
                float(&to)[chains] = sums[r][c];
                to[0] = fmaf(unpack_low<element>(a_pair), unpack_low<element>(b_pair), to[0]);
                to[chains - 1] = fmaf(unpack_high<element>(a_pair), unpack_high<element>(b_pair),
                                      to[chains - 1]);
            }
        }
}

// The loads of this lane, of which `first` is the block's first. The first ones of B are issued
// before the block waits for A.
template <bool whole>
DEVICE void sum_loads(warp_sums &sums, const b_rows &b, const a_rows &a, int first) {
    const int end = a.own.end;
    const auto wait_for_a = [] {
        if constexpr (a_in_smem) {
            cp_async_wait<b_in_registers ? 0 : stages>(); // A is older than all groups of B
            __syncthreads();
        }
    };
    if constexpr (a_in_smem)
        a.copy();
    if constexpr (b_in_registers) {
        group_of_b group, next;
        const auto load_ahead = [&](group_of_b &to, int i) {
            if (i < end)
                b.load_group<whole>(to, i);
        };
        const auto multiply = [&](const group_of_b &loaded, int i) {
#pragma unroll
            for (int step = 0; step < unroll; ++step)
                add_products<whole>(sums, loaded[step], a, i + step * step_loads);
        };
        b.load_group<whole>(group, first);
        wait_for_a();
#pragma unroll 1
        for (int i = first; i < end; i += stages * group_loads) {
            if constexpr (stages == 2)
                load_ahead(next, i + group_loads);
            multiply(group, i);
            load_ahead(group, i + stages * group_loads);
            if (stages == 2 && i + group_loads < end)
                multiply(next, i + group_loads);
        }
    } else {
        const auto copy_next = [&](int stage, int i) {
            if (i < end)
                b.copy_group<whole>(stage, i);
            cp_async_commit(); // perhaps of nothing, so that one group is one stage
        };
#pragma unroll 1
        for (int stage = 0; stage < stages; ++stage)
            copy_next(stage, first + stage * group_loads);
        wait_for_a();
        int stage = 0;
#pragma unroll 1
        for (int i = first; i < end; i += group_loads) {
            cp_async_wait<stages - 1>(); // no barrier: a thread reads what it has copied itself
#pragma unroll
            for (int step = 0; step < unroll; ++step) {
                load b_loads[columns];
#pragma unroll
                for (int c = 0; c < columns; ++c)
                    b_loads[c] = __builtin_bit_cast(
                        load, load_smem_16(b_rows::place_smem(stage, step, c)));
                add_products<whole>(sums, b_loads, a, i + step * step_loads);
            }
            copy_next(stage, i + stages * group_loads);
            stage = stage + 1 == stages ? 0 : stage + 1;
        }
    }
}

#if COMBINE == COMBINE_CLUSTER
#define CLUSTER __cluster_dims__(SPLITS, 1, 1)
#else
#define CLUSTER
#endif

// Blocks with the same columns and other rows of A are neighbours: they share B in L2.
extern "C" __global__ void CLUSTER __launch_bounds__(threads, MIN_CTAS)
    gemm_gemv(const element *a, const element *b, const element *bias, const element *residual,
              element *c, float *parts, u32 *counters, int M, int N, int K) {
    if constexpr (in_cluster)
        cluster_arrive_relaxed(); // add_blocks_of_cluster waits
    const int split = blockIdx.x % splits, tile = blockIdx.x / splits;
    const int tiles_m = ceil_div(M, rows), tiles_n = ceil_div(N, block_columns);
    const int first_row = tile % tiles_m * rows;
    const int first_column = tile / tiles_m % tiles_n * block_columns;
    const int batch = tile / tiles_m / tiles_n;
    const int warp = threadIdx.x / 32, along_k = warp % warps_k;
    const int own_columns = warp / warps_k * columns; // the warp's first in the tile

    const int groups = ceil_div(K / 8, group_loads);
    const block_loads own = {split * groups / splits * group_loads,
                             (split + 1) * groups / splits * group_loads, K / 8};
    const i64 first_row_of_all = multiply_wide(batch, M) + first_row;
    const b_rows from_b(b + multiply_wide(batch, N) * K, first_column + own_columns, N, K);
    const a_rows from_a = {reinterpret_cast<const load *>(a + first_row_of_all * K), M - first_row,
                           own};
    const int first = own.first + along_k * 32 + static_cast<int>(threadIdx.x) % 32;
    warp_sums sums = {};
    if (own.row_loads % group_loads == 0)
        sum_loads<true>(sums, from_b, from_a, first);
    else
        sum_loads<false>(sums, from_b, from_a, first);

    leave_sums(sums, own_columns, along_k);
    __syncthreads(); // the sums of all warps are there
    const int i = threadIdx.x;
    float sum = i < elements ? add_warps(i) : 0.0f;
    if constexpr (in_cluster) {
        if (!add_blocks_of_cluster(sum, i))
            return;
    } else if constexpr (splits > 1) {
        if (!add_blocks(sum, i, parts, counters, tile))
            return;
    }
    const int row = i / block_columns, column = first_column + i % block_columns;
    if (i < elements && first_row + row < M && column < N) {
        const i64 at = (first_row_of_all + row) * N + column;
        float addend = 0;
        if constexpr (epilogue == linear_epilogue::residual)
            addend = widen(residual[at]);
        else if constexpr (epilogue != linear_epilogue::none)
            addend = widen(bias[column]);
        c[at] = narrow<element>(apply_epilogue<epilogue>(sum, addend));
    }
}
