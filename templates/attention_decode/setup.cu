// Lengths, a page table, and a cache in which only the rows of tokens hold numbers.

// The lengths lie in B equal ranges from 0 to S_KV, one in each, in random order: sets of inputs then have nearly
// equally many keys. A quarter of them are the least of their range, a quarter the most, so that there are often a
// sequence without keys and one with all of them. None has less than `fewest`.
extern "C" __global__ void draw_lengths(const unsigned *draws, const int *order, int *lengths, int B, int S_KV,
                                        int fewest, int ragged) {
    const int sequence = blockIdx.x * blockDim.x + threadIdx.x;
    if (sequence >= B)
        return;
    const unsigned draw = draws[sequence];
    const long long least = (long long)order[sequence] * S_KV / B, most = (order[sequence] + 1LL) * S_KV / B;
    const long long within = draw % 4 == 0 ? 0 : draw % 4 == 1 ? most - least : draw / 4 % (most - least + 1);
    lengths[sequence] = ragged ? max((int)(least + within), fewest) : S_KV;
}

// The pages of the pool in random order, as many for a sequence as it needs, and -1 behind them.
extern "C" __global__ void fill_page_table(const int *lengths, const int *order, int *page_table, int PAGES, int PAGE) {
    const long long first = (long long)blockIdx.x * PAGES;
    const int length = lengths[blockIdx.x];
    for (int p = threadIdx.x; p < PAGES; p += blockDim.x)
        page_table[first + p] = (long long)p * PAGE < length ? order[first + p] : -1;
}

// NaN in all rows that hold no token, as in memory that was never written: a kernel must not multiply them by zero.
// `order` is null where keys are contiguous; a sequence then is one page.
extern "C" __global__ void spoil_unused_rows(const int *lengths, const int *order, unsigned char *k,
                                             unsigned char *v, unsigned char *k8, unsigned char *v8,
                                             int H_KV, int ROWS, int PAGES, int D, int heads_inside, int fp8) {
    const long long sequence = blockIdx.x, head = blockIdx.y, element_bytes = fp8 ? 1 : 2;
    const long long row_elements = heads_inside ? (long long)H_KV * D : D;
    const long long head_elements = heads_inside ? D : (long long)ROWS * D;
    const long long row_bytes = D * element_bytes;
    const long long first = lengths[sequence] * row_bytes, end = (long long)PAGES * ROWS * row_bytes;
    for (long long i = first + threadIdx.x; i < end; i += blockDim.x) {
        const long long key = i / row_bytes, page = key / ROWS;
        const long long slot = order ? order[sequence * PAGES + page] : sequence;
        const long long element = slot * ROWS * H_KV * D + head * head_elements + key % ROWS * row_elements;
        const long long byte = element * element_bytes + i % row_bytes;
        (fp8 ? k8 : k)[byte] = (fp8 ? v8 : v)[byte] = fp8 || i % 2 ? 0x7f : 0xff; // 0x7f of e4m3, 0x7fff of 16 bits
    }
}
