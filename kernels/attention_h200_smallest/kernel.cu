// kernel.cu: attention_fwd, frozen by evotile. Written by a program: do not edit.
//
// FlashAttention forward, half or bf16: O = softmax(scale Q K^T) V, optionally causal, with
// grouped heads, and LSE
//
// genome:
//   BLOCK_M=16,BLOCK_N=64,WARPS=2,WARPS_KV=2,COPY=joint,STAGES=3,KV_SPLITS=1,COMBINE=kernel,
//   SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,LAZY_RESCALE=0,MIN_CTAS=4,PERSISTENT=0,
//   ORDER=heads
// for D=64,CAUSAL=0,BF16=0 only
// key: 56c04f5e27e38cede6583fbbc3f2274d (its parts are in manifest.json)
// device: NVIDIA H200, driver 13.0, compiled for sm_90 by NVRTC 13.0
// latency of a call:
//   B=1,H=1,S=128,D=64               p50 2.77 us, p90 2.78 us
// replay: evotile replay kernels/attention_h200_smallest

#define BLOCK_M 16
#define BLOCK_N 64
#define WARPS 2
#define WARPS_KV 2
#define COPY_PLAIN 0
#define COPY_JOINT 1
#define COPY_APART 2
#define COPY COPY_JOINT
#define STAGES 3
#define KV_SPLITS 1
#define COMBINE_KERNEL 3
#define COMBINE_EARLY 4
#define COMBINE_CLUSTER 5
#define COMBINE COMBINE_KERNEL
#define SWIZZLE_NONE 6
#define SWIZZLE_XOR 7
#define SWIZZLE_PAD 8
#define SWIZZLE SWIZZLE_XOR
#define ACC_QK_F32 9
#define ACC_QK_F16 10
#define ACC_QK ACC_QK_F32
#define ACC_PV_F32 9
#define ACC_PV_F16 10
#define ACC_PV ACC_PV_F32
#define Q_IN_REGISTERS 1
#define LAZY_RESCALE 0
#define MIN_CTAS 4
#define PERSISTENT 0
#define ORDER_HEADS 11
#define ORDER_TILES 12
#define ORDER ORDER_HEADS
#define D 64
#define CAUSAL 0
#define BF16 0

// Read back from the loaded module: proof that it is this genome's.
extern "C" {
__device__ unsigned long long evotile_genome = 0xb93c4ab698df3cfbull;
}

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

// Blocks of a cluster, which run at the same time and reach each other's shared memory. sm_90 and
// later; a kernel says how many by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER

// Types and constants that the device code needs without any system header.
#ifndef EVOTILE_LIB_TYPES
#define EVOTILE_LIB_TYPES

// A function of the device, always inlined: what it is given by reference stays in registers.
#define DEVICE __device__ __forceinline__

using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// An IEEE half as it lies in memory. Arithmetic is done in float; half.cuh converts.
struct f16 {
    u16 bits;
};

// A bfloat16: the upper half of a float.
struct bf16 {
    u16 bits;
};

// `choose<condition, A, B>` is A if the condition holds, else B.
template <bool condition, typename A, typename B> struct choose_type { using type = A; };
template <typename A, typename B> struct choose_type<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using choose = typename choose_type<condition, A, B>::type;

constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
constexpr u32 full_warp = 0xffffffffu;

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

// The cluster-wide address of what lies at place_smem in the shared memory of block `rank`.
DEVICE u32 map_to_block(u32 place_smem, u32 rank) {
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(mapped)
                 : "r"(place_smem), "r"(rank));
    return mapped;
}

// Stores a word where map_to_block says; cluster_arrive and cluster_wait make it seen there.
DEVICE void store_to_block(u32 mapped, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(mapped), "f"(value) : "memory");
}

// A barrier of all threads of the cluster, in two halves; what was written before the first is seen
// after the second.
DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}

DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

#endif
// Copies from global to shared memory that run while the thread goes on. A thread's copies are
// gathered into groups by commit; waiting is by group, and covers only the thread's own copies: a
// barrier must follow before other threads' copies are read. sm_80 and later.
#ifndef EVOTILE_LIB_CP_ASYNC
#define EVOTILE_LIB_CP_ASYNC

// Addresses of shared memory.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM


// The 32-bit address of a place in the block's shared memory, as instructions take it.
DEVICE u32 smem_address(const void *place_smem) {
    return static_cast<u32>(__cvta_generic_to_shared(place_smem));
}

#endif

