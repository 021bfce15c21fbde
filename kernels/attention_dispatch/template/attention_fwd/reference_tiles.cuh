// Attention in tiles of 64 queries of one head and 64 keys: products of tiles in shared memory, and
// an online softmax between them. Chunks of the operands are converted as they are stored in shared
// memory; the next chunk is loaded to registers while the current one is used.
#ifndef EVOTILE_ATTENTION_REFERENCE_TILES
#define EVOTILE_ATTENTION_REFERENCE_TILES

#include "lib/tile_product.cuh"
#include "reference_common.cuh"

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
