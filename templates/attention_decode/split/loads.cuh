// Included by kernel.cu: the pipelines, which copy tiles of K and V to shared memory. A pipeline has
// ROW_WARPS warps; each computes rows of its own with the same tiles.

// The rows of K or of V of one KV head. Strides in units of 16 bytes.
struct cache_rows {
    const unsigned char *first_gmem; // of the head in page 0, or, without pages, of the sequence
    u32 page_stride, row_stride;

    DEVICE cache_rows(const unsigned char *tensor_gmem, const work_unit &work,
                      const cache_strides &strides)
        : first_gmem(tensor_gmem + 16 * multiply_wide(u32(work.kv_head), strides.head) +
                     (paged ? 0 : 16 * multiply_wide(u32(work.sequence), strides.page))),
          page_stride(strides.page), row_stride(strides.row) {
    }

    // Where the row of `key` begins; `page` is the place of the key's page.
    DEVICE const unsigned char *row(int key, int page) const {
        if constexpr (paged)
            return first_gmem + 16 * (multiply_wide(u32(page), page_stride) +
                                      multiply_wide(u32(key % page_keys), row_stride));
        else
            return first_gmem + 16 * multiply_wide(u32(key), row_stride);
    }
};

// One pipeline's tiles and the stages through which they pass. Full barriers are of bulk copies.
struct pipeline {
    u32 first_smem, barriers_smem; // of the pipeline's first stage
    int number;
    int load_stage = 0, stage = 0;   // of the next load; of the current tile
    u32 parity = 0;                  // of the current stage's full barrier
    int page_rmem[page_words] = {};  // of row lane + 32 i of the next load: the place of its page
    const int *page_table = nullptr; // of the sequence
    int load_tile = 0, end_tile = 0, length = 0;

    DEVICE pipeline()
        : first_smem(smem_address(smem) + threadIdx.x / pipeline_threads * stages * stage_bytes),
          barriers_smem(smem_address(smem) + barrier_smem +
                        threadIdx.x / pipeline_threads * stages * 8),
          number(threadIdx.x / pipeline_threads) {
        if constexpr (bulk) {
            if (threadIdx.x % pipeline_threads == 0) {
                for (int i = 0; i < stages; ++i)
                    mbarrier_init(barriers_smem + i * 8, 1);
                fence_mbarrier_init();
            }
            __syncthreads(); // the barriers are there for all
        }
    }

    // All warps of the pipeline arrive, and see what the others wrote.
    DEVICE void sync() const {
        if constexpr (row_warps == 1)
            __syncwarp();
        else
            named_barrier_sync(number + 1, pipeline_threads);
    }

    DEVICE u32 k_smem() const {
        return first_smem + stage * stage_bytes;
    }

    DEVICE u32 v_smem() const {
        return k_smem() + kv_rows::bytes;
    }

    // Starts with the tiles of a unit, of which this pipeline has every PIPELINES-th.
    DEVICE void begin(const int *page_tables, const work_unit &work, const kernel_params &params) {
        load_tile = work.first_tile + number;
        end_tile = work.end_tile;
        length = work.length;
        if constexpr (paged)
            page_table = page_tables + multiply_wide(work.sequence, params.pages);
        fetch_pages();
    }

    // The pages of the tile that is loaded next are read one tile ahead, so that no copy waits for
    // the page table.
    DEVICE void fetch_pages() {
        if constexpr (paged) {
#pragma unroll
            for (int i = 0; i < page_words; ++i) {
                const int key = load_tile * tile_keys + i * 32 + threadIdx.x % 32;
                const bool exists = load_tile < end_tile && key < length;
                page_rmem[i] = exists ? page_table[key / page_keys] : 0;
            }
        }
    }

    // Starts the next load, if there is one. With cp.async a group is committed in any case, so
    // that the number of groups that are younger than the one waited for is constant.
    DEVICE void load_next(const cache_rows &k, const cache_rows &v) {
        if (load_tile < end_tile) {
            const u32 tile_smem = first_smem + load_stage * stage_bytes;
            if constexpr (!bulk)
                copy_async(tile_smem, k, v);
            else if (threadIdx.x % pipeline_threads < 32)
                copy_bulk(tile_smem, k, v);
            load_stage = load_stage + 1 == stages ? 0 : load_stage + 1;
            load_tile += pipelines;
            fetch_pages();
        }
        if constexpr (!bulk)
            cp_async_commit();
    }

    // By all threads of the pipeline, 16 bytes at a time; rows past the end become zeros.
    DEVICE void copy_async(u32 tile_smem, const cache_rows &k, const cache_rows &v) const {
        constexpr int pass_rows = pipeline_threads / kv_rows::row_chunks;
        static_assert(32 % pass_rows == 0, "the lane that has a row's page is known");
        const int thread = threadIdx.x % pipeline_threads;
        const int chunk = thread % kv_rows::row_chunks, pass_row = thread / kv_rows::row_chunks;
#pragma unroll
        for (int i = 0; i < ceil_div(tile_keys, pass_rows); ++i) {
            const int row = pass_row + i * pass_rows, key = load_tile * tile_keys + row;
            int page = 0;
            if constexpr (paged)
                page = __shfl_sync(full_warp_mask, page_rmem[i * pass_rows / 32], row % 32);
            const bool inside = key < length;
            const u32 row_smem = tile_smem + kv_rows::offset(row, chunk);
            if (pass_rows > tile_keys && row >= tile_keys)
                continue;
            cp_async_16(row_smem, k.row(inside ? key : 0, page) + chunk * 16, inside);
            cp_async_16(row_smem + kv_rows::bytes, v.row(inside ? key : 0, page) + chunk * 16,
                        inside);
        }
    }

    // By one warp, a row at a time.
    DEVICE void copy_bulk(u32 tile_smem, const cache_rows &k, const cache_rows &v) const {
        const int lane = threadIdx.x % 32, first_key = load_tile * tile_keys;
        const u32 full_smem = barriers_smem + load_stage * 8;
        if (lane == 0)
            mbarrier_arrive_expect_bytes(full_smem, 2 * kv_rows::row_bytes *
                                                        max(min(tile_keys, length - first_key), 0));
        __syncwarp(); // the bytes are announced
#pragma unroll
        for (int i = 0; i < page_words; ++i) {
            const int row = lane + i * 32, key = first_key + row;
            const u32 k_row_smem = tile_smem + kv_rows::offset(row, 0);
            const u32 v_row_smem = k_row_smem + kv_rows::bytes;
            if (row >= tile_keys)
                continue;
            if (key < length) {
                bulk_load(k_row_smem, k.row(key, page_rmem[i]), kv_rows::row_bytes, full_smem);
                bulk_load(v_row_smem, v.row(key, page_rmem[i]), kv_rows::row_bytes, full_smem);
            } else {
#pragma unroll 1
                for (int chunk = 0; chunk < kv_rows::row_chunks; ++chunk) {
                    store_smem_16(k_row_smem + chunk * 16, uint4{});
                    store_smem_16(v_row_smem + chunk * 16, uint4{});
                }
            }
        }
    }

    // Waits for the current tile. All warps have then read the one before, whose stage is free.
    DEVICE void wait() const {
        if constexpr (bulk)
            mbarrier_wait(barriers_smem + stage * 8, parity);
        else
            cp_async_wait<stages - 2>();
        sync();
    }

    DEVICE void advance() {
        const bool wraps = stage + 1 == stages;
        stage = wraps ? 0 : stage + 1;
        parity ^= wraps;
    }
};
