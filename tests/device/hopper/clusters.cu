// Blocks of a cluster that access each other's shared memory; 64 threads a block. The macro CLUSTER
// defines the kernels for one shape. FAULT injects one of the faults below into `exchange`.
#include "lib/cp_async.cuh"
#include "lib/hopper.cuh"

#ifndef FAULT
#define FAULT 0
#endif
constexpr int no_start_wait = 1, no_end_wait = 2, no_such_rank = 3, early_exit = 4, past_the_end = 5,
              skipped_barrier = 6, arrived_twice = 7, no_arrival = 8, own_block_store = 9,
              remote_wait = 10, late_end_wait = 11;
constexpr int threads = 64;

DEVICE u32 block_number() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// Odd blocks round up to 1 + 2^-23, even blocks round the same sum down to 1.
DEVICE u32 rounded(u32 rank) {
    const float small = blockDim.x * 1.396983862e-9f; // 1.5 * 2^-24
    return __float_as_uint(rank % 2 ? __fadd_rn(1.0f, small) : __fadd_rz(1.0f, small));
}

DEVICE void store_word(u32 mapped, u32 value) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(mapped), "r"(value) : "memory");
}

DEVICE u32 load_word(u32 mapped) {
    u32 value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(mapped) : "memory");
    return value;
}

DEVICE void add_word(u32 mapped, u32 value) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;"
                 :
                 : "r"(mapped), "r"(value)
                 : "memory");
}

// The generic address, in block `rank`, of the variable that is *own in this block.
DEVICE u32 *generic_of_block(u32 *own, u32 rank) {
    u64 mapped;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(own), "r"(rank));
    return reinterpret_cast<u32 *>(mapped);
}

// The rank of the block whose shared memory holds *place.
DEVICE u32 rank_of(const u32 *place, u32 place_smem) {
    u32 rank, same;
    asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(place));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(same) : "r"(place_smem));
    return rank == same ? rank : ~0u;
}

// Waits for arrivals from other blocks, with acquire semantics.
DEVICE void wait_for_cluster(u32 barrier, u32 parity) {
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again; }"
                 :
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

// Each block writes a row to every block's shared memory, adds to a sum in block 0, and reads a row of
// the next block. out: for each block a row from each rank, the row read from the next rank, and a row
// of block positions, the sum and block-local results.
template <int count> DEVICE void exchange(u32 *out_gmem) {
    __shared__ u32 rows_smem[count][threads], own_smem[threads], sum_smem;
    const u32 rank = cluster_rank(), next = (rank + 1) % count, t = threadIdx.x;
    u32 *block_gmem = out_gmem + block_number() * (count + 2) * threads;
    own_smem[t] = block_number() * 1000 + t;
    sum_smem = 0;
    if (FAULT == skipped_barrier && rank == 0 && t < 32)
        asm volatile("bar.sync 1, 64;");
    if (FAULT != no_arrival)
        cluster_arrive();
    if (FAULT == arrived_twice)
        cluster_arrive();
    if (t < 16) { // between arrive and wait
        const u32 place[] = {gridDim.x, gridDim.y, gridDim.z, 0};
        block_gmem[(count + 1) * threads + t] = place[t % 4];
    }
    if (FAULT != no_start_wait)
        cluster_wait();
    if (FAULT == early_exit && rank == 0)
        return;
    for (u32 to = 0; to < count; ++to) {
        const u32 rank_named = FAULT == no_such_rank ? to + 1 : to;
        u32 mapped = map_to_block(smem_address(&rows_smem[rank][t]), rank_named);
        if (FAULT == past_the_end)
            mapped += 1 << 16;
        if (FAULT == own_block_store)
            asm volatile("st.shared.u32 [%0], %1;" : : "r"(mapped), "r"(t) : "memory");
        store_word(mapped, block_number() * 100000 + to * 1000 + t);
    }
    add_word(map_to_block(smem_address(&sum_smem), 0), t + 1);
    const u32 *next_smem = generic_of_block(own_smem, next);
    u32 read = next_smem[t];
    const u32 next_place = map_to_block(smem_address(&own_smem[t]), next);
    if (read != load_word(next_place) || rank_of(next_smem, next_place) != next ||
        rank_of(own_smem, smem_address(own_smem)) != rank)
        read = ~0u;
    if (FAULT == remote_wait && t == 0)
        mbarrier_wait(map_to_block(smem_address(own_smem), next), 0);
    if (t == 30)
        block_gmem[(count + 1) * threads + t] = rounded(rank);
    cluster_arrive();
    if (FAULT != no_end_wait && FAULT != late_end_wait)
        cluster_wait();
    for (int from = 0; from < count; ++from)
        block_gmem[from * threads + t] = rows_smem[from][t];
    block_gmem[count * threads + t] = read;
    if (t == 31)
        block_gmem[(count + 1) * threads + t] = rounded(rank);
    if (t == 63)
        block_gmem[(count + 1) * threads + t] = sum_smem;
    u32 place;
#define PLACE(index, name)                                                                         \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(place));                                         \
    if (t == 0)                                                                                    \
        block_gmem[(count + 1) * threads + 16 + index] = place;
    PLACE(0, "cluster_ctarank")
    PLACE(1, "cluster_nctarank")
    PLACE(2, "cluster_ctaid.x")
    PLACE(3, "cluster_ctaid.y")
    PLACE(4, "cluster_ctaid.z")
    PLACE(5, "cluster_nctaid.x")
    PLACE(6, "cluster_nctaid.y")
    PLACE(7, "cluster_nctaid.z")
    PLACE(8, "clusterid.x")
    PLACE(9, "clusterid.y")
    PLACE(10, "clusterid.z")
    PLACE(11, "nclusterid.x")
    PLACE(12, "nclusterid.y")
    PLACE(13, "nclusterid.z")
    if (FAULT == late_end_wait)
        cluster_wait();
}