// Stores 16 bytes to shared memory at once. Aligned to 16.
DEVICE void store_smem_16(u32 target_smem, uint4 value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(target_smem), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

// Copies 16 bytes past L1, or, if not `inside`, writes 16 zero bytes and reads nothing. Both
// addresses are aligned to 16.
DEVICE void cp_async_16(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// Closes the group of copies that this thread has issued since the last commit; it may be empty.
DEVICE void cp_async_commit() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}

// Waits until at most `pending` of this thread's latest groups are unfinished.
template <int pending> DEVICE void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

#endif
// Programmatic dependent launch: a kernel whose launch is "early" (template.json) begins while the
// one before it still runs, and waits for it where it must. sm_90 and later.
#ifndef EVOTILE_LIB_DEPENDENT
#define EVOTILE_LIB_DEPENDENT


// Waits until the launch before has ended and what it wrote is visible.
DEVICE void grid_dependency_wait() {
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

// The launch after may begin, once every block has said so or has ended.
DEVICE void grid_dependents_launch() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

#endif
// What depends on the type of a tensor's 16-bit elements, f16 or bf16, by that type.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

// Conversions between bfloat16 and float, as half.cuh has them for halves.
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

// Two floats rounded to `element` and packed, the lower half first: pack_pair<bf16>(low, high).
template <typename element> DEVICE u32 pack_pair(float low, float high);

template <> DEVICE u32 pack_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 pack_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

#endif
// Fragments of the tensor-core products of lib/mma.cuh, filled by one warp from tiles of halves in
// shared memory (lib/tile.cuh) or from a matrix in global memory; and what is in an accumulator.
// `step` counts 16 columns.
#ifndef EVOTILE_LIB_FRAGMENTS
#define EVOTILE_LIB_FRAGMENTS

// Arithmetic on whole numbers where the compiler needs a hint.
#ifndef EVOTILE_LIB_INTEGER
#define EVOTILE_LIB_INTEGER


// a * b in 64 bits by one multiplication. (Of 64-bit operands the compiler forgets that they were
// once shorter, and takes three.)
DEVICE i64 multiply_wide(int a, int b) {
    i64 result;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

// n / d, where inverse = (2^31 - 1) / d and 0 <= n, (n + 1) * d <= 2^31. Exact: 2^31 is
// d * inverse + r with 1 <= r <= d, so the product is short of (n + 1) / d by (n + 1) r / (2^31 d),
// which is more than 0 and at most 1 / d.
DEVICE int divide(int n, int inverse) {
    return static_cast<int>(__umulhi(2u * n + 2u, inverse));
}

#endif
// Loads of four 8x8 tiles of halves from shared memory by one warp. Lanes 8i to 8i+7 each name one
// row (16 bytes, aligned to 16) of tile i. The eight rows of a tile should lie in different banks.
#ifndef EVOTILE_LIB_LDMATRIX
#define EVOTILE_LIB_LDMATRIX


// tile[i] of lane l: row l/4, columns 2(l%4) and 2(l%4)+1 of tile i.
DEVICE void ldmatrix_x4(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

// The same of the transposed tile: rows 2(l%4) and 2(l%4)+1 of column l/4 of tile i.
DEVICE void ldmatrix_x4_trans(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

#endif

// a = 16 rows of the tile from first_row on, the 16 columns of `step`.
template <typename tile>
DEVICE void load_left(u32 (&a)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(a, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// The same from a matrix whose rows begin `stride` elements apart; rows at or past row_end are
// zeros, and not read.
template <typename element>
DEVICE void load_left_gmem(u32 (&a)[4], const element *matrix_gmem, int stride, int first_row,
                           int row_end, int step) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = first_row + lane / 4 + i % 2 * 8;
        const element *pair_gmem =
            matrix_gmem + lane % 4 * 2 + multiply_wide(row, stride) + (step * 16 + i / 2 * 8);
        a[i] = row < row_end ? *reinterpret_cast<const u32 *>(pair_gmem) : 0;
    }
}

// For a product with the transposed tile: b[0], b[1] belong to its 8 rows from first_row on, b[2],
// b[3] to the 8 after these; the 16 columns of `step`.
template <typename tile>
DEVICE void load_right_transposed(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(b, tile_smem +
                       tile::offset(first_row + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
}

// For a product with the tile itself: 16 rows from first_row on; b[0], b[1] belong to the first 8
// columns of `step`, b[2], b[3] to the other 8.
template <typename tile>
DEVICE void load_right(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_trans(b, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// Accumulators, float or half, as floats.
template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const float (&from)[m][n][4]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i)
        to[i / 4 / n][i / 4 % n][i % 4] = from[i / 4 / n][i / 4 % n][i % 4];
}

template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const u32 (&from)[m][n][2]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i) {
        const u32 pair = from[i / 4 / n][i / 4 % n][i % 4 / 2];
        to[i / 4 / n][i / 4 % n][i % 4] =
            i % 2 ? high_half_to_float(pair) : low_half_to_float(pair);
    }
}

// Multiplies row g of an accumulator by by[0], and row g + 8 by by[1].
DEVICE void scale_rows(float (&d)[4], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        d[i] *= by[i / 2];
}

DEVICE void scale_rows(u32 (&d)[2], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
        d[i] = multiply_half2(d[i], pack_half2(by[i], by[i]));
}

#endif
// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH


// 2^x to about 2 units in the last place; 0 for minus infinity; results below 2^-126 become 0.
DEVICE float exp2_fast(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// The same to about 1e-4 of its value, without the unit that exp2_fast waits for: 2^x = 2^i 2^f
// with i the nearest integer, which the addition leaves in the low bits of its sum; 2^f by a
// polynomial with the least largest relative error on [-1/2, 1/2]. Never below 2^-126. For x up to
// 127.
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

#endif
// Tensor-core products of one warp: d += a * b with a 16x16 (row major), b 16x8, d 16x8.
//
// Fragment layouts, with g = lane / 4 and t = lane % 4; a pair is two neighbours packed in 32 bits:
//   a[0] row g,   columns 2t, 2t+1        b[0] rows 2t, 2t+1 of column g
//   a[1] row g+8, columns 2t, 2t+1        b[1] rows 2t+8, 2t+9 of column g
//   a[2] row g,   columns 2t+8, 2t+9
//   a[3] row g+8, columns 2t+8, 2t+9
//   d, float: d[0], d[1] row g, columns 2t, 2t+1; d[2], d[3] row g+8, the same columns
//   d, half:  d[0] row g, columns 2t, 2t+1 as a pair; d[1] row g+8
// So d of two neighbouring products, rounded, is a's layout for the next product. `element`, the
// type of a's and b's, is named: mma_m16n8k16<f16>(d, a, b0, b1).
#ifndef EVOTILE_LIB_MMA
#define EVOTILE_LIB_MMA


// Float accumulation. sm_80 and later.
template <typename element>
DEVICE void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);

template <> DEVICE void mma_m16n8k16<f16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <> DEVICE void mma_m16n8k16<bf16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Half accumulation, of halves only: half the registers, and on consumer-class chips twice the
// rate; overflows past 65504. sm_80 and later.
template <typename element>
DEVICE void mma_m16n8k16(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1);

template <> DEVICE void mma_m16n8k16<f16>(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
// A queue of numbered units of work that the blocks of one launch share: a counter in global
// memory, zero when the launch begins. A block starts with the unit of its own number and draws the
// others.
#ifndef EVOTILE_LIB_QUEUE
#define EVOTILE_LIB_QUEUE


struct queue {
    u32 *counter_gmem;
    u32 *tickets_smem; // two words of the block's own
    u32 number;        // of the block's present unit
    u32 turn, drawn;

    DEVICE queue(u32 *counter_gmem, u32 *tickets_smem)
        : counter_gmem(counter_gmem), tickets_smem(tickets_smem), number(blockIdx.x), turn(0),
          drawn(0) {
    }

    // Draws the next number; the answer comes while the block works on its present unit.
    DEVICE void draw() {
        if (threadIdx.x == 0)
            drawn = gridDim.x + atomicAdd(counter_gmem, 1u);
    }

    // Makes the drawn number the present one, for all threads; false if there are no more than
    // `units`. It is also a barrier: when it returns, every thread has done with the unit before.
    DEVICE bool next(u32 units) {
        u32 *ticket_smem = tickets_smem + turn++ % 2;
        if (threadIdx.x == 0)
            *ticket_smem = drawn;
        __syncthreads();       // the ticket is written; that of the unit before has been read
        number = *ticket_smem; // written again two calls on, past the barrier of the next
        return number < units;
    }
};

#endif
// Tiles of halves, or bf16, in shared memory: how their rows are laid out, and how a block fills
// them.
#ifndef EVOTILE_LIB_TILE
#define EVOTILE_LIB_TILE


enum class arrangement {
    plain, // rows one after another: with 64 halves a row, eight rows of one column share their
           // banks
    chunks_swapped, // 16-byte chunk c of row r lies where chunk c ^ (r % 8) would: no conflict, no
                    // space
    padded,         // 16 more bytes a row: no conflict
};

enum class copy {
    through_registers, // load, then store; done when the call returns
    in_flight,         // cp.async: done after a commit, a wait and a barrier
};

// A tile of `rows` x `columns` halves, filled by `threads` threads. `columns` is a multiple of 64.
template <int rows, int columns, arrangement rows_lie, int threads> struct tile {
    static constexpr int row_bytes = columns * 2 + (rows_lie == arrangement::padded ? 16 : 0);
    static constexpr int bytes = rows * row_bytes;
    static constexpr int row_chunks = columns / 8, chunks = rows * row_chunks;
    static_assert(columns % 64 == 0, "swapped chunks come in groups of eight");
    static_assert(threads % row_chunks == 0, "a thread copies chunks of one column");

    // Where 16-byte chunk `chunk` of row `row` lies.
    static DEVICE u32 offset(int row, int chunk) {
        return row * row_bytes +
               (rows_lie == arrangement::chunks_swapped ? chunk ^ (row & 7) : chunk) * 16;
    }

    // All threads of the block together copy rows [first_row, first_row + rows) of a matrix of
    // row_end rows, which begin `stride` elements apart, to the tile at tile_smem; rows at or past
    // row_end become zeros, and are not read. Rows are aligned to 16 bytes. A thread has one column
    // of chunks, and copies `batch` of them at a time, so that the registers it needs do not grow
    // with the tile.
    template <copy how, typename element>
    static DEVICE void load(u32 tile_smem, const element *matrix_gmem, int stride, int first_row,
                            int row_end) {
        constexpr int turns = ceil_div(chunks, threads), batch = turns < 8 ? turns : 8;
        constexpr int turn_rows = threads / row_chunks; // that all threads copy in a turn
        constexpr bool all_full = rows % (turn_rows * batch) == 0;
        const int chunk = threadIdx.x % row_chunks, turn_row = threadIdx.x / row_chunks;
        const unsigned char *column_gmem =
            reinterpret_cast<const unsigned char *>(matrix_gmem + chunk * 8);
#pragma unroll 1
        for (int turn = 0; turn < turns; turn += batch) {
            uint4 chunk_rmem[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int row = turn_row + (turn + i) * turn_rows;
                const bool inside = first_row + row < row_end;
                const unsigned char *chunk_gmem =
                    column_gmem + multiply_wide(inside ? first_row + row : 0, stride * 2);
                if (!all_full && row >= rows)
                    continue;
                if constexpr (how == copy::in_flight)
                    cp_async_16(tile_smem + offset(row, chunk), chunk_gmem, inside);
                else
                    chunk_rmem[i] = inside ? *reinterpret_cast<const uint4 *>(chunk_gmem) : uint4{};
            }
            if constexpr (how == copy::through_registers) {
#pragma unroll
                for (int i = 0; i < batch; ++i) {
                    const int row = turn_row + (turn + i) * turn_rows;
                    if (all_full || row < rows)
                        store_smem_16(tile_smem + offset(row, chunk), chunk_rmem[i]);
                }
            }
        }
    }
};

#endif
// Reductions over the lanes of a warp. `width` is a power of two: lanes are reduced in aligned
// groups of that many, and every lane of a group gets the group's result.
#ifndef EVOTILE_LIB_WARP
#define EVOTILE_LIB_WARP


template <int width> DEVICE float lanes_max(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_warp, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp, value, step);
    return value;
}

// Four lanes in a row as the rows of a 4x4 matrix, lane t's `words` row t: transposes it. (Selected
// by value: a register cannot be addressed.)
DEVICE void lanes_transpose(u32 (&words)[4]) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 taken = __shfl_xor_sync(full_warp, odd ? words[i] : words[i + 1], 1);
        words[i] = odd ? taken : words[i];
        words[i + 1] = odd ? words[i + 1] : taken;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 taken = __shfl_xor_sync(full_warp, upper ? words[i] : words[i + 2], 2);
        words[i] = upper ? taken : words[i];
        words[i + 2] = upper ? words[i + 2] : taken;
    }
}

#endif

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(WARPS) || !defined(WARPS_KV) ||             \
    !defined(COPY) || !defined(STAGES) || !defined(KV_SPLITS) || !defined(SWIZZLE) ||              \
    !defined(ACC_QK) || !defined(ACC_PV) || !defined(Q_IN_REGISTERS) || !defined(LAZY_RESCALE) ||  \
    !defined(MIN_CTAS) || !defined(PERSISTENT) || !defined(ORDER) || !defined(COMBINE) ||          \
    !defined(D) || !defined(CAUSAL) || !defined(BF16)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
using element = choose<BF16, bf16, f16>;        // of Q, K, V and O
constexpr int block_m = BLOCK_M;                // queries a tile
constexpr int block_n = BLOCK_N;                // keys a tile
constexpr int warps = WARPS;                    // warps a block
constexpr int warps_kv = WARPS_KV;              // groups of warps that share out the keys of a tile
constexpr bool copy_plain = COPY == COPY_PLAIN; // K and V through registers, one buffer
constexpr bool copy_joint = COPY == COPY_JOINT; // cp.async, K and V of a tile waited for together
constexpr bool copy_apart = COPY == COPY_APART; // cp.async, each waited for when it is needed
constexpr int stages = copy_plain ? 1 : STAGES; // buffers for tiles of K, and as many for V
constexpr int kv_splits = KV_SPLITS;            // parts of the keys that go to different blocks
constexpr bool early = COMBINE == COMBINE_EARLY;        // the second kernel waits for the first
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // ... of one cluster, which adds up
constexpr arrangement rows_lie = SWIZZLE == SWIZZLE_XOR   ? arrangement::chunks_swapped
                                 : SWIZZLE == SWIZZLE_PAD ? arrangement::padded
                                                          : arrangement::plain;
constexpr bool qk_in_half = ACC_QK == ACC_QK_F16; // accumulate the scores in half
constexpr bool pv_in_half = ACC_PV == ACC_PV_F16; // accumulate O in half
constexpr bool q_in_registers =
    Q_IN_REGISTERS;                         // a warp holds its queries, else reads them every tile
constexpr bool lazy_rescale = LAZY_RESCALE; // rescale O only when the m of some row grew
constexpr int min_ctas = MIN_CTAS;          // blocks a multiprocessor to leave registers for
constexpr bool persistent = PERSISTENT > 0; // blocks draw units from a queue until it is empty
constexpr bool tiles_first = ORDER == ORDER_TILES; // neighbours share a head's keys, else a place

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
//   0        K, `stages` tiles of block_n rows
//   v_smem   V, as many
//   q_smem   Q, one tile of block_m rows, unless q_in_registers
//            (when the groups of warps merge, m, l and O of half of them at most overlay all of
//            these)
//   parts    what each other block of a cluster hands this one: m, l and its columns of O
//   tickets  two words, when persistent

using kv_tile = tile<block_n, head_dim, rows_lie, threads>;
using q_tile = tile<block_m, head_dim, rows_lie, threads>;

constexpr copy how_copied = copy_plain ? copy::through_registers : copy::in_flight;
constexpr int v_smem = stages * kv_tile::bytes;
constexpr int q_smem = 2 * v_smem;
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
static_assert(!copy_joint || stages >= 2, "a joint copy needs a second buffer");
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

// What one launch works on. Strides are in elements; `inverse`s are for divide.
struct problem {
    int S, S_KV, heads, group_inverse;      // of H / H_KV, the heads that share their keys
    float scale;                            // exp(scale given * x) = 2^(scale * x)
    i64 q_batch, q_head, kv_batch, kv_head; // from one to the next: of Q and O; of K and V
    int q_row, kv_row;
    int units_x, units_y, x_inverse,
        y_inverse; // the grid that units are numbered in, if persistent
};

struct unit {
    int batch, head, first_row, split;
    int first_tile, end_tile; // the tiles of keys of its split; none, if they are equal
};

// The unit that the block has drawn, or the only one it has. The tiles of keys that a tile of
// queries sees are cut into kv_splits even parts. Under a causal mask the late queries, with most
// keys, come first.
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
    const int first_row = (causal ? ceil_div(all.S, block_m) - 1 - turn : turn) * block_m;
    const int last_row = min(first_row + block_m, all.S) - 1;
    const int seen_keys =
        causal ? max(min(all.S_KV, last_row + all.S_KV - all.S + 1), 0) : all.S_KV;
    const int seen_tiles = ceil_div(seen_keys, block_n);
    const int share = ceil_div(seen_tiles, kv_splits);
    const int first_tile = min(split * share, seen_tiles);
    return {batch, head, first_row, split, first_tile, min(first_tile + share, seen_tiles)};
}

// ---- Steps: copies ----

// Where the n-th tile of keys of a unit lies: in buffer n % stages.
DEVICE u32 k_tile_smem(int tile, const unit &u) {
    return smem_address(smem) + static_cast<u32>(tile - u.first_tile) % stages * kv_tile::bytes;
}

// Copies a tile of K to its buffer, or starts to; past the unit's last there is nothing to copy.
DEVICE void load_k(const element *k_gmem, const unit &u, int tile, const problem &all) {
    if (tile < u.end_tile)
        kv_tile::load<how_copied>(k_tile_smem(tile, u), k_gmem, all.kv_row, tile * block_n,
                                  all.S_KV);
}

DEVICE void load_v(const element *v_gmem, const unit &u, int tile, const problem &all) {
    if (tile < u.end_tile)
        kv_tile::load<how_copied>(k_tile_smem(tile, u) + v_smem, v_gmem, all.kv_row, tile * block_n,
                                  all.S_KV);
}

// The queries, to registers or to shared memory. A unit without keys must not start a copy: nobody
// would wait for it.
DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, const unit &u, const problem &all,
                   const place &p) {
    if (u.first_tile == u.end_tile)
        return;
    if constexpr (!q_in_registers) {
        q_tile::load<how_copied>(smem_address(smem) + q_smem, q_gmem, all.q_row, u.first_row,
                                 all.S);
    } else {
#pragma unroll
        for (int i = 0; i < m_tiles * k_steps; ++i)
            load_left_gmem(q_rmem[i / k_steps][i % k_steps], q_gmem, all.q_row,
                           u.first_row + p.first_row + i / k_steps * 16, all.S, i % k_steps);
    }
}

// cp.async groups are closed in the order in which they are waited for, one for each tile (joint)
// or one for its K and one for its V (apart). They may be empty, so that this many are always
// younger than the one waited for.
constexpr int pending_groups = copy_apart ? 2 * stages - 2 : stages - 2;

// Starts the copies that come before the first tile: with Q, K and V of the first stages - 1 tiles,
// and, if they are apart, K of one more.
DEVICE void start_copies(const element *k_gmem, const element *v_gmem, const unit &u,
                         const problem &all) {
#pragma unroll
    for (int ahead = 0; ahead < stages && !copy_plain; ++ahead) {
        if (copy_apart || ahead < stages - 1)
            load_k(k_gmem, u, u.first_tile + ahead, all);
        if constexpr (copy_apart)
            cp_async_commit();
        if (ahead < stages - 1) {
            load_v(v_gmem, u, u.first_tile + ahead, all);
            cp_async_commit();
        }
    }
}

// ---- Steps: one tile ----

// Scores Q K^T of the warp's queries and its slice of a tile.
DEVICE void scores(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem, const place &p) {
    choose<qk_in_half, u32[m_tiles][n_tiles][2], float[m_tiles][n_tiles][4]> sums_rmem = {};
#pragma unroll
    for (int k = 0; k < k_steps; ++k) {
#pragma unroll
        for (int m = 0; m < m_tiles && !q_in_registers; ++m)
            load_left<q_tile>(q_rmem[m][k], smem_address(smem) + q_smem, p.first_row + m * 16, k);
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_right_transposed<kv_tile>(k_rmem, tile_smem, p.first_key + n * 8, k);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(sums_rmem[m][n], q_rmem[m][k], k_rmem[0], k_rmem[1]);
                mma_m16n8k16<element>(sums_rmem[m][n + 1], q_rmem[m][k], k_rmem[2], k_rmem[3]);
            }
        }
    }
    to_floats(s_rmem, sums_rmem);
}

