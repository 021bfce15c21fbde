/*
 * execute: declares the function of each instruction; opcodes.c maps opcodes to them. All have the
 * type execute_function (program.h) and act on the lanes of `mask`, which is a non-empty subset of
 * the running group.
 *
 * Operand order of an instruction: results, then sources in PTX order; an address is represented by
 * its base register.
 */
#ifndef EVOTILE_PTX_EXECUTE_H
#define EVOTILE_PTX_EXECUTE_H

#include "ptx/critical_path.h"

#define EXECUTE(name)                                                                              \
    enum action execute_##name(struct warp *warp, const struct instruction *instruction,           \
                               uint32_t mask)

/* execute.c: arithmetic, registers, control flow */
EXECUTE(arithmetic);
EXECUTE(conversion);
EXECUTE(setp);
EXECUTE(set);
EXECUTE(pack);
EXECUTE(unpack);
EXECUTE(cvta);
EXECUTE(isspace);
EXECUTE(special_register);
EXECUTE(nop);
EXECUTE(branch);
EXECUTE(branch_table);
EXECUTE(exit);
EXECUTE(trap);
EXECUTE(unsupported);
EXECUTE(yield);
EXECUTE(fence);
EXECUTE(griddepcontrol_wait);
/* execute_warp.c: warp-level primitives and block barriers */
EXECUTE(shuffle);
EXECUTE(vote);
EXECUTE(active_mask);
EXECUTE(match);
EXECUTE(redux);
EXECUTE(elect);
EXECUTE(bar_warp_sync);
EXECUTE(barrier);
/* execute_memory.c */
EXECUTE(load);
EXECUTE(store);
EXECUTE(discard);
/* execute_atomic.c */
EXECUTE(atomic);
EXECUTE(atomic_wide);
/* execute_cp_async.c */
EXECUTE(cp_async);
EXECUTE(cp_async_commit);
EXECUTE(cp_async_wait);
EXECUTE(cp_async_arrive);
/* execute_mma.c */
EXECUTE(ldmatrix);
EXECUTE(stmatrix);
EXECUTE(movmatrix);
EXECUTE(mma);
/* execute_mma_int.c */
EXECUTE(mma_int);
EXECUTE(mma_double);
/* execute_mma_m8n8k4.c */
EXECUTE(mma_m8n8k4);
/* execute_mma_sparse.c */
EXECUTE(mma_sparse);
/* execute_wmma.c */
EXECUTE(wmma_load);
EXECUTE(wmma_store);
EXECUTE(wmma_mma);
EXECUTE(wmma_mma_int);
EXECUTE(wmma_mma_double);
/* execute_call.c: function calls */
EXECUTE(call);
EXECUTE(return );
/* execute_printf.c */
EXECUTE(print);
/* execute_mbarrier.c */
EXECUTE(mbarrier);
EXECUTE(mbarrier_wait);
EXECUTE(mbarrier_count);
/* execute_cluster.c: thread block clusters */
EXECUTE(cluster_arrive);
EXECUTE(cluster_wait);
EXECUTE(mapa);
EXECUTE(getctarank);
/* execute_bulk.c: the copy engine (TMA) */
EXECUTE(bulk_copy);
EXECUTE(bulk_commit);
EXECUTE(bulk_wait);
/* execute_st_async.c: st.async, red.async */
EXECUTE(st_async);
/* execute_tensormap.c */
EXECUTE(tensormap_replace);
EXECUTE(tensormap_copy);
/* execute_wgmma.c */
EXECUTE(wgmma);
EXECUTE(wgmma_commit);
EXECUTE(wgmma_wait);

/* Writes the results of bar.red when the barrier releases `mask`. */
void finish_barrier_reduction(struct warp *warp, const struct instruction *instruction,
                              uint32_t mask, const struct block_barrier *barrier);

/* Translates each lane's address to a host pointer in `pointers`, and checks bounds and alignment
   of `bytes`; inactive lanes get a copy of an active lane's pointer. Returns ACTION_NEXT or
   ACTION_FAULT. */
enum action translate_lanes(struct warp *warp, const struct instruction *instruction,
                            const struct access *access, uint32_t base_place, uint32_t mask,
                            int bytes, bool is_store, uint8_t *pointers[LANES]);
/* As translate_lanes, for one address. */
uint8_t *translate_address(struct warp *warp, const struct instruction *instruction,
                           enum space space, int lane, uint64_t address, int bytes, bool is_store,
                           int *hint);

/* Returns whether an access goes to shared memory; `first` is the host pointer of one of its lanes.
 */
bool access_is_shared(const struct warp *warp, const struct access *access, const uint8_t *first);
/* Adds an access of the lanes of `mask`, `bytes` each, to the launch's counts. */
void count_access(struct warp *warp, const struct access *access, bool is_store,
                  uint8_t *const pointers[LANES], uint32_t mask, int bytes);

