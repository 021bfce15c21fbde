// reference.cu: what attention_fwd computes, in double precision. Exported by evotile from
// the template's reference.cu with its includes inlined. Generated: do not edit.
//
// check.c compares large shapes with it, and compares it with reference.c.

// Attention without tensor cores in double: the reference. Formula and shapes are in kernel.cu.
//
// Compiled once for all cases: element type and layout are run-time arguments; the rows of Q and K
// may have gaps between them. `scale` 0 selects 1 / sqrt(D); `window` and `soft_cap` 0 and null
// `sinks` mean none, and a null `lse` that LSE is not wanted. With cu_seqlens_q and cu_seqlens_k
// the B sequences are packed, and S and S_KV are their most rows. Up to 4 queries a head have a
// kernel of their own: a tile would be mostly empty.

// Attention of few queries, as when tokens are decoded: a block computes up to four neighbouring
// queries of one head and iterates over chunks of keys, one key per thread. For each query it keeps
// the running maximum, the sum of exp(score - maximum), and the unnormalised O.
#ifndef EVOTILE_ATTENTION_REFERENCE_FEW
#define EVOTILE_ATTENTION_REFERENCE_FEW

// What the reference and the plain kernel share for few and for many queries: elements as stored,
// the rows of a head, functions of either precision, and reductions.
#ifndef EVOTILE_ATTENTION_REFERENCE_COMMON
#define EVOTILE_ATTENTION_REFERENCE_COMMON

// Conversions between bfloat16 and float; half.cuh has the same for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT

// Types and constants that the device code needs without any system header.
#ifndef EVOTILE_LIB_TYPES
#define EVOTILE_LIB_TYPES

// A device function that is always inlined, so that reference arguments stay in registers.
#define DEVICE __device__ __forceinline__

using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// An IEEE half as stored in memory. Arithmetic is done in float; half.cuh converts.
struct f16 {
    u16 bits;
};

// A bfloat16: the upper half of a float.
struct bf16 {
    u16 bits;
};

// std::conditional_t: A if the condition holds, else B.
template <bool condition, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;

constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
constexpr u32 full_warp_mask = 0xffffffffu;

__host__ __device__ constexpr int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

__host__ __device__ constexpr int max_of(int a, int b) {
    return a > b ? a : b;
}

__host__ __device__ constexpr int min_of(int a, int b) {
    return a < b ? a : b;
}

#endif

DEVICE float bfloat_to_float(bf16 value) {
    return __uint_as_float(static_cast<u32>(value.bits) << 16);
}

// Rounds to nearest even. sm_80 and later.
DEVICE bf16 float_to_bfloat(float value) {
    bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31. sm_80
// and later.
DEVICE u32 pack_bfloat2(float low, float high) {
    u32 result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

#endif
// Conversions between half and float, and arithmetic on pairs of halves packed into 32 bits
// (the element with the lower index in the low 16 bits).
#ifndef EVOTILE_LIB_HALF
#define EVOTILE_LIB_HALF


DEVICE float half_to_float(f16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

// Rounds to nearest even.
DEVICE f16 float_to_half(float value) {
    f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31.
DEVICE u32 pack_half2(float low, float high) {
    u32 result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

DEVICE float low_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair)});
}

DEVICE float high_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair >> 16)});
}

