/* The copy engine (TMA): PTX ISA 9.7.9.25 to 9.7.9.27. Loads read global memory when they are
   issued and land in shared memory as late as they can: when no warp could go on without them, the
   oldest first. Until then their target holds bytes of 0xff, so that who does not wait sees them.
   Stores read shared memory as late as they can: at the wait, else at the end of the block. */
#include "device/ptx/execute.h"
#include "device/ptx/observe.h"

#include "device/tensor_map.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_MAX = 4096 }; /* no sound kernel has so many copies on their way */

struct bulk_copy {
    const struct instruction *instruction;
    struct warp *warp;
    int lane;
    uint32_t group;      /* of a store */
    struct block *block; /* whose shared memory it is: a load may go to another one's */
    uint32_t shared;     /* offset */
    uint32_t bytes;      /* in shared memory */
    uint32_t barrier;    /* of a load: the mbarrier's offset */
    bool was_read;       /* a store whose `data` is filled */
    uint8_t *global;     /* host bytes of the tensor, or of the plain run */
    uint64_t address;    /* of the same */
    struct tensor_map map;
    int32_t at[TENSOR_MAP_RANK_MAX];
    uint8_t *data; /* what shared memory gets or gave, from `shared` on */
    double there;  /* when, as chains reckon */
};

static struct bulk_copy *add(struct block *block) {
    if (block->bulk_count == block->bulk_capacity) {
        int capacity = block->bulk_capacity ? 2 * block->bulk_capacity : 16;
        void *grown = realloc(block->bulk, (size_t)capacity * sizeof *block->bulk);
        if (!grown)
            BUG("out of memory for the copy engine");
        block->bulk = grown;
        block->bulk_capacity = capacity;
    }
    return &block->bulk[block->bulk_count++];
}

static void drop(struct block *block, int index) {
    free(block->bulk[index].data);
    block->bulk_count--;
    memmove(&block->bulk[index], &block->bulk[index + 1],
            (size_t)(block->bulk_count - index) * sizeof *block->bulk);
}

void bulk_release(struct block *block) {
    while (block->bulk_count > 0)
        drop(block, block->bulk_count - 1);
    free(block->bulk);
    block->bulk = NULL;
    block->bulk_capacity = 0;
}

/* ---- boxes ---- */

/* Where the swizzle puts the 16 bytes at this offset of shared memory. */
static uint32_t swizzled(uint32_t offset, uint8_t swizzle) {
    static const uint32_t masks[SWIZZLE_COUNT] = {
        [SWIZZLE_NONE] = 0, [SWIZZLE_32B] = 1, [SWIZZLE_64B] = 3, [SWIZZLE_128B] = 7};
    return offset ^ (offset >> 7 & masks[swizzle]) << 4;
}

/* The bytes [from, to) of a row of the box that lie inside the tensor. */
static void inside(const struct bulk_copy *copy, int64_t *from, int64_t *to) {
    int64_t first = copy->at[0], bytes = copy->map.element_bytes;
    int64_t end = (int64_t)copy->map.extents[0] - first;
    *from = first < 0 ? -first * bytes : 0;
    *to = (end < copy->map.box[0] ? end : copy->map.box[0]) * bytes;
}

/* Tells who looks that bytes of the tensor, or of the run, are read or written. */
static void observe(const struct bulk_copy *copy, uint64_t offset, uint32_t bytes) {
    if (copy->warp->block->microscope && bytes)
        observe_global(copy->warp, copy->instruction, copy->lane, copy->address + offset, bytes,
                       copy->instruction->as.bulk.is_store);
}

/* Copies one row between the tensor at `global` + offset and `data`, by 16-byte chunks. */
static void copy_row(struct bulk_copy *copy, uint32_t row_at, int64_t offset, int64_t from,
                     int64_t to) {
    uint32_t row_bytes = copy->map.box[0] * copy->map.element_bytes;
    observe(copy, (uint64_t)(offset + from), (uint32_t)(to > from ? to - from : 0));
    for (uint32_t chunk = 0; chunk < row_bytes; chunk += 16) {
        uint8_t *data =
            copy->data + swizzled(copy->shared + row_at + chunk, copy->map.swizzle) - copy->shared;
        int64_t low = from > chunk ? from - chunk : 0, high = to - chunk < 16 ? to - chunk : 16;
        if (low >= high)
            continue;
        uint8_t *global = copy->global + offset + chunk;
        if (copy->instruction->as.bulk.is_store)
            memcpy(global + low, data + low, (size_t)(high - low));
        else
            memcpy(data + low, global + low, (size_t)(high - low));
    }
}

