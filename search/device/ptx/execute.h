/*
 * execute: one function an instruction; opcodes.c says which opcode becomes which. All have the
 * type execute_function (program.h): they act for the lanes of `mask`, which is not empty and lies
 * within the fragment that runs.
 *
 * The order of an instruction's operands: results, then sources as PTX writes them, addresses'
 * bases where the address stands.
 */
#ifndef EVOTILE_DEVICE_PTX_EXECUTE_H
#define EVOTILE_DEVICE_PTX_EXECUTE_H

#include "device/ptx/chain.h"

#define EXECUTE(name)                                                                              \
    enum action execute_##name(struct warp *warp, const struct instruction *instruction,           \
                               uint32_t mask)

/* execute.c: arithmetic, registers, control */
EXECUTE(arithmetic);
EXECUTE(conversion);
EXECUTE(setp);
EXECUTE(set);
EXECUTE(pack);
EXECUTE(unpack);
EXECUTE(shift_address);
EXECUTE(isspace);
EXECUTE(special);
EXECUTE(nothing);
EXECUTE(branch);
EXECUTE(branch_table);
EXECUTE(exit);
EXECUTE(trap);
EXECUTE(yield);
EXECUTE(fence);
EXECUTE(await_launch);
/* execute_warp.c: between the lanes of a warp and the warps of a block */
EXECUTE(shuffle);
EXECUTE(vote);
EXECUTE(active_mask);
EXECUTE(match);
EXECUTE(redux);
EXECUTE(elect);
EXECUTE(warp_barrier);
EXECUTE(barrier);
/* execute_memory.c */
EXECUTE(load);
EXECUTE(store);
/* execute_atomic.c */
EXECUTE(atomic);
EXECUTE(atomic_wide);
/* execute_copy.c */
EXECUTE(copy_async);
EXECUTE(copy_commit);
EXECUTE(copy_wait);
EXECUTE(copy_arrive);
/* execute_matrix.c */
EXECUTE(load_matrix);
EXECUTE(store_matrix);
EXECUTE(move_matrix);
EXECUTE(multiply_matrices);
/* execute_numbers.c */
EXECUTE(multiply_numbers);
EXECUTE(multiply_doubles);
/* execute_quarters.c */
EXECUTE(multiply_quarters);
/* execute_sparse.c */
EXECUTE(multiply_sparse);
/* execute_wmma.c */
EXECUTE(load_fragment);
EXECUTE(store_fragment);
EXECUTE(multiply_fragments);
EXECUTE(multiply_number_fragments);
EXECUTE(multiply_double_fragments);
/* execute_call.c: routines */
EXECUTE(call);
EXECUTE(return );
/* execute_print.c */
EXECUTE(print);
/* execute_mbarrier.c: barriers in shared memory */
EXECUTE(mbarrier);
EXECUTE(mbarrier_wait);
EXECUTE(mbarrier_count);
/* execute_cluster.c: between the blocks of a cluster */
EXECUTE(cluster_arrive);
EXECUTE(cluster_wait);
EXECUTE(map_to_block);
EXECUTE(rank_of_address);
/* execute_bulk.c: the copy engine */
EXECUTE(bulk_copy);
EXECUTE(bulk_commit);
EXECUTE(bulk_wait);
/* execute_remote.c: st.async, red.async */
EXECUTE(remote_store);
/* execute_tensormap.c */
EXECUTE(replace_field);
EXECUTE(publish_map);
/* execute_warpgroup.c: products of a warpgroup */
EXECUTE(product);
EXECUTE(product_commit);
EXECUTE(product_wait);

/* The results of bar.red, when the barrier lets `mask` go. */
void finish_barrier(struct warp *warp, const struct instruction *instruction, uint32_t mask,
                    const struct block_barrier *barrier);

/* The host bytes behind each lane's address, [pointers] for the lanes of `mask`, the others' being
   one of these; checks bounds and alignment of `bytes`. ACTION_NEXT, or ACTION_FAULT. */
enum action reach_lanes(struct warp *warp, const struct instruction *instruction,
                        const struct access *access, uint32_t base_place, uint32_t mask, int bytes,
                        bool is_store, uint8_t *pointers[LANES]);
