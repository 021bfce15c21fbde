// A part of kernel.cu: the rings of buffers in shared memory, who fills them and who gives them
// back.

DEVICE u32 k_buffer(int buffer) {
    return smem_address(smem) + buffer * tile_bytes;
}
DEVICE u32 v_buffer(int buffer) {
    return smem_address(smem) + v_smem + buffer * tile_bytes;
}
DEVICE u32 k_full(int buffer) {
    return smem_address(smem) + barriers_smem + 16 * buffer;
}
DEVICE u32 v_full(int buffer) {
    return k_full(k_stages + buffer);
}
DEVICE u32 empty_of(u32 full) {
    return full + 8;
}

// Where somebody's walk along a ring has come: a buffer, and the parity of its barriers' phase.
template <int stages> struct ring {
    int buffer = 0;
    u32 parity = 0;

    // At most once around: `tiles` <= stages.
    DEVICE void advance(int tiles) {
        buffer += tiles;
        if (buffer >= stages) {
            buffer -= stages;
            parity ^= 1;
        }
    }
};

DEVICE void make_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < k_stages + v_stages; ++i) {
            mbarrier_init(k_full(i), 1);
            mbarrier_init(empty_of(k_full(i)), groups_m * 4); // each warp of the set that reads it
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // the barriers are there for all
}

// The warp has read the buffer.
DEVICE void release(u32 full) {
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty_of(full));
    __syncwarp();
}

// The one thread that starts the copies: where it has come.
struct loader {
    const tensor_map &k_map, &v_map;
    ring<k_stages> k;
    ring<v_stages> v;
    int k_tile, v_tile; // the next of each

    DEVICE void begin(const unit &u) {
        k_tile = v_tile = u.first_tile;
    }

    // Starts the copy of a tile to the next buffer of its ring, once that is empty. Of an empty
    // barrier that was just made the phase before has ended: the first round need not wait.
    template <int stages>
    DEVICE void load(ring<stages> &at, u32 full, u32 buffer_smem, const tensor_map &map, int &tile,
                     const unit &u) {
        mbarrier_wait(empty_of(full), at.parity ^ 1);
        mbarrier_arrive_expect_bytes(full, tile_bytes);
#pragma unroll
        for (int i = 0; i < panels; ++i)
            tma_load(buffer_smem + i * panel_bytes, map, full, i * 64, tile * block_n, u.kv_head,
                     u.batch);
        at.advance(1);
        ++tile;
    }

    DEVICE void load_k(const unit &u) {
        load(k, k_full(k.buffer), k_buffer(k.buffer), k_map, k_tile, u);
    }
    DEVICE void load_v(const unit &u) {
        load(v, v_full(v.buffer), v_buffer(v.buffer), v_map, v_tile, u);
    }

    // All tiles of a unit, in the order in which they are wanted: K is a tile ahead, which a
    // consumer with `overlap` asks for before it gives V back.
    DEVICE void load_all(const unit &u) {
        for (begin(u); v_tile < u.end_tile; load_v(u))
            while (k_tile < min(v_tile + 1 + groups_kv, u.end_tile))
                load_k(u);
    }
};

// Without a producer a consumer starts the copies, as far as buffers are free: the first thread of
// the last warpgroup of set 0, which sees the most keys.
struct feeder {
    loader copies;
    const unit &u;
    bool here;

    // Up to here the tiles of K (or V) are read by everybody, or soon will be.
    DEVICE void k_read_to(int tile) {
        if constexpr (producer)
            return;
        if (here)
            while (copies.k_tile < min(tile + k_stages, u.end_tile))
                copies.load_k(u);
        __syncwarp();
    }
    DEVICE void v_read_to(int tile) {
        if constexpr (producer)
            return;
        if (here)
            while (copies.v_tile < min(tile + v_stages, u.end_tile))
                copies.load_v(u);
        __syncwarp();
    }
};

// With a spare buffer the tile before is waited for, which others have read by now; with none, this
// one.
constexpr int k_lag = k_stages > groups_kv ? 0 : groups_kv;
constexpr int v_lag = v_stages > groups_kv ? 0 : groups_kv;