// The two products of the halves of a and b, rounded to half.
DEVICE u32 multiply_half2(u32 a, u32 b) {
    u32 result;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

#endif

constexpr int threads = 128;
constexpr int warps = threads / 32;

struct alignas(16) eight_elements {
    u16 elements[8];
};

DEVICE float widen(u16 bits, bool is_bf16) {
    return is_bf16 ? bfloat_to_float(bf16{bits}) : half_to_float(f16{bits});
}

DEVICE double exponential(double x) {
    return exp(x);
}

DEVICE float exponential(float x) {
    return expf(x);
}

DEVICE double logarithm(double x) {
    return log(x);
}

DEVICE float logarithm(float x) {
    return logf(x);
}

DEVICE double hyperbolic_tangent(double x) {
    return tanh(x);
}

DEVICE float hyperbolic_tangent(float x) {
    return tanhf(x);
}

DEVICE void store(double *to, double value, bool) {
    *to = value;
}

DEVICE void store(u16 *to, float value, bool is_bf16) {
    *to = is_bf16 ? float_to_bfloat(value).bits : float_to_half(value).bits;
}

// The rows of a sequence in a tensor: those of a batch, or of packed ones some of batch 0.
struct sequence_rows {
    i64 batch, rows; // which batch of the tensor, and the rows of each
    i64 first;       // the sequence's first row in it
    int count;
};

// Which rows sequences have. Null: each has all rows of its batch; else sequence b has the rows
// from cu_seqlens[b] to cu_seqlens[b + 1] of packed tensors, and `rows` at most.
struct sequences {
    const int *cu_seqlens;
    int count, rows;

    DEVICE sequence_rows operator[](int number) const {
        if (!cu_seqlens)
            return {number, rows, 0, rows};
        const int first = cu_seqlens[number];
        return {0, cu_seqlens[count], first, cu_seqlens[number + 1] - first};
    }
};

// The matrix of one head; rows are `stride` elements apart.
template <typename element> struct matrix {
    element *first;
    i64 stride;

    // The rows `part` of head `head` of `heads`; `gap` unused elements follow each row.
    DEVICE matrix(element *tensor, const sequence_rows &part, i64 head, i64 heads, i64 columns,
                  bool rows_outside, i64 gap)
        : first(tensor +
                part.batch * part.rows * (heads * columns + (rows_outside ? gap : heads * gap)) +
                head * (rows_outside ? columns : part.rows * (columns + gap))),
          stride((rows_outside ? heads * columns : columns) + gap) {
        first += part.first * stride;
    }

    DEVICE element *row(i64 number) const {
        return first + number * stride;
    }
};

template <int lanes, typename real> DEVICE real group_max(real value) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const real other = __shfl_xor_sync(full_warp_mask, value, distance);
        value = other > value ? other : value;
    }
    return value;
}

template <int lanes, typename real> DEVICE real group_sum(real value) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(full_warp_mask, value, distance);
    return value;
}

template <typename real> constexpr real lowest = -1e30; // below every score

// How scores become probabilities: what a case may set beside its shape.
struct scoring {
    const float *sinks;           // one logit per head, or null
    int causal, window, soft_cap; // window and soft_cap: 0 for none
    float scale;                  // 0 selects 1 / sqrt(D)

    template <typename real> DEVICE real factor(int D) const {
        return scale > 0 ? scale : 1 / sqrt(static_cast<real>(D));
    }

    template <typename real> DEVICE real logit(real scaled) const {
        const real cap = soft_cap;
        return soft_cap > 0 ? cap * hyperbolic_tangent(scaled / cap) : scaled;
    }

    // Query `row` sees keys [begin, end).
    DEVICE int begin(int row, int S, int S_KV) const {
        return window > 0 ? max(row + S_KV - S - window + 1, 0) : 0;
    }

    DEVICE int end(int row, int S, int S_KV) const {
        return causal ? max(min(S_KV, row + S_KV - S + 1), 0) : S_KV;
    }

    // The sink joins a row's maximum and sum; what O is multiplied by.
    template <typename real> DEVICE real finish(real &row_max, real &sum, int head) const {
        real correction = 1;
        if (sinks) {
            const real sink = sinks[head], new_max = sink > row_max ? sink : row_max;
            correction = exponential(row_max - new_max);
            sum = sum * correction + exponential(sink - new_max);
            row_max = new_max;
        }
        return sum == 0 ? 0 : correction / sum; // 0: no key is visible
    }
};

#endif

constexpr int queries = 4; // per block; the grids in template.json depend on it

// The scores of all queries with one key.
template <typename real>
DEVICE void scores_of_key(real (&scores)[queries], const real (&query_smem)[queries][256],
                          const u16 *key_gmem, int D, bool is_bf16) {
#pragma unroll
    for (int r = 0; r < queries; ++r)
        scores[r] = 0;
    for (int d = 0; d < D; d += 8) {
        const eight_elements key = *reinterpret_cast<const eight_elements *>(key_gmem + d);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const real element = widen(key.elements[e], is_bf16);
#pragma unroll
            for (int r = 0; r < queries; ++r)
                scores[r] += query_smem[r][d + e] * element;
        }
    }
}