/* All rows of the box: what is outside the tensor is left alone. */
static void copy_box(struct bulk_copy *copy) {
    const struct tensor_map *map = &copy->map;
    uint32_t row_bytes = map->box[0] * map->element_bytes, rows = copy->bytes / row_bytes;
    int64_t from, to;
    inside(copy, &from, &to);
    for (uint32_t row = 0; row < rows; row++) {
        int64_t offset = (int64_t)copy->at[0] * map->element_bytes;
        bool within = true; /* so far: where it is not, an offset may be too large to count */
        uint32_t rest = row;
        for (int i = 1; i < map->rank; i++) {
            int64_t position = (int64_t)copy->at[i] + rest % map->box[i];
            within = within && position >= 0 && position < (int64_t)map->extents[i];
            if (within)
                offset += position * (int64_t)map->strides[i - 1];
            rest /= map->box[i];
        }
        if (within)
            copy_row(copy, row * row_bytes, offset, from, to);
    }
}

/* ---- issuing ---- */

/* All of the tensor, or of the run, has to be there. */
static int find_global(struct bulk_copy *copy, uint64_t address, size_t bytes) {
    struct ptx_memory *memory = copy->warp->block->memory;
    bool is_store = copy->instruction->as.bulk.is_store;
    int hint = -1;
    char where[160];
    copy->global = memory_reach(memory, address, bytes, is_store, &hint);
    copy->address = address;
    if (copy->global)
        return 0;
    ptx_memory_describe(memory, address, where, sizeof where);
    enum ptx_fault_kind kind = !is_store                               ? PTX_FAULT_LOAD
                               : ptx_memory_at(memory, address, bytes) ? PTX_FAULT_READ_ONLY
                                                                       : PTX_FAULT_STORE;
    fault_at(copy->warp, copy->instruction, copy->lane, kind, address,
             "copied %s the %zu bytes at 0x%llx: %s", is_store ? "to" : "from", bytes,
             (unsigned long long)address, where);
    return -1;
}

/* The tensor map behind a generic address, and its tensor. */
static int find_tensor(struct bulk_copy *copy, uint64_t address) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    struct error error = {0};
    int hint = -1;
    const uint8_t *bytes =
        reach(warp, copy->instruction, form->global.space, copy->lane, address, 64, false, &hint);
    if (!bytes || !reach(warp, copy->instruction, form->global.space, copy->lane, address + 64, 64,
                         false, &hint))
        return -1;
    memcpy(&copy->map, bytes, sizeof copy->map);
    if (copy->map.rank != form->rank || tensor_map_check(&copy->map, &error) < 0) {
        fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_MISUSE, address,
                 "copied by what is no tensor map of %d dimensions", form->rank);
        return -1;
    }
    unsigned __int128 span = copy->map.element_bytes * copy->map.extents[0];
    for (int i = 1; i < copy->map.rank; i++)
        span += (unsigned __int128)copy->map.strides[i - 1] * (copy->map.extents[i] - 1);
    if (find_global(copy, copy->map.address, span > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)span) < 0)
        return -1;
    copy->bytes = (uint32_t)tensor_map_box_bytes(&copy->map);
    return 0;
}

/* Where a box may begin: of stores the CUDA Programming Guide says so ("Negative indices and out of
   bounds"); of chunks nobody does. Both end in CUDA_ERROR_ILLEGAL_INSTRUCTION on an H200. */
static int check_place(const struct bulk_copy *copy) {
    int64_t first = (int64_t)copy->at[0] * copy->map.element_bytes;
    for (int i = 0; i < copy->map.rank && copy->instruction->as.bulk.is_store; i++)
        if (copy->at[i] < 0) {
            fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISUSE, 0,
                     "stored a box at coordinate %d: only loads may begin before the tensor",
                     copy->at[i]);
            return -1;
        }
    if (first % 16 == 0)
        return 0;
    fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, 0,
             "copied a box that begins %lld bytes into the row, which is no multiple of 16",
             (long long)first);
    return -1;
}

static int find_run(struct bulk_copy *copy, uint64_t address, uint32_t bytes) {
    copy->bytes = bytes;
    if (bytes % 16 == 0 && bytes > 0 && address % 16 == 0)
        return find_global(copy, address, bytes);
    fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, address,
             "copied %u bytes at 0x%llx: both must be multiples of 16", bytes,
             (unsigned long long)address);
    return -1;
}

