/* Decodes mma of integers and of doubles: PTX ISA 9.7.14.5. */
#include "ptx/execute.h"
#include "ptx/opcodes.h"

bool take_integer_format(struct decoder *decoder, struct integer_format *format) {
    static const struct {
        const char *name;
        struct integer_format format;
    } formats[] = {{"s8", {8, true}},
                   {"u8", {8, false}},
                   {"s4", {4, true}},
                   {"u4", {4, false}},
                   {"b1", {1, false}}};
    for (int i = 1; i < decoder->part_count; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            if (!decoder->taken[i] && slice_is(decoder->parts[i], formats[j].name)) {
                *format = formats[j].format;
                return decoder->taken[i] = true;
            }
    return false;
}

int emit_mma(struct decoder *decoder, const struct instruction *instruction, const int counts[4],
             int bytes, const uint32_t *metadata) {
    uint32_t places[4 * 8 + 1], *place = places;
    for (int i = 0; i < 4; place += counts[i++])
        decode_matrix_operand(decoder, i, counts[i], bytes, i == 0, place);
    if (metadata)
        *place++ = *metadata;
    return emit_instruction(decoder, instruction, places, (int)(place - places));
}

int decode_mma_int(struct decoder *decoder, struct sparsity sparsity) {
    struct instruction instruction = new_instruction(execute_mma_int);
    struct mma_int_form *form = &instruction.as.integer;
    static const char *const shapes[] = {"m8n8k16",   "m8n8k32",   "m8n8k128",
                                         "m16n8k16",  "m16n8k32",  "m16n8k64",
                                         "m16n8k128", "m16n8k256", NULL};
    static const int k_of_shape[] = {16, 32, 128, 16, 32, 64, 128, 256};
    static const char *const operations[] = {"and", "xor", NULL};
    int shape = take_modifier_of(decoder, shapes);
    bool is_supported = shape >= 0 && take_integer_format(decoder, &form->a) &&
                        take_integer_format(decoder, &form->b) && form->a.bits == form->b.bits &&
                        take_type(decoder) == TYPE_S32;
    if (!is_supported)
        return decode_fail(decoder, "unsupported shape or types");
    form->m = shapes[shape][1] == '8' ? 8 : 16;
    form->k = (uint16_t)k_of_shape[shape];
    if (form->a.bits == 1) {
        int operation = take_modifier_of(decoder, operations);
        is_supported = !sparsity.is_sparse && operation >= 0 && take_modifier(decoder, "popc");
        form->is_xor = operation == 1;
    } else {
        form->saturates = take_modifier(decoder, "satfinite");
    }
    int rows8 = form->m / 8,
        steps = form->k * form->a.bits / 128; /* B fragments of 128 bits along k */
    int kept =
        sparsity.is_sparse ? steps / 2 : steps; /* A fragments along k: half as many if sparse */
    uint32_t metadata = 0;
    if (!is_supported || kept < 1 || kept > rows8 || (sparsity.is_sparse && form->m == 8))
        return decode_fail(decoder, "unsupported shape or types");
    sparsity.width = form->a.bits == 4 ? 8 : 4;
    if (sparsity.is_sparse)
        metadata = decode_sparsity_metadata(decoder, 4, form->k, &sparsity);
    else
        expect_operands(decoder, 4, 4);
    form->sparsity = sparsity;
    return emit_mma(decoder, &instruction, (int[]){2 * rows8, rows8 * kept, steps, 2 * rows8}, 4,
                    sparsity.is_sparse ? &metadata : NULL);
}

int decode_mma_double(struct decoder *decoder) {
    struct instruction instruction = {.execute = execute_mma_double};
    struct mma_double_form *form = &instruction.as.doubles;
    static const char *const shapes[] = {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16", NULL};
    static const uint8_t k_of_shape[] = {4, 4, 8, 16};
    int shape = take_modifier_of(decoder, shapes);
    bool is_supported = shape >= 0;
    for (int i = 0; i < 3; i++) /* a, b, c */
        is_supported = is_supported && take_type(decoder) == TYPE_F64;
    instruction.float_mode = take_float_mode(decoder);
    if (!is_supported || expect_operands(decoder, 4, 4) < 0)
        return decode_fail(decoder, "unsupported shape or types");
    form->m = shape == 0 ? 8 : 16;
    form->k = k_of_shape[shape];
    int rows8 = form->m / 8, steps = form->k / 4;
    return emit_mma(decoder, &instruction, (int[]){2 * rows8, rows8 * steps, steps, 2 * rows8}, 8,
                    NULL);
}
