// kernel_gemv.cu: gemm, gemv, exported by evotile. Generated: do not edit.
//
// few rows of A: warps read rows of B 16 bytes a lane, many loads in flight; sums in float without
// tensor cores
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it, of those below.
//
// replay: evotile replay /tmp/r/k/gemm_few_rows_h200

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 1
#endif
#if EVOTILE_VARIANT == 1
#include "variant_1.h"
#endif
#if EVOTILE_VARIANT == 2
#include "variant_2.h"
#endif
#if EVOTILE_VARIANT == 3
#include "variant_3.h"
#endif

// Read back from the loaded module: proof that it is this genome's. nvcc takes `extern "C"` without
// braces for a declaration.
extern "C" {
__device__ unsigned long long evotile_genome = EVOTILE_GENOME;
}

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

// Thread block clusters: blocks that run concurrently and can access each other's shared memory.
// sm_90 and later; a kernel sets its cluster size by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER

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
// cp.async: asynchronous copies from global to shared memory. A thread's copies are grouped by
// commit. A wait is by group and covers only the thread's own copies: a barrier must follow before
// other threads' copies are read. sm_80 and later.
#ifndef EVOTILE_LIB_CP_ASYNC
#define EVOTILE_LIB_CP_ASYNC

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

// Stores 16 bytes to shared memory synchronously. Aligned to 16.
DEVICE void store_smem_16(u32 target_smem, uint4 value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(target_smem), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

// Copies 16 bytes, bypassing L1, or, if not `inside`, writes 16 zero bytes and reads nothing. Both
// addresses are aligned to 16.
DEVICE void cp_async_16(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same, but cached in L1 for other blocks of the SM.
DEVICE void cp_async_16_l1(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same for 8 bytes, aligned to 8.
DEVICE void cp_async_8(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 8 : 0)
                 : "memory");
}

// The same for 4 bytes, aligned to 4.
DEVICE void cp_async_4(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 4 : 0)
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
// Operations on 16-bit tensor elements, selected by the element type, f16 or bf16.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

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

// Two floats rounded to `element` and packed, the lower half first: pack_pair<bf16>(low, high).
template <typename element> DEVICE u32 pack_pair(float low, float high);

template <> DEVICE u32 pack_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 pack_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

// The low or high element of a pair as a float.
template <typename element> DEVICE float unpack_low(u32 pair);
template <typename element> DEVICE float unpack_high(u32 pair);

template <> DEVICE float unpack_low<f16>(u32 pair) {
    return low_half_to_float(pair);
}

template <> DEVICE float unpack_high<f16>(u32 pair) {
    return high_half_to_float(pair);
}

template <> DEVICE float unpack_low<bf16>(u32 pair) {
    return __uint_as_float(pair << 16);
}

template <> DEVICE float unpack_high<bf16>(u32 pair) {
    return __uint_as_float(pair & 0xffff0000);
}

#endif
// Integer arithmetic where the compiler needs a hint.
#ifndef EVOTILE_LIB_INTEGER
#define EVOTILE_LIB_INTEGER


// a * b in 64 bits by one multiplication. (For 64-bit operands the compiler does not know that the
// values fit 32 bits, and uses three.)
DEVICE i64 multiply_wide(int a, int b) {
    i64 result;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

DEVICE u64 multiply_wide(u32 a, u32 b) {
    u64 result;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

// Replaces a number by its square plus 1, by one instruction that stays though its result is unused.
DEVICE void square_plus_one(u32 &number) {
    asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(number));
}

// n / d, where inverse = (2^31 - 1) / d and 0 <= n, (n + 1) * d <= 2^31. Exact: 2^31 = d * inverse
// + r with 1 <= r <= d, so the product is less than (n + 1) / d by (n + 1) r / (2^31 d), which is
// greater than 0 and at most 1 / d.
DEVICE int divide(int n, int inverse) {
    return static_cast<int>(__umulhi(2u * n + 2u, inverse));
}

#endif
// Detects the last of several blocks that finish a shared piece of work; it may then read what the
// others wrote (the threadFenceReduction pattern).
#ifndef EVOTILE_LIB_LAST_BLOCK
#define EVOTILE_LIB_LAST_BLOCK


// Called by all threads of a block: true if `blocks` - 1 other blocks have called it with the same
// counter in global memory, which must be zero when the launch begins. Everything those blocks
// wrote to global memory before their calls is then visible. Also a block barrier.
DEVICE bool arrive_is_last_block(u32 *counter_gmem, u32 blocks) {
    __threadfence(); // this thread's writes are visible before the block is counted,
    __syncthreads(); // and those of the other threads
    const bool last =
        __syncthreads_or(threadIdx.x == 0 && atomicAdd(counter_gmem, 1u) == blocks - 1);
    if (last)
        __threadfence(); // no later read is moved before the count
    return last;
}

#endif
// What a linear layer does to its sums before it rounds them.
#ifndef EVOTILE_LIB_LINEAR_EPILOGUE
#define EVOTILE_LIB_LINEAR_EPILOGUE

// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH


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

// x / (1 + 2^-y): x for large y, and 0 for y towards minus infinity. For y < 0 it is
// x 2^y / (1 + 2^y), with 2^y as a square: the result is a normal number where 2^y and 1 / 2^-y no
// longer are.
DEVICE float times_sigmoid_base_2(float x, float y) {
    const float root = exp2_fast(-0.5f * fabsf(y)); // of 2^-|y|
    const float above = x * reciprocal_fast(1.0f + root * root);
    return y < 0 ? above * root * root : above;
}

// z sigmoid(z).
DEVICE float silu(float z) {
    return times_sigmoid_base_2(z, 1.4426950408889634f * z); // log2(e)
}

// GELU by tanh, which is z sigmoid(2 sqrt(2 / pi) (z + 0.044715 z^3)).
DEVICE float gelu_tanh(float z) {
    return times_sigmoid_base_2(z, z * (2.3022081984f + 0.1029432396f * z * z));
}

enum class linear_epilogue { none, bias, bias_gelu, bias_silu, residual };

// The sum with its element of the bias or of the residual.
template <linear_epilogue kind> DEVICE float apply_epilogue(float sum, float addend) {
    if constexpr (kind == linear_epilogue::none)
        return sum;
    else if constexpr (kind == linear_epilogue::bias_gelu)
        return gelu_tanh(sum + addend);
    else if constexpr (kind == linear_epilogue::bias_silu)
        return silu(sum + addend);
    else
        return sum + addend;
}

#endif
// Neighbouring elements that one instruction loads or stores.
#ifndef EVOTILE_LIB_VECTOR
#define EVOTILE_LIB_VECTOR


// At most 16 bytes; aligned to its own size.
template <typename element, int width> struct alignas(width * sizeof(element)) vector {
    element values[width];
};

// The vector that begins at `from`, which is aligned to the size of a vector.
template <int width, typename element>
DEVICE vector<element, width> load_vector(const element *from) {
    return *reinterpret_cast<const vector<element, width> *>(from);
}

template <int width, typename element>
DEVICE void store_vector(element *to, const vector<element, width> &value) {
    *reinterpret_cast<vector<element, width> *>(to) = value;
}

#endif
// Reductions over the lanes of a warp. `width` is a power of two: lanes are reduced in aligned
// groups of that many, and every lane of a group gets the group's result.
#ifndef EVOTILE_LIB_WARP
#define EVOTILE_LIB_WARP


template <int width> DEVICE float lanes_max(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_warp_mask, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp_mask, value, step);
    return value;
}

// Transposes a 4x4 matrix held by four neighbouring lanes: lane t's `words` are row t. (Uses
// selects, because registers cannot be indexed dynamically.)
DEVICE void lanes_transpose(u32 (&words)[4]) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 received = __shfl_xor_sync(full_warp_mask, odd ? words[i] : words[i + 1], 1);
        words[i] = odd ? received : words[i];
        words[i + 1] = odd ? words[i + 1] : received;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 received = __shfl_xor_sync(full_warp_mask, upper ? words[i] : words[i + 2], 2);
        words[i] = upper ? received : words[i];
        words[i + 2] = upper ? words[i + 2] : received;
    }
}

