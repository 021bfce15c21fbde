// FlashAttention forward on Hopper:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query
//   K, V   [B, H_KV, S_KV, D]    row j is one key; H / H_KV heads in a row share their keys
//   LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query
//   The extents may be in any order: strides give the distance between batches, heads and rows of
//   Q and O; K and V are described by their tensor maps.
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//   VARLEN: there is one batch, and sequence b has its rows cu_seqlens[b] to cu_seqlens[b + 1]; S
//   and S_KV are then its own numbers of rows, and LSE is [H, total].
//
// A block computes one work unit: the BLOCK_M rows of one query tile against the keys of one KV
// split. The rows are BLOCK_M / PACK_HEADS neighbouring queries of each head of a pack, PACK_HEADS
// neighbouring heads that share their keys. TMA loads key tiles of BLOCK_N into two circular
// buffers (pipelines), one for K and one for V. Each warpgroup has 64 rows and keeps, for each of
// them, the running maximum m, the sum l of exp(score - m), and the unnormalised O. The blocks that
// split the keys of a query tile form a cluster and combine their results through distributed
// shared memory. README.md has a diagram.

#include "lib/element.cuh"
#include "lib/fragments.cuh"
#include "lib/hopper.cuh"
#include "lib/integer.cuh"
#include "lib/math.cuh"
#include "lib/pipeline.cuh"
#include "lib/sequences.cuh"
#include "lib/smem.cuh"
#include "lib/softmax.cuh"
#include "lib/warp.cuh"

// The genes and what follows from them: sizes, registers, the layout of shared memory.
#include "genes.cuh"

// ---- Per-thread state ----
// Fragment layouts are those of lib/wgmma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of its warp's 16.

using q_fragments = u32[head_dim / 16][4]; // the A operand of QK^T, unless it is in shared memory
using p_fragments = u32[block_n / 16][4];  // P in 16 bits: the A operand of PV
using score_accumulators = float[score_registers];
using o_accumulators = float[o_registers];

struct row_state {
    float row_max[2] = {minus_infinity, minus_infinity}; // m, before scaling
    float scale[2]; // a probability is exp2(score * scale - shift)
    float shift[2] = {0, 0};
    float row_sum[2] = {0, 0}; // l; covers only this thread's keys until finalize_row_sums

    DEVICE row_state(float scale_) : scale{scale_, scale_} {
    }
};

// The thread's coordinates within the block.
struct thread_coords {
    // The shuffle tells the compiler that the value is warp-uniform: everything derived from it,
    // down to the wgmma operands, is computed once per warp in uniform registers.
    int warp = __shfl_sync(full_warp_mask, threadIdx.x / 32, 0);
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int warpgroup = warp / 4;                           // warpgroup
    int set = groups_kv > 1 ? warpgroup / groups_m : 0; // set of the warpgroup
    int first_row = warpgroup % groups_m * group_rows;  // of the warpgroup, within the query tile
    int warp_row = warp % 4 * 16;                       // of the warp, within the warpgroup
};

// The kernel's parameters and its work units: kernel_params, work_unit, visible_keys,
// decode_work_unit, tile_scheduler.
#include "work_units.cuh"

// The pipelines: stages and their barriers (k_stage_smem, k_full_barrier ...), pipeline_state,
// consumer_wait, consumer_release, and the producers (tma_loader, inline_producer).
#include "pipeline.cuh"

// Mainloop state of one warpgroup: its position in the key tiles of its set.
struct mainloop_state {
    pipeline_state<k_stages> k;
    pipeline_state<v_stages> v;
    int tile;         // the current key tile
    int first_masked; // tiles before this one need no mask
    int end;          // tiles from here on are hidden from every query of the warpgroup
    int row;          // the thread's row g in its head; row g + 8 is row_query(8) behind it
    int S, S_KV;

    DEVICE void init(const work_unit &work, const thread_coords &thread) {
        S = work.S, S_KV = work.S_KV;
        const int first_row = work.first_row + thread.first_row / pack_heads;
        row = first_row + row_query(thread.warp_row) + thread.g;
        tile = work.first_tile + thread.set;
        first_masked = visible_keys(first_row + 1, S, S_KV) / block_n;
        end =
            min(work.end_tile, ceil_div(visible_keys(first_row + group_queries, S, S_KV), block_n));
    }
};

