// Lengths from any numbers, and a page table: the pages of the pool in random order, as many for a sequence as it needs,
// and -1 behind them.

extern "C" __global__ void page_table_setup(const unsigned *draws, const int *order, int *lengths, int *page_table,
                                            int PAGES) {
    const int sequence = blockIdx.x;
    const int length = 1 + draws[sequence] % (8u * PAGES);
    if (threadIdx.x == 0)
        lengths[sequence] = length;
    for (int p = threadIdx.x; p < PAGES; p += blockDim.x)
        page_table[sequence * PAGES + p] = p * 8 < length ? order[sequence * PAGES + p] : -1;
}