// Sets the scores of keys past the end, and of keys that a query must not see, to minus infinity.
// first_row and first_key are the warp's.
DEVICE void mask(score_fragments &s_rmem, int first_row, int first_key, const problem &all,
                 const place &p) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = first_row + m * 16 + p.g + i / 2 * 8;
            const int end = causal ? min(all.S_KV, row + all.S_KV - all.S + 1) : all.S_KV;
            const int seen = end - (first_key + p.t * 2 + i % 2);
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                if (n * 8 >= seen)
                    s_rmem[m][n][i] = minus_infinity;
        }
}

// What a sum taken at `largest` counts for at `common`, which is no less.
DEVICE float weight_at(float largest, float common, float scale) {
    return largest == minus_infinity ? 0.0f : exp2_fast((largest - common) * scale);
}

// 2^(scale * (score - m)) is computed as 2^(scale * score - scale * m), one multiply-add. Where
// scale * m is beyond 2^23 its rounding could exceed the range of a half. There neighbouring scores
// make powers of 2 apart, and a power of two for the scale, which makes the product exact, does no
// harm.
DEVICE float row_scale(float largest, float scale) {
    const float power_below = __int_as_float(__float_as_int(scale) & 0x7f800000);
    return fabsf(largest * scale) < 8388608.0f ? scale : power_below;
}

