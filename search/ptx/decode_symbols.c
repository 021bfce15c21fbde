/* Scopes and symbol tables: registers, constants, special registers, variables. */
#include "base/memory.h"
#include "ptx/decode.h"

#include "ptx/execute.h"

#include <string.h>

void open_scope(struct decoder *decoder, int parent) {
    decoder->scopes = xgrow(decoder->scopes, decoder->scope_count, sizeof *decoder->scopes);
    decoder->scopes[decoder->scope_count] =
        (struct scope){parent, decoder->instance, decoder->range_count, decoder->binding_count};
    decoder->scope = decoder->scope_count++;
}

/* Bindings of outer scopes may have been added since the scope opened (the first use of a register
   of a range): they stay. */
void close_scope(struct decoder *decoder, int back_to) {
    const struct scope *scope = &decoder->scopes[decoder->scope];
    int kept_count = scope->first_binding;
    for (int i = decoder->binding_count - 1; i >= scope->first_binding; i--) {
        struct binding *binding = &decoder->bindings[i];
        if (binding->scope != decoder->scope)
            continue;
        int *link = &decoder->binding_of_name[binding->name];
        while (*link != i)
            link = &decoder->bindings[*link].next;
        *link = binding->next;
        binding->name = -1;
    }
    /* Compacts the remaining bindings and updates the links to them. */
    for (int i = scope->first_binding; i < decoder->binding_count; i++) {
        struct binding *binding = &decoder->bindings[i];
        if (binding->name < 0)
            continue;
        if (kept_count != i) {
            int *link = &decoder->binding_of_name[binding->name];
            while (*link != i)
                link = &decoder->bindings[*link].next;
            *link = kept_count;
            decoder->bindings[kept_count] = *binding;
        }
        kept_count++;
    }
    decoder->binding_count = kept_count;
    decoder->range_count = scope->first_range;
    decoder->scope = back_to;
}

struct binding *bind_name(struct decoder *decoder, int name, int scope) {
    decoder->bindings = xgrow(decoder->bindings, decoder->binding_count, sizeof *decoder->bindings);
    struct binding *binding = &decoder->bindings[decoder->binding_count];
    *binding =
        (struct binding){.name = name, .scope = scope, .next = decoder->binding_of_name[name]};
    decoder->binding_of_name[name] = decoder->binding_count++;
    return binding;
}

/* ---- Registers ---- */

uint32_t allocate_register(struct decoder *decoder, int bytes) {
    uint32_t place = decoder->register_bytes;
    if (decoder->routine >= 0) {
        struct routine *routine = &decoder->kernel->routines[decoder->routine];
        routine->registers =
            xgrow(routine->registers, routine->register_count, sizeof *routine->registers);
        routine->registers[routine->register_count++] = (struct routine_register){place, bytes};
    }
    decoder->register_bytes +=
        bytes ? (uint32_t)bytes * LANES
              : REGISTER_LEAST; /* of a predicate, so that vector loads stay aligned */
    return place;
}

uint32_t allocate_constant(struct decoder *decoder, uint64_t bits, int bytes) {
    int width = bytes ? bytes : 4; /* a predicate is one word */
    if (width < 8)
        bits &= (1ull << 8 * width) - 1;
    int *bucket = &decoder->constant_table[(bits + (uint64_t)bytes) * 0x9e3779b97f4a7c15ull >> 54];
    if (*bucket >= 0) {
        const struct constant_slot *known = &decoder->constants[*bucket];
        if (known->bits == bits && known->bytes == bytes)
            return PLACE_CONSTANT | (uint32_t)*bucket * (uint32_t)sizeof *known;
    }
    decoder->constants =
        xgrow(decoder->constants, decoder->constant_count, sizeof *decoder->constants);
    struct constant_slot *slot = &decoder->constants[decoder->constant_count];
    *slot = (struct constant_slot){.bits = bits, .bytes = bytes};
    for (int lane = 0; lane < (bytes ? LANES : 1); lane++)
        memcpy(slot->lanes + lane * bytes, &bits, (size_t)width);
    *bucket = decoder->constant_count++;
    return PLACE_CONSTANT | (uint32_t)*bucket * (uint32_t)sizeof *slot;
}