#endif
// Conversions between the elements of tensors and float, selected by the type of the element.
#ifndef EVOTILE_LIB_WIDEN
#define EVOTILE_LIB_WIDEN


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

// Included by kernel.cu: from the sums of lanes to C.

// The sums of `count` values each over the lanes of a warp, a power of two up to 32: lane l gets
// that of value l / (32 / count). While lanes have several values, each exchange halves them.
template <int count, int step = 16> DEVICE float lanes_sums(const float (&values)[count]) {
    if constexpr (count == 1) {
        return lanes_sum<2 * step>(values[0]);
    } else {
        const bool upper = threadIdx.x & step;
        float halved[count / 2];
#pragma unroll
        for (int i = 0; i < count / 2; ++i) {
            const float kept = upper ? values[i + count / 2] : values[i];
            const float given = upper ? values[i] : values[i + count / 2];
            halved[i] = kept + __shfl_xor_sync(full_warp_mask, given, step);
        }
        return lanes_sums<count / 2, step / 2>(halved);
    }
}

// The sums of a warp in shared memory, for add_warps.
DEVICE void leave_sums(warp_sums &sums, int own_columns, int along_k) {
    float values[rows * columns];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            values[r * columns + c] = sums[r][c][0];
            if constexpr (chains == 2)
                values[r * columns + c] += sums[r][c][1];
        }
    const float sum = lanes_sums(values);
    constexpr int lanes = 32 / (rows * columns); // that have the same sum
    const int lane = threadIdx.x % 32, value = lane / lanes;
    if (lane % lanes == 0)
        sums_smem()[along_k * elements + value / columns * block_columns + own_columns +
                    value % columns] = sum;
}

// The sum of an element of the tile over the warps, in a fixed order.
DEVICE float add_warps(int i) {
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps_k; ++warp)
        sum += sums_smem()[warp * elements + i];
    return sum;
}

// The same over the blocks of a cluster, in its first block; false in the others.
DEVICE bool add_blocks_of_cluster(float &sum, int i) {
    const float *first_smem = sums_smem() + warps_k * elements;
    const int rank = cluster_rank();
    cluster_wait(); // every block has started: kernel.cu has the arrival
    if (i < elements)
        store_shared_cluster(map_to_block(smem_address(first_smem + rank * elements + i), 0), sum);
    cluster_arrive();
    cluster_wait(); // the sums of all blocks are there
    if (rank > 0)
        return false;
    sum = 0;
    if (i < elements)
#pragma unroll
        for (int block = 0; block < splits; ++block)
            sum += first_smem[block * elements + i];
    return true;
}

// The same over the blocks that share a tile, in the one that comes last; false in the others.
DEVICE bool add_blocks(float &sum, int i, float *parts_gmem, u32 *counters_gmem, int tile) {
    float *first_gmem = parts_gmem + multiply_wide(tile, splits * elements) + i;
    if (i < elements)
        first_gmem[blockIdx.x % splits * elements] = sum;
    if (!arrive_is_last_block(counters_gmem + tile, splits))
        return false;
    sum = 0;
    if (i < elements)
#pragma unroll
        for (int block = 0; block < splits; ++block)
            sum += first_gmem[block * elements];
    return true;
}

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