template <typename real, typename output, typename log_output>
DEVICE void few_queries(const u16 *q, const u16 *k, const u16 *v, output *o, log_output *lse, int H,
                        int H_KV, const sequences &queries_of, const sequences &keys_of, int D,
                        int DV, bool is_bf16, bool rows_outside, int gap, const scoring &scoring) {
    __shared__ real query_smem[queries][256];
    __shared__ real probability_smem[queries][threads];
    __shared__ real scratch_smem[queries][threads]; // exchanged between warps, then between threads
    const int tiles = (queries_of.rows + queries - 1) / queries, batch = blockIdx.x / tiles / H;
    const int head = blockIdx.x / tiles % H, kv_head = head / (H / H_KV);
    const int first_row = blockIdx.x % tiles * queries;
    const sequence_rows q_rows = queries_of[batch], k_rows = keys_of[batch];
    const int S = q_rows.count, S_KV = k_rows.count;
    const matrix<const u16> q_gmem(q, q_rows, head, H, D, rows_outside, gap);
    const matrix<const u16> k_gmem(k, k_rows, kv_head, H_KV, D, rows_outside, gap);
    const matrix<const u16> v_gmem(v, k_rows, kv_head, H_KV, DV, rows_outside, 0);
    const matrix<output> o_gmem(o, q_rows, head, H, DV, rows_outside, 0);
    const int warp = threadIdx.x / 32;
    const real factor = scoring.factor<real>(D);

    for (int i = threadIdx.x; i < queries * D; i += threads) {
        const int r = i / D, row = first_row + r;
        query_smem[r][i % D] = row < S ? widen(q_gmem.row(row)[i % D], is_bf16) : 0.0f;
    }
    // Panels of 128 columns of O, each with probabilities of its own.
    for (int first_column = 0; first_column < DV; first_column += threads) {
        const int width = min(threads, DV - first_column);
        const int column = threadIdx.x % width, column_group = threadIdx.x / width;
        const int column_groups = threads / width;
        real row_max[queries], sum[queries], o_sum[queries];
        int begin[queries], end[queries], last_end = 0; // each query's visible keys
        int first_begin = S_KV;
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            const int row = first_row + r;
            begin[r] = scoring.begin(row, S, S_KV);
            end[r] = row >= S ? 0 : scoring.end(row, S, S_KV);
            first_begin = min(first_begin, begin[r]);
            last_end = max(last_end, end[r]);
            row_max[r] = lowest<real>;
            sum[r] = o_sum[r] = 0;
        }
        for (int first_key = first_begin; first_key < last_end; first_key += threads) {
            const int key = first_key + threadIdx.x;
            real scores[queries];
            __syncthreads(); // the queries are loaded, and the previous probabilities have been
                             // read
            scores_of_key(scores, query_smem, k_gmem.row(min(key, S_KV - 1)), D, is_bf16);
#pragma unroll
            for (int r = 0; r < queries; ++r) {
                scores[r] = key >= begin[r] && key < end[r] ? scoring.logit(scores[r] * factor)
                                                            : lowest<real>;
                const real chunk_max = group_max<32>(scores[r]);
                if (threadIdx.x % 32 == 0)
                    scratch_smem[r][warp] = chunk_max;
            }
            __syncthreads(); // every warp's maximum is written
#pragma unroll
            for (int r = 0; r < queries; ++r) {
                real new_max = row_max[r];
                for (int w = 0; w < warps; ++w)
                    new_max = scratch_smem[r][w] > new_max ? scratch_smem[r][w] : new_max;
                const real probability =
                    key >= begin[r] && key < end[r] ? exponential(scores[r] - new_max) : 0;
                const real correction = exponential(row_max[r] - new_max);
                probability_smem[r][threadIdx.x] = probability;
                sum[r] = sum[r] * correction + probability;
                o_sum[r] *= correction;
                row_max[r] = new_max;
            }
            __syncthreads(); // the probabilities of these keys are written
            for (int n = column_group;
                 column_group < column_groups && n < min(threads, last_end - first_key);
                 n += column_groups) {
                const real element =
                    widen(v_gmem.row(first_key + n)[first_column + column], is_bf16);
#pragma unroll
                for (int r = 0; r < queries; ++r)
                    o_sum[r] += probability_smem[r][n] * element;
            }
        }
        __syncthreads(); // the last probabilities have been read
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            const real warp_row_sum = group_sum<32>(sum[r]);
            probability_smem[r][threadIdx.x] = warp_row_sum;
            scratch_smem[r][threadIdx.x] = o_sum[r];
        }
        __syncthreads(); // the warps' sums and partial O are written
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            real row_sum = 0, row_total = 0;
            if (r % column_groups != column_group || first_row + r >= S)
                continue;
            for (int w = 0; w < warps; ++w)
                row_sum += probability_smem[r][w * 32];
            for (int s = 0; s < column_groups; ++s)
                row_total += scratch_smem[r][s * width + column];
            const real o_factor = scoring.finish(row_max[r], row_sum, head);
            store(o_gmem.row(first_row + r) + first_column + column, row_total * o_factor, is_bf16);
            if (lse && first_column + column == 0)
                lse[(q_rows.batch * H + head) * q_rows.rows + q_rows.first + first_row + r] =
                    row_max[r] + logarithm(row_sum);
        }
        __syncthreads(); // the sums have been read
    }
}

