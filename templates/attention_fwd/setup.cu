// Variable lengths, and where each sequence begins.

// The rows of a sequence: `shorter` or the rest of `most`, and all of them where it has no partner.
__device__ int rows_of(int rank, int B, int shorter, int most) {
    return rank == B - 1 && B % 2 == 1 ? most : rank % 2 == 0 ? shorter : most - shorter;
}

// Sequences form pairs, in random order. The shorter one of pair p has p / B to (p + 1) / B of `most` rows, so that all
// sets of inputs have nearly equally much work: a quarter the least of that range, a quarter one more, the others any.
// There are often a sequence without rows, one with a single row, and one with all of them.
__device__ int shorter_of(int pair, unsigned draw, int B, int most) {
    const int pairs = B / 2;
    const long long least = pairs > 0 ? (long long)pair * most / (2 * pairs) : 0;
    const long long end = pairs > 0 ? (pair + 1LL) * most / (2 * pairs) : 0;
    const long long within = draw % 4 == 0 ? 0 : draw % 4 == 1 ? 1 : draw / 4 % (end - least + 1);
    return (int)min(least + within, end);
}

// Element b + 1 becomes the rows of sequence b. Where S_KV is S or more, a sequence has as many keys as queries and then
// some, as if its first keys had come with an earlier call; else fewer keys than queries may be its all.
extern "C" __global__ void draw_lengths(const unsigned *draws, const unsigned *key_draws, const int *order,
                                        int *cu_seqlens_q, int *cu_seqlens_k, int B, int S, int S_KV) {
    const int sequence = blockIdx.x * blockDim.x + threadIdx.x;
    if (sequence >= B)
        return;
    const int rank = order[sequence], pair = rank / 2;
    const int queries = rows_of(rank, B, shorter_of(pair, draws[pair], B, S), S);
    const int most = S_KV < S ? S_KV : S_KV - S; // of the keys that are drawn
    const int keys = rows_of(rank, B, shorter_of(pair, key_draws[pair], B, most), most);
    cu_seqlens_q[sequence + 1] = queries;
    cu_seqlens_k[sequence + 1] = S_KV < S ? keys : queries + keys;
}

// Sums of all rows so far; element 0 is zero already. A thread for the queries and one for the keys.
extern "C" __global__ void add_lengths(int *cu_seqlens_q, int *cu_seqlens_k, int B) {
    int *cu_seqlens = threadIdx.x == 0 ? cu_seqlens_q : cu_seqlens_k, sum = 0;
    for (int i = 1; i <= B; ++i)
        cu_seqlens[i] = sum += cu_seqlens[i];
}