// Turns scores into weights exp(score - m) for the new m of each row, brings l and O of the tiles
// before to the new m, and adds the weights to l.
DEVICE void online_softmax(score_fragments &s_rmem, row_state &rows, o_fragments &o_rmem,
                           float scale_given) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float old_weight[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float largest = rows.largest[m][h], sum = 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                largest = fmaxf(largest, fmaxf(s_rmem[m][n][h * 2], s_rmem[m][n][h * 2 + 1]));
            largest = lanes_max<4>(largest);
            const float scale = row_scale(largest, scale_given);
            const float shift = largest == minus_infinity ? 0.0f : largest * scale;
#pragma unroll
            for (int i = 0; i < n_tiles * 2; ++i) {
                float &weight = s_rmem[m][i / 2][h * 2 + i % 2];
                weight = exp2_fast(weight * scale - shift);
                sum += weight;
            }
            old_weight[h] = weight_at(rows.largest[m][h], largest, scale_given);
            rows.sum[m][h] = rows.sum[m][h] * old_weight[h] + sum;
            rows.largest[m][h] = largest;
        }
        if (lazy_rescale && __all_sync(full_warp, old_weight[0] == 1.0f && old_weight[1] == 1.0f))
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], old_weight);
    }
}

// O += P V of the warp's slice of a tile. The weights P become a left operand without leaving the
// registers they were computed in.
DEVICE void accumulate(o_fragments &o_rmem, const score_fragments &p_rmem, u32 tile_smem,
                       const place &p) {
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        u32 left_rmem[m_tiles][4];
#pragma unroll
        for (int i = 0; i < m_tiles * 4; ++i) {
            const float(&from)[4] = p_rmem[i / 4][n + i % 4 / 2];
            left_rmem[i / 4][i % 4] = pack_pair<element>(from[i % 2 * 2], from[i % 2 * 2 + 1]);
        }
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_right<kv_tile>(v_rmem, tile_smem, p.first_key + n * 8, d / 2);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(o_rmem[m][d], left_rmem[m], v_rmem[0], v_rmem[1]);
                mma_m16n8k16<element>(o_rmem[m][d + 1], left_rmem[m], v_rmem[2], v_rmem[3]);
            }
        }
    }
}

