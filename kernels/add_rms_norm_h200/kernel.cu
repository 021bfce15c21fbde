// kernel.cu: add_rms_norm, exported by evotile. Generated: do not edit.
//
// rows in the registers of some threads, a block or a cluster; each row is read and written once
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it.
//
// replay: evotile replay /tmp/k27/add_rms_norm_h200

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 1
#endif
#if EVOTILE_VARIANT == 1
#include "variant_1.h"
#endif
#if EVOTILE_VARIANT == 2
#include "variant_2.h"
#endif

// Read back from the loaded module: proof that it is this genome's. nvcc takes `extern "C"` without
// braces for a declaration.
extern "C" {
__device__ unsigned long long evotile_genome = EVOTILE_GENOME;
}

// Residual add and RMS norm of rows, the step between two layers of a transformer:
//
//   x[r][c] += residual[r][c]                                          in place
//   y[r][c] = weight[c] x[r][c] / sqrt(mean over row r of x^2 + EPSILON)
//
//   x, residual, y [ROWS, COLS], weight [COLS]   bfloat16 if BF16, else half
//
// ROW_THREADS threads of a block, or all threads of a cluster, have a row: they load their vectors
// of it, add, store x, reduce the squares, and scale what they kept in registers.

// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH

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

// 2^x to about 2 units in the last place; 0 for minus infinity; results below 2^-126 become 0.
DEVICE float exp2_fast(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// exp2 to about 1e-4 of its value on the FMA units instead of the MUFU unit: 2^x = 2^i 2^f with i
// the nearest integer, which the addition leaves in the low bits of its sum; 2^f by a minimax
// polynomial (relative error) on [-1/2, 1/2]. Never below 2^-126. For x up to 127.
DEVICE float exp2_polynomial(float x) {
    x = fmaxf(x, -126.0f);
    const float shifted = x + 12582912.0f; // 1.5 * 2^23
    const float f = x - (shifted - 12582912.0f);
    const float power = ((0.0555049f * f + 0.2402265f) * f + 0.6931472f) * f + 1.0f;
    return __int_as_float(__float_as_int(power) + (__float_as_int(shifted) << 23));
}

// The logarithm of x to base 2, to about 2^-22 where it is near 0; minus infinity for 0.
DEVICE float log2_fast(float x) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// 1/x to about 1 unit in the last place.
DEVICE float reciprocal_fast(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// The hyperbolic tangent to about 2e-7, an absolute error. (tanh.approx errs by 2^-11 of its value,
// which is too much where a large factor follows.)
DEVICE float tanh_fast(float x) {
    return 1.0f - 2.0f * reciprocal_fast(1.0f + exp2_fast(x * 2.8853900817779268f)); // 2 log2(e)
}

// 1/sqrt(x) to about 2^-22.9 of its value; infinity for 0 and below 2^-126.
DEVICE float rsqrt_fast(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

#endif
// Neighbouring elements as the words that one load moves. They stay packed until they are used: if
// elements were unpacked where they are loaded, two of them would take two registers instead of
// one, and a thread would wait for each load before it issues the next one.
#ifndef EVOTILE_LIB_PACKED
#define EVOTILE_LIB_PACKED

// Conversions between the elements of tensors and float, selected by the type of the element.
#ifndef EVOTILE_LIB_WIDEN
#define EVOTILE_LIB_WIDEN

// Conversions between bfloat16 and float; half.cuh has the same for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT


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

DEVICE float widen(f16 value) {
    return half_to_float(value);
}

DEVICE float widen(bf16 value) {
    return bfloat_to_float(value);
}

DEVICE float widen(float value) {
    return value;
}

// Rounds to nearest even.
template <typename element> DEVICE element narrow(float value);

template <> DEVICE f16 narrow<f16>(float value) {
    return float_to_half(value);
}

template <> DEVICE bf16 narrow<bf16>(float value) {
    return float_to_bfloat(value);
}

template <> DEVICE float narrow<float>(float value) {
    return value;
}

// The same of two floats, packed: `low` in bits 0-15, `high` in bits 16-31.
template <typename element> DEVICE u32 narrow_pair(float low, float high);

template <> DEVICE u32 narrow_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 narrow_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

#endif

// The unsigned type of as many bytes as a vector, which one instruction moves.
template <int bytes> struct vector_bits;
template <> struct vector_bits<2> { using type = u16; };
template <> struct vector_bits<4> { using type = u32; };
template <> struct vector_bits<8> { using type = uint2; };
template <> struct vector_bits<16> { using type = uint4; };

// `width` elements: a power of two, and at most 16 bytes.
template <typename element, int width> struct alignas(width * sizeof(element)) packed {
    static constexpr int bytes = width * sizeof(element);
    static constexpr bool in_pairs = sizeof(element) == 2 && width > 1; // two elements a word
    using bits = typename vector_bits<bytes>::type;
    using word = conditional_t<bytes == 2, u16, u32>;

    word words[bytes / sizeof(word)];

    DEVICE element get(int i) const {
        if constexpr (in_pairs)
            return __builtin_bit_cast(element, static_cast<u16>(words[i / 2] >> i % 2 * 16));
        else
            return __builtin_bit_cast(element, words[i]);
    }

    // The same element in every place.
    static DEVICE packed of(element value) {
        packed result;
#pragma unroll
        for (word &each : result.words)
            if constexpr (in_pairs)
                each = __builtin_bit_cast(u16, value) * 0x10001u;
            else
                each = __builtin_bit_cast(word, value);
        return result;
    }

    DEVICE void set(int i, element value) {
        if constexpr (in_pairs) {
            const u32 own = static_cast<u32>(__builtin_bit_cast(u16, value)) << i % 2 * 16;
            words[i / 2] = (words[i / 2] & 0xffff0000u >> i % 2 * 16) | own;
        } else {
            words[i] = __builtin_bit_cast(word, value);
        }
    }

    // Rounded to nearest even.
    static DEVICE packed rounded(const float (&values)[width]) {
        packed result;
        if constexpr (in_pairs) {
#pragma unroll
            for (int i = 0; i < width; i += 2)
                result.words[i / 2] = narrow_pair<element>(values[i], values[i + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < width; ++i)
                result.words[i] = __builtin_bit_cast(word, narrow<element>(values[i]));
        }
        return result;
    }
};

#endif
// Reductions over the threads that share a row: lanes of a warp, warps of a block, or the blocks of
// a cluster. What is reduced is a struct of floats, such as row_sum. Every thread of a row gets the
// same bits: the result of a tree whose shape depends on nothing but the template's arguments.
#ifndef EVOTILE_LIB_ROW_REDUCE
#define EVOTILE_LIB_ROW_REDUCE

// Thread block clusters: blocks that run concurrently and can access each other's shared memory.
// sm_90 and later; a kernel sets its cluster size by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER


DEVICE u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE u32 cluster_size() {
    u32 size;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

// The shared::cluster address of `address` in the shared memory of block `rank`.
DEVICE u32 map_to_block(u32 address, u32 rank) {
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

// Stores a word to an address from map_to_block. Visible to that block after cluster_arrive and
// cluster_wait.
DEVICE void store_shared_cluster(u32 mapped, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(mapped), "f"(value) : "memory");
}

// Loads 8 or 16 bytes, aligned to their size, from an address from map_to_block.
DEVICE float2 load_shared_cluster_8(u32 mapped) {
    float2 value;
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(value.x), "=f"(value.y)
                 : "r"(mapped)
                 : "memory");
    return value;
}

DEVICE float4 load_shared_cluster_16(u32 mapped) {
    float4 value;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(mapped)
                 : "memory");
    return value;
}

// A split barrier of all threads of the cluster: writes before the arrive are visible after the
// wait.
DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}

// The same without the order of writes: it says only that the thread has come so far. (A release
// waits until the whole GPU sees the thread's earlier writes.)
DEVICE void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory");
}

DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

#endif
// Shared memory addresses, loads.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM


// The 32-bit shared-state-space address that shared memory instructions take.
DEVICE u32 smem_address(const void *address) {
    return static_cast<u32>(__cvta_generic_to_shared(address));
}

// Loads 4 or 16 bytes, aligned to their size.
DEVICE u32 load_smem_4(u32 address) {
    u32 value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

DEVICE uint4 load_smem_16(u32 address) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

#endif

struct row_sum {
    static constexpr bool symmetric = true; // a.merge(b) and b.merge(a) give the same bits
    float value = 0.0f;                     // of no element

    DEVICE void merge(const row_sum &other) {
        value += other.value;
    }
};

// A partial result as words, as shuffles and stores to other blocks move it.
template <typename partial> struct partial_words { float values[sizeof(partial) / sizeof(float)]; };

// Merges the partial results of `width` neighbouring lanes; all of them get the result.
template <int width, typename partial> DEVICE partial merge_lanes(partial own) {
    using words = partial_words<partial>;
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2) {
        words moved = __builtin_bit_cast(words, own);
#pragma unroll
        for (float &word : moved.values)
            word = __shfl_xor_sync(full_warp_mask, word, step);
        const partial other = __builtin_bit_cast(partial, moved);
        if constexpr (partial::symmetric) {
            own.merge(other);
        } else { // both lanes merge in one order, so that they get the same bits
            partial low = threadIdx.x & step ? other : own;
            low.merge(threadIdx.x & step ? own : other);
            own = low;
        }
    }
    return own;
}

// The shared memory of a block's reductions. A block has threads / row_threads rows; with `cluster`
// > 1 all its threads, and those of the cluster's other blocks, have one row.
template <typename partial, int threads, int row_threads, int cluster = 1> struct row_reduction {
    static constexpr int lanes = min_of(row_threads, 32);
    static constexpr int row_warps = max_of(row_threads / 32, 1);
    static constexpr int row_partials = cluster * row_warps;
    static_assert(threads % row_threads == 0, "a block has whole rows");
    static_assert(cluster == 1 || row_threads == threads, "all threads of a cluster have one row");

    // Two sets, in turns: who writes one has seen a barrier since all have read it.
    partial_words<partial> partials[2][cluster * threads / 32];

    // Called once by all threads, before the first reduction.
    DEVICE void begin() {
        if constexpr (cluster > 1)
            cluster_arrive(); // this block runs: others may write to its shared memory
    }

    // Reduces what all threads of each row have. Called by all threads of the block, or cluster;
    // `turn` counts the calls from 0.
    DEVICE partial reduce(partial own, int turn) {
        own = merge_lanes<lanes>(own);
        if constexpr (row_partials == 1)
            return own;
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if constexpr (cluster > 1) {
            if (turn == 0)
                cluster_wait(); // for begin() of all blocks
            const u32 place = smem_address(&partials[turn % 2][cluster_rank() * row_warps + warp]);
            const partial_words<partial> words = __builtin_bit_cast(partial_words<partial>, own);
            constexpr int word_count = sizeof words / sizeof(float);
            if (lane < cluster)
#pragma unroll
                for (int word = 0; word < word_count; ++word)
                    store_shared_cluster(map_to_block(place, lane) + 4 * word, words.values[word]);
            cluster_arrive();
            cluster_wait(); // every warp of the cluster has written its partial result
        } else {
            if (lane == 0)
                partials[turn % 2][warp] = __builtin_bit_cast(partial_words<partial>, own);
            __syncthreads(); // every warp has written its partial result
        }
        const partial_words<partial> *row =
            partials[turn % 2] + (cluster > 1 ? 0 : warp / row_warps * row_warps);
        partial merged{};
#pragma unroll
        for (int i = 0; i < row_partials; i += 32) // every group of lanes has all of them
            merged.merge(__builtin_bit_cast(partial, row[(i + lane) % row_partials]));
        return merge_lanes<min_of(row_partials, 32)>(merged);
    }
};

#endif
// Rows of a packed matrix in vectors that are aligned in memory wherever a row begins: where the
// number of columns is no multiple of the vector, the first vector begins before the row, at a
// negative column, and the last one ends behind it. Such a vector is moved element by element.
//
// `aligned` promises that the number of columns is a multiple of the vector: then every vector is
// inside of the row, or outside, and a load has one test.
#ifndef EVOTILE_LIB_ROW_VECTORS
#define EVOTILE_LIB_ROW_VECTORS


// The column where the first vector of a row begins: 0, or negative. `width` is a power of two, and
// the matrix begins at a multiple of a vector.
template <int width, bool aligned = false> DEVICE int first_vector_column(i64 row, int columns) {
    return aligned ? 0 : -static_cast<int>(row * columns & (width - 1));
}

template <int width, bool aligned> DEVICE bool is_whole_vector(int column, int columns) {
    return aligned ? column < columns : column >= 0 && column + width <= columns;
}

// Loads the vector at `column` of a row with `columns` elements; those outside of the row are
// `other`. streaming: the row is not read again, and leaves the caches first.
template <int width, bool streaming, bool aligned = false, typename element>
DEVICE packed<element, width> load_row_vector(const element *row, int column, int columns,
                                              element other = element{}) {
    using elements = packed<element, width>;
    using bits = typename elements::bits;
    elements loaded = elements::of(other);
    if (is_whole_vector<width, aligned>(column, columns)) {
        const bits *from = reinterpret_cast<const bits *>(row + column);
        if constexpr (streaming)
            loaded = __builtin_bit_cast(elements, __ldcs(from));
        else
            loaded = __builtin_bit_cast(elements, *from);
    } else if constexpr (!aligned) {
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                loaded.set(i, row[column + i]);
    }
    return loaded;
}

template <int width, bool streaming, bool aligned = false, typename element>
DEVICE void store_row_vector(element *row, int column, int columns,
                             const packed<element, width> &value) {
    using bits = typename packed<element, width>::bits;
    if (is_whole_vector<width, aligned>(column, columns)) {
        bits *to = reinterpret_cast<bits *>(row + column);
        if constexpr (streaming)
            __stcs(to, __builtin_bit_cast(bits, value));
        else
            *to = __builtin_bit_cast(bits, value);
    } else if constexpr (!aligned) {
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                row[column + i] = value.get(i);
    }
}

// The vector at `column` of an array with one element for each column. It is aligned only if
// `columns` is a multiple of the width.
template <int width, bool aligned, typename element>
DEVICE packed<element, width> load_column_vector(const element *from, int column, int columns) {
    if constexpr (aligned) {
        return load_row_vector<width, false, true>(from, column, columns);
    } else {
        packed<element, width> loaded = packed<element, width>::of(element{});
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                loaded.set(i, from[column + i]);
        return loaded;
    }
}

#endif

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(CLUSTER) || !defined(VECTOR) ||         \
    !defined(HELD) || !defined(SUMS) || !defined(CTAS_PER_SM) || !defined(AHEAD) ||                \
    !defined(MIN_CTAS) || !defined(WEIGHT) || !defined(STREAMING)
#error "a gene of add_rms_norm is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;         // threads per block
constexpr int row_threads = ROW_THREADS; // threads of a block that share a row
constexpr int cluster = CLUSTER;         // blocks that share a row
constexpr int width = VECTOR;            // elements per load
constexpr int held = HELD;               // vectors of a row that a thread keeps in registers
constexpr bool loops = CTAS_PER_SM > 0;  // over rows
constexpr int min_ctas = max_of(CTAS_PER_SM, MIN_CTAS);
constexpr bool ahead = AHEAD; // the next row is loaded before the current one is reduced
constexpr bool rounded_sums = SUMS == SUMS_ROUNDED;
constexpr bool weight_once = WEIGHT == WEIGHT_ONCE, weight_late = WEIGHT == WEIGHT_LATE;
constexpr bool stream_loads = STREAMING == STREAMING_LOADS || STREAMING == STREAMING_BOTH;
constexpr bool stream_stores = STREAMING == STREAMING_STORES || STREAMING == STREAMING_BOTH;

// ---- Derived sizes and shared memory ----

using element = conditional_t<BF16, bf16, f16>;
using elements = packed<element, width>;
constexpr int block_rows = threads / row_threads;
constexpr int stride = cluster * row_threads * width; // columns that a row's threads load at once

#if CLUSTER > 1
#define IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTER
#endif

__shared__ row_reduction<row_sum, threads, row_threads, cluster> reduction_smem;

// ---- Steps ----

// Where a thread works: its row, and its first column there.
template <bool aligned> struct place {
    i64 start;           // of the row in the matrix
    int column, columns; // a row beyond the last one has no columns

    DEVICE place(i64 group, int thread, int ROWS, int COLS) {
        const i64 row = group * block_rows + threadIdx.x / row_threads;
        start = row * COLS;
        columns = row < ROWS ? COLS : 0;
        column = first_vector_column<width, aligned>(row, COLS) + thread * width;
    }
};

struct inputs {
    elements x[held], residual[held];

    template <bool aligned>
    DEVICE void load(const element *x_gmem, const element *residual_gmem,
                     const place<aligned> &at) {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int column = at.column + i * stride;
            x[i] = load_row_vector<width, stream_loads, aligned>(x_gmem + at.start, column,
                                                                 at.columns);
            residual[i] = load_row_vector<width, stream_loads, aligned>(residual_gmem + at.start,
                                                                        column, at.columns);
        }
    }
};