// Steps of one mainloop iteration: start_qk_gemm, mask, thread_row_max, needs_rescale,
// raise_row_max, exp_scores, sum_and_pack, exp_sum_and_pack, rescale_o, start_pv_gemm;
// pingpong_wait and pingpong_signal.
#include "mainloop_steps.cuh"

// Epilogue: finalize_row_sums, merge_warpgroup_sets; send_partials and reduce_and_store, or
// finish_rows and store_o_by_threads or store_o_by_tma.
#include "epilogue.cuh"

// ---- The mainloop over the key tiles of a work unit ----

// Replaces scores with probabilities. Returns true if m was raised; the caller then multiplies O by
// `correction`.
DEVICE bool softmax(score_accumulators &s_rmem, float (&correction)[2], row_state &rows,
                    const kernel_params &params, const thread_coords &thread) {
    float row_max[2];
    thread_row_max(row_max, s_rmem);
    const bool max_raised = !lazy_rescale || needs_rescale(row_max, rows, params);
    if (max_raised)
        raise_row_max(correction, rows, row_max, params);
    pingpong_wait<softmax_turns>(thread);
    exp_scores(s_rmem, rows);
    return max_raised;
}

// The same, and packs the probabilities into p_rmem. If optimistic, the probabilities of the first
// keys are computed with the old m before it is known whether m must be raised, so that no
// exponential waits for the maximum; if m is raised, they are computed again. (Only 16 keys: more
// would need more registers until the check is done.)
DEVICE bool softmax_and_pack(p_fragments &p_rmem, score_accumulators &s_rmem,
                             float (&correction)[2], row_state &rows, const kernel_params &params,
                             const thread_coords &thread) {
    if constexpr (optimistic) {
        constexpr int first_scores = 8;
        float row_max[2], tile_sum[4];
        pingpong_wait<softmax_turns>(thread);
        exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, 0, first_scores);
        thread_row_max(row_max, s_rmem);
        const bool max_raised = needs_rescale(row_max, rows, params);
        if (max_raised) {
            raise_row_max(correction, rows, row_max, params);
            exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, 0, first_scores);
        }
        exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, first_scores, score_registers);
        rows.row_sum[0] += tile_sum[0] + tile_sum[1];
        rows.row_sum[1] += tile_sum[2] + tile_sum[3];
        return max_raised;
    } else {
        const bool max_raised = softmax(s_rmem, correction, rows, params, thread);
        sum_and_pack(p_rmem, rows, s_rmem);
        return max_raised;
    }
}

// Mainloop without overlap: S, softmax and O of one tile after another.
DEVICE void mainloop(o_accumulators &o_rmem, row_state &rows, query_tile &q, mainloop_state &state,
                     inline_producer &producer, const kernel_params &params,
                     const thread_coords &thread) {
    q.acquire();
    if (state.tile >= state.end)
        q.release();
    for (; state.tile < state.end; state.tile += groups_kv) {
        score_accumulators s_rmem;
        p_fragments p_rmem;
        float correction[2];
        const u32 k_full = k_full_barrier(state.k.stage), v_full = v_full_barrier(state.v.stage);
        consumer_wait(k_full, state.k.phase);
        start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
        if (k_issue_lag == 0)
            producer.issue_k(state.tile);
        if (v_issue_lag == 0)
            producer.issue_v(state.tile);
        wgmma_wait<0>();
        wgmma_hold(s_rmem);
        consumer_release_stage(k_full);
        if (state.tile + groups_kv >= state.end)
            q.release();
        if (k_issue_lag > 0)
            producer.issue_k(state.tile + k_issue_lag);
        if (state.tile >= state.first_masked)
            mask(s_rmem, state, thread);
        const bool max_raised = softmax_and_pack(p_rmem, s_rmem, correction, rows, params, thread);
        if (max_raised)
            rescale_o(o_rmem, correction);
        consumer_wait(v_full, state.v.phase);
        pingpong_signal<softmax_turns>(thread);
        start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
        state.k.advance(groups_kv);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        consumer_release_stage(v_full);
        if (v_issue_lag > 0)
            producer.issue_v(state.tile + v_issue_lag);
        state.v.advance(groups_kv);
    }
}