/* A lane's address from the base register (NULL: none), or from its place. */
uint64_t lane_address(const struct access *access, const void *base, uint32_t lane);
static inline uint64_t operand_address(const struct warp *warp, const struct access *access,
                                       uint32_t base_place, int lane) {
    return lane_address(access, access->base_bytes ? operand_pointer(warp, base_place) : NULL,
                        (uint32_t)lane);
}
/* Converts an integer sum to 32 bits, wrapping or saturating. */
int32_t sum_to_s32(int64_t sum, bool saturates);
/* Unpacks `count` integers, lowest bits first. */
void unpack_integers(int16_t *out, const uint8_t *bytes, int count, struct integer_format format);
/* The dot product of two integer vectors. exclusive: with b1, counts differing bits (xor.popc). */
int integer_dot_product(const int16_t *left, const int16_t *right, int count, bool is_xor);
/* For each of the 16 rows of a sparse a, the indices of the `count` columns kept, in ascending
   order, from the metadata register. Returns -1 with a fault for invalid metadata. */
int read_sparse_columns(struct warp *warp, const struct instruction *instruction,
                        const struct sparsity *sparsity, uint32_t place, int count,
                        uint8_t sparse_columns[16][SPARSE_COLUMNS_MAX]);
/* Copies the accumulators of mma and wgmma, 16 rows of n columns, from and to registers: fp32 or,
   if `halves`, packed f16. */
void read_sums(const struct warp *warp, const uint32_t *places, int n, bool halves,
               float (*sums)[MMA_COLUMNS_MAX]);
void write_sums(const struct warp *warp, const uint32_t *places, int n, bool halves,
                float (*sums)[MMA_COLUMNS_MAX]);
/* Counts a synchronous mma of 2mnk operations (of a sparse one only those with kept elements) and
   adds its time to the warp's critical path. */
void count_mma(struct warp *warp, int operations);
enum action require_full_warp(struct warp *warp, const struct instruction *instruction,
                              uint32_t mask);

/* Resolves a generic address: returns its space and replaces the address by the offset in that
   space. */
enum space resolve_generic_address(uint64_t *address);

/* The block that owns a shared::cluster address (an offset, or a result of mapa); the address is
   replaced by the offset in that block. NULL if there is no such block or it is not running: then
   `where` (may be NULL) says why. */
struct block *find_shared_block(struct block *block, uint64_t *address, char *where,
                                size_t where_bytes);
/* The block of the cluster that owns the shared memory at this host pointer; NULL: none. */
struct block *owner_of_shared(const struct block *block, const uint8_t *bytes);

/* Reduces the elements of `from` into those at `to`, as an atomic of the access's operation and
   type, but without flushing denormals. */
void reduce_bytes(const struct warp *warp, const struct access *access, uint8_t *to,
                  const uint8_t *from, size_t bytes);

/* complete-tx (PTX ISA 9.7.13.15): `bytes` of an expected transaction have arrived in block `to`.
   Returns -1 with the block's fault if there is no mbarrier. */
int mbarrier_complete_tx(struct warp *warp, const struct instruction *instruction, int lane,
                         struct block *to, uint32_t offset, uint32_t bytes);
/* The immediate part of cp.async.mbarrier.arrive: finds the mbarrier, which is in the block's own
   shared memory, and increments its pending arrivals unless .noinc. mbarrier_arrive_copies then
   arrives when the copies have completed. */
int mbarrier_expect_copies(struct warp *warp, const struct instruction *instruction, int lane,
                           uint32_t *offset);
int mbarrier_arrive_copies(struct warp *warp, const struct instruction *instruction, int lane,
                           uint32_t offset);
/* Whether the mbarrier that these lanes wait for misses transaction bytes; and a description of
   everything it misses. */
bool mbarrier_is_missing_bytes(struct warp *warp, const struct divergent_group *group);
void mbarrier_describe(struct warp *warp, const struct divergent_group *group, char *text,
                       size_t text_bytes);
/* Completes the oldest bulk load or, if there is none, tracked cp.async copies or st.async stores.
   Returns 1, 0 if nothing is pending, -1 with a fault. */
int bulk_complete_oldest(struct block *block);
/* Completes the oldest warp instruction of st.async or red.async. */
int st_async_complete_oldest(struct block *block);
/* Completes cp.async copies that an mbarrier tracks: those of one warp up to its first arrival. */
int cp_async_complete_tracked(struct block *block);
/* Completes stores at the end of a block. Returns -1 with a fault if a load was not waited for. */
int bulk_drain(struct block *block);
void bulk_release(struct block *block);

/* Shared-memory wavefronts of one request: the maximum number of distinct words that map to the
   same one of the 32 banks (4 bytes wide). */
int count_wavefronts(const struct warp *warp, uint8_t *const pointers[LANES], uint32_t mask,
                     int bytes);

#endif
