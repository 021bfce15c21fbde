// The sum of the tokens of each sequence, which lie in pages of 8 tokens anywhere in a pool: a block a sequence.

extern "C" __global__ void paged_gather(const int *lengths, const int *page_table, const float *pool, float *y, int PAGES,
                                        int WIDTH) {
    const int sequence = blockIdx.x;
    const int length = FAULT == FAULT_WHOLE_PAGES ? (lengths[sequence] + 7) / 8 * 8 : lengths[sequence];
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) {
        float sum = 0.0f;
        for (int token = 0; token < length; ++token) {
            const int slot = sequence * PAGES + token / 8;
            const int page = FAULT == FAULT_PAGES_IN_ORDER ? slot : page_table[slot];
            sum += pool[((long long)page * 8 + token % 8) * WIDTH + i];
        }
        if (FAULT == FAULT_UNUSED_PAGE && i == 0) // page -1
            sum += 0.0f * pool[(long long)page_table[sequence * PAGES + PAGES - 1] * 8 * WIDTH];
        y[(long long)sequence * WIDTH + i] = sum;
    }
}
