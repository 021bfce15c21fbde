/* Decodes the copy engine's instructions: cp.async.bulk, cp.reduce.async.bulk, tensormap. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"
#include "ptx/tensor_map.h"

/* The number of groups is stored in `rank`. */
static int decode_bulk_wait(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_bulk_wait);
    instruction.as.bulk.reads_only = take_modifier(decoder, "read");
    instruction.as.bulk.rank = decode_group_count(decoder);
    return emit_instruction(decoder, &instruction, NULL, 0);
}

static int take_rank(struct decoder *decoder) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    if (!take_modifier(decoder, "tensor"))
        return 0;
    take_modifier(decoder, "tile");
    return take_modifier_of(decoder, ranks) + 1;
}

/* .op{.noftz}.type; for a tensor only .op, since the tensor map has the type. */
static int take_reduction(struct decoder *decoder, struct bulk_form *form) {
    int reduction = take_modifier_of(decoder, reduction_names);
    enum type type = form->rank ? TYPE_NONE : take_type(decoder);
    bool in_shared = form->path == BULK_BLOCK_TO_BLOCK;
    bool half = type == TYPE_F16 || type == TYPE_BF16;
    form->global.reduction = (enum reduction)reduction;
    form->global.type = type;
    form->global.element_bytes = (uint8_t)type_bytes(type);
    form->global.is_signed = type_is_signed(type);
    decoder->kernel->info.blocks_communicate =
        decoder->kernel->info.blocks_communicate || !in_shared;
    if (form->path == BULK_LOAD || reduction < 0 || reduction > REDUCE_DEC ||
        (!form->rank && !bulk_reduction_supported(form->global.reduction, type, in_shared)) ||
        take_modifier(decoder, "noftz") != (half && reduction == REDUCE_ADD))
        return decode_fail(decoder, "unsupported form");
    return 0;
}

/* Operands: [shared], [global address, tensor map or source], [mbarrier], bytes, block mask,
   coordinates. Operands that a form lacks are unused. */
static int emit_bulk(struct decoder *decoder, struct instruction *instruction) {
    struct bulk_form *form = &instruction->as.bulk;
    uint32_t places[5 + TENSOR_MAP_RANK_MAX] = {0};
    const struct operand *shared = operand_at(decoder, form->path == BULK_STORE ? 1 : 0);
    const struct operand *global = operand_at(decoder, form->path == BULK_STORE ? 0 : 1);
    int next = 2;
    places[0] = decode_address(decoder, shared, &form->shared);
    places[1] = decode_address(decoder, global, &form->global);
    if (!form->rank)
        places[3] = decode_source(decoder, operand_at(decoder, next++), TYPE_U32, 4);
    if (decoder->error->kind)
        return -1;
    if (form->path != BULK_STORE && operand_at(decoder, next))
        places[2] = decode_address(decoder, operand_at(decoder, next), &form->barrier);
    if (form->path != BULK_STORE && (!operand_at(decoder, next) || decoder->error->kind))
        return decode_fail(decoder, "has no mbarrier operand");
    if (form->multicast && operand_at(decoder, next + 1))
        places[4] = decode_source(decoder, operand_at(decoder, next + 1), TYPE_U16, 2);
    if (form->multicast && (!operand_at(decoder, next + 1) || decoder->error->kind))
        return decode_fail(decoder, "has no block mask for .multicast");
    if (global->count != form->rank)
        return decode_fail(decoder, "has %d coordinates, not %d", global->count, form->rank);
    for (int i = 0; i < form->rank; i++)
        places[5 + i] = decode_source(decoder, &global->elements[i], TYPE_S32, 4);
    return emit_instruction(decoder, instruction, places, 5 + form->rank);
}

/* .dst.src */
static int take_path(struct decoder *decoder, struct bulk_form *form) {
    static const struct {
        const char *to, *from;
        enum bulk_path path;
    } paths[] = {
        {"shared::cluster", "global", BULK_LOAD},
        {"shared::cta", "global", BULK_LOAD},
        {"global", "shared::cta", BULK_STORE},
        {"shared::cluster", "shared::cta", BULK_BLOCK_TO_BLOCK},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int part = 1; part + 1 < decoder->part_count; part++)
            if (slice_is(decoder->parts[part], paths[i].to) &&
                slice_is(decoder->parts[part + 1], paths[i].from)) {
                decoder->taken[part] = decoder->taken[part + 1] = true;
                form->path = paths[i].path;
                return 0;
            }
    return decode_fail(decoder, "unsupported form");
}