// Warp 1 of each block exits immediately, then the whole last block; the others synchronise five more
// times: each adds to the next block's number (the last but one to the first's). out: each block's
// number.
template <int count> DEVICE void leave(u32 *out_gmem) {
    __shared__ u32 number_smem;
    const u32 rank = cluster_rank();
    if (threadIdx.x >= 32)
        return;
    number_smem = 0;
    __syncwarp(); // the number is initialised
    cluster_arrive();
    cluster_wait();
    if (rank == count - 1) {
        if (threadIdx.x == 0)
            out_gmem[block_number()] = number_smem;
        cluster_arrive();
        return;
    }
    for (int turn = 0; turn < 5; ++turn) {
        add_word(map_to_block(smem_address(&number_smem), (rank + 1) % (count - 1)), 1);
        cluster_arrive();
        cluster_wait();
    }
    if (threadIdx.x == 0)
        out_gmem[block_number()] = number_smem;
}

// Thread 0 of each block sends a number to all blocks, ten times, and adds up the numbers received; an
// mbarrier at which every block arrives signals them. out: each block's sum.
template <int count> DEVICE void tell(u32 *out_gmem) {
    __shared__ u64 barrier_smem;
    __shared__ u32 numbers_smem[2][count];
    const u32 rank = cluster_rank(), observed = smem_address(&barrier_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(observed, count);
        fence_mbarrier_init();
    }
    cluster_arrive();
    cluster_wait();
    u32 sum = 0;
    for (int turn = 0; turn < 10 && threadIdx.x == 0; ++turn) {
        for (u32 i = 0; i < count; ++i) {
            const u32 to = (rank + i) % count;
            store_word(map_to_block(smem_address(&numbers_smem[turn & 1][rank]), to),
                       (turn + 1) * (block_number() + 1));
            mbarrier_arrive_cluster(map_to_block(observed, to));
        }
        wait_for_cluster(observed, turn & 1);
        for (int from = 0; from < count; ++from)
            sum = sum * 3 + numbers_smem[turn & 1][from];
    }
    __syncwarp(); // thread 0 is done
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0)
        out_gmem[block_number()] = sum;
}

// TMA multicast: each block's share of the cluster's words is copied to all of its blocks. out: all
// words, for each block.
template <int count> DEVICE void spread(u32 *out_gmem, const u32 *in_gmem) {
    __shared__ alignas(128) u32 words_smem[count][threads];
    __shared__ u64 full_smem;
    const u32 rank = cluster_rank(), full = smem_address(&full_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_bytes(full, count * threads * 4);
    }
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                     :
                     : "r"(smem_address(words_smem[rank])), "l"(in_gmem + block_number() * threads),
                       "r"(threads * 4), "r"(full),
                       "h"(static_cast<unsigned short>((1 << count) - 1))
                     : "memory");
    mbarrier_wait(full, 0);
    for (int from = 0; from < count; ++from)
        out_gmem[(block_number() * count + from) * threads + threadIdx.x] =
            words_smem[from][threadIdx.x];
    cluster_arrive();
    cluster_wait();
}

#define CLUSTER(X, Y, Z)                                                                           \
    extern "C" __global__ void __cluster_dims__(X, Y, Z) exchange(u32 *out) {                      \
        exchange<X * Y * Z>(out);                                                                  \
    }                                                                                              \
    extern "C" __global__ void __cluster_dims__(X, Y, Z) leave(u32 *out) {                         \
        leave<X * Y * Z>(out);                                                                     \
    }                                                                                              \
    extern "C" __global__ void __cluster_dims__(X, Y, Z) tell(u32 *out) {                          \
        tell<X * Y * Z>(out);                                                                      \
    }                                                                                              \
    extern "C" __global__ void __cluster_dims__(X, Y, Z) spread(u32 *out, const u32 *in) {         \
        spread<X * Y * Z>(out, in);                                                                \
    }