// ---- Steps: the end of a unit ----

// A part of kernel.cu: the end of a unit, when all its tiles have been walked.

// O as floats, and l of each row over all keys of the warp.
DEVICE void total_rows(o_sums &sums_rmem, row_state &rows, const o_fragments &o_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i)
        rows.sum[i / 2][i % 2] = lanes_sum<4>(rows.sum[i / 2][i % 2]);
    to_floats(sums_rmem, o_rmem);
}

// Adds up the groups that shared out the keys; the result is group 0's. In each round the upper
// half of the groups hand m, l and O to the lower half: the thread with the same fragments reads
// what one wrote.
DEVICE void merge_groups(o_sums &o_rmem, row_state &rows, float scale, const place &p) {
    constexpr int stride = warps_m * 32; // word w of a thread lies `stride` words after word w - 1
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
    __syncthreads(); // every warp has read the last tile, which is now overwritten
#pragma unroll
    for (int half = warps_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + p.group % half * merge_words * stride;
        if (p.group >= half && p.group < 2 * half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    word_smem[0] = rows.largest[m][h];
                    word_smem[stride] = rows.sum[m][h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride)
                    *word_smem = o_rmem[m][i / 4][i % 4];
            }
        }
        __syncthreads(); // what the upper half wrote is there to be read
        if (p.group < half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                float own[2], other[2];
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    const float common = fmaxf(rows.largest[m][h], word_smem[0]);
                    own[h] = weight_at(rows.largest[m][h], common, scale);
                    other[h] = weight_at(word_smem[0], common, scale);
                    rows.largest[m][h] = common;
                    rows.sum[m][h] = rows.sum[m][h] * own[h] + word_smem[stride] * other[h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride) {
                    float &sum = o_rmem[m][i / 4][i % 4];
                    sum = sum * own[i % 4 / 2] + *word_smem * other[i % 4 / 2];
                }
            }
        }
        if (half > 1)
            __syncthreads(); // what was written has been read, and may be overwritten
    }
}