struct weights {
    elements values[held];

    template <bool aligned>
    DEVICE void load(const element *weight_gmem, int first_column, int COLS) {
#pragma unroll
        for (int i = 0; i < held; ++i)
            values[i] =
                load_column_vector<width, aligned>(weight_gmem, first_column + i * stride, COLS);
    }
};

// What a thread keeps of a vector of sums: floats, or, in half of the registers, what it stores.
struct sums {
    float exact[rounded_sums ? 1 : width];
    elements stored;

    DEVICE float get(int i) const {
        return rounded_sums ? widen(stored.get(i)) : exact[i];
    }
};

// The sums, rounded in `stored`; adds the squares of what is kept.
DEVICE sums add_residual(const elements &x, const elements &residual, row_sum &squares) {
    float sum[width];
    sums result;
#pragma unroll
    for (int i = 0; i < width; ++i) {
        sum[i] = widen(x.get(i)) + widen(residual.get(i));
        if constexpr (!rounded_sums)
            result.exact[i] = sum[i];
    }
    result.stored = elements::rounded(sum);
#pragma unroll
    for (int i = 0; i < width; ++i)
        squares.value += result.get(i) * result.get(i);
    return result;
}

DEVICE elements scaled(const sums &x, const elements &weight, float scale) {
    float y[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
        y[i] = x.get(i) * scale * widen(weight.get(i));
    return elements::rounded(y);
}

DEVICE elements scaled(const elements &x, const elements &weight, float scale) {
    float y[width];
#pragma unroll
    for (int i = 0; i < width; ++i)
        y[i] = widen(x.get(i)) * scale * widen(weight.get(i));
    return elements::rounded(y);
}

// ---- The schedule ----

// aligned: COLS is a multiple of the vector. The launches select it, so that no thread has
// registers for the edges of rows that have none.
template <bool aligned>
__global__ void IN_CLUSTER __launch_bounds__(threads, min_ctas)
    add_rms_norm(element *x, const element *__restrict__ residual,
                 const element *__restrict__ weight, element *__restrict__ y, int ROWS, int COLS,
                 float EPSILON) {
    const int groups = (ROWS + block_rows - 1) / block_rows; // of rows that a block has at once
    const int step = gridDim.x / cluster, rank = blockIdx.x % cluster;
    const int thread = rank * row_threads + threadIdx.x % row_threads;
    const float inverse_columns = reciprocal_fast(COLS); // while loads are in flight
    inputs next;
    weights weight_rmem;

    reduction_smem.begin();
    if constexpr (weight_once) // rows begin at whole vectors: every row has the same columns
        weight_rmem.load<aligned>(weight, thread * width, COLS);
    if constexpr (ahead)
        next.load(x, residual, place<aligned>(blockIdx.x / cluster, thread, ROWS, COLS));
    int turn = 0;
    for (int group = blockIdx.x / cluster; group < groups; group += step, ++turn) {
        const place<aligned> at(group, thread, ROWS, COLS);
        inputs own;
        if constexpr (ahead) {
            own = next;
            next.load(x, residual,
                      place<aligned>(static_cast<i64>(group) + step, thread, ROWS, COLS));
        } else {
            own.load(x, residual, at);
        }
        if constexpr (!weight_once && !weight_late)
            weight_rmem.load<aligned>(weight, at.column, COLS);

        sums sums_rmem[held];
        row_sum squares;
#pragma unroll
        for (int i = 0; i < held; ++i) {
            sums_rmem[i] = add_residual(own.x[i], own.residual[i], squares);
            store_row_vector<width, stream_stores, aligned>(x + at.start, at.column + i * stride,
                                                            at.columns, sums_rmem[i].stored);
        }
#pragma unroll 1
        for (int column = at.column + held * stride; column < at.columns; column += stride) {
            const elements old =
                load_row_vector<width, stream_loads, aligned>(x + at.start, column, at.columns);
            const elements added = load_row_vector<width, stream_loads, aligned>(
                residual + at.start, column, at.columns);
            store_row_vector<width, false, aligned>(x + at.start, column, at.columns,
                                                    add_residual(old, added, squares).stored);
        }
        squares = reduction_smem.reduce(squares, turn);
        const float scale = rsqrt_fast(squares.value * inverse_columns + EPSILON);

        if constexpr (weight_late)
            weight_rmem.load<aligned>(weight, at.column, COLS);
#pragma unroll
        for (int i = 0; i < held; ++i)
            store_row_vector<width, stream_stores, aligned>(
                y + at.start, at.column + i * stride, at.columns,
                scaled(sums_rmem[i], weight_rmem.values[i], scale));
#pragma unroll 1
        for (int column = at.column + held * stride; column < at.columns; column += stride)
            store_row_vector<width, stream_stores, aligned>(
                y + at.start, column, at.columns,
                // What is not kept is read again, as this thread stored it.
                scaled(load_row_vector<width, false, aligned>(x + at.start, column, at.columns),
                       load_column_vector<width, aligned>(weight, column, COLS), scale));
        if constexpr (!loops)
            break;
    }
}

#ifndef __CUDACC_RTC__
// nvcc compiles kernels that are C++ templates only where host code names them.
const void *evotile_kernel(int index) {
    const void *const kernels[] = {EVOTILE_KERNELS};
    return kernels[index];
}
#endif
