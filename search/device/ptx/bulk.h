/*
 * bulk: what the copy engine (TMA) has to do, as its parts share it. execute_bulk.c issues copies
 * and completes them, execute_box.c knows runs and boxes of global memory.
 *
 *     struct bulk_copy copy = {.instruction = instruction, .warp = warp, .lane = lane};
 *     if (bulk_find_tensor(&copy, address) < 0 || bulk_check_place(&copy) < 0) ...    // or _run
 *     copy.data = calloc(1, copy.bytes);
 *     bulk_copy_global(&copy);                                // between the tensor and data
 */
#ifndef EVOTILE_DEVICE_PTX_BULK_H
#define EVOTILE_DEVICE_PTX_BULK_H

#include "device/ptx/execute.h"
#include "device/tensor_map.h"

struct bulk_copy {
    const struct instruction *instruction;
    struct warp *warp;
    int lane;
    uint32_t group;      /* of a store */
    struct block *block; /* whose shared memory it is: a load may go to another one's */
    uint32_t shared;     /* offset; where a copy between blocks goes to */
    uint32_t source;     /* of a copy between blocks: an offset in the own block's */
    uint32_t bytes;      /* in shared memory */
    uint32_t barrier;    /* the mbarrier's offset, where there is one */
    bool was_read;       /* a store whose `data` is filled */
    struct access how;   /* of a reduction: the operation and its type */
    uint8_t *global;     /* host bytes of the tensor, or of the plain run */
    uint64_t address;    /* of the same */
    struct tensor_map map;
    int32_t at[TENSOR_MAP_RANK_MAX];
    uint8_t *data;   /* what shared memory gets or gave, from `shared` on */
    double there;    /* when, as chains reckon */
    uint32_t issued; /* when, as the microscope's order has it */
};

/* Whether a copy may reduce numbers of this type so, in another block's shared memory or (all that
   go there, and more) in global memory. */
bool bulk_reduces(enum reduction reduction, enum type type, bool in_shared);

/* The tensor of the map behind a generic address, or a run of bytes: all of it has to be there. -1
   with a fault. */
int bulk_find_tensor(struct bulk_copy *copy, uint64_t address);
int bulk_find_run(struct bulk_copy *copy, uint64_t address, uint32_t bytes);
/* Whether the box may begin where the coordinates say. */
int bulk_check_place(const struct bulk_copy *copy);
/* Copies, or reduces, between the tensor or the run and `data`; of a store whose data has not been
   read it only tells who looks what will be written. */
void bulk_copy_global(struct bulk_copy *copy);

#endif
