// Included by kernel.cu: which keys of which rows a block computes, and where its parts lie.
//
// A unit of work is a tile of rows of one KV head of one sequence, with all of the sequence's keys.
// SCHEDULE splits: the blocks (.., unit, sequence) of a grid share a unit's key tiles equally.
// SCHEDULE stream_k: the key tiles of all units stand in a row, sequence by sequence, and each of
// the grid's blocks has an equal share of it. A sequence without keys has one tile, which is empty.

struct work_unit {
    int sequence, kv_head, first_row, length;
    int first_tile, end_tile; // of this block
    int parts;                // blocks that share the unit,
    int part;                 // of which this is one,
    int first_slot;           // slot of part 0,
    int next_slots;           // slot of part i > 0 is next_slots + i * slot_stride
    int unit;                 // number of the unit, of its counter

    DEVICE int slot(int number) const {
        return number == 0 ? first_slot : next_slots + number * slot_stride;
    }
};

// The query of a row, and its head. The rows of a KV head are the queries of the heads that it
// serves: row r is query r / G of head r % G.
struct query {
    int head, number;
    bool exists;
};

DEVICE query query_of(int row, const work_unit &work, const kernel_params &params) {
    const int number = (work.first_row + row) / params.group;
    const int head = work.kv_head * params.group + (work.first_row + row) % params.group;
    return {head, number, number < params.S};
}

// The end of the keys that a query sees.
DEVICE int visible_end(int number, const work_unit &work, const kernel_params &params) {
    return causal ? work.length - params.S + number + 1 : work.length;
}

DEVICE int tiles_of(int length) {
    return max(ceil_div(length, tile_keys), 1);
}

// The block's work, one unit after another.
struct scheduler {
    const int *lengths;
    int units;         // of a sequence
    int position, end; // of the block's tiles that are left (stream_k)
    int share;         // of a block
    int sequence, tile_in_sequence;

    DEVICE scheduler(const int *lengths, const kernel_params &params)
        : lengths(lengths),
          units(ceil_div(params.S * params.group, row_tile) * (params.heads / params.group)) {
        if constexpr (stream_k) {
            const auto tiles = [&](int i) { return tiles_of(lengths[i]) * units; };
            const int total = sum_tiles(params.sequences, tiles);
            share = max(ceil_div(total, static_cast<int>(gridDim.x)), least_tiles);
            position = min(static_cast<int>(blockIdx.x), ceil_div(total, share)) * share;
            end = min(position + share, total);
            tile_in_sequence = position;
            if (position < end)
                sequence = find_group(params.sequences, tiles, tile_in_sequence);
        } else {
            position = 0;
            end = 1;
        }
    }

    DEVICE bool next(work_unit &work, const kernel_params &params) {
        if (position >= end)
            return false;
        if constexpr (stream_k)
            next_of_share(work);
        else
            only_of_grid(work);
        const int row_tiles = units / (params.heads / params.group);
        const int unit = work.unit % units;
        work.kv_head = unit / row_tiles;
        work.first_row = unit % row_tiles * row_tile;
        return true;
    }

    DEVICE void only_of_grid(work_unit &work) {
        position = end;
        work.sequence = blockIdx.z;
        work.length = lengths[work.sequence];
        work.unit = blockIdx.z * units + blockIdx.y;
        work.parts = kv_splits;
        work.part = blockIdx.x;
        work.first_slot = work.next_slots = work.unit * kv_splits;
        const i64 tiles = tiles_of(work.length);
        work.first_tile = static_cast<int>(tiles * work.part / kv_splits);
        work.end_tile = static_cast<int>(tiles * (work.part + 1) / kv_splits);
    }

    DEVICE void next_of_share(work_unit &work) {
        work.sequence = sequence;
        work.length = lengths[sequence];
        const int tiles = tiles_of(work.length), unit = tile_in_sequence / tiles;
        work.unit = sequence * units + unit;
        work.first_tile = tile_in_sequence % tiles;
        work.end_tile = min(work.first_tile + end - position, tiles);
        // The blocks that share the unit are neighbours. The first one's part is its first only if
        // its share begins there; that of each other block is the first.
        const int begin = position - work.first_tile, first_block = begin / share;
        work.parts = (begin + tiles - 1) / share - first_block + 1;
        work.part = blockIdx.x - first_block;
        work.next_slots = first_block * slot_stride;
        work.first_slot = work.next_slots + (begin % share != 0);
        const int done = work.end_tile - work.first_tile;
        position += done;
        tile_in_sequence += done;
        if (tile_in_sequence == tiles * units) {
            ++sequence;
            tile_in_sequence = 0;
        }
    }
};
