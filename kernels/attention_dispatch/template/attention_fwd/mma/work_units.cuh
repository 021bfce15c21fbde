// Included by kernel.cu: the parameters of a call, and what a block computes of it.

// Kernel parameters. The `inverse` fields are reciprocals for divide().
struct kernel_params {
    int S, S_KV, heads; // with VARLEN the most of a sequence
    int rows;           // queries in a batch of the tensors: S, with VARLEN those of all sequences
    const int *cu_seqlens_q, *cu_seqlens_k; // null without VARLEN
    int heads_per_kv_head_inverse;          // of H / H_KV
    float scale;                            // softmax scale times log2(e)
    float cap_scale;    // what scores are multiplied by before tanh, with a soft cap
    const float *sinks; // one per head, or null
    strides q, k, v, o;
    // The virtual grid in which work units are numbered, if persistent.
    int work_units_x, work_units_y, x_inverse, y_inverse;
};

struct work_unit {
    int sequence, head, first_row, split;
    int batch, S, S_KV;         // the sequence's batch of the tensors, queries and keys
    int first_query, first_key; // its first rows in the batch: 0 without VARLEN
    int first_tile, end_tile;   // key tiles of the split; empty if equal
};

// Decodes the block's work unit from blockIdx, or from the scheduler's index if persistent. The key
// tiles visible to a query tile are divided into kv_splits equal parts. Under a causal mask the
// last query tiles, which have most keys, are scheduled first, unless ORDER is reversed. There are
// as many units for each sequence as the longest has; those behind the end of another have no
// tiles.
DEVICE work_unit decode_work_unit(const tile_scheduler &work_units, const kernel_params &params) {
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if constexpr (persistent) {
        const int row_id = divide(work_units.work_index, params.x_inverse);
        x = work_units.work_index - row_id * params.work_units_x;
        z = divide(row_id, params.y_inverse);
        y = row_id - z * params.work_units_y;
    }
    const int head = tiles_first ? y : x, sequence = tiles_first ? z : y,
              part = tiles_first ? x : z;
    const int m_tile = part / kv_splits, split = part % kv_splits;
    const int first_row =
        (longest_first ? ceil_div(params.S, block_m) - 1 - m_tile : m_tile) * block_m;
    const sequence_rows queries = rows_of_sequence<varlen>(sequence, params.cu_seqlens_q, params.S),
                        keys = rows_of_sequence<varlen>(sequence, params.cu_seqlens_k, params.S_KV);
    work_unit work{
        sequence,      head,       first_row, split, queries.batch, queries.count, keys.count,
        queries.first, keys.first, 0,         0};
    if (varlen && first_row >= work.S)
        return work; // the sequence ends before this tile
    const int last_row = min(first_row + block_m, work.S) - 1;
    const int visible_keys =
        causal ? max(min(work.S_KV, last_row + work.S_KV - work.S + 1), 0) : work.S_KV;
    const int passed_keys = window ? max(first_row + work.S_KV - work.S - window + 1, 0) : 0;
    const int passed_tiles = passed_keys / block_n; // hidden by the window
    const int end_tile = ceil_div(visible_keys, block_n);
    const int share = ceil_div(end_tile - passed_tiles, kv_splits);
    work.first_tile = min(passed_tiles + split * share, end_tile);
    work.end_tile = min(work.first_tile + share, end_tile);
    return work;
}

// True if some query of the warp sees a key of the warp's slice of a tile: those of the tiles
// between the window's first and the causal mask's last.
DEVICE bool has_visible_keys(int tile, const work_unit &work, const thread_coords &thread) {
    const int position = work.first_row + thread.first_row + work.S_KV - work.S;
    if (window && tile * block_n + thread.first_key + warp_keys <= position - window + 1)
        return false;
    return !causal || tile * block_n + thread.first_key <
                          work.first_row + thread.first_row + warp_rows + work.S_KV - work.S;
}
