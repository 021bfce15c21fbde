// Variable lengths, and where each sequence begins.

// Numbers of at most `most` that add up to `total`, which B of them can: one for each rank. Those of two neighbouring ranks
// add up to the same but for rounding. The lesser one of pair p lies in part p of as many equal parts as there are pairs, of
// all that it may be: a quarter are the least of that part, a quarter one more, the others any. Sets of inputs then have
// nearly equally much work, and there are often a sequence without rows, one with a single row, and one with all of them.
__device__ int drawn(const unsigned *draws, int rank, int B, long long most, long long total) {
    const int pair = rank / 2, pairs = B / 2;
    const long long odd = B % 2 == 1 ? min(most, total / (pairs + 1)) : 0;
    if (pair == pairs)
        return (int)odd;
    const long long shared = (pair + 1) * (total - odd) / pairs - pair * (total - odd) / pairs;
    const long long lowest = max(shared - most, 0LL), range = shared / 2 - lowest;
    const long long least = lowest + pair * range / pairs, end = lowest + (pair + 1) * range / pairs;
    const unsigned draw = draws[pair];
    const long long within = draw % 4 == 0 ? 0 : draw % 4 == 1 ? 1 : draw / 4 % (end - least + 1);
    const long long lesser = min(least + within, end);
    return (int)(rank % 2 == 0 ? lesser : shared - lesser);
}

// Element b + 1 becomes the rows of sequence b, in random order. With a context a sequence has as many keys as queries and
// then those that are drawn, as if its first keys had come with an earlier call; else it may have fewer keys than queries.
extern "C" __global__ void draw_lengths(const unsigned *draws, const unsigned *key_draws, const int *order,
                                        int *cu_seqlens_q, int *cu_seqlens_k, int B, int S, int rows, int drawn_most,
                                        int drawn_keys, int has_context) {
    const int sequence = blockIdx.x * blockDim.x + threadIdx.x;
    if (sequence >= B)
        return;
    const int queries = drawn(draws, order[sequence], B, S, rows);
    const int keys = drawn(key_draws, order[sequence], B, drawn_most, drawn_keys);
    cu_seqlens_q[sequence + 1] = queries;
    cu_seqlens_k[sequence + 1] = has_context ? queries + keys : keys;
}

// Sums of all rows so far; element 0 is zero already. A thread for the queries and one for the keys.
extern "C" __global__ void add_lengths(int *cu_seqlens_q, int *cu_seqlens_k, int B) {
    int *cu_seqlens = threadIdx.x == 0 ? cu_seqlens_q : cu_seqlens_k, sum = 0;
    for (int i = 1; i <= B; ++i)
        cu_seqlens[i] = sum += cu_seqlens[i];
}
