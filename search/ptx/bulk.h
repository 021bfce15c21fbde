/*
 * bulk: the copy engine (TMA). execute_bulk.c issues and completes copies; execute_bulk_global.c
 * accesses contiguous runs and tensor boxes of global memory.
 *
 *     struct bulk_copy copy = {.instruction = instruction, .warp = warp, .lane = lane};
 *     if (bulk_find_tensor(&copy, address) < 0 || bulk_check_coordinates(&copy) < 0)
 *         return ACTION_FAULT;
 *     copy.data = calloc(1, copy.bytes);
 *     bulk_copy_global(&copy); // between the tensor and data
 */
#ifndef EVOTILE_PTX_BULK_H
#define EVOTILE_PTX_BULK_H

#include "ptx/execute.h"
#include "ptx/tensor_map.h"

struct bulk_copy {
    const struct instruction *instruction;
    struct warp *warp;
    int lane;
    uint32_t group; /* commit group of a store */
    struct block
        *block; /* owner of the shared memory: for a load possibly another block of the cluster */
    uint32_t shared; /* offset in shared memory; of a copy between blocks the destination */
    uint32_t source; /* of a copy between blocks: the source offset in this block's shared memory */
    uint32_t bytes;  /* size in shared memory */
    uint32_t barrier;               /* offset of the mbarrier, if the copy has one */
    bool was_read;                  /* a store whose `data` has been read from shared memory */
    struct access reduction_access; /* of a reduction: the operation and its type */
    uint8_t *global;                /* host bytes of the tensor or of the contiguous run */
    uint64_t address;               /* device address of the same */
    struct tensor_map map;
    int32_t coordinates[TENSOR_MAP_RANK_MAX];
    uint8_t *data;           /* bytes written to or read from shared memory, from `shared` on */
    double latency;          /* of the slowest byte that a load reads; with a latency model */
    double completion_cycle; /* completion time on the critical path, in cycles */
    uint32_t issue_clock;    /* time of issue in racecheck's vector clock */
};

/* Finds the tensor of the map at a generic address, or a contiguous run of bytes, all of which must
   be allocated. Returns -1 with a fault. */
int bulk_find_tensor(struct bulk_copy *copy, uint64_t address);
int bulk_find_run(struct bulk_copy *copy, uint64_t address, uint32_t bytes);
/* Checks that the box may start at the given coordinates. */
int bulk_check_coordinates(const struct bulk_copy *copy);
/* Copies or reduces between the tensor or the run and `data`. For a store whose data has not been
   read yet it only reports the bytes that will be written to racecheck. */
void bulk_copy_global(struct bulk_copy *copy);

#endif