#endif
// Attention in tiles of 64 queries of one head and 64 keys: products of tiles in shared memory, and
// an online softmax between them. Chunks of the operands are converted as they are stored in shared
// memory; the next chunk is loaded to registers while the current one is used.
#ifndef EVOTILE_ATTENTION_REFERENCE_TILES
#define EVOTILE_ATTENTION_REFERENCE_TILES

// Products of two tiles in shared memory by plain fused multiply-adds, in float or in double: for
// references, and for kernels without tensor cores. It needs no other file, so that a reference in
// the type `real`, which has types of its own for stored elements, can include it.
//
// Both operands are stored step by step: `a` has a row of M elements for each step of the sum, `b`
// a row of N, so that C[m][n] = sum over k of a[k][m] * b[k][n]. A thread sums a register tile of
// C: neighbouring rows, and columns in vectors of 16 bytes, which the threads of a tile row take in
// turn, so that their loads of `b` are free of bank conflicts.
//
//     real sums[8][4] = {};                           // 8 rows, 4 columns of 16 threads * 4
//     add_product<16, 4>(sums, a_smem + first_row, M, b_smem + tile_column<16, real>(thread, 0), N,
//     8);
//     ... sums[i][j] is C[first_row + i][tile_column<16, real>(thread, j)]
#ifndef EVOTILE_LIB_TILE_PRODUCT
#define EVOTILE_LIB_TILE_PRODUCT

// Elements of a 16-byte vector.
template <typename real> constexpr int vector_width = 16 / static_cast<int>(sizeof(real));

template <typename real, int count> struct alignas(count * sizeof(real)) real_vector {
    real values[count];
};

// The column of the tile that is a thread's j-th, if `threads` threads share a row of the tile.
template <int threads, typename real>
__device__ __forceinline__ int tile_column(int thread, int j) {
    constexpr int width = vector_width<real>;
    return (j / width * threads + thread) * width + j % width;
}

// Adds `steps` steps of the product to the first `used` columns of the thread's sums. `a_smem` is
// the thread's first row at the first step, `b_smem` its first column; both are aligned to 16
// bytes, or `a_smem` to `rows` elements if that is less. Pitches are in elements.
template <int threads, int used, typename real, int rows, int columns>
__device__ __forceinline__ void add_product(real (&sums)[rows][columns], const real *a_smem,
                                            int a_pitch, const real *b_smem, int b_pitch,
                                            int steps) {
    constexpr int b_width = vector_width<real>, a_width = rows < b_width ? rows : b_width;
    static_assert(used <= columns && used % b_width == 0 && rows % a_width == 0, "whole vectors");
#pragma unroll 2
    for (int k = 0; k < steps; ++k) {
        real_vector<real, a_width> a[rows / a_width];
        real_vector<real, b_width> b[used / b_width];
#pragma unroll
        for (int i = 0; i < rows / a_width; ++i)
            a[i] = reinterpret_cast<const real_vector<real, a_width> *>(a_smem + k * a_pitch)[i];
#pragma unroll
        for (int j = 0; j < used / b_width; ++j)
            b[j] = reinterpret_cast<const real_vector<real, b_width> *>(b_smem +
                                                                        k * b_pitch)[j * threads];
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < used; ++j)
                sums[i][j] +=
                    a[i / a_width].values[i % a_width] * b[j / b_width].values[j % b_width];
    }
}

#endif

// Scores of a block: a tile of tile_rows queries and tile_keys keys. A thread sums row_count
// neighbouring queries and every 16-byte vector of keys in row_threads; a warp has whole rows, so
// that it exchanges their maximum, sum and probabilities by itself.
constexpr int row_threads = 16, row_count = 8;
constexpr int tile_rows = threads / row_threads * row_count; // the grids depend on it: 64
constexpr int tile_keys = 64, warp_rows = 32 / row_threads * row_count;
constexpr int key_count = tile_keys / row_threads;        // of a thread's scores
constexpr int panel_columns = 128;                        // of O at a time, or half of them
constexpr int column_count = panel_columns / row_threads; // of a thread's O

