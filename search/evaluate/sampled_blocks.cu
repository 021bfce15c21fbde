// Comes before the source of a reference: its kernels then compute only some blocks of their grid, which
// evotile_select_blocks chose before. Block n of the launch is block (first + n * stride) of the grid, counted with x
// fastest, and modulo the number of its blocks; a stride without a common divisor with that number selects each once.

struct evotile_selection {
    unsigned grid[3];
    unsigned long long first, stride;
};

__device__ evotile_selection evotile_selected;

extern "C" __global__ void evotile_select_blocks(unsigned x, unsigned y, unsigned z, unsigned long long first,
                                                 unsigned long long stride) {
    evotile_selected.grid[0] = x;
    evotile_selected.grid[1] = y;
    evotile_selected.grid[2] = z;
    evotile_selected.first = first;
    evotile_selected.stride = stride;
}

__device__ inline dim3 evotile_grid() {
    return dim3(evotile_selected.grid[0], evotile_selected.grid[1], evotile_selected.grid[2]);
}

__device__ inline uint3 evotile_block() {
    const unsigned long long x = evotile_selected.grid[0], y = evotile_selected.grid[1];
    const unsigned long long block =
        (evotile_selected.first + blockIdx.x * evotile_selected.stride) % (x * y * evotile_selected.grid[2]);
    return make_uint3((unsigned)(block % x), (unsigned)(block / x % y), (unsigned)(block / x / y));
}

#define blockIdx evotile_block()
#define gridDim evotile_grid()
