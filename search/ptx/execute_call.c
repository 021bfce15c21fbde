/* Calls and returns of functions. Lanes of a warp may be at different depths, so each has its own
   stack, which holds the caller's registers and the call instruction. */
#include "base/memory.h"
#include "ptx/execute.h"

#include <string.h>

static uint32_t frame_bytes(const struct kernel *kernel, int32_t routine) {
    return routine < 0 ? 0 : kernel->routines[routine].frame_bytes;
}

static uint8_t *local_memory_of(const struct warp *warp, uint32_t lane) {
    const struct block *block = warp->block;
    return block->local + (size_t)block->local_bytes * ((size_t)warp->index * LANES + lane);
}

/* Address of the call's index-th value in the local memory of a lane of the caller; `frame` is the
 * start of its frame. */
static uint64_t call_value_offset(const struct instruction *call, uint64_t frame, int index) {
    const uint32_t *value = call->operands + (call->as.call.routine < 0) + 2 * index;
    return value[0] + (call->as.call.caller < 0 ? 0 : frame);
}

/* ---- stacks ---- */

/* Reserves bytes on top of the stack. */
static uint8_t *push_bytes(struct call_stack *stack, size_t bytes) {
    if (stack->used + bytes > stack->capacity) {
        stack->capacity = 2 * (stack->used + bytes);
        stack->bytes = xrealloc(stack->bytes, stack->capacity);
    }
    stack->used += bytes;
    return stack->bytes + stack->used - bytes;
}

static const uint8_t *pop_bytes(struct call_stack *stack, size_t bytes) {
    stack->used -= bytes;
    return stack->bytes + stack->used;
}

/* Copies a lane's part of a register to or from 8 bytes; a predicate is one bit. */
static void save_register(const struct warp *warp, const struct routine_register *saved,
                          uint32_t lane, uint8_t *to) {
    const uint8_t *from = operand_pointer(warp, saved->place);
    uint32_t bits = saved->bytes ? 0 : *(const uint32_t *)from >> lane & 1;
    if (saved->bytes)
        memcpy(to, from + lane * (uint32_t)saved->bytes, (size_t)saved->bytes);
    else
        memcpy(to, &bits, sizeof bits);
}

static void restore_register(const struct warp *warp, const struct routine_register *saved,
                             uint32_t lane, const uint8_t *from) {
    uint8_t *to = operand_pointer(warp, saved->place);
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    if (saved->bytes)
        memcpy(to + lane * (uint32_t)saved->bytes, from, (size_t)saved->bytes);
    else
        *(uint32_t *)to = (*(uint32_t *)to & ~(1u << lane)) | bits << lane;
}

enum {
    SAVED_REGISTER_BYTES = 8, /* size of a saved register, and of the saved call */
    CALL_STACK_BYTES_MAX = 1 << 20,
};

static void push_caller(struct warp *warp, const struct instruction *call, uint32_t lane) {
    struct call_stack *stack = &warp->calls[lane];
    uint64_t at = (uint64_t)(call - warp->kernel->code);
    const struct routine *caller =
        call->as.call.caller < 0 ? NULL : &warp->kernel->routines[call->as.call.caller];
    for (int i = 0; caller && i < caller->register_count; i++)
        save_register(warp, &caller->registers[i], lane, push_bytes(stack, SAVED_REGISTER_BYTES));
    memcpy(push_bytes(stack, SAVED_REGISTER_BYTES), &at, sizeof at);
}

/* The call that the lane returns to. */
static const struct instruction *return_call(const struct warp *warp, uint32_t lane) {
    const struct call_stack *stack = &warp->calls[lane];
    uint64_t at;
    memcpy(&at, stack->bytes + stack->used - SAVED_REGISTER_BYTES, sizeof at);
    return &warp->kernel->code[at];
}