static_assert(tile_rows == 64 && tile_keys == tile_rows,
              "half of the threads load a row of Q each");

// Operands of `steps` steps of a product: [d][query] and [d][key], or [key][d] of V.
template <typename real> struct chunk {
    static constexpr int steps = 64 / sizeof(real);
    static constexpr int units = steps / 8; // 16-byte loads of a thread
    real elements[steps * 128];
};

// Loads of a thread that are still to be stored in shared memory.
template <typename real> struct loaded {
    eight_elements units[chunk<real>::units];

    // Columns [d, d + steps) of a row of Q or K; zeros outside.
    DEVICE void load_columns(const matrix<const u16> &gmem, int row, int rows, int d) {
#pragma unroll
        for (int u = 0; u < chunk<real>::units; ++u)
            units[u] = row < rows
                           ? *reinterpret_cast<const eight_elements *>(gmem.row(row) + d + u * 8)
                           : eight_elements{};
    }

    // Rows [first, first + steps) of a panel of V, shared by the threads of the block. The panel
    // has `pitch` columns, 128 or 64, from column `first_column` on; zeros from column DV on.
    DEVICE void load_rows(const matrix<const u16> &gmem, int first, int rows, int first_column,
                          int pitch, int DV) {
#pragma unroll
        for (int u = 0; u < chunk<real>::units; ++u) {
            const int n = (u * threads + threadIdx.x) * 8;
            const int row = first + (pitch == 128 ? n / 128 : n / 64);
            const int column = first_column + (n & (pitch - 1));
            units[u] = n < chunk<real>::steps * pitch && row < rows && column < DV
                           ? *reinterpret_cast<const eight_elements *>(gmem.row(row) + column)
                           : eight_elements{};
        }
    }

    DEVICE void store_columns(chunk<real> &smem, bool is_bf16) const {
#pragma unroll
        for (int u = 0; u < chunk<real>::units; ++u)
#pragma unroll
            for (int e = 0; e < 8; ++e)
                smem.elements[(u * 8 + e) * threads + threadIdx.x] =
                    widen(units[u].elements[e], is_bf16);
    }

    DEVICE void store_rows(chunk<real> &smem, int pitch, bool is_bf16) const {
        constexpr int width = vector_width<real>;
#pragma unroll
        for (int u = 0; u < chunk<real>::units; ++u) {
            const int n = (u * threads + threadIdx.x) * 8;
            real_vector<real, width> vectors[8 / width];
#pragma unroll
            for (int e = 0; e < 8; ++e)
                vectors[e / width].values[e % width] = widen(units[u].elements[e], is_bf16);
#pragma unroll
            for (int v = 0; v < 8 / width; ++v)
                if (n < chunk<real>::steps * pitch)
                    reinterpret_cast<real_vector<real, width> *>(smem.elements + n)[v] = vectors[v];
        }
    }
};

// Turns a thread's scores into probabilities with regard to the maximum so far, and scales its O,
// whose maximum was another. Lane i of a row's lanes keeps the maximum and the sum of its i-th row.
template <typename real>
DEVICE void softmax_step(real (&scores)[row_count][key_count], real (&o)[row_count][column_count],
                         real &row_max, real &sum, int first_key, int first_row, int S, int S_KV,
                         real factor, const scoring &scoring) {
    const int lane = threadIdx.x % row_threads;
#pragma unroll
    for (int i = 0; i < row_count; ++i) {
        const int begin = scoring.begin(first_row + i, S, S_KV),
                  end = scoring.end(first_row + i, S, S_KV);
        const real old_max = __shfl_sync(full_warp_mask, row_max, i, row_threads);
        real new_max = old_max, tile_sum = 0;
#pragma unroll
        for (int j = 0; j < key_count; ++j) {
            const int key = first_key + tile_column<row_threads, real>(lane, j);
            scores[i][j] =
                key >= begin && key < end ? scoring.logit(scores[i][j] * factor) : lowest<real>;
            new_max = scores[i][j] > new_max ? scores[i][j] : new_max;
        }
        new_max = group_max<row_threads>(new_max);
#pragma unroll
        for (int j = 0; j < key_count; ++j) {
            const int key = first_key + tile_column<row_threads, real>(lane, j);
            scores[i][j] = key >= begin && key < end ? exponential(scores[i][j] - new_max) : 0;
            tile_sum += scores[i][j];
        }
        tile_sum = group_sum<row_threads>(tile_sum);
        if (new_max > old_max) {
            const real correction = exponential(old_max - new_max);
#pragma unroll
            for (int j = 0; j < column_count; ++j)
                o[i][j] *= correction;
            sum = lane == i ? sum * correction : sum;
        }
        sum = lane == i ? sum + tile_sum : sum;
        row_max = lane == i ? new_max : row_max;
    }
}

