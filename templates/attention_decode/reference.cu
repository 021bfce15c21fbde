// Attention over a cache of keys without tensor cores, in `real`: the reference in double, and in
// float the plain kernel. Formula and shapes are in split/kernel.cu.
//
// A block computes one query of one head, in chunks of keys, a key a thread; then a column a
// thread. Compiled once for all cases: element types and layout are run-time arguments. `page_table`
// is null where keys are contiguous, a null `lse` means that LSE is not wanted, null scales are 1,
// and `scale` 0 selects 1 / sqrt(D).

constexpr int threads = 128;
constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);

// Element `index` of a tensor.
__device__ real element_of(const void *tensor, long long index, bool is_bf16, bool is_fp8) {
    if (is_fp8)
        return static_cast<const f8_e4m3 *>(tensor)[index];
    if (is_bf16)
        return static_cast<const bf16 *>(tensor)[index];
    return static_cast<const f16 *>(tensor)[index];
}

// The largest of a block's values, or their sum; `smem` has one element a thread.
template <bool largest> __device__ real block_reduce(real value, real *smem) {
    __syncthreads(); // what was there has been read
    smem[threadIdx.x] = value;
    __syncthreads();
    real result = smem[0];
    for (int i = 1; i < threads; ++i)
        result = largest ? (smem[i] > result ? smem[i] : result) : result + smem[i];
    return result;
}

// Where a row of K or V of one head begins, in elements.
struct cache_rows {
    const int *page_table; // of the sequence, or null
    long long sequence, head;
    int H_KV, ROWS, D;
    bool heads_inside;

    __device__ long long operator()(int key) const {
        const long long page = page_table ? page_table[key / ROWS] : sequence, row = key % ROWS;
        return D * (heads_inside ? (page * ROWS + row) * H_KV + head
                                 : (page * H_KV + head) * ROWS + row);
    }
};

extern "C" __global__ void attention_decode_reference(
    const void *q, const void *k16, const void *v16, const void *k8, const void *v8,
    const float *k_scale, const float *v_scale, const int *lengths, const int *page_table, real *o,
    real *lse, int H, int H_KV, int S, int ROWS, int PAGES, int D, int causal, int is_bf16,
    int is_fp8, int heads_inside, float scale) {
    __shared__ real q_smem[threads], probability_smem[threads], scratch_smem[threads];
    const void *k = is_fp8 ? k8 : k16, *v = is_fp8 ? v8 : v16;
    const int query = blockIdx.x % S, head = blockIdx.x / S % H, kv_head = head / (H / H_KV);
    const long long sequence = blockIdx.x / S / H;
    const long long row = heads_inside ? (sequence * S + query) * H + head : blockIdx.x;
    const cache_rows rows{page_table ? page_table + sequence * PAGES : nullptr,
                          sequence,
                          kv_head,
                          H_KV,
                          ROWS,
                          D,
                          heads_inside != 0};
    const int length = lengths[sequence];
    const int end = causal ? max(length - S + query + 1, 0) : length; // of the visible keys
    const real factor = (scale > 0 ? static_cast<real>(scale) : 1 / sqrt(static_cast<real>(D))) *
                        (k_scale ? k_scale[kv_head] : 1.0f);
    const int column = threadIdx.x;
    if (column < D)
        q_smem[column] = element_of(q, row * D + column, is_bf16, false);

    real row_max = minus_infinity, sum = 0, o_sum = 0;
    for (int first_key = 0; first_key < end; first_key += threads) {
        const int key = first_key + threadIdx.x;
        real score = 0;
        __syncthreads(); // the query is loaded, and the last chunk's probabilities have been read
        if (key < end) {
            const long long first = rows(key);
            for (int d = 0; d < D; ++d)
                score += q_smem[d] * element_of(k, first + d, is_bf16, is_fp8);
        }
        score = key < end ? score * factor : minus_infinity;
        const real chunk_max = block_reduce<true>(score, scratch_smem);
        const real new_max = chunk_max > row_max ? chunk_max : row_max;
        const real correction = exp(row_max - new_max);
        probability_smem[threadIdx.x] = exp(score - new_max);
        sum = sum * correction + block_reduce<false>(probability_smem[threadIdx.x], scratch_smem);
        o_sum *= correction;
        row_max = new_max;
        for (int n = 0; column < D && n < min(threads, end - first_key); ++n)
            o_sum += probability_smem[n] *
                     element_of(v, rows(first_key + n) + column, is_bf16, is_fp8);
    }
    if (column < D)
        o[row * D + column] = end > 0 ? o_sum / sum * (v_scale ? v_scale[kv_head] : 1.0f) : 0;
    if (lse && column == 0)
        lse[blockIdx.x] = end > 0 ? row_max + log(sum) : minus_infinity;
}
