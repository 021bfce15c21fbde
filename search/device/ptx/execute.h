/*
 * execute: one function an instruction; opcodes.c says which opcode becomes which. All have the
 * type execute_function (machine.h): they act for the lanes of `mask`, which is not empty and lies
 * within the fragment that runs.
 *
 * The order of an instruction's operands: results, then sources as PTX writes them, addresses'
 * bases where the address stands.
 */
#ifndef EVOTILE_DEVICE_PTX_EXECUTE_H
#define EVOTILE_DEVICE_PTX_EXECUTE_H

#include "device/ptx/machine.h"

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
EXECUTE(atomic);
EXECUTE(copy_async);
EXECUTE(copy_commit);
EXECUTE(copy_wait);
/* execute_matrix.c */
EXECUTE(load_matrix);
EXECUTE(store_matrix);
EXECUTE(move_matrix);
EXECUTE(multiply_matrices);

/* The results of bar.red, when the barrier lets `mask` go. */
void finish_barrier(struct warp *warp, const struct instruction *instruction, uint32_t mask,
                    const struct block_barrier *barrier);

/* The host bytes behind each lane's address, [pointers] for the lanes of `mask`; checks bounds and
   alignment of `bytes`. ACTION_NEXT, or ACTION_FAULT. */
enum action reach_lanes(struct warp *warp, const struct instruction *instruction,
                        const struct access *access, uint32_t base_place, uint32_t mask, int bytes,
                        bool is_store, uint8_t *pointers[LANES]);
/* The same for one address in a space. */
uint8_t *reach(struct warp *warp, const struct instruction *instruction, enum space space, int lane,
               uint64_t address, int bytes, bool is_store, int *hint);

/* Passes that shared memory needs for these addresses: the most different words that fall into one
   of its 32 banks (each 4 bytes wide). */
int wavefronts(const struct warp *warp, uint8_t *const pointers[LANES], uint32_t mask, int bytes);

#endif