template <typename real, typename output, typename log_output>
DEVICE void tiled(const u16 *q, const u16 *k, const u16 *v, output *o, log_output *lse, int H,
                  int H_KV, const sequences &queries_of, const sequences &keys_of, int D, int DV,
                  bool is_bf16, bool rows_outside, int gap, const scoring &scoring) {
    constexpr int width = vector_width<real>, steps = chunk<real>::steps;
    constexpr int stage_keys = row_threads * width; // keys whose probabilities are stored at once
    constexpr int probability_pitch = warp_rows + width; // padded against bank conflicts
    __shared__ alignas(16) chunk<real> chunks_smem[2];
    __shared__ alignas(16) real probabilities_smem[warps][stage_keys * probability_pitch];
    const int tiles = (queries_of.rows + tile_rows - 1) / tile_rows;
    const int batch = blockIdx.x / tiles / H;
    const int head = blockIdx.x / tiles % H, kv_head = head / (H / H_KV);
    const sequence_rows q_rows = queries_of[batch], k_rows = keys_of[batch];
    const int S = q_rows.count, S_KV = k_rows.count;
    // The tiles share the rows equally, so that a block's share of the grid is its share of the
    // rows.
    const i64 tile = blockIdx.x % tiles;
    const int first_row = tile * S / tiles, end_row = (tile + 1) * S / tiles;
    if (first_row == end_row) // of fewer rows than tiles
        return;
    const matrix<const u16> q_gmem(q, q_rows, head, H, D, rows_outside, gap);
    const matrix<const u16> k_gmem(k, k_rows, kv_head, H_KV, D, rows_outside, gap);
    const matrix<const u16> v_gmem(v, k_rows, kv_head, H_KV, DV, rows_outside, 0);
    const matrix<output> o_gmem(o, q_rows, head, H, DV, rows_outside, 0);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % row_threads;
    const int tile_row = threadIdx.x / row_threads * row_count; // this thread's first query
    const real factor = scoring.factor<real>(D);
    // The tiles of keys that some query of the block sees, and the end of those of the warp's.
    const int first_tile = scoring.begin(first_row, S, S_KV) / tile_keys * tile_keys;
    const int last_end = scoring.end(end_row - 1, S, S_KV);
    const int warp_row = first_row + warp * warp_rows;
    const int warp_end =
        warp_row < end_row ? scoring.end(min(warp_row + warp_rows, end_row) - 1, S, S_KV) : 0;
    real *row_smem = probabilities_smem[warp] + tile_row % warp_rows;

    loaded<real> next;
    auto load_columns = [&](int first_key, int d) {
        if (threadIdx.x < tile_rows)
            next.load_columns(q_gmem, first_row + threadIdx.x, end_row, d);
        else
            next.load_columns(k_gmem, first_key + threadIdx.x - tile_rows, S_KV, d);
    };
    int buffer = 0, first_column = 0, pitch = 0; // of the panel of V and O
    auto exchange = [&](bool columns) {          // the next chunk becomes the current one
        buffer ^= 1;
        if (columns)
            next.store_columns(chunks_smem[buffer], is_bf16);
        else
            next.store_rows(chunks_smem[buffer], pitch, is_bf16);
        __syncthreads(); // the chunk is written, and the previous one has been read
    };

    // Panels of the columns of O, each with probabilities of its own.
    for (first_column = 0; first_column < DV; first_column += panel_columns) {
        pitch = DV - first_column > 64 ? panel_columns : 64;
        real row_max = lowest<real>, sum = 0, o_sums[row_count][column_count] = {};
        if (first_tile < last_end) {
            load_columns(first_tile, 0);
            exchange(true);
        }
        for (int first_key = first_tile; first_key < last_end; first_key += tile_keys) {
            real scores[row_count][key_count] = {};
            const bool visible = first_key < warp_end;
            for (int d = 0; d < D; d += steps) {
                const bool columns = d + steps < D;
                if (columns)
                    load_columns(first_key, d + steps);
                else
                    next.load_rows(v_gmem, first_key, S_KV, first_column, pitch, DV);
                if (visible)
                    add_product<row_threads, key_count>(
                        scores, chunks_smem[buffer].elements + tile_row, threads,
                        chunks_smem[buffer].elements + tile_rows + lane * width, threads, steps);
                exchange(columns);
            }
            if (visible)
                softmax_step(scores, o_sums, row_max, sum, first_key, first_row + tile_row, S, S_KV,
                             factor, scoring);
            const int keys = min(tile_keys, last_end - first_key);
#pragma unroll 1
            for (int n = 0; n < keys; n += steps) {
                if (visible && n % stage_keys == 0) {
                    __syncwarp(); // the warp has read the previous probabilities
#pragma unroll
                    for (int j = 0; j < key_count; ++j) {
                        if (j / width != n / stage_keys)
                            continue;
                        real *key_smem = row_smem + (lane * width + j % width) * probability_pitch;
#pragma unroll
                        for (int i = 0; i < row_count; ++i)
                            key_smem[i] = scores[i][j];
                    }
                    __syncwarp(); // they are written
                }
                const bool columns = n + steps >= keys;
                if (!columns)
                    next.load_rows(v_gmem, first_key + n + steps, S_KV, first_column, pitch, DV);
                else if (first_key + tile_keys < last_end)
                    load_columns(first_key + tile_keys, 0);
                const real *probabilities = row_smem + n % stage_keys * probability_pitch;
                const real *values = chunks_smem[buffer].elements + lane * width;
                const int key_end = min(steps, warp_end - first_key - n);
                if (pitch == panel_columns)
                    add_product<row_threads, column_count>(o_sums, probabilities, probability_pitch,
                                                           values, pitch, key_end);
                else
                    add_product<row_threads, column_count / 2>(
                        o_sums, probabilities, probability_pitch, values, pitch, key_end);
                exchange(columns);
            }
        }
#pragma unroll
        for (int i = 0; i < row_count; ++i) {
            const int row = first_row + tile_row + i;
            real total = __shfl_sync(full_warp_mask, sum, i, row_threads);
            real maximum = __shfl_sync(full_warp_mask, row_max, i, row_threads);
            const real inverse = scoring.finish(maximum, total, head);
            if (row >= end_row)
                continue;
#pragma unroll
            for (int j = 0; j < column_count; ++j) {
                const int column = first_column + tile_column<row_threads, real>(lane, j);
                if (column < DV && column - first_column < pitch)
                    store(o_gmem.row(row) + column, o_sums[i][j] * inverse, is_bf16);
            }
            if (lse && lane == 0 && first_column == 0)
                lse[(q_rows.batch * H + head) * q_rows.rows + q_rows.first + row] =
                    maximum + logarithm(total);
        }
    }
}

