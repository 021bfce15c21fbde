// Included by kernel.cu: the kernel's parameters, its work units, and which block gets which.

// Kernel parameters. The `inverse` fields are reciprocals for divide().
struct kernel_params {
    int S, S_KV, sequences, packs; // with VARLEN S and S_KV are the most of a sequence
    int rows; // queries in a batch of the tensors: S, with VARLEN those of all sequences
    const int *cu_seqlens_q, *cu_seqlens_k; // null without VARLEN
    int x_inverse,
        y_inverse; // of the virtual grid in which work units are numbered, see place_unit
    int heads_per_kv_head_inverse; // of H / H_KV
    float scale;                   // softmax scale times log2(e)
    strides q, o;
};

struct work_unit {
    int head, kv_head, first_row; // the pack's first head, and the first row of each of its heads
    int batch, S, S_KV;           // the sequence's batch of the tensors, queries and keys
    int first_query, first_key;   // its first rows in the batch: 0 without VARLEN
    int first_tile, end_tile;     // key tiles of the split; empty if equal

    DEVICE bool is_behind_end() const { // of its sequence
        return first_row >= S;
    }
};

// The number of keys visible to at least one row before `row_end`.
DEVICE int visible_keys(int row_end, int S, int S_KV) {
    return causal ? max(min(S_KV, row_end + S_KV - S), 0) : S_KV;
}

// The number of query tiles. Where the tiles of a head form clusters, the last ones may be empty.
DEVICE int query_tiles(int S) {
    constexpr int tiles = tiles_first ? multicast : 1;
    return ceil_div(S, tile_queries * tiles) * tiles;
}

struct unit_place {
    int pack, sequence, part; // part: query tile and KV split
};

// The place of the unit with an index where the packs of a section are inner, the parts next and
// the sections outer. A section is `size` packs of the batch, the last one fewer.
template <int size>
DEVICE unit_place place_in_section(int index, int tiles_m, const kernel_params &params) {
    const int section = divide(index, params.x_inverse), first = section * size;
    const int unit = index - section * (size * tiles_m);
    const int packs = min(size, params.sequences * params.packs - first);
    const int part = packs == size ? unit / size : unit / packs;
    const int row_id = first + unit - part * packs; // of all packs of all sequences
    const int sequence = divide(row_id, params.y_inverse);
    return {row_id - sequence * params.packs, sequence, part};
}

// The place of a work unit: from its index if persistent, else from blockIdx.
DEVICE unit_place place_unit(int work_index, int tiles_m, const kernel_params &params) {
    if constexpr (l2_heads > 0)
        return place_in_section<max_of(l2_heads, 1)>(persistent ? work_index : blockIdx.x, tiles_m,
                                                     params);
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if constexpr (persistent) {
        const int row_id = divide(work_index, params.x_inverse);
        x = work_index - row_id * (tiles_first ? tiles_m : params.packs);
        z = divide(row_id, params.y_inverse);
        y = row_id - z * (tiles_first ? params.packs : params.sequences);
    }
    return {tiles_first ? y : x, tiles_first ? z : y, tiles_first ? x : z};
}

// Decodes a work unit. Under a causal mask the last query tiles, which have most keys, are
// scheduled first. There are as many units for each sequence as the longest has; those behind the
// end of another have no key tiles.
DEVICE work_unit decode_work_unit(int work_index, const kernel_params &params) {
    const int tiles_m = query_tiles(params.S);
    const auto [pack, sequence, part] = place_unit(work_index, tiles_m, params);
    const sequence_rows queries = rows_of_sequence<varlen>(sequence, params.cu_seqlens_q, params.S),
                        keys = rows_of_sequence<varlen>(sequence, params.cu_seqlens_k, params.S_KV);
    const int head = pack * pack_heads, kv_head = divide(head, params.heads_per_kv_head_inverse);
    const int m_tile = part / kv_splits, split = part % kv_splits;
    const int first_row = (causal ? tiles_m - 1 - m_tile : m_tile) * tile_queries;
    const int row_end = min(first_row + tile_queries, queries.count);
    const bool has_rows = !varlen || first_row < queries.count;
    const int tiles =
        has_rows ? ceil_div(visible_keys(row_end, queries.count, keys.count), block_n) : 0;
    const int share = ceil_div(tiles, kv_splits), first_tile = min(split * share, tiles);
    return {head,       kv_head,       first_row,  queries.batch, queries.count,
            keys.count, queries.first, keys.first, first_tile,    min(first_tile + share, tiles)};
}

// Tile scheduler of persistent blocks: in each round every block gets one work unit. If
// alternating, odd rounds run from the last block to the first: where units become shorter (longest
// first, under a causal mask), the block with the longest of a round gets the shortest of the next.
struct tile_scheduler {
    int work_index = persistent ? blockIdx.x : 0;
    int step = !persistent ? 1 : alternating ? 2 * (gridDim.x - blockIdx.x) - 1 : gridDim.x;

    DEVICE void advance() {
        work_index += step;
        if constexpr (alternating)
            step = 2 * gridDim.x - step;
    }
};