/* The same for one address in a space. */
uint8_t *reach(struct warp *warp, const struct instruction *instruction, enum space space, int lane,
               uint64_t address, int bytes, bool is_store, int *hint);

/* Whether an access goes to shared memory, `first` being where one of its lanes does. */
bool access_is_shared(const struct warp *warp, const struct access *access, const uint8_t *first);
/* Counts what the lanes of `mask` accessed, `bytes` each. */
void access_count(struct warp *warp, const struct access *access, bool is_store,
                  uint8_t *const pointers[LANES], uint32_t mask, int bytes);

/* A lane's address, of a base in the warp's registers (NULL: none). */
uint64_t lane_address(const struct access *access, const void *base, uint32_t lane);
/* A sum of whole numbers in 32 bits. */
int32_t number_of_sum(int64_t sum, bool saturates);
/* The numbers in `count` bytes, the lowest bits first. */
void unpack_numbers(int16_t *out, const uint8_t *bytes, int count, struct number_format format);
/* The sum of the products of numbers; exclusive: of where bits differ. */
int multiply_numbers(const int16_t *left, const int16_t *right, int count, bool exclusive);
/* Of a sparse a's 16 rows, which of the `count` columns are kept, in their order, by the metadata
   at a place. -1 with a fault: it names what it may not. */
int read_kept(struct warp *warp, const struct instruction *instruction,
              const struct sparsity *sparsity, uint32_t place, int count,
              uint8_t kept[16][KEPT_MAX]);
/* A product that the warp waits for: 2 m n k operations, of a sparse one those with what is kept.
 */
void count_product(struct warp *warp, int operations);
enum action need_all(struct warp *warp, const struct instruction *instruction, uint32_t mask);

/* Resolves a window of the generic space; address becomes the offset in its space. */
enum space narrow_space(uint64_t *address);

/* The block that an address of shared memory (an offset, or what mapa gave) belongs to, whose
   offset replaces it; NULL if there is none, or if it does not run: then `where` (may be NULL) says
   why. */
struct block *shared_block(struct block *block, uint64_t *address, char *where, size_t where_bytes);
/* Whose shared memory these host bytes are in; NULL: nobody's of the cluster. */
struct block *shared_owner(const struct block *block, const uint8_t *bytes);

/* Combines the elements of `from` with those at `to`, as an atomic of the access's reduction and
   type does; but denormals stay. */
void reduce_bytes(const struct warp *warp, const struct access *access, uint8_t *to,
                  const uint8_t *from, size_t bytes);

/* `bytes` that somebody announced have come to block `to`. -1: there is no mbarrier, with the
 * block's fault. */
int mbarrier_bytes_came(struct warp *warp, const struct instruction *instruction, int lane,
                        struct block *to, uint32_t offset, uint32_t bytes);
/* What cp.async.mbarrier.arrive does at once: finds the mbarrier, of its own block, and has its
   phase expect an arrival more, but where that is counted. Then the arrival, when the copies came.
 */
int mbarrier_announce(struct warp *warp, const struct instruction *instruction, int lane,
                      uint32_t *offset);
int mbarrier_copies_came(struct warp *warp, const struct instruction *instruction, int lane,
                         uint32_t offset);
/* Whether the mbarrier that these lanes wait for lacks bytes; and all that it lacks. */
bool mbarrier_lacks_bytes(struct warp *warp, const struct fragment *fragment);
void mbarrier_describe(struct warp *warp, const struct fragment *fragment, char *text,
                       size_t text_bytes);
/* Lets the copy engine do the oldest of its loads or, where it has none, copy_land or remote_land.
   1, or 0: there is none; -1 with a fault. */
int bulk_land(struct block *block);
/* Lands the oldest warp instruction of st.async or red.async. */
int remote_land(struct block *block);
/* Lands copies of cp.async that an mbarrier tracks: those of one warp until its first arrival. */
int copy_land(struct block *block);
/* At the end of a block. -1 with a fault: a load was not waited for. */
int bulk_finish(struct block *block);
void bulk_release(struct block *block);

/* Passes that shared memory needs for these addresses, as reach_lanes gave them: the most different
   words that fall into one of its 32 banks (each 4 bytes wide). */
int wavefronts(const struct warp *warp, uint8_t *const pointers[LANES], uint32_t mask, int bytes);

#endif