static const struct {
    const char *name;
    enum special_register which;
    int bytes;
} special_table[] = {
    {"%tid", SPECIAL_TID, 4},
    {"%ntid", SPECIAL_NTID, 4},
    {"%ctaid", SPECIAL_CTAID, 4},
    {"%nctaid", SPECIAL_NCTAID, 4},
    {"%laneid", SPECIAL_LANEID, 4},
    {"%warpid", SPECIAL_WARPID, 4},
    {"%nwarpid", SPECIAL_NWARPID, 4},
    {"%smid", SPECIAL_SMID, 4},
    {"%nsmid", SPECIAL_NSMID, 4},
    {"%gridid", SPECIAL_GRIDID, 8},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, 4},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, 4},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, 4},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, 4},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, 4},
    {"%is_explicit_cluster", SPECIAL_EXPLICIT_CLUSTER, 0},
    {"%current_graph_exec", SPECIAL_GRAPH, 8},
    {"%aggr_smem_size", SPECIAL_AGGREGATE_SMEM_SIZE, 4},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, 4},
    {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, 4},
    {"%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, 4},
    {"%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, 4},
    {"%cluster_ctaid", SPECIAL_CLUSTER_CTAID, 4},
    {"%cluster_nctaid", SPECIAL_CLUSTER_NCTAID, 4},
    {"%clusterid", SPECIAL_CLUSTERID, 4},
    {"%nclusterid", SPECIAL_NCLUSTERID, 4},
    {"%envreg1", SPECIAL_GRID_BARRIER_HIGH, 4},
    {"%envreg2", SPECIAL_GRID_BARRIER_LOW, 4},
    {"%reserved_smem_offset_1", SPECIAL_RESERVED_SMEM, 4},
    {"%pm0", SPECIAL_COUNTER, 4},
    {"%pm1", SPECIAL_COUNTER, 4},
    {"%pm2", SPECIAL_COUNTER, 4},
    {"%pm3", SPECIAL_COUNTER, 4},
    {"%clock", SPECIAL_CLOCK, 4},
    {"%clock_lo", SPECIAL_CLOCK, 4},
    {"%clock_hi", SPECIAL_CLOCK_HI, 4},
    {"%clock64", SPECIAL_CLOCK64, 8},
    {"%globaltimer", SPECIAL_GLOBALTIMER, 8},
    {"%globaltimer_lo", SPECIAL_CLOCK, 4},
    {"%globaltimer_hi", SPECIAL_CLOCK_HI, 4},
};

uint32_t special_register_place(struct decoder *decoder, enum special_register which, int bytes) {
    for (int i = 0; i < decoder->special_count; i++)
        if (decoder->specials[i].which == which && decoder->specials[i].bytes == bytes)
            return decoder->specials[i].place;
    decoder->specials = xgrow(decoder->specials, decoder->special_count, sizeof *decoder->specials);
    uint32_t place = allocate_register(decoder, bytes);
    decoder->specials[decoder->special_count++] =
        (struct special_register_slot){which, bytes, place};
    return place;
}

/* Special registers that change are read by an instruction emitted before each use. */
static struct binding *lookup_special(struct decoder *decoder, int name) {
    static const char axes[] = "xyz";
    struct slice slice = decoder->ast->names[name].slice;
    for (size_t i = 0; i < sizeof special_table / sizeof *special_table; i++) {
        enum special_register which = special_table[i].which;
        struct slice plain = slice;
        if (which < SPECIAL_LANEID) { /* .x, .y or .z */
            const char *axis = strchr(axes, slice.text[slice.length - 1]);
            if (slice.length < 3 || slice.text[slice.length - 2] != '.' || !axis)
                continue;
            which += (enum special_register)(axis - axes);
            plain.length -= 2;
        }
        if (!slice_is(plain, special_table[i].name))
            continue;
        int bytes = special_table[i].bytes;
        struct binding *binding = bind_name(decoder, name, decoder->scope);
        binding->bytes = bytes;
        if (which == SPECIAL_RESERVED_SMEM)
            decoder->kernel->reserved_smem_bytes =
                288; /* size in cooperative_groups/details/memory.h */
        if (which < SPECIAL_CLOCK) {
            binding->place = special_register_place(decoder, which, bytes);
            return binding;
        }
        binding->place = allocate_register(decoder, bytes);
        /* Not kept as a binding, so that the next use reads the register again. */
        decoder->binding_of_name[name] = binding->next;
        binding->name = binding->scope = -1;
        struct instruction read = {.execute = execute_special_register,
                                   .float_mode = FLOAT_ANY,
                                   .input_count = (uint8_t)which,
                                   .width = (uint8_t)bytes};
        uint32_t place = binding->place;
        emit_instruction(decoder, &read, &place, 1);
        return binding;
    }
    return NULL;
}

static struct binding *lookup_range(struct decoder *decoder, int name) {
    struct slice slice = decoder->ast->names[name].slice;
    int digits = 0;
    while (digits < slice.length && digits < 8 && slice.text[slice.length - 1 - digits] >= '0' &&
           slice.text[slice.length - 1 - digits] <= '9')
        digits++;
    for (int i = decoder->range_count - 1; i >= 0; i--) {
        const struct register_range *range = &decoder->ranges[i];
        int tail = slice.length - range->prefix.length;
        if (decoder->scopes[range->scope].instance != decoder->instance)
            break;
        if (tail < 1 || tail > digits ||
            memcmp(slice.text, range->prefix.text, (size_t)range->prefix.length))
            continue;
        int index = 0;
        for (int j = range->prefix.length; j < slice.length; j++)
            index = index * 10 + slice.text[j] - '0';
        if (index >= range->count)
            continue;
        int bytes = range->bytes;
        struct binding *binding = bind_name(decoder, name, range->scope);
        binding->bytes = bytes;
        binding->place = allocate_register(decoder, bytes);
        return binding;
    }
    return NULL;
}

static struct binding *bind_module_variable(struct decoder *decoder, int name);

struct binding *lookup_name(struct decoder *decoder, int name) {
    for (int i = decoder->binding_of_name[name]; i >= 0; i = decoder->bindings[i].next) {
        struct binding *binding = &decoder->bindings[i];
        if (decoder->scopes[binding->scope].instance == decoder->instance)
            return binding;
    }
    struct binding *found = lookup_range(decoder, name);
    if (!found && decoder->ast->names[name].slice.text[0] == '%')
        found = lookup_special(decoder, name);
    return found ? found : bind_module_variable(decoder, name);
}

/* ---- Variables ---- */

int declare_registers(struct decoder *decoder, const struct variable *variable) {
    int bytes = type_bytes(variable->type) * variable->vector;
    if (bytes == 1)
        bytes = 2; /* .reg .b8 does not exist in PTX; 16-bit lanes hold it */
    if (bytes > 8 && variable->type != TYPE_B128)
        return decode_fail(decoder, "registers of %d bytes are not supported", bytes);
    if (!variable->register_count) {
        struct binding *binding = bind_name(decoder, variable->name, decoder->scope);
        binding->bytes = bytes;
        binding->place = allocate_register(decoder, bytes);
        return 0;
    }
    decoder->ranges = xgrow(decoder->ranges, decoder->range_count, sizeof *decoder->ranges);
    decoder->ranges[decoder->range_count++] = (struct register_range){
        decoder->ast->names[variable->name].slice, variable->register_count, bytes, decoder->scope};
    return 0;
}

uint64_t allocate_variable(uint64_t *used, const struct variable *variable) {
    uint64_t alignment = variable->alignment ? variable->alignment : 1;
    uint64_t offset = (*used + alignment - 1) / alignment * alignment;
    *used = offset + variable->bytes;
    return offset;
}

/* A shared variable is allocated once per kernel, even if its function is inlined several times. */
static int allocate_shared(struct decoder *decoder, const struct variable *variable,
                           struct binding *binding) {
    for (int i = 0; i < decoder->shared_count; i++)
        if (decoder->shared[i].variable == variable) {
            binding->offset = decoder->shared[i].offset;
            return 0;
        }
    binding->offset = allocate_variable(&decoder->shared_bytes, variable);
    if (decoder->shared_bytes > 232448)
        return decode_fail(decoder, "more than 232448 bytes of shared memory");
    decoder->shared = xgrow(decoder->shared, decoder->shared_count, sizeof *decoder->shared);
    decoder->shared[decoder->shared_count++] =
        (struct shared_variable){variable, (uint32_t)binding->offset};
    return 0;
}

int declare_variable(struct decoder *decoder, const struct variable *variable) {
    struct binding *binding = bind_name(decoder, variable->name, decoder->scope);
    binding->kind = BINDING_VARIABLE;
    binding->variable = variable;
    binding->space = variable->space;
    switch (variable->space) {
    case SPACE_SHARED:
        if (variable->bytes == 0) { /* extern x[]: dynamic shared memory */
            binding->kind = BINDING_REGISTER;
            binding->bytes = 8;
            uint32_t place = special_register_place(decoder, SPECIAL_DYNAMIC_SMEM, 8);
            binding->place = place;
            if (variable->alignment > decoder->kernel->dynamic_smem_alignment)
                decoder->kernel->dynamic_smem_alignment = variable->alignment;
            return 0;
        }
        return allocate_shared(decoder, variable, binding);
    case SPACE_LOCAL:
    case SPACE_PARAM: /* .param of a call: the thread's local memory */
        binding->space = SPACE_LOCAL;
        binding->in_frame = decoder->routine >= 0;
        binding->offset = allocate_variable(
            binding->in_frame ? &decoder->frame_bytes : &decoder->local_bytes, variable);
        if (decoder->local_bytes > 128 << 10 || decoder->frame_bytes > 128 << 10)
            return decode_fail(decoder, "more than 128 KB of local memory per thread");
        return 0;
    default:
        return decode_fail(decoder, "a function cannot declare a variable in this state space");
    }
}

static struct binding *bind_module_variable(struct decoder *decoder, int name) {
    const struct ptx_module *module = decoder->module;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].name == name) {
            struct binding *binding = bind_name(decoder, name, decoder->scope);
            binding->kind = BINDING_VARIABLE;
            binding->space = SPACE_GLOBAL;
            binding->offset = module->variables[i].address;
            return binding;
        }
    for (int i = 0; i < decoder->ast->variable_count; i++) {
        const struct variable *variable = decoder->ast->variables[i];
        if (variable->name == name && variable->space == SPACE_SHARED)
            return declare_variable(decoder, variable) < 0
                       ? NULL
                       : &decoder->bindings[decoder->binding_of_name[name]];
    }
    return NULL;
}