// The logarithm of l exp(scale given * m): of the sum of exp(scale given * score).
DEVICE float log_sum(float largest, float sum, float scale) {
    return sum > 0 ? (largest * scale + log2_fast(sum)) * (1.0f / log2_e) : minus_infinity;
}

// Where the row of a query begins: in O, and, packed, in the tensors that have a line a query.
DEVICE i64 o_offset(int batch, int head, int row, const problem &all) {
    return batch * all.q_batch + head * all.q_head + multiply_wide(row, all.q_row);
}

DEVICE i64 line_of(int batch, int head, int row, const problem &all) {
    return static_cast<i64>(batch * all.heads + head) * all.S + row;
}

// Writes the rows of the warp that exist: O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_o(element *o, float *lse, const o_sums &o_rmem, const row_state &rows,
                    const unit &u, const problem &all, const place &p) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2, row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        if (row >= all.S)
            continue;
        const float sum = rows.sum[m][h], inverse = sum > 0 ? 1.0f / sum : 0.0f;
        element *row_gmem = o + o_offset(u.batch, u.head, row, all) + p.t * 2;
        if (lse && p.t == 0)
            lse[line_of(u.batch, u.head, row, all)] = log_sum(rows.largest[m][h], sum, all.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) = pack_pair<element>(
                o_rmem[m][d][h * 2] * inverse, o_rmem[m][d][h * 2 + 1] * inverse);
    }
}

