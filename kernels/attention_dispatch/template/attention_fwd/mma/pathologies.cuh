// Included by kernel.cu: what makes a kernel slow and leaves it right, for `evotile ablate --pathologies`. Without their
// macros nothing here makes an instruction.

#ifndef EXTRA_BARRIERS
#define EXTRA_BARRIERS 0 // barriers of the block in every iteration of the mainloop
#endif
#ifndef DIVERGENT_PATHS
#define DIVERGENT_PATHS 0 // paths that the lanes of a warp take one after the other, in every iteration
#endif
#ifndef UNCOALESCED_LOADS
#define UNCOALESCED_LOADS 0 // loads of K in every iteration whose lanes read different rows
#endif
#ifndef OVER_UNROLL
#define OVER_UNROLL 0 // unroll factor of the mainloop in place of UNROLL
#endif

// Called at the start of every iteration. A volatile access stays though its result is unused.
DEVICE void inject_pathologies([[maybe_unused]] const element *k_gmem, [[maybe_unused]] int k_row,
                               [[maybe_unused]] int first_key, [[maybe_unused]] int keys) {
#pragma unroll 1
    for (int i = 0; i < EXTRA_BARRIERS; ++i)
        __syncthreads();
#if DIVERGENT_PATHS > 0
    constexpr int path_steps = 32; // dependent instructions of a path
#pragma unroll 1
    for (int path = 0; path < DIVERGENT_PATHS; ++path)
        if (threadIdx.x % DIVERGENT_PATHS == path) {
            u32 number = path;
#pragma unroll 1
            for (int i = 0; i < path_steps; ++i)
                square_plus_one(number);
        }
    __syncwarp(); // what follows needs whole warps
#endif
#if UNCOALESCED_LOADS > 0
#pragma unroll 1
    for (int i = 0; i < UNCOALESCED_LOADS; ++i) {
        const int key = first_key + static_cast<int>(threadIdx.x) + i;
        const long long row = key < keys ? key : keys - 1;
        *reinterpret_cast<const volatile unsigned short *>(k_gmem + row * k_row);
    }
#endif
}