// Mainloop with overlap (FlashAttention-3, section 3.2): QK^T of a tile is issued beside PV of the
// previous tile, and PV continues beside the softmax.
DEVICE void mainloop_overlapped(o_accumulators &o_rmem, row_state &rows, query_tile &q,
                                mainloop_state &state, inline_producer &producer,
                                const kernel_params &params, const thread_coords &thread) {
    score_accumulators s_rmem;
    p_fragments p_rmem;
    float correction[2];
    q.acquire();
    if (state.tile >= state.end) {
        q.release();
        return;
    }
    consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
    pingpong_wait<gemm_turns>(thread);
    start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
    pingpong_signal<gemm_turns>(thread);
    wgmma_wait<0>();
    wgmma_hold(s_rmem);
    consumer_release_stage(k_full_barrier(state.k.stage));
    if (state.tile + groups_kv >= state.end)
        q.release();
    state.k.advance(groups_kv);
    if (k_issue_lag > 0)
        producer.issue_k(state.tile + k_issue_lag);
    if (state.tile >= state.first_masked)
        mask(s_rmem, state, thread);
    softmax(s_rmem, correction, rows, params, thread);
    sum_and_pack(p_rmem, rows, s_rmem);
    pingpong_signal<softmax_turns>(thread);
    state.tile += groups_kv;
    if (state.tile < state.end)
        consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
    for (; state.tile < state.end; state.tile += groups_kv) {
        const u32 k_full = k_full_barrier(state.k.stage), v_full = v_full_barrier(state.v.stage);
        pingpong_wait<gemm_turns>(thread);
        start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
        consumer_wait(v_full, state.v.phase);
        start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
        pingpong_signal<gemm_turns>(thread);
        state.k.advance(groups_kv);
        state.v.advance(groups_kv);
        if (k_issue_lag == 0)
            producer.issue_k(state.tile);
        if (v_issue_lag == 0)
            producer.issue_v(state.tile - groups_kv);
        wgmma_wait<1>();
        wgmma_hold(s_rmem);
        consumer_release_stage(k_full);
        if (state.tile + groups_kv >= state.end)
            q.release();
        if (k_issue_lag > 0)
            producer.issue_k(state.tile + k_issue_lag);
        if (state.tile >= state.first_masked)
            mask(s_rmem, state, thread);
        const bool max_raised = softmax(s_rmem, correction, rows, params, thread);
        wgmma_hold(s_rmem);
        // Placed here so that the compiler keeps the wait below after the softmax.
        if (state.tile + groups_kv < state.end)
            consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        consumer_release_stage(v_full);
        if (v_issue_lag > 0)
            producer.issue_v(state.tile);
        if (max_raised)
            rescale_o(o_rmem, correction);
        sum_and_pack(p_rmem, rows, s_rmem);
        pingpong_signal<softmax_turns>(thread);
    }
    if (k_issue_lag == 0)
        producer.issue_k(state.tile);
    if (v_issue_lag == 0)
        producer.issue_v(state.tile - groups_kv);
    consumer_wait(v_full_barrier(state.v.stage), state.v.phase);
    start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
    wgmma_wait<0>();
    wgmma_hold(o_rmem);
    consumer_release_stage(v_full_barrier(state.v.stage));
    state.v.advance(groups_kv);
    producer.issue_v(state.tile);
}

// Consumes, without reading them, the key tiles that other warpgroups' queries see and this
// warpgroup's queries do not.
DEVICE void skip_hidden_tiles(mainloop_state &state, inline_producer &producer,
                              const work_unit &work, const thread_coords &thread) {
    for (; state.tile < work.end_tile; state.tile += groups_kv) {
        pingpong_wait<softmax_turns || gemm_turns>(thread);
        pingpong_signal<softmax_turns || gemm_turns>(thread);
        consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
        consumer_release_stage(k_full_barrier(state.k.stage));
        state.k.advance(groups_kv);
        producer.issue_k(state.tile + groups_kv);
        consumer_wait(v_full_barrier(state.v.stage), state.v.phase);
        consumer_release_stage(v_full_barrier(state.v.stage));
        state.v.advance(groups_kv);
        producer.issue_v(state.tile + groups_kv);
    }
}

// ---- The schedule ----