// ---- a second kernel ----

// Writes what a split has of the rows of the warp that exist: the pair (m, l), and O as it is
// unless the split saw no key of that row.
DEVICE void store_part(float *partial_o, float *partial_ml, const o_sums &o_rmem,
                       const row_state &rows, const unit &u, const problem &all, const place &p) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2, row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        const i64 line = line_of(u.batch, u.head, row, all) * kv_splits + u.split;
        if (row >= all.S)
            continue;
        if (p.t == 0)
            reinterpret_cast<float2 *>(partial_ml)[line] = {rows.largest[m][h], rows.sum[m][h]};
        if (rows.largest[m][h] == minus_infinity)
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(partial_o + line * head_dim + d * 8 +
                                        p.t * 2) = {o_rmem[m][d][h * 2], o_rmem[m][d][h * 2 + 1]};
    }
}

// Adds up the splits of a row: O = sum of w_i O_i over sum of w_i l_i, where w_i brings split i to
// the largest m of all. A thread works on four columns of one row.
DEVICE void combine_row(const float *partial_o, const float2 *partial_ml, element *o, float *lse,
                        int batch, int head, int row, int column, const problem &all) {
    const i64 line = line_of(batch, head, row, all);
    float largest = minus_infinity, sum = 0, total[4] = {};
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        largest = fmaxf(largest, partial_ml[line * kv_splits + split].x);
#pragma unroll 8
    for (int split = 0; split < kv_splits; ++split) {
        const i64 part = line * kv_splits + split;
        const float2 ml = partial_ml[part];
        if (ml.x == minus_infinity)
            continue; // this split saw no key of the row, and wrote no O
        const float weight = weight_at(ml.x, largest, all.scale);
        const float4 o_part =
            *reinterpret_cast<const float4 *>(partial_o + part * head_dim + column);
        sum += ml.y * weight;
        total[0] += o_part.x * weight;
        total[1] += o_part.y * weight;
        total[2] += o_part.z * weight;
        total[3] += o_part.w * weight;
    }
    const float by = sum > 0 ? 1.0f / sum : 0.0f;
    if (lse && column == 0)
        lse[line] = log_sum(largest, sum, all.scale);
    *reinterpret_cast<uint2 *>(o + o_offset(batch, head, row, all) +
                               column) = {pack_pair<element>(total[0] * by, total[1] * by),
                                          pack_pair<element>(total[2] * by, total[3] * by)};
}

// ---- a cluster ----
// Each block ends a share of the columns: the others hand it m, l and their O of these.

// Where group 0's thread of block `to` finds what block `from` of its cluster hands it; a block has
// no part from itself.
DEVICE int part_place(int from, int to) {
    const int number = from > to ? from - 1 : from;
    return parts_smem + (number * part_words * warps_m * 32 + static_cast<int>(threadIdx.x)) * 4;
}

DEVICE void hand_parts(const o_sums &o_rmem, const row_state &rows, int rank) {
    constexpr int stride = warps_m * 32 * 4; // from a thread's word to its next, in bytes
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        u32 word_smem = map_to_block(smem_address(smem) + part_place(rank, to), to);
        if (to == rank)
            continue;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                store_to_block(word_smem, rows.largest[m][h]);
                store_to_block(word_smem + stride, rows.sum[m][h]);
            }
#pragma unroll
            for (int i = 0; i < 4 * part_tiles; ++i, word_smem += stride)
                store_to_block(word_smem, o_rmem[m][to * part_tiles + i / 4][i % 4]);
        }
    }
}

// One tile of 16 queries of the warp: brings what this block has, and what others handed it, to the
// largest m of all, adds up, and writes.
DEVICE void end_rows(element *o, float *lse, float (&o_rmem)[part_tiles][4], float (&largest)[2],
                     float (&sum)[2], int m, const unit &u, const problem &all, const place &p) {
    constexpr int stride = warps_m * 32;
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const float *word_smem = reinterpret_cast<const float *>(smem + part_place(from, u.split)) +
                                 m * (4 + 4 * part_tiles) * stride;
        float own[2], other[2];
        if (from == u.split)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
            const float common = fmaxf(largest[h], word_smem[0]);
            own[h] = weight_at(largest[h], common, all.scale);
            other[h] = weight_at(word_smem[0], common, all.scale);
            largest[h] = common;
            sum[h] = sum[h] * own[h] + word_smem[stride] * other[h];
        }
