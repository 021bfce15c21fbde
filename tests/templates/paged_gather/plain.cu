// The same in float, a thread for each element.

extern "C" __global__ void paged_gather_plain(const int *lengths, const int *page_table, const float *pool,
                                       float *y, int PAGES, int WIDTH) {
    const int sequence = blockIdx.x;
    for (int i = threadIdx.x; i < WIDTH; i += blockDim.x) {
        float sum = 0;
        for (int token = 0; token < lengths[sequence]; ++token)
            sum += pool[((long long)page_table[sequence * PAGES + token / 8] * 8 + token % 8) * WIDTH + i];
        y[(long long)sequence * WIDTH + i] = sum;
    }
}