/* An offset in shared memory, and the block whose that is. */
static int find_shared(const struct bulk_copy *copy, const struct access *access, uint32_t place,
                       uint32_t alignment, uint32_t bytes, uint32_t *offset, struct block **block) {
    char where[160];
    const void *base = access->base_bytes ? place_of(copy->warp, place) : NULL;
    uint64_t address = lane_address(access, base, (uint32_t)copy->lane);
    if (address >= SHARED_WINDOW && address < SHARED_WINDOW + WINDOW_BYTES)
        address -= SHARED_WINDOW;
    *block = shared_block(copy->warp->block, &address, where, sizeof where);
    if (*block == NULL) {
        fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_STORE, address,
                 "gave the copy engine another block's shared memory 0x%llx: %s",
                 (unsigned long long)address, where);
        return -1;
    }
    *offset = (uint32_t)address;
    if (address % alignment != 0) {
        fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, address,
                 "gave the copy engine shared memory 0x%llx, which is no multiple of %u",
                 (unsigned long long)address, alignment);
        return -1;
    }
    if (address <= (*block)->shared_bytes && bytes <= (*block)->shared_bytes - address)
        return 0;
    fault_at(copy->warp, copy->instruction, copy->lane,
             copy->instruction->as.bulk.is_store ? PTX_FAULT_LOAD : PTX_FAULT_STORE, address,
             "copied %u bytes at shared memory 0x%llx: there are %u bytes", bytes,
             (unsigned long long)address, (*block)->shared_bytes);
    return -1;
}

/* operands: base of the shared, of the global address (of the map); base of the mbarrier; bytes;
   blocks of a multicast; coordinates. */
static int issue(struct bulk_copy *copy, const uint32_t *operands) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    const void *base = form->global.base_bytes ? place_of(warp, operands[1]) : NULL;
    uint64_t address = lane_address(&form->global, base, (uint32_t)copy->lane);
    for (int i = 0; i < form->rank; i++)
        copy->at[i] = ((const int32_t *)place_of(warp, operands[5 + i]))[copy->lane];
    if (form->rank
            ? find_tensor(copy, address) < 0 || check_place(copy) < 0
            : find_run(copy, address, ((const uint32_t *)place_of(warp, operands[3]))[copy->lane]))
        return -1;
    struct block *barrier_block = NULL;
    if (find_shared(copy, &form->shared, operands[0], form->rank ? 128 : 16, copy->bytes,
                    &copy->shared, &copy->block) < 0 ||
        (!form->is_store &&
         find_shared(copy, &form->barrier, operands[2], 8, 8, &copy->barrier, &barrier_block) < 0))
        return -1;
    if (form->is_store ? copy->block != warp->block : copy->block != barrier_block) {
        fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_MISUSE, copy->shared,
                 form->is_store
                     ? "copied from another block's shared memory"
                     : "copied to one block's shared memory with the mbarrier of another");
        return -1;
    }
    copy->data = calloc(1, copy->bytes);
    if (!copy->data)
        BUG("out of memory for the copy engine");
    warp->block->counts->async_bytes += copy->bytes;
    if (chain_pace(warp))
        copy->there = chain_copy_end(warp, copy->bytes);
    if (form->is_store)
        return 0;
    if (form->rank)
        copy_box(copy);
    else
        memcpy(copy->data, copy->global, copy->bytes);
    if (!form->rank)
        observe(copy, 0, copy->bytes);
    return 0;
}

/* Queues the copy for its block or, with multicast, a copy for each block of the mask. */
static int enqueue(struct bulk_copy *copy, uint32_t blocks) {
    struct warp *warp = copy->warp;
    struct cluster *cluster = warp->block->cluster;
    bool multicast = copy->instruction->as.bulk.multicast;
    FOR_EACH_LANE(rank, multicast ? blocks : 1u << copy->block->rank) {
        struct bulk_copy one = *copy;
        if ((int)rank >= cluster->count || cluster->blocks[rank].state != BLOCK_RUNS) {
            fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_MISUSE, copy->shared,
                     "copied to block %u of a cluster of %d, which does not run", rank,
                     cluster->count);
            return -1;
        }
        one.block = &cluster->blocks[rank];
        one.data = malloc(copy->bytes);
        if (!one.data)
            BUG("out of memory for the copy engine");
        memcpy(one.data, copy->data, copy->bytes);
        if (!copy->instruction->as.bulk.is_store)
            memset(one.block->shared + one.shared, 0xff, one.bytes);
        if (one.block->microscope && !copy->instruction->as.bulk.is_store)
            observe_bulk_issue(warp, copy->instruction, copy->lane, one.block, one.shared,
                               one.bytes);
        else if (one.block->microscope)
            observe_shared(warp, copy->instruction, copy->lane, one.block, one.shared, one.bytes,
                           false);
        *add(warp->block) = one;
    }
    return 0;
}

