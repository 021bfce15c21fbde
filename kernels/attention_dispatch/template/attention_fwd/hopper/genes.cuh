// Included by kernel.cu: the genes and what follows from them: sizes, registers, the layout of
// shared memory.

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(GROUPS_KV) || !defined(K_STAGES) ||         \
    !defined(V_STAGES) || !defined(PRODUCER) || !defined(OVERLAP) || !defined(TURNS) ||            \
    !defined(KV_SPLITS) || !defined(LAZY_RESCALE) || !defined(POLYNOMIAL_EXP) ||                   \
    !defined(MIN_CTAS) || !defined(PERSISTENT) || !defined(ORDER) || !defined(D) ||                \
    !defined(Q_SMEM) || !defined(MULTICAST) || !defined(L2_HEADS) || !defined(STORE) ||            \
    !defined(PACK_HEADS) || !defined(CAUSAL) || !defined(BF16) || !defined(VARLEN)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
constexpr bool varlen = VARLEN;                 // sequences of different lengths, packed
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int block_m = BLOCK_M;                // rows per query tile
constexpr int block_n = BLOCK_N;                // keys per tile
constexpr int groups_kv = GROUPS_KV; // sets of consumer warpgroups that take key tiles in turn
constexpr int k_stages = K_STAGES;   // pipeline stages of K
constexpr int v_stages = V_STAGES;   // pipeline stages of V
constexpr bool q_in_smem = Q_SMEM;   // Q is an operand in shared memory, not in registers
constexpr bool has_producer = PRODUCER != PRODUCER_NONE; // dedicated warps issue the TMA loads
constexpr bool producer_warpgroup =
    PRODUCER == PRODUCER_WARPGROUP; // a whole producer warpgroup, which releases registers
constexpr bool overlap = OVERLAP;   // QK^T of a tile runs beside PV of the previous tile
constexpr bool softmax_turns =
    TURNS == 1;                         // ping-pong: consumer warpgroups alternate in the softmax,
constexpr bool gemm_turns = TURNS == 2; // or in issuing their products
constexpr int kv_splits = KV_SPLITS;    // split-KV: blocks of a cluster that split the keys
constexpr int multicast = MULTICAST;    // blocks of a cluster that load each tile together, for all
constexpr bool lazy_rescale =
    LAZY_RESCALE; // m is raised only when scores exceed it by a threshold;
constexpr bool optimistic =
    LAZY_RESCALE == 2; // optimistic: the first exponentials do not wait for that check
constexpr int polynomial_exp =
    POLYNOMIAL_EXP; // of 8 exponentials, this many by polynomial instead of the MUFU unit
constexpr int min_ctas = MIN_CTAS; // minimum resident blocks per SM (launch bounds)
constexpr bool persistent =
    PERSISTENT; // a block processes several work units and prefetches the next
constexpr bool alternating =
    PERSISTENT == 2; // in odd rounds the work units are given out in reverse
constexpr bool tiles_first = ORDER == ORDER_TILES; // consecutive blocks share a head's keys
constexpr bool tma_store_o = STORE == STORE_TMA;   // O leaves through shared memory, by TMA
constexpr int l2_heads = L2_HEADS;     // packs whose work units run before those of others; 0: all
constexpr int pack_heads = PACK_HEADS; // heads of a pack: neighbours that share a query tile

// ---- Derived sizes ----

constexpr int group_rows = 64;                         // rows per warpgroup: the M of wgmma
constexpr int group_queries = group_rows / pack_heads; // of each head of the pack
constexpr int tile_queries = block_m / pack_heads;
constexpr int groups_m = block_m / group_rows; // warpgroups along the rows
constexpr int groups = groups_m * groups_kv;   // consumer warpgroups
constexpr int consumer_threads = groups * 128;
constexpr int threads = consumer_threads + (producer_warpgroup ? 128 : has_producer ? 32 : 0);
constexpr int n_tiles = block_n / 8;  // a thread's scores are in tiles of 8 keys,
constexpr int d_tiles = head_dim / 8; // its O in tiles of 8 columns
constexpr int score_registers = n_tiles * 4, o_registers = d_tiles * 4;
constexpr int panels = head_dim / 64; // a tile in shared memory is stored as panels of 64 columns
constexpr int panel_bytes = block_n * 128;
constexpr int q_panel_bytes = group_rows * 128;