#pragma unroll
        for (int i = 0; i < 4 * part_tiles; ++i, word_smem += stride) {
            float &total = o_rmem[i / 4][i % 4];
            total = total * own[i % 4 / 2] + *word_smem * other[i % 4 / 2];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        if (row >= all.S)
            continue;
        const float by = sum[h] > 0 ? 1.0f / sum[h] : 0.0f;
        element *row_gmem =
            o + o_offset(u.batch, u.head, row, all) + u.split * part_tiles * 8 + p.t * 2;
        if (lse && u.split == 0 && p.t == 0)
            lse[line_of(u.batch, u.head, row, all)] = log_sum(largest[h], sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < part_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) =
                pack_pair<element>(o_rmem[d][h * 2] * by, o_rmem[d][h * 2 + 1] * by);
    }
}

DEVICE void end_part(element *o, float *lse, const o_sums &o_rmem, row_state &rows, const unit &u,
                     const problem &all, const place &p) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float own_rmem[part_tiles][4] = {};
#pragma unroll
        for (int part = 0; part < kv_splits; ++part) // a register's number must be a constant
#pragma unroll
            for (int i = 0; i < 4 * part_tiles; ++i)
                if (part == u.split)
                    own_rmem[i / 4][i % 4] = o_rmem[m][part * part_tiles + i / 4][i % 4];
        end_rows(o, lse, own_rmem, rows.largest[m], rows.sum[m], m, u, all, p);
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
                  u32 *__restrict__ counter, int S, int S_KV, int heads, int group_inverse,
                  float scale, i64 q_batch, i64 q_head, int q_row, i64 kv_batch, i64 kv_head,
                  int kv_row, int units, int units_x, int units_y, int x_inverse, int y_inverse) {
    const problem all{S,       S_KV,    heads,    group_inverse, scale_of(scale),
                      q_batch, q_head,  kv_batch, kv_head,       q_row,
                      kv_row,  units_x, units_y,  x_inverse,     y_inverse};
    const place p{};
    if constexpr (early)
        grid_dependents_launch(); // the second kernel takes what room this one leaves
    queue tickets(counter, reinterpret_cast<u32 *>(smem + tickets_smem));
    if constexpr (in_cluster)
        cluster_arrive(); // this block runs: others may write to its shared memory
    do {
        if constexpr (persistent)
            tickets.draw();
        const unit u = find_unit(tickets, all);
        const i64 kv_start = u.batch * kv_batch + divide(u.head, group_inverse) * kv_head;
        const element *k_gmem = k + kv_start, *v_gmem = v + kv_start;
        const int first_row = u.first_row + p.first_row;
        const int whole_end = causal ? min(S_KV, first_row + S_KV - S + 1) : S_KV; // seen by all
        q_fragments q_rmem;
        score_fragments s_rmem;
        o_fragments o_rmem = {};
        row_state rows;

        load_q(q_rmem, q + u.batch * q_batch + u.head * q_head, u, all, p);
        start_copies(k_gmem, v_gmem, u, all);
        for (int tile = u.first_tile; tile < u.end_tile; ++tile) {
            const int first_key = tile * block_n + p.first_key;
            const bool seen = !causal || first_key < first_row + warp_rows + S_KV - S;
            if constexpr (copy_plain) {
                __syncthreads(); // the tile before has been read, and is now overwritten
                load_k(k_gmem, u, tile, all);
                load_v(v_gmem, u, tile, all);
            } else {
                cp_async_wait<pending_groups>();
            }
            __syncthreads(); // Q, K and (joint) V of this tile are there; the one before is read
            if constexpr (copy_joint)
                load_k(k_gmem, u, tile + stages - 1, all);
            if constexpr (!copy_plain) {
                load_v(v_gmem, u, tile + stages - 1, all);
                cp_async_commit();
            }
            if (seen)
                scores(s_rmem, q_rmem, k_tile_smem(tile, u), p);
            if constexpr (copy_apart) {
                cp_async_wait<pending_groups>();
                __syncthreads(); // V of this tile is there; its K is read, to be overwritten
                load_k(k_gmem, u, tile + stages, all);
                cp_async_commit();
            }
            if (seen) {
                if (first_key + warp_keys > whole_end)
                    mask(s_rmem, first_row, first_key, all, p);
                online_softmax(s_rmem, rows, o_rmem, all.scale);
                accumulate(o_rmem, s_rmem, k_tile_smem(tile, u) + v_smem, p);
            }
        }
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
    } while (persistent && tickets.next(units));
}

// The second kernel, where there is one.
extern "C" __global__ void __launch_bounds__(256)
    attention_combine(const float *__restrict__ partial_o, const float2 *__restrict__ partial_ml,
                      element *__restrict__ o, float *__restrict__ lse, int S, int heads,
                      float scale, i64 o_batch, i64 o_head, int o_row) {
    constexpr int row_threads = head_dim / 4;
    const problem all{S, 0, heads, 0, scale_of(scale), o_batch, o_head, 0, 0, o_row};
    const int row = blockIdx.x * (256 / row_threads) + threadIdx.x / row_threads;
    if constexpr (early)
        grid_dependency_wait(); // all splits are in the workspace
    if (row < S)
        combine_row(partial_o, partial_ml, o, lse, blockIdx.z, blockIdx.y, row,
                    threadIdx.x % row_threads * 4, all);
}
