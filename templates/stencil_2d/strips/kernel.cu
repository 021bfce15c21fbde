// Time steps of the wave equation on a grid whose edges stay as they are:
//
//   after[y][x] = 2 now[y][x] - before[y][x]
//                 + courant (now[y-1][x] + now[y+1][x] + now[y][x-1] + now[y][x+1] - 4 now[y][x])
//
//   all [H, W] float; a launch reads the grid at two times, and writes it `steps` later
//
// A warp streams down a strip of columns, row by row, COLUMNS neighbouring columns a lane. When row
// y has come, step 1 computes row y - 1, step 2 row y - 2, and so on: each step has the rows that
// it needs, in registers, and neighbouring columns come from neighbouring lanes. Nothing goes
// through shared memory, and no warp waits for another. README.md has a picture.

#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(FUSED) || !defined(COLUMNS) || !defined(CHUNK) || !defined(AHEAD) || !defined(WARPS)
#error "a gene of stencil_2d is not defined: see genes in solution.json"
#endif

constexpr int columns = COLUMNS; // of a lane
constexpr int chunk = CHUNK;     // rows that a warp writes
constexpr int ahead = AHEAD;     // rows that are loaded ahead
constexpr int warps = WARPS;     // per block

static_assert(ahead % 3 == 0, "three rows of a step are kept: they change places by renaming");

using points = vector<float, columns>; // of a lane

// ---- Steps ----

struct wave_grid {
    int H, W, x; // x: the lane's first column, perhaps outside of the grid

    // The lane's points of a row; zeros outside of the grid.
    template <bool at_edge> DEVICE points load(const float *from, int y) const {
        const float *row = from + static_cast<i64>(y) * W + x;
        if (!at_edge && W % columns == 0)
            return load_vector<columns>(row);
        points loaded = {};
#pragma unroll
        for (int i = 0; i < columns; ++i)
            if (!at_edge || (y >= 0 && y < H && x + i >= 0 && x + i < W))
                loaded.values[i] = row[i];
        return loaded;
    }

    DEVICE void store(float *to, int y, const points &value) const {
        float *row = to + static_cast<i64>(y) * W + x;
        if (W % columns == 0 && x < W) {
            store_vector<columns>(row, value);
            return;
        }
#pragma unroll
        for (int i = 0; i < columns; ++i)
            if (x + i < W)
                row[i] = value.values[i];
    }

    DEVICE bool is_fixed(int y, int i) const {
        return y == 0 || y == H - 1 || x + i == 0 || x + i == W - 1;
    }
};

// The last three rows of one time; rows[0] is the latest.
struct recent_rows {
    points rows[3];

    DEVICE void add(const points &row) {
        rows[2] = rows[1];
        rows[1] = rows[0];
        rows[0] = row;
    }
};

// Row y one step later: `now` has rows y + 1, y and y - 1, `before` is row y one step earlier. The
// factors 4 and 2 are exact. 2 - 4 courant is not, and an error in it would grow with every step.
template <bool at_edge>
DEVICE points advance(const wave_grid &grid, int y, const recent_rows &now, const points &before,
                      float courant) {
    const float(&u)[columns] = now.rows[1].values;
    const float west = __shfl_up_sync(full_warp_mask, u[columns - 1], 1);
    const float east = __shfl_down_sync(full_warp_mask, u[0], 1);
    points after;
#pragma unroll
    for (int i = 0; i < columns; ++i) {
        const float beside = (i > 0 ? u[i - 1] : west) + (i < columns - 1 ? u[i + 1] : east);
        const float neighbours = now.rows[2].values[i] + now.rows[0].values[i] + beside;
        after.values[i] = courant * (neighbours - 4.0f * u[i]) + (2.0f * u[i] - before.values[i]);
        if (at_edge && grid.is_fixed(y, i))
            after.values[i] = u[i];
    }
    return after;
}

// ---- The schedule ----

// Computes `steps` steps of the rows from first_row on. at_edge: some of the points that it reads
// lie on the edge of the grid or outside of it.
template <int steps, bool at_edge>
DEVICE void stream(const wave_grid &grid, const float *now_from, const float *before_from,
                   float *now_to, float *before_to, int first_row, bool stores, float courant) {
    const int end_row = min(first_row + chunk, grid.H);
    recent_rows times[steps] = {}; // times[t]: after t steps
    points next_now[ahead], next_before[ahead];
    int y = first_row - steps;
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
        next_now[i] = grid.load<at_edge>(now_from, y + i);
        next_before[i] = grid.load<at_edge>(before_from, y + i - 1);
    }
    for (; y < end_row + steps; y += ahead)
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
            points before = next_before[i];
            times[0].add(next_now[i]);
            next_now[i] = grid.load<at_edge>(now_from, y + i + ahead);
            next_before[i] = grid.load<at_edge>(before_from, y + i + ahead - 1);
            points after;
#pragma unroll
            for (int t = 1; t <= steps; ++t) {
                after = advance<at_edge>(grid, y + i - t, times[t - 1], before, courant);
                before = times[t - 1].rows[2];
                if (t < steps)
                    times[t].add(after);
            }
            const int row = y + i - steps;
            if (stores && row >= first_row && row < end_row) {
                grid.store(now_to, row, after);
                grid.store(before_to, row, times[steps - 1].rows[1]);
            }
        }
}

template <int steps>
__global__ void __launch_bounds__(32 * warps)
    wave(const float *__restrict__ now_from, const float *__restrict__ before_from,
         float *__restrict__ now_to, float *__restrict__ before_to, int H, int W, float courant) {
    // Every step makes one more column at either end of a warp wrong: these lanes store nothing.
    constexpr int lost = ceil_div(steps, columns), stored = 32 - 2 * lost;
    static_assert(stored > 0, "most columns of a warp are its own, not its neighbours'");
    const int strips = ceil_div(W, stored * columns);
    const int warp = static_cast<int>(blockIdx.x) * warps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int first_x = (warp % strips * stored - lost) * columns, end_x = first_x + 32 * columns;
    const int first_row = warp / strips * chunk;
    const wave_grid grid = {H, W, first_x + lane * columns};
    const bool stores = lane >= lost && lane < 32 - lost;
    if (first_row >= H)
        return;
    // The rows from first_row - steps - 1 on, and some ahead of the last one.
    const bool at_edge = first_x < 1 || end_x > W - 1 || first_row - steps - 1 < 0 ||
                         first_row + chunk + steps + 2 * ahead > H;
    if (at_edge)
        stream<steps, true>(grid, now_from, before_from, now_to, before_to, first_row, stores,
                            courant);
    else
        stream<steps, false>(grid, now_from, before_from, now_to, before_to, first_row, stores,
                             courant);
}