#endif

extern "C" __global__ void __launch_bounds__(threads, 2)
    attention_reference(const u16 *q, const u16 *k, const u16 *v, const float *sinks, double *o,
                        double *lse, const int *cu_seqlens_q, const int *cu_seqlens_k, int B, int H,
                        int H_KV, int S, int S_KV, int D, int DV, int causal, int window,
                        int soft_cap, int is_bf16, int rows_outside, int gap, float scale) {
    tiled<double>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D, DV,
                  is_bf16, rows_outside, gap, scoring{sinks, causal, window, soft_cap, scale});
}

extern "C" __global__ void __launch_bounds__(threads)
    attention_reference_of_few(const u16 *q, const u16 *k, const u16 *v, const float *sinks,
                               double *o, double *lse, const int *cu_seqlens_q,
                               const int *cu_seqlens_k, int B, int H, int H_KV, int S, int S_KV,
                               int D, int DV, int causal, int window, int soft_cap, int is_bf16,
                               int rows_outside, int gap, float scale) {
    few_queries<double>(q, k, v, o, lse, H, H_KV, {cu_seqlens_q, B, S}, {cu_seqlens_k, B, S_KV}, D,
                        DV, is_bf16, rows_outside, gap,
                        scoring{sinks, causal, window, soft_cap, scale});
}
