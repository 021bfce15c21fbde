// d = a * b (+ 1 if the first wgmma accumulates) for one 64 x n tile: a 64 x 64, b 64 x n. Swizzled
// operands are loaded by TMA, others by plain stores; PRODUCT defines a kernel of each form.
#include "lib/cp_async.cuh"
#include "lib/half.cuh"
#include "lib/hopper.cuh"

constexpr int m = 64, depth = 64, threads = 128;
enum class left { registers, k_major, mn_major };

__host__ __device__ constexpr int span(swizzle mode) { // bytes
    return mode == swizzle::by_128 ? 128 : mode == swizzle::by_64 ? 64 : 32;
}

// An operand of `rows` (m or n) by depth in shared memory.
template <int rows, major lies, swizzle mode> struct operand {
    static constexpr int fast = lies == major::k ? depth : rows, slow = depth * rows / fast;
    static constexpr int box_columns = span(mode) / 2, boxes = ceil_div(fast, box_columns);
    static constexpr int box_bytes = slow * span(mode), bytes = boxes * box_bytes;

    // Called by thread 0. The tensor is [slow][fast]: boxes are zero-filled beyond `fast`.
    static DEVICE void load(u32 target, const tensor_map &map, u32 barrier) {
        mbarrier_arrive_expect_bytes(barrier, bytes);
        for (int box = 0; box < boxes; ++box)
            tma_load(target + box * box_bytes, map, barrier, box * box_columns, 0);
    }

    // Called by all threads: core matrices, eight rows adjacent, then eight k.
    static DEVICE void store(u32 target, const u16 *matrix_gmem) {
        for (int i = threadIdx.x; i < rows * depth; i += threads) {
            const int row = i / depth, k = i % depth;
            const int inner =
                lies == major::k ? row % 8 * 16 + k % 8 * 2 : k % 8 * 16 + row % 8 * 2;
            const u32 at = target + k / 8 * rows * 16 + row / 8 * 128 + inner;
            const u16 value = matrix_gmem[lies == major::k ? row * depth + k : k * rows + row];
            asm volatile("st.shared.u16 [%0], %1;" : : "r"(at), "h"(value) : "memory");
        }
    }

    // The descriptor of the 16 k from 16 * `step` on.
    static DEVICE u64 describe(u32 target, int step) {
        if constexpr (mode == swizzle::none)
            return matrix_descriptor(target + step * rows * 32, rows * 16, 128, mode);
        else if constexpr (lies == major::k)
            return matrix_descriptor(target + step * 32 / span(mode) * box_bytes +
                                         step * 32 % span(mode),
                                     16, 8 * span(mode), mode);
        else
            return matrix_descriptor(target + step * 16 * span(mode), box_bytes, 8 * span(mode),
                                     mode);
    }
};

// The accumulator registers of a 64 x n tile, and a function that sets them to one.
template <typename accumulator> constexpr int columns_of_register = 4;
template <> constexpr int columns_of_register<float> = 2;
template <typename accumulator> constexpr accumulator ones = 0x3c003c00;
template <> constexpr float ones<float> = 1;

template <typename accumulator, typename input, int n, left a_lies, major b_lies, swizzle mode>
DEVICE void multiply(const tensor_map &a_map, const tensor_map &b_map, const u16 *a_gmem,
                     const u16 *b_gmem, float *d_gmem, int adds) {
    using a_operand = operand<m, a_lies == left::mn_major ? major::mn : major::k, mode>;
    using b_operand = operand<n, b_lies, mode>;
    constexpr bool by_tma = mode != swizzle::none;
    __shared__ alignas(1024) char a_smem[8192];
    __shared__ alignas(1024) char b_smem[32768];
    __shared__ u64 barrier_smem;
    const u32 a = smem_address(a_smem), b = smem_address(b_smem),
              barrier = smem_address(&barrier_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 2);
        fence_mbarrier_init();
        if (by_tma) {
            a_operand::load(a, a_map, barrier);
            b_operand::load(b, b_map, barrier);
        }
    }
    __syncthreads(); // the barrier is initialised
    if (by_tma) {
        mbarrier_wait(barrier, 0);
    } else {
        a_operand::store(a, a_gmem);
        b_operand::store(b, b_gmem);
        fence_proxy_async();
        __syncthreads(); // a and b are complete
    }
    constexpr int registers = n / columns_of_register<accumulator>;
    accumulator d[registers];
#pragma unroll
    for (int i = 0; i < registers; ++i)
        d[i] = ones<accumulator>;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    u32 a_rmem[depth / 16][4];
    if constexpr (a_lies == left::registers) {
#pragma unroll
        for (int step = 0; step < depth / 16; ++step)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                a_rmem[step][i] = *reinterpret_cast<const u32 *>(
                    a_gmem + (row + i % 2 * 8) * depth + step * 16 + i / 2 * 8 + lane % 4 * 2);
    }
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < depth / 16; ++step) {
        const u64 b_part = b_operand::describe(b, step);
        if constexpr (a_lies == left::registers)
            wgmma<input, b_lies>(d, a_rmem[step], b_part, step > 0 || adds);
        else
            wgmma<input, b_lies, a_lies == left::k_major ? major::k : major::mn>(
                d, a_operand::describe(a, step), b_part, step > 0 || adds);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_hold(d);
#pragma unroll
    for (int i = 0; i < n / 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            float value;
            if constexpr (registers == n / 2)
                value = d[2 * i + j];
            else
                value = j ? high_half_to_float(d[i]) : low_half_to_float(d[i]);
            d_gmem[(row + i % 2 * 8) * n + i / 2 * 8 + lane % 4 * 2 + j] = value;
        }
}

#define PRODUCT(name, ...)                                                                         \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,   \
             const u16 *a_gmem, const u16 *b_gmem, float *d_gmem, int adds) {                      \
        multiply<__VA_ARGS__>(a_map, b_map, a_gmem, b_gmem, d_gmem, adds);                         \
    }
