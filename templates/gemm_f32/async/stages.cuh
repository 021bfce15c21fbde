// Included by kernel.cu: tiles of A and B in shared memory, how they are copied there, and read.

// A tile of A, column by column, so that a fragment of rows is a vector. A copy moves one element,
// and eight lanes a sector of a row; four elements of padding keep those lanes in different banks.
struct tile_of_a {
    static constexpr int pitch = block_m + 4, lanes_k = 8, pass_rows = threads / lanes_k;
    float elements[block_k * pitch];

    // Begins to copy the tile from column first_k on. Rows past the end repeat the last one: their
    // sums are not stored. Columns at or past K become zeros, unless the tile is `whole`.
    template <bool whole>
    DEVICE void copy(const float *a, int first_row, int first_k, int M, int K) {
        const int k = threadIdx.x % lanes_k, thread_row = threadIdx.x / lanes_k;
        const char *from_k = reinterpret_cast<const char *>(a + first_k + k);
        const u32 to = smem_address(elements + k * pitch + thread_row);
#pragma unroll
        for (int pass = 0; pass < block_m; pass += pass_rows) {
            if (block_m % pass_rows != 0 && pass + thread_row >= block_m)
                break;
            const int row = min(first_row + pass + thread_row, M - 1);
            const char *from = from_k + static_cast<i64>(row) * (4 * K);
#pragma unroll
            for (int more = 0; more < block_k; more += lanes_k) {
                const bool inside = whole || first_k + k + more < K;
                const char *source = inside ? from + 4 * more : reinterpret_cast<const char *>(a);
                cp_async_4(to + 4 * (more * pitch + pass), source, inside);
            }
        }
    }
};

// A tile of B, row by row.
struct tile_of_b {
    float elements[block_k * block_n];

    // Begins to copy the tile from row first_k on. Columns past the end repeat earlier ones.
    // Aligned rows are copied in vectors.
    template <bool whole>
    DEVICE void copy(const float *b, int first_k, int first_column, int K, int N) {
        if (N % width == 0)
            copy_vectors<whole, width>(b, first_k, first_column, K, N);
        else
            copy_vectors<whole, 1>(b, first_k, first_column, K, N);
    }

    template <bool whole, int copied>
    DEVICE void copy_vectors(const float *b, int first_k, int first_column, int K, int N) {
        constexpr int row_threads = min_of(threads, block_n / copied);
        constexpr int pass_rows = threads / row_threads;
        const int thread_k = threadIdx.x / row_threads;
        const int thread_column = threadIdx.x % row_threads * copied;
        const u32 to = smem_address(elements + thread_k * block_n + thread_column);
#pragma unroll
        for (int more = 0; more < block_n; more += row_threads * copied) {
            const int column = min(first_column + thread_column + more, N - copied);
            const char *from_column = reinterpret_cast<const char *>(b + column);
#pragma unroll
            for (int pass = 0; pass < block_k; pass += pass_rows) {
                if (block_k % pass_rows != 0 && pass + thread_k >= block_k)
                    break;
                const int k = first_k + pass + thread_k;
                const bool inside = whole || k < K;
                const char *from = from_column + static_cast<i64>(inside ? k : 0) * (4 * N);
                const u32 to_k = to + 4 * (pass * block_n + more);
                if (copied == width)
                    cp_async_16(to_k, from, inside);
                else
                    cp_async_4(to_k, from, inside);
            }
        }
    }
};

struct stage {
    tile_of_a a;
    tile_of_b b;
};

// What a thread multiplies in one step of the sum.
struct fragments {
    vector<float, width> a[thread_m / width], b[thread_n / width];

    // A thread has every threads_m-th vector of rows and every threads_n-th vector of columns, so
    // that the lanes of a warp read neighbouring vectors.
    DEVICE void load(const stage &staged, int k, int row, int column) {
        const float *from_a = staged.a.elements + k * tile_of_a::pitch + row;
        const float *from_b = staged.b.elements + k * block_n + column;
#pragma unroll
        for (int i = 0; i < thread_m / width; ++i)
            a[i] = load_vector<width>(from_a + i * threads_m * width);
#pragma unroll
        for (int j = 0; j < thread_n / width; ++j)
            b[j] = load_vector<width>(from_b + j * threads_n * width);
    }
};