EXECUTE(bulk_copy) {
    FOR_EACH_LANE(lane, mask) {
        if (warp->block->bulk_count >= QUEUE_MAX)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_MISUSE, 0,
                            "copied more than %d times before anybody waited", QUEUE_MAX);
        struct bulk_copy copy = {.instruction = instruction,
                                 .warp = warp,
                                 .lane = (int)lane,
                                 .group = warp->bulk_group[lane]};
        const uint16_t *blocks = place_of(warp, instruction->operands[4]);
        int failed = issue(&copy, instruction->operands) < 0 ||
                     enqueue(&copy, instruction->as.bulk.multicast ? blocks[lane] : 0) < 0;
        free(copy.data);
        if (failed)
            return ACTION_FAULT;
    }
    return ACTION_NEXT;
}

/* ---- completing ---- */

/* A load, into shared memory. */
static int land(struct block *block, int index) {
    struct bulk_copy *copy = &block->bulk[index];
    int result = 0;
    if (copy->block->state == BLOCK_ENDED) {
        fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_STORE, copy->shared,
                 "copied %u bytes to shared memory of the block of rank %u, which has ended",
                 copy->bytes, copy->block->rank);
        result = -1;
    } else {
        memcpy(copy->block->shared + copy->shared, copy->data, copy->bytes);
        if (block->microscope)
            observe_bulk_landing(copy->block, copy->shared, copy->bytes, copy->barrier);
        if (block->launch->pace)
            chain_barrier_arrive(copy->block, copy->barrier, copy->there);
        result = mbarrier_bytes_came(copy->warp, copy->instruction, copy->lane, copy->block,
                                     copy->barrier, copy->bytes);
    }
    drop(block, index);
    return result;
}

int bulk_land(struct block *block) {
    int i = 0;
    while (i < block->bulk_count && block->bulk[i].instruction->as.bulk.is_store)
        i++;
    if (i == block->bulk_count)
        return copy_land(block);
    return land(block, i) < 0 ? -1 : 1;
}

static void read_shared(struct bulk_copy *copy) {
    if (!copy->was_read)
        memcpy(copy->data, copy->warp->block->shared + copy->shared, copy->bytes);
    copy->was_read = true;
}

static void write_global(struct bulk_copy *copy) {
    read_shared(copy);
    if (copy->map.rank)
        copy_box(copy);
    else
        memcpy(copy->global, copy->data, copy->bytes);
    if (!copy->map.rank)
        observe(copy, 0, copy->bytes);
}

EXECUTE(bulk_commit) {
    (void)instruction;
    FOR_EACH_LANE(lane, mask) warp->bulk_group[lane]++;
    return ACTION_NEXT;
}

EXECUTE(bulk_wait) {
    const struct bulk_form *form = &instruction->as.bulk;
    struct block *block = warp->block;
    for (int i = 0; i < block->bulk_count;) {
        struct bulk_copy *copy = &block->bulk[i++];
        if (copy->warp != warp || !(mask >> copy->lane & 1) ||
            !copy->instruction->as.bulk.is_store ||
            copy->group + (uint64_t)form->rank >= warp->bulk_group[copy->lane])
            continue;
        if (form->reads_only) {
            read_shared(copy);
            continue;
        }
        write_global(copy);
        drop(block, --i);
    }
    return ACTION_NEXT;
}

int bulk_finish(struct block *block) {
    for (int i = 0; i < block->bulk_count; i++) {
        struct bulk_copy *copy = &block->bulk[i];
        if (copy->instruction->as.bulk.is_store) {
            write_global(copy);
            continue;
        }
        if (copy->block != block) { /* for others, who may go on */
            if (land(block, i--) < 0)
                return -1;
            continue;
        }
        fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISUSE, copy->shared,
                 "copied %u bytes to shared memory 0x%x for which nobody waited before the block "
                 "ended",
                 copy->bytes, copy->shared);
        return -1;
    }
    while (block->bulk_count > 0)
        drop(block, block->bulk_count - 1);
    return 0;
}
