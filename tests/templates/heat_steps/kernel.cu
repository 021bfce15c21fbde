// Some time steps of the heat equation: each block computes TILE points of a rod. It loads FUSED more on either side,
// because a step needs one neighbour of each point: every step makes one more of these wrong, from the ends inwards.

#if !defined(THREADS) || !defined(ITEMS) || !defined(FUSED) || !defined(TILE)
#error "genes or macros are missing"
#endif

constexpr int threads = THREADS, tile = TILE, halo = FUSED, width = tile + 2 * halo;
static_assert(tile == THREADS * ITEMS, "a thread writes ITEMS points");
static_assert(2 * halo <= tile, "most points of a block are its own, not its neighbours'");

extern "C" __global__ void heat_steps(const float *from, float *to, int points, int steps) {
    __shared__ float rod[2][width];
    const long long row = (long long)blockIdx.y * points;
    const int first = (int)blockIdx.x * tile - halo;
    int now = 0;
    for (int i = threadIdx.x; i < width; i += threads)
        rod[0][i] = first + i >= 0 && first + i < points ? from[row + first + i] : 0.0f;
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        for (int i = threadIdx.x; i < width; i += threads) {
            const bool fixed = first + i <= 0 || first + i >= points - 1 || i == 0 || i == width - 1;
            rod[1 - now][i] =
                fixed ? rod[now][i] : 0.25f * (rod[now][i - 1] + rod[now][i + 1]) + 0.5f * rod[now][i];
        }
        __syncthreads();
        now = 1 - now;
    }
    for (int i = halo + threadIdx.x; i < halo + tile; i += threads)
        if (first + i < points)
            to[row + first + i] = rod[now][i];
}
