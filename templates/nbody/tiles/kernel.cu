// The acceleration of N bodies by each other, with softened gravity:
//
//   acceleration[i] = sum over j of mass[j] d / (d . d + softening)^(3/2),  d = position[j] -
//   position[i]
//
//   position, acceleration   [N, 3]   mass   [N]   float
//
// A thread has BODIES attracted bodies in registers. A block goes through the attracting bodies in
// tiles, which its threads load to shared memory together. SPLITS blocks may share the attracting
// bodies; a second kernel then adds their parts.

#include "lib/math.cuh"
#include "lib/pdl.cuh"
#include "lib/types.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(BODIES) || !defined(TILE) || !defined(UNROLL) ||                 \
    !defined(SPLITS) || !defined(COMBINE)
#error "a gene of nbody is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;
constexpr int bodies = BODIES; // attracted bodies of a thread
constexpr int tile = TILE;     // attracting bodies in shared memory at once
constexpr int unroll = UNROLL;
constexpr int splits = SPLITS;
constexpr bool combine_by_pdl = splits > 1 && COMBINE == COMBINE_EARLY;

static_assert(tile % threads == 0, "every thread loads as many bodies");

// ---- Shared memory ----

__shared__ float4 tile_smem[tile]; // x, y, z and mass

// ---- Steps ----

// Bodies beyond the last one have no mass, and attract nothing.
DEVICE float4 load_body(const float *position, const float *mass, int i, int N) {
    if (i >= N)
        return float4{};
    return {position[3 * i], position[3 * i + 1], position[3 * i + 2], mass[i]};
}

// Adds the acceleration of a body at `at` by another one.
DEVICE void attract(float3 &sum, const float4 &at, const float4 &by, float softening) {
    const float dx = by.x - at.x, dy = by.y - at.y, dz = by.z - at.z;
    const float inverse = rsqrt_fast(dx * dx + (dy * dy + (dz * dz + softening)));
    const float scale = by.w * inverse * (inverse * inverse);
    sum.x += dx * scale;
    sum.y += dy * scale;
    sum.z += dz * scale;
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    nbody(const float *__restrict__ position, const float *__restrict__ mass,
          float *__restrict__ acceleration, int N, int split_tiles, float softening) {
    const int first = static_cast<int>(blockIdx.x) * threads * bodies + threadIdx.x;
    const int first_tile = static_cast<int>(blockIdx.y) * split_tiles * tile;
    float4 own[bodies];
    float3 sums[bodies] = {};
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents();
#pragma unroll
    for (int b = 0; b < bodies; ++b)
        own[b] = load_body(position, mass, first + b * threads, N);

    for (int t = 0; t < split_tiles; ++t) {
        __syncthreads(); // the previous tile has been read
#pragma unroll
        for (int pass = 0; pass < tile; pass += threads)
            tile_smem[pass + threadIdx.x] =
                load_body(position, mass, first_tile + t * tile + pass + threadIdx.x, N);
        __syncthreads(); // the tile is in shared memory
#pragma unroll unroll
        for (int j = 0; j < tile; ++j) {
            const float4 by = tile_smem[j];
#pragma unroll
            for (int b = 0; b < bodies; ++b)
                attract(sums[b], own[b], by, softening);
        }
    }

    float *to = acceleration + 3 * static_cast<i64>(blockIdx.y) * N;
#pragma unroll
    for (int b = 0; b < bodies; ++b) {
        const int i = first + b * threads;
        if (i >= N)
            break;
        to[3 * i] = sums[b].x;
        to[3 * i + 1] = sums[b].y;
        to[3 * i + 2] = sums[b].z;
    }
}

// acceleration[n] = the sum over all splits of partial[split][n], for `count` numbers.
#if SPLITS > 1
extern "C" __global__ void __launch_bounds__(256)
    nbody_combine(const float *__restrict__ partial, float *__restrict__ acceleration, int count) {
    const int n = static_cast<int>(blockIdx.x) * 256 + threadIdx.x;
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // for the parts
    if (n >= count)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int split = 0; split < splits; ++split)
        sum += partial[static_cast<i64>(split) * count + n];
    acceleration[n] = sum;
}
#endif