#if KV_SPLITS > 1 && ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#elif KV_SPLITS > 1
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#elif MULTICAST > 1
#define CLUSTER __cluster_dims__(MULTICAST, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER attention_fwd_hopper(
    const __grid_constant__ tensor_map q_map, const __grid_constant__ tensor_map k_map,
    const __grid_constant__ tensor_map v_map, const __grid_constant__ tensor_map o_map,
    const element *__restrict__ q_gmem, element *__restrict__ o, float *__restrict__ lse,
    const int *__restrict__ cu_seqlens_q, const int *__restrict__ cu_seqlens_k, int S, int S_KV,
    int sequences, int total_rows, int heads, int x_inverse, int y_inverse,
    int heads_per_kv_head_inverse, float scale, u32 q_batch, u32 q_head, int q_row, u32 o_batch,
    u32 o_head, int o_row) {
    const kernel_params params{S,
                               S_KV,
                               sequences,
                               heads / pack_heads,
                               total_rows,
                               cu_seqlens_q,
                               cu_seqlens_k,
                               x_inverse,
                               y_inverse,
                               heads_per_kv_head_inverse,
                               (scale > 0 ? scale : default_scale) * log2_e,
                               {q_batch, q_head, q_row},
                               {o_batch, o_head, o_row}};
    const thread_coords thread{};
    const int work_units = persistent ? sequences * params.packs * query_tiles(S) : 1;
    init_barriers();
    if constexpr (kv_splits > 1 || multicast > 1)
        cluster_arrive(); // this block runs: other blocks may write to its shared memory
    if constexpr (multicast > 1)
        cluster_wait();
    if (has_producer && thread.warp >= consumer_threads / 32) {
        if constexpr (reallocate_registers)
            setmaxnreg_dec<24>();
        if (threadIdx.x == consumer_threads) {
            tma_loader loader{q_map, k_map, v_map};
            for (tile_scheduler scheduler; scheduler.work_index < work_units; scheduler.advance())
                loader.load_all(decode_work_unit(scheduler.work_index, params));
        }
        leave_cluster();
        return;
    }
    if constexpr (reallocate_registers)
        setmaxnreg_inc<consumer_registers>();
    mainloop_state state;
    state.k.advance(thread.set), state.v.advance(thread.set);
    if (thread.warpgroup == groups - 1)
        pingpong_signal<softmax_turns || gemm_turns>(thread); // warpgroup 0 may begin
    tile_scheduler scheduler;
    query_tile q{q_gmem, params, thread};
    q.find_next(scheduler.work_index, work_units);
    q.load_next();
    while (scheduler.work_index < work_units) {
        const work_unit work = q.next;
        scheduler.advance();
        q.find_next(scheduler.work_index, work_units);
        if constexpr (varlen && kv_splits == 1)
            if (work.is_behind_end()) {
                q.load_next();
                continue;
            }
        const int head = work.head + row_head(thread.warp_row); // of the thread's row g
        element *o_gmem = o + to_sequence<varlen>(params.o, work.batch, head, work.first_query);
        const i64 row_id = static_cast<i64>(work.batch * heads + head) * params.rows +
                           work.first_query; // index of the first query in LSE
        inline_producer producer{{q_map, k_map, v_map},
                                 work,
                                 thread.warp == (groups_m - 1) * 4 && threadIdx.x % 32 == 0};
        o_accumulators o_rmem = {};
        row_state rows(params.scale);
        producer.loader.init(work);
        producer.issue_q();
        producer.issue_k(work.first_tile), producer.issue_v(work.first_tile);
        state.init(work, thread);
        (overlap ? mainloop_overlapped : mainloop)(o_rmem, rows, q, state, producer, params,
                                                   thread);
        if (causal)
            skip_hidden_tiles(state, producer, work, thread);
        finalize_row_sums(rows);
        if constexpr (groups_kv > 1)
            merge_warpgroup_sets(o_rmem, rows, params, thread);
        if constexpr (kv_splits > 1) {
            const int rank = cluster_rank();
            cluster_wait(); // all blocks of the cluster run
            if (thread.set == 0)
                send_partials(o_rmem, rows, rank);
            cluster_arrive();
            cluster_wait(); // the partial results of all blocks have arrived
            if (thread.set == 0)
                reduce_and_store(o_gmem, lse, row_id, o_rmem, rows, rank, state, params, thread);
        } else if (thread.set == 0) {
            float inverse[2];
            finish_rows(inverse, lse, row_id, rows, state, params, thread);
            if constexpr (tma_store_o)
                store_o_by_tma(o_map, o_rmem, inverse, work, thread);
            else
                store_o_by_threads(o_gmem, o_rmem, inverse, state, params, thread);
        }
    }
    finish_o_stores();
    leave_cluster();
}