static void pop_caller(struct warp *warp, const struct instruction *call, uint32_t lane) {
    struct call_stack *stack = &warp->calls[lane];
    const struct routine *caller =
        call->as.call.caller < 0 ? NULL : &warp->kernel->routines[call->as.call.caller];
    pop_bytes(stack, SAVED_REGISTER_BYTES);
    for (int i = caller ? caller->register_count - 1 : -1; i >= 0; i--)
        restore_register(warp, &caller->registers[i], lane, pop_bytes(stack, SAVED_REGISTER_BYTES));
}

/* ---- calls ---- */

/* The function that `lane` calls; NULL with a fault. */
static const struct routine *routine_of(struct warp *warp, const struct instruction *call,
                                        uint32_t lane) {
    const struct kernel *kernel = warp->kernel;
    const struct call_form *form = &call->as.call;
    if (form->routine >= 0)
        return &kernel->routines[form->routine];
    uint64_t address = ((uint64_t *)operand_pointer(warp, call->operands[0]))[lane];
    for (int i = 0; i < kernel->routine_count; i++) {
        const struct routine *routine = &kernel->routines[i];
        bool fits = routine->result_count == form->result_count &&
                    routine->value_count == form->value_count;
        for (int j = 0; fits && j < form->value_count; j++)
            fits = routine->values[j].bytes == call->operands[2 + 2 * j];
        if (function_address(routine->name) == address && fits)
            return routine;
    }
    fault_at(warp, call, (int)lane, PTX_FAULT_UNDEFINED, 0,
             "called 0x%llx, which is not a function with these parameters",
             (unsigned long long)address);
    return NULL;
}

EXECUTE(call) {
    const struct kernel *kernel = warp->kernel;
    const struct call_form *form = &instruction->as.call;
    uint32_t first = (uint32_t)__builtin_ctz(mask), taken = mask;
    const struct routine *routine = routine_of(warp, instruction, first);
    uint64_t *frames = operand_pointer(warp, kernel->frame);
    if (!routine)
        return ACTION_FAULT;
    if (form->routine < 0) {
        const uint64_t *pointers = operand_pointer(warp, instruction->operands[0]);
        FOR_EACH_LANE(lane, mask) taken &= ~((uint32_t)(pointers[lane] != pointers[first]) << lane);
    }
    if (!warp->calls)
        warp->calls = xcalloc(LANES, sizeof *warp->calls);
    FOR_EACH_LANE(lane, taken) {
        uint64_t frame = frames[lane] + frame_bytes(kernel, form->caller);
        uint8_t *local = local_memory_of(warp, lane);
        if (frame + routine->frame_bytes > warp->block->local_bytes ||
            warp->calls[lane].used > CALL_STACK_BYTES_MAX)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "overflowed its stack of %d bytes", STACK_BYTES);
        for (int i = form->result_count; i < form->value_count; i++)
            memmove(local + frame + routine->values[i].offset,
                    local + call_value_offset(instruction, frames[lane], i),
                    routine->values[i].bytes);
        push_caller(warp, instruction, lane);
        frames[lane] = frame;
    }
    return warp_branch_subset(warp, mask, taken, routine->entry);
}

EXECUTE(return ) {
    const struct kernel *kernel = warp->kernel;
    const struct routine *routine = &kernel->routines[instruction->as.call.caller];
    const struct instruction *call = return_call(warp, (uint32_t)__builtin_ctz(mask));
    const struct call_form *form = &call->as.call;
    uint64_t *frames = operand_pointer(warp, kernel->frame);
    uint32_t taken = 0;
    FOR_EACH_LANE(lane, mask) {
        uint8_t *local = local_memory_of(warp, lane);
        if (return_call(warp, lane) != call)
            continue;
        uint64_t frame = frames[lane];
        taken |= 1u << lane;
        frames[lane] -= frame_bytes(kernel, form->caller);
        for (int i = 0; i < form->result_count; i++)
            memmove(local + call_value_offset(call, frames[lane], i),
                    local + frame + routine->values[i].offset, routine->values[i].bytes);
        pop_caller(warp, call, lane);
    }
    return warp_branch_subset(warp, mask, taken, (uint32_t)(call - kernel->code) + 1);
}