int decode_bulk(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_bulk_copy);
    struct bulk_form *form = &instruction.as.bulk;
    if (take_modifier(decoder, "commit_group")) {
        instruction.execute = execute_bulk_commit;
        return emit_instruction(decoder, &instruction, NULL, 0);
    }
    if (take_modifier(decoder, "wait_group"))
        return decode_bulk_wait(decoder);
    if (take_modifier(decoder, "prefetch")) /* to L2 */
        return decode_nop(decoder, NULL);
    form->rank = take_rank(decoder);
    form->multicast = take_modifier(decoder, "multicast::cluster");
    form->reduces = take_modifier(decoder, "reduce");
    form->shared.space = form->barrier.space = SPACE_SHARED;
    if (take_path(decoder, form) < 0 || (form->reduces && take_reduction(decoder, form) < 0))
        return -1;
    form->global.space = form->rank                          ? SPACE_GENERIC
                         : form->path == BULK_BLOCK_TO_BLOCK ? SPACE_SHARED
                                                             : SPACE_GLOBAL;
    bool is_store = form->path == BULK_STORE;
    bool is_supported =
        take_modifier(decoder, is_store ? "bulk_group" : "mbarrier::complete_tx::bytes");
    take_modifiers_with_prefix(decoder, "L2::");
    if (!is_supported || expect_operands(decoder, is_store && form->rank ? 2 : 3, 6) < 0)
        return decode_fail(decoder, "unsupported form");
    return emit_bulk(decoder, &instruction);
}

/* ---- tensor maps ---- */

static const struct {
    const char *word;
    enum type type;
    bool has_axis;
} map_fields[TENSORMAP_FIELD_COUNT] = {
    [TENSORMAP_ADDRESS] = {"global_address", TYPE_B64, false},
    [TENSORMAP_RANK] = {"rank", TYPE_B32, false},
    [TENSORMAP_BOX] = {"box_dim", TYPE_B32, true},
    [TENSORMAP_EXTENT] = {"global_dim", TYPE_B32, true},
    [TENSORMAP_STRIDE] = {"global_stride", TYPE_B64, true},
    [TENSORMAP_ELEMENT_STRIDE] = {"element_stride", TYPE_B32, true},
    [TENSORMAP_FORMAT] = {"elemtype", TYPE_B32, false},
    [TENSORMAP_INTERLEAVE] = {"interleave_layout", TYPE_B32, false},
    [TENSORMAP_SWIZZLE] = {"swizzle_mode", TYPE_B32, false},
    [TENSORMAP_FILL] = {"fill_mode", TYPE_B32, false},
};

/* tensormap.replace.tile.FIELD{.space}.b1024.type [map], {axis,} value */
static int decode_tensormap_replace(struct decoder *decoder) {
    struct instruction instruction = new_instruction(execute_tensormap_replace);
    struct tensormap_form *form = &instruction.as.tensormap;
    int field = 0, next = 1;
    uint32_t places[2];
    while (field < TENSORMAP_FIELD_COUNT && !take_modifier(decoder, map_fields[field].word))
        field++;
    form->where.space = take_space(decoder, SPACE_GENERIC);
    if (field == TENSORMAP_FIELD_COUNT || !take_modifier(decoder, "tile") ||
        !take_modifier(decoder, "b1024") || take_type(decoder) != map_fields[field].type)
        return decode_fail(decoder, "unsupported form");
    form->field = (enum tensormap_field)field;
    expect_operands(decoder, 2 + map_fields[field].has_axis, 2 + map_fields[field].has_axis);
    places[0] = decode_address(decoder, operand_at(decoder, 0), &form->where);
    if (map_fields[field].has_axis && !decoder->error->kind) {
        const struct operand *axis = operand_at(decoder, next++);
        if (axis->kind != OPERAND_INTEGER ||
            axis->bits >= TENSOR_MAP_RANK_MAX - (form->field == TENSORMAP_STRIDE))
            return decode_fail(decoder, "the axis is not a dimension of a tensor map");
        form->axis = (int)axis->bits;
    }
    int bytes = type_bytes(map_fields[field].type);
    places[1] = decode_source(decoder, operand_at(decoder, next), map_fields[field].type, bytes);
    instruction.width = (uint8_t)bytes;
    return emit_instruction(decoder, &instruction, places, 2);
}

/* tensormap.cp_fenceproxy.global.shared::cta...sync.aligned [to], [from], 128 */
static int decode_publication(struct decoder *decoder) {
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    struct instruction instruction = new_instruction(execute_tensormap_copy);
    struct tensormap_form *form = &instruction.as.tensormap;
    const struct operand *bytes = operand_at(decoder, 2);
    uint32_t places[2];
    form->to.space = SPACE_GLOBAL;
    form->where.space = SPACE_SHARED;
    bool is_supported = take_modifier(decoder, "global") && take_modifier(decoder, "shared::cta") &&
                        take_modifier(decoder, "tensormap::generic") &&
                        take_modifier(decoder, "release") &&
                        take_modifier_of(decoder, scopes) >= 0 && take_modifier(decoder, "sync") &&
                        take_modifier(decoder, "aligned");
    if (!is_supported || expect_operands(decoder, 3, 3) < 0 || bytes->kind != OPERAND_INTEGER ||
        bytes->bits != TENSOR_MAP_BYTES)
        return decode_fail(decoder, "unsupported form");
    places[0] = decode_address(decoder, operand_at(decoder, 0), &form->to);
    places[1] = decode_address(decoder, operand_at(decoder, 1), &form->where);
    return emit_instruction(decoder, &instruction, places, 2);
}

DECODE(tensormap) {
    (void)instruction;
    if (take_modifier(decoder, "replace"))
        return decode_tensormap_replace(decoder);
    if (take_modifier(decoder, "cp_fenceproxy"))
        return decode_publication(decoder);
    return decode_fail(decoder, "unsupported form");
}