// A warpgroup's rows are group_queries neighbouring queries of the pack's first head, then the same
// queries of the next: the head, within the pack, and the query, within the warpgroup, of a row.
DEVICE constexpr int row_head(int row) {
    return pack_heads > 1 ? row / group_queries : 0;
}
DEVICE constexpr int row_query(int row) {
    return pack_heads > 1 ? row % group_queries : row;
}

// Registers per thread: at launch and, where a producer warpgroup keeps only 24, after the
// consumers have taken over the rest (solution.json computes the same). Registers are not
// reallocated where every thread has more than 168.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (groups + 1) - 24) / groups / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool reallocate_registers = producer_warpgroup && launch_registers <= 168;

constexpr float default_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)
// Probabilities may grow to 2^8 before m must be raised.
constexpr float rescale_threshold_log2 = 8.0f;

// ---- Shared memory, in bytes ----
//
//   0              K, `k_stages` tiles, then V, `v_stages` tiles, each as 64-column panels
//                  (merge_warpgroup_sets overlays these with m, l and O of up to half of the sets)
//   q_smem         Q, if it is in shared memory: for each warpgroup along the queries its panels
//   o_smem         O, if TMA stores it: the same for each warp
//   barriers_smem  two mbarriers per stage, and for Q: full (the load has completed), empty (all
//                  have read it)
//   partials_smem  partial results (m, l, columns of O) from each other block of the cluster

constexpr int tile_bytes = panels * panel_bytes;
constexpr int v_smem = k_stages * tile_bytes;
constexpr int merge_words = o_registers + 4; // per thread: m and l of two rows, and O
constexpr int merge_bytes = groups_kv / 2 * groups_m * 128 * merge_words * 4;
constexpr int q_smem = v_smem + v_stages * tile_bytes;
constexpr int q_bytes = q_in_smem ? groups_m * panels * q_panel_bytes : 0;
constexpr int o_smem = max_of(q_smem + q_bytes, ceil_div(merge_bytes, 1024) * 1024);
constexpr int o_bytes = tma_store_o ? 2 * block_m * head_dim : 0;
constexpr int barriers_smem =
    tma_store_o ? o_smem + o_bytes : max_of(q_smem + q_bytes, merge_bytes);
constexpr int barriers = k_stages + v_stages + q_in_smem;
constexpr int partials_smem = barriers_smem + 16 * barriers;
constexpr int owned_registers = o_registers / kv_splits; // of O, reduced by one block
constexpr int partial_words = owned_registers + 4;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(block_m % group_rows == 0, "a warpgroup has 64 rows");
static_assert(pack_heads == 1 || pack_heads == 2 || pack_heads == 4 || pack_heads == 8,
              "8 rows of a warp are of one head");
static_assert(block_n % 16 == 0, "the product with V takes 16 keys at a time");
static_assert((groups_kv & (groups_kv - 1)) == 0, "the merge halves the sets until one is left");
static_assert(k_stages % groups_kv == 0 && v_stages % groups_kv == 0,
              "a stage serves one set, so that its waiters have observed the previous phase");
static_assert(!persistent || (has_producer && groups_kv == 1 && kv_splits == 1),
              "loads of the next work unit overlap the current one");
static_assert(multicast == 1 || (has_producer && groups_kv == 1 && kv_splits == 1),
              "producers wait for the consumers of the whole cluster");
static_assert(block_n % (multicast * 8) == 0,
              "a share of a tile begins at a period of the swizzle");
static_assert(o_registers % kv_splits == 0 && owned_registers % 4 == 0,
              "a block reduces whole tiles");
static_assert(!tma_store_o || (kv_splits == 1 && !varlen),
              "a box of O is of one block and sequence");
static_assert(TURNS == 0 || groups_kv == 1, "all warpgroups take equally many ping-pong turns");
static_assert(!optimistic || !overlap, "P of the previous tile is still being read");
static_assert(threads <= 1024, "a block has at most 1024 threads");
